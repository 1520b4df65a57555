// SPDX-License-Identifier: GPL-2.0
/*
 * The files that blktrace leaves: one for each disk and CPU, up to the last CPU that has a
 * record, since blkparse stops looking at the first that is not there.
 *
 * All files of a disk appear, or none. Those of an earlier run are not replaced: if that was of
 * more CPUs, the two would become one.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blktrace.h"
#include "monad_storage.h"
#include "new_file.h"

#define NAME_LEN 48

/* The name that a thread had last, as far as a file says. */
struct known_name {
	uint32_t tid;
	uint32_t cpu;
	bool known;
	char comm[MONAD_STORAGE_COMM_LEN];
};

/* What is not there any more is written again, which does no harm. */
#define KNOWN_NAMES 4096

struct cpu_file {
	struct new_file file;
	char path[PATH_MAX];
	FILE *stream;
	bool created;
	bool published;
	uint32_t sequence;
};

/* The files of one disk, and its records. */
struct file_set {
	const struct blktrace *trace;
	const struct blktrace_record *records;
	size_t nr_records;
	uint64_t begin_ns; /* of all disks */
	char path[PATH_MAX]; /* DIR/DISK */
	struct cpu_file *cpus;
	unsigned int nr_cpus;
	struct known_name names[KNOWN_NAMES];
};

static void write_note(struct file_set *set, unsigned int cpu, uint64_t time_ns, uint32_t tid,
		       uint32_t action, const void *data, size_t size)
{
	const struct blk_io_trace note = {
		.magic = BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION,
		.time = time_ns,
		.action = action,
		.pid = tid,
		.device = set->records[0].event->dev,
		.cpu = cpu,
		.pdu_len = size,
	};

	fwrite(&note, sizeof(note), 1, set->cpus[cpu].stream);
	fwrite(data, size, 1, set->cpus[cpu].stream);
}

/* All sets begin at the same time, so that they can be looked at together. */
static void write_beginning(struct file_set *set)
{
	const uint32_t now[2] = { set->begin_ns / NSEC_PER_SEC, set->begin_ns % NSEC_PER_SEC };
	static const char text[] = "monad-storage " MONAD_STORAGE_VERSION
				   ": Q and G are made of the times of D and C";

	write_note(set, 0, set->begin_ns, 0, BLK_TN_TIMESTAMP, now, sizeof(now));
	write_note(set, 0, set->begin_ns, 0, BLK_TN_MESSAGE, text, sizeof(text) - 1);
}

static void write_gap(struct file_set *set, unsigned int cpu, uint64_t time_ns, uint64_t missed)
{
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 " events of all disks are missing here", missed);
	write_note(set, cpu, time_ns, 0, BLK_TN_MESSAGE, text, strlen(text));
}

/* Who it is, unless the file says so. */
static void write_name(struct file_set *set, const struct blk_io_trace *t,
		       const struct blktrace_event *event)
{
	struct known_name *name = &set->names[(t->pid * 31 + t->cpu) % KNOWN_NAMES];
	char comm[MONAD_STORAGE_COMM_LEN] = "";

	if (!event->comm[0])
		return;
	memcpy(comm, event->comm, sizeof(comm) - 1);
	if (name->known && name->tid == t->pid && name->cpu == t->cpu &&
	    !memcmp(name->comm, comm, sizeof(comm)))
		return;
	name->known = true;
	name->tid = t->pid;
	name->cpu = t->cpu;
	memcpy(name->comm, comm, sizeof(comm));
	write_note(set, t->cpu, t->time, t->pid, BLK_TN_PROCESS, comm, sizeof(comm));
}

static void write_records(struct file_set *set)
{
	const struct blktrace *trace = set->trace;
	uint64_t before_ns = set->begin_ns;
	struct blk_io_trace t = {};
	size_t gap = 0;

	write_beginning(set);
	for (size_t i = 0; i < set->nr_records; i++) {
		struct cpu_file *cpu;

		blktrace_encode(&set->records[i], &t);
		for (; gap < trace->nr_gaps && trace->gaps[gap].time_ns < t.time; gap++) {
			if (before_ns < trace->gaps[gap].time_ns)
				before_ns = trace->gaps[gap].time_ns;
			write_gap(set, t.cpu, before_ns, trace->gaps[gap].missed);
		}
		write_name(set, &t, set->records[i].event);
		cpu = &set->cpus[t.cpu];
		t.sequence = ++cpu->sequence;
		fwrite(&t, sizeof(t), 1, cpu->stream);
		before_ns = t.time;
	}
	for (; gap < trace->nr_gaps; gap++)
		write_gap(set, t.cpu, before_ns, trace->gaps[gap].missed);
}

static int create_files(struct file_set *set)
{
	int err;

	for (unsigned int i = 0; i < set->nr_cpus; i++) {
		struct cpu_file *cpu = &set->cpus[i];

		if (snprintf(cpu->path, sizeof(cpu->path), "%s.blktrace.%u", set->path, i) >=
		    (int)sizeof(cpu->path))
			err = ENAMETOOLONG;
		else
			err = new_file_create(&cpu->file, cpu->path) ?:
			      new_file_share(&cpu->file);
		if (err) {
			error("creating %s: %s", cpu->path, strerror(err));
			return EXIT_FAILED;
		}
		cpu->created = true;
		cpu->stream = new_file_stream(&cpu->file);
		if (!cpu->stream) {
			error("writing %s: %s", cpu->path, strerror(errno));
			return EXIT_FAILED;
		}
	}
	return EXIT_OK;
}

