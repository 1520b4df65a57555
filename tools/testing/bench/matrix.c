// SPDX-License-Identifier: GPL-2.0
/*
 * What one event costs its writer, by payload, transport, way of waking and number of readers:
 * the best of ROUNDS rounds of EVENTS events each. Readers read, or sleep until they are woken,
 * between the rounds. Meant for a guest started with --icount, whose clock counts
 * instructions.
 *
 *	matrix [--json | --both] [BYTES]	of payload: one of the sizes only
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <monad/ring_ioctl.h>
#include <monad_event/event_iterator.h>

#include "bench.h"
#include "matrix.h"
#include "matrix.skel.h"

#define ROUNDS 15
#define MAX_READERS 4
#define DEVICE "/dev/monad_ring"

static const unsigned int sizes[] = { 8, 64, 256, 4096 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

enum consumer {
	DRAINED,  /* BPF ring buffers: emptied between the rounds, nobody sleeps */
	SLEEPING, /* ring_buffer__poll() in a thread */
	PERF,	  /* perf_buffer__poll() in a thread */
	OURS,	  /* processes that map the ring, and look every millisecond */
	ASLEEP,	  /* one, which sleeps until the next events are there */
};

static struct row {
	const char *key, *program, *what;
	enum consumer consumer;
	unsigned int arg; /* PERF, ASLEEP: events a wakeup; OURS: readers */
	double cost[SIZES];
} rows[] = {
	{ "monad", "monad", "monad_ring, no reader", OURS, 0, { 0 } },
	{ "monad_1", "monad", "monad_ring, 1 reader", OURS, 1, { 0 } },
	{ "monad_2", "monad", "monad_ring, 2 readers", OURS, 2, { 0 } },
	{ "monad_4", "monad", "monad_ring, 4 readers", OURS, 4, { 0 } },
	{ "monad_asleep_1", "monad", "monad_ring, 1 reader asleep, for the next event", ASLEEP, 1,
	  { 0 } },
	{ "monad_asleep_500", "monad", "monad_ring, 1 reader asleep, for the next 500", ASLEEP,
	  SAMPLED, { 0 } },
	{ "monad_forced", "monad_forced", "monad_ring, woken each time, a sleeper", ASLEEP, 1,
	  { 0 } },
	{ "ringbuf_drained", "ringbuf_quiet", "BPF ring buffer, NO_WAKEUP, drained", DRAINED, 0,
	  { 0 } },
	{ "ringbuf_adaptive", "ringbuf", "BPF ring buffer, adaptive, a sleeper", SLEEPING, 0,
	  { 0 } },
	{ "ringbuf_sampled", "ringbuf_sampled", "BPF ring buffer, woken every 500, a sleeper",
	  SLEEPING, 0, { 0 } },
	{ "ringbuf_forced", "ringbuf_forced", "BPF ring buffer, woken each time, a sleeper",
	  SLEEPING, 0, { 0 } },
	{ "ringbuf_drained_2", "ringbuf_to_2", "2 BPF ring buffers for 2 readers, drained", DRAINED,
	  0, { 0 } },
	{ "ringbuf_drained_4", "ringbuf_to_4", "4 BPF ring buffers for 4 readers, drained", DRAINED,
	  0, { 0 } },
	{ "perf_1", "perf", "perf buffer, woken each time, a sleeper", PERF, 1, { 0 } },
	{ "perf_500", "perf", "perf buffer, woken every 500, a sleeper", PERF, SAMPLED, { 0 } },
	{ "clock", "clock", "the loop with bpf_ktime_get_ns() alone", DRAINED, 0, { 0 } },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static struct matrix_bpf *skel;
static struct ring_buffer *rb, *rb_all;
static struct perf_buffer *perf;
static unsigned long consumed, perf_lost;
static bool stop;

static int drop(void *ctx, void *data, size_t size)
{
	consumed++;
	return 0;
}

static enum bpf_perf_event_ret drop_perf(void *ctx, int cpu, struct perf_event_header *event)
{
	struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} *lost = (void *)event;

	if (event->type == PERF_RECORD_SAMPLE)
		consumed++;
	else if (event->type == PERF_RECORD_LOST)
		perf_lost += lost->lost;
	return LIBBPF_PERF_EVENT_CONT;
}