static int end_streams(struct file_set *set)
{
	int status = EXIT_OK;

	for (unsigned int i = 0; i < set->nr_cpus; i++) {
		struct cpu_file *cpu = &set->cpus[i];
		int err = cpu->stream ? new_file_stream_end(&cpu->file, cpu->stream) : 0;

		cpu->stream = NULL;
		if (err && status == EXIT_OK) {
			error("writing %s: %s", cpu->path, strerror(err));
			status = EXIT_FAILED;
		}
	}
	return status;
}

static void say_it_exists(const char *path)
{
	error("%s exists: another directory, or none of that name there", path);
}

static int publish_files(struct file_set *set)
{
	char next[PATH_MAX];
	int err;

	/* blkparse would take it for one of ours. */
	snprintf(next, sizeof(next), "%.4000s.blktrace.%u", set->path, set->nr_cpus);
	if (!access(next, F_OK)) {
		say_it_exists(next);
		return EXIT_FAILED;
	}
	for (unsigned int i = 0; i < set->nr_cpus; i++) {
		struct cpu_file *cpu = &set->cpus[i];

		err = new_file_publish(&cpu->file, false);
		cpu->published = err != EEXIST && !access(cpu->path, F_OK);
		if (err == EEXIST)
			say_it_exists(cpu->path);
		else if (err)
			error("writing %s: %s", cpu->path, strerror(err));
		if (err)
			return EXIT_FAILED;
	}
	return EXIT_OK;
}

static void close_files(struct file_set *set, int status)
{
	for (unsigned int i = 0; i < set->nr_cpus; i++) {
		struct cpu_file *cpu = &set->cpus[i];

		if (cpu->stream)
			fclose(cpu->stream);
		if (cpu->published && status != EXIT_OK)
			unlink(cpu->path);
		if (cpu->created)
			new_file_close(&cpu->file);
	}
}

static int write_set(struct file_set *set, const char *name)
{
	int status;

	for (size_t i = 0; i < set->nr_records; i++) {
		struct blk_io_trace t;

		blktrace_encode(&set->records[i], &t);
		if (t.cpu >= set->nr_cpus)
			set->nr_cpus = t.cpu + 1;
	}
	set->cpus = xcalloc(set->nr_cpus, sizeof(*set->cpus));
	status = create_files(set);
	if (status == EXIT_OK) {
		write_records(set);
		status = end_streams(set);
	}
	if (status == EXIT_OK)
		status = publish_files(set);
	close_files(set, status);
	free(set->cpus);
	if (status == EXIT_OK && set->nr_cpus == 1)
		printf("%s: %zu records in %s.blktrace.0\n", name, set->nr_records, set->path);
	else if (status == EXIT_OK)
		printf("%s: %zu records in %s.blktrace.0 to .%u\n", name, set->nr_records,
		       set->path, set->nr_cpus - 1);
	return status;
}

/*
 * What the disk was called, where that can be a file's name; by number if no end says so: the
 * disks of this machine need not be those of the recording.
 */
static void name_set(const struct file_set *set, char name[NAME_LEN])
{
	uint32_t dev = set->records[0].event->dev;

	for (size_t i = 0; i < set->nr_records; i++) {
		const char *disk = set->records[i].event->disk;

		if (!disk[0])
			continue;
		snprintf(name, NAME_LEN, "%.*s", MONAD_STORAGE_DISK_LEN, disk);
		for (char *p = name; *p; p++) {
			if (!isalnum((unsigned char)*p) && !strchr("._-!+", *p))
				*p = '_';
		}
		return;
	}
	snprintf(name, NAME_LEN, "%u:%u", dev >> 20, dev & 0xfffff);
}

/* Another disk had the same name before, or since. */
static void make_different(char (*names)[NAME_LEN], size_t nr, uint32_t dev)
{
	size_t len = strlen(names[nr]);

	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(names[i], names[nr])) {
			snprintf(names[nr] + len, NAME_LEN - len, "-%u:%u", dev >> 20,
				 dev & 0xfffff);
			return;
		}
	}
}

/* A file for each CPU is open at the same time. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int blktrace_write(const struct blktrace *trace, const char *dir)
{
	const struct blktrace_record *records = trace->records;
	char (*names)[NAME_LEN] = NULL;
	size_t nr = 0, nr_names = 0;
	uint64_t begin_ns = UINT64_MAX;
	struct file_set *set;
	int status = EXIT_OK;

	raise_limit();
	if (trace->nr_records && mkdir(dir, 0777) && errno != EEXIST) {
		error("making the directory %s: %m", dir);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < trace->nr_records; i++) {
		if (records[i].time_ns < begin_ns)
			begin_ns = records[i].time_ns;
	}
	for (size_t i = 0; i < trace->nr_records && status == EXIT_OK; i += nr) {
		uint32_t dev = records[i].event->dev;

		for (nr = 1; i + nr < trace->nr_records; nr++) {
			if (records[i + nr].event->dev != dev)
				break;
		}
		set = xcalloc(1, sizeof(*set));
		set->trace = trace;
		set->records = &records[i];
		set->nr_records = nr;
		set->begin_ns = begin_ns;
		names = xrealloc(names, (nr_names + 1) * sizeof(*names));
		name_set(set, names[nr_names]);
		make_different(names, nr_names, dev);
		if (snprintf(set->path, sizeof(set->path), "%s/%s", dir, names[nr_names]) >=
		    (int)sizeof(set->path)) {
			error("%s: %s", dir, strerror(ENAMETOOLONG));
			status = EXIT_FAILED;
		} else {
			status = write_set(set, names[nr_names]);
		}
		nr_names++;
		free(set);
	}
	free(names);
	return status;
}