/* A perf buffer whose reader is woken every @every events. */
static struct perf_buffer *create_perf(unsigned int every)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = every,
		.wakeup_events = every,
	};

	return perf_buffer__new_raw(bpf_map__fd(skel->maps.pb), RIVAL_BYTES / getpagesize(), &attr,
				    drop_perf, NULL, NULL);
}

static void *sleeper(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		if (perf)
			perf_buffer__poll(perf, 20);
		else
			ring_buffer__poll(rb, 20);
	/* Below the mark that would have woken it. */
	if (perf)
		perf_buffer__consume(perf);
	return NULL;
}

/* Of each reader of ours: what it has seen, and whether it looks. */
static struct {
	unsigned long delivered, missed;
	bool ready;
} *readers;

/* Reads the ring until it is killed; @batch: sleeps until so many are there. */
static void reader(unsigned int nr, unsigned int batch)
{
	struct monad_ring_wait wait = { .size = sizeof(wait), .batch = batch };
	struct monad_event_descriptor event;
	struct monad_event_iterator iter;
	struct monad_event_ring ring = { 0 };
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, DEVICE) ||
	    monad_event_ring_init_iterator(&ring, &iter)) {
		fprintf(stderr, "matrix: %s: %s\n", DEVICE, monad_event_ring_get_last_error());
		_exit(1);
	}
	monad_event_iterator_set_seqno(&iter, monad_event_ring_last_seqno(&ring) + 1);
	for (;;) {
		switch (monad_event_iterator_try_next(&iter, &event)) {
		case MONAD_EVENT_SUCCESS:
			readers[nr].delivered++;
			break;
		case MONAD_EVENT_GAP:
			readers[nr].missed += monad_event_iterator_recover(&iter);
			break;
		case MONAD_EVENT_NOT_READY:
			__atomic_store_n(&readers[nr].ready, true, __ATOMIC_RELEASE);
			if (!batch) {
				usleep(1000);
				break;
			}
			wait.seqno = iter.next_seqno;
			wait.timeout_ns = 1000000000;
			if (ioctl(fd, MONAD_RING_IOC_WAIT, &wait) && errno != ETIMEDOUT) {
				perror("matrix: wait");
				_exit(1);
			}
			break;
		}
	}
}

static int run_rounds(struct row *row, double *cost)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct bpf_program *prog = bpf_object__find_program_by_name(skel->obj, row->program);
	struct bpf_link *link = bpf_program__attach(prog);
	uint64_t best = ~0ULL;
	int err = 0;

	if (!link)
		return errno;
	for (int round = 0; round < ROUNDS && !err; round++) {
		/* Time for those who read to catch up, and sleep. */
		usleep(20000);
		err = -bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
		if (skel->bss->took < best)
			best = skel->bss->took;
		if (row->consumer == DRAINED)
			ring_buffer__consume(rb_all);
	}
	bpf_link__destroy(link);
	*cost = (double)best / EVENTS;
	return err;
}

/* Makes sure that the events went where they should have. */
static void check_row(const struct row *row, unsigned int nr_readers)
{
	unsigned long want = ROUNDS * EVENTS;

	if (row->consumer == OURS || row->consumer == ASLEEP || !strcmp(row->key, "clock"))
		want = 0;
	if (strstr(row->key, "drained_"))
		want *= strstr(row->key, "_4") ? 4 : 2;
	bench_must(consumed + perf_lost == want, "%s: %lu + %lu events arrived of %lu", row->key,
		   consumed, perf_lost, want);
	for (unsigned int i = 0; i < nr_readers; i++)
		bench_must(readers[i].delivered + readers[i].missed == ROUNDS * EVENTS,
			   "%s: reader %u got %lu and missed %lu of %u events", row->key, i,
			   readers[i].delivered, readers[i].missed, ROUNDS * EVENTS);
	bench_must(skel->bss->failed == 0, "%s: %llu events could not be written", row->key,
		   (unsigned long long)skel->bss->failed);
}

static int measure(struct row *row, unsigned int size_nr)
{
	unsigned int nr_readers = row->consumer == OURS	  ? row->arg :
				  row->consumer == ASLEEP ? 1 :
							    0;
	bool sleeps = row->consumer == SLEEPING || row->consumer == PERF;
	pid_t pids[MAX_READERS];
	pthread_t thread;
	int err;

	skel->bss->payload_size = sizes[size_nr];
	skel->bss->failed = 0;
	consumed = 0;
	perf_lost = 0;
	memset(readers, 0, MAX_READERS * sizeof(*readers));
	stop = false;
	if (row->consumer == PERF) {
		perf = create_perf(row->arg);
		if (!perf)
			return errno;
	}
	if (sleeps) {
		err = pthread_create(&thread, NULL, sleeper, NULL);
		if (err)
			return err;
	}
	for (unsigned int i = 0; i < nr_readers; i++) {
		pids[i] = fork();
		if (!pids[i])
			reader(i, row->consumer == ASLEEP ? row->arg : 0);
	}
	for (unsigned int i = 0; i < nr_readers; i++)
		while (!__atomic_load_n(&readers[i].ready, __ATOMIC_ACQUIRE) &&
		       waitpid(pids[i], NULL, WNOHANG) == 0)
			usleep(1000);
	err = run_rounds(row, &row->cost[size_nr]);
	usleep(20000);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	if (sleeps)
		pthread_join(thread, NULL);
	for (unsigned int i = 0; i < nr_readers; i++) {
		bench_must(waitpid(pids[i], NULL, WNOHANG) == 0, "%s: a reader has ended",
			   row->key);
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	perf_buffer__free(perf);
	perf = NULL;
	if (!err)
		check_row(row, nr_readers);
	return err;
}

static void print(void)
{
	char line[200];
	int len;

	bench_say("%-50s %8s %8s %8s %8s   times ours, 64", "output, time stamp in all; bytes:",
		  "8", "64", "256", "4096");
	for (unsigned int i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];

		len = snprintf(line, sizeof(line), "%-50s", row->what);
		for (unsigned int size = 0; size < SIZES; size++) {
			if (!row->cost[size]) {
				len += snprintf(line + len, sizeof(line) - len, " %8s", "-");
				continue;
			}
			len += snprintf(line + len, sizeof(line) - len, " %8.1f", row->cost[size]);
			fprintf(bench.stream, ",\"%s_%u\":%.1f", row->key, sizes[size],
				row->cost[size]);
		}
		if (rows[0].cost[1])
			bench_say("%s %8.2f", line, row->cost[1] / rows[0].cost[1]);
		else
			bench_say("%s", line);
	}
}

int main(int argc, char **argv)
{
	int others = bench_begin("matrix", argc, argv);
	unsigned int only = others ? atoi(argv[1]) : 0;
	int err = 0;

	if (others > 1 || (others && only != 8 && only != 64 && only != 256 && only != 4096)) {
		fprintf(stderr, "usage: matrix [--json | --both] [8 | 64 | 256 | 4096]\n");
		return 2;
	}
	readers = mmap(NULL, MAX_READERS * sizeof(*readers), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (readers == MAP_FAILED) {
		perror("matrix: mmap");
		return 1;
	}
	skel = matrix_bpf__open_and_load();
	if (!skel) {
		fprintf(stderr, "matrix: cannot load: %s (is monad_ring loaded?)\n",
			strerror(errno));
		return 1;
	}
	rb = ring_buffer__new(bpf_map__fd(skel->maps.rb), drop, NULL, NULL);
	rb_all = ring_buffer__new(bpf_map__fd(skel->maps.rb), drop, NULL, NULL);
	if (!rb || !rb_all || ring_buffer__add(rb_all, bpf_map__fd(skel->maps.rb2), drop, NULL) ||
	    ring_buffer__add(rb_all, bpf_map__fd(skel->maps.rb3), drop, NULL) ||
	    ring_buffer__add(rb_all, bpf_map__fd(skel->maps.rb4), drop, NULL)) {
		fprintf(stderr, "matrix: ring_buffer__new: %s\n", strerror(errno));
		return 1;
	}
	for (unsigned int size = 0; size < SIZES && !err; size++)
		for (unsigned int i = 0; i < ROWS && !err && (!only || only == sizes[size]); i++) {
			err = measure(&rows[i], size);
			bench_must(!err, "%s: %s", rows[i].key, strerror(err));
		}
	if (!err)
		print();
	ring_buffer__free(rb);
	ring_buffer__free(rb_all);
	matrix_bpf__destroy(skel);
	return bench_end();
}
