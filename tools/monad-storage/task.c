// SPDX-License-Identifier: GPL-2.0
/* monad-storage task: one question, asked for a while, with a summary at the end. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <monad_event/event_ring_util.h>

#include "bpf_programs.h"
#include "disk.h"
#include "human.h"
#include "interrupt.h"
#include "monad_storage.h"
#include "parse.h"
#include "reader.h"
#include "ring_follow.h"
#include "ring_walk.h"
#include "task.h"
#include "task_block.h"
#include "task_print.h"
#include "task_programs.h"

#define MIN_DURATION_NS (NSEC_PER_SEC / 10)
#define MAX_DURATION_NS (600 * NSEC_PER_SEC)
#define MAX_EVENTS 1000000
#define MAX_SAMPLE_RATE 1000000
/* What is slow if --min-latency does not say. */
#define SLOW_NS (NSEC_PER_SEC / 100)

static const char doc[] =
	"Look into slow I/O above the block layer, for a while: print what matches as it "
	"happens, then sum it up.\n\n"
	"KIND is\n"
	"  vfs-latency         reads and writes of files: read, pread, readv, ...\n"
	"  fsync-latency       fsync, fdatasync, msync, O_SYNC and O_DSYNC writes\n"
	"  writeback-pressure  writers that are put to sleep until disks keep up\n"
	"  block-latency       I/O of block devices, as 'monad-storage start' records it\n\n"
	"Programs are attached while it runs, and gone when it ends, however it ends. The "
	"summary holds all that matches --pid, --device and --op; the other options say "
	"what of it is printed.\v"
	"EXAMPLES\n"
	"  monad-storage task fsync-latency -d sda --min-latency 20ms\n"
	"  monad-storage task vfs-latency -p 1234 --duration 1m --sample-rate 100\n"
	"  monad-storage task writeback-pressure --json\n";

enum { KEY_MIN_LATENCY = 0x300, KEY_JSON };

static const struct argp_option argp_options[] = {
	{ "duration", 't', "TIME", 0, "How long, up to 10m (10s)", 0 },
	{ "max-events", 'n', "N", 0, "End after so many events (10000)", 0 },
	{ "sample-rate", 's', "N", 0, "Print one in N events (1)", 0 },
	{ "device", 'd', "DISK", 0, "Only files on this disk; may be given again", 1 },
	{ "pid", 'p', "PID", 0, "Only this process or thread; may be given again", 1 },
	{ "op", 'o', "OP", 0, "Only this operation; may be given again", 1 },
	{ "min-latency", KEY_MIN_LATENCY, "TIME", 0,
	  "Print only what took at least that long, as 500us or 10ms", 1 },
	{ "ring", 'r', "NAME", 0, "Ring to use (" DEFAULT_RING ")", 2 },
	{ "json", KEY_JSON, NULL, 0, "One JSON object a line", 2 },
	{ "verbose", 'v', NULL, 0, "Say what libbpf says", 2 },
	{}
};

struct arguments {
	struct task_options options;
	const char *kind;
	const char *ops[TASK_OPS];
	unsigned int nr_ops;
};

struct task {
	struct task_options options;
	struct task_results results;
	uint32_t id;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	struct reader reader;
	struct ring_follow ring;
	struct json_writer writer;
	struct json_writer *json; /* &writer, or NULL */
	struct task_programs *programs; /* NULL: TASK_BLOCK */
	struct task_block block;
};

static uint64_t parse_count(struct argp_state *state, const char *option, const char *arg,
			    uint64_t most)
{
	uint64_t value;

	if (!parse_u64(arg, &value) || !value || value > most)
		argp_error(state, "--%s is 1 to %" PRIu64 ", not '%s'", option, most, arg);
	return value;
}

static void add_disk(struct argp_state *state, struct task_options *o, const char *name)
{
	if (o->nr_devs == TASK_MAX_DISKS)
		argp_error(state, "no more than %d disks", TASK_MAX_DISKS);
	switch (disk_find(name, &o->devs[o->nr_devs])) {
	case DISK_FOUND:
		o->nr_devs++;
		return;
	case DISK_GONE:
	case DISK_GONE_NUMBER:
		error("there is no disk %s", name);
		exit(EXIT_FAILED);
	case DISK_INVALID:
		exit(EXIT_FAILED);
	}
}

static void add_pid(struct argp_state *state, struct task_options *o, const char *arg)
{
	uint64_t pid;

	if (!parse_u64(arg, &pid) || !pid || pid > INT32_MAX)
		argp_error(state, "'%s' is no process id", arg);
	if (o->nr_pids == MONAD_TASK_PIDS)
		argp_error(state, "no more than %d process ids", MONAD_TASK_PIDS);
	o->pids[o->nr_pids++] = pid;
}

/* Once the kind is known, which may come last. */
static void finish_arguments(struct argp_state *state, struct arguments *args)
{
	struct task_options *o = &args->options;
	char list[256];
	int op;

	if (!args->kind) {
		argp_error(state, "which kind of task? vfs-latency, fsync-latency, "
			   "writeback-pressure or block-latency");
		return;
	}
	while (o->kind < TASK_KINDS && strcmp(args->kind, task_kind_names[o->kind]) != 0)
		o->kind++;
	if (o->kind == TASK_KINDS)
		argp_error(state, "no task '%s'; there are vfs-latency, fsync-latency, "
			   "writeback-pressure and block-latency", args->kind);
	for (unsigned int i = 0; i < args->nr_ops; i++) {
		op = task_op_by_name(o->kind, args->ops[i]);
		if (op < 0)
			argp_error(state, "%s has no operation '%s'; there are: %s", args->kind,
				   args->ops[i], task_op_list(o->kind, list, sizeof(list)));
		o->ops |= 1U << op;
	}
	if (o->kind == TASK_BLOCK && o->ring)
		argp_error(state, "block-latency reads the ring that is recorded to; "
			   "--ring is for the others");
	o->slow_ns = o->min_latency_ns ? o->min_latency_ns : SLOW_NS;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *args = state->input;
	struct task_options *o = &args->options;

	switch (key) {
	case 't':
		if (parse_duration(arg, &o->duration_ns) || o->duration_ns < MIN_DURATION_NS ||
		    o->duration_ns > MAX_DURATION_NS)
			argp_error(state, "--duration is 100ms to 10m, not '%s'", arg);
		return 0;
	case 'n':
		o->max_events = parse_count(state, "max-events", arg, MAX_EVENTS);
		return 0;
	case 's':
		o->sample_rate = parse_count(state, "sample-rate", arg, MAX_SAMPLE_RATE);
		return 0;
	case 'd':
		add_disk(state, o, arg);
		return 0;
	case 'p':
		add_pid(state, o, arg);
		return 0;
	case 'o':
		if (args->nr_ops == TASK_OPS)
			argp_error(state, "no more than %d operations", TASK_OPS);
		args->ops[args->nr_ops++] = arg;
		return 0;
	case KEY_MIN_LATENCY:
		if (parse_duration(arg, &o->min_latency_ns))
			argp_error(state, "'%s' is no time; say 500us, 10ms, 2s", arg);
		return 0;
	case 'r':
		o->ring = arg;
		return 0;
	case KEY_JSON:
		o->json = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		if (args->kind)
			argp_error(state, "one kind of task at a time, not '%s' as well", arg);
		args->kind = arg;
		return 0;
	case ARGP_KEY_END:
		finish_arguments(state, args);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static bool take_call(struct task *task, const struct monad_event_descriptor *desc,
		      struct task_event *event)
{
	struct monad_storage_call *call = &event->call;

	if (!event_is_call(desc->event_type) || desc->payload_size < sizeof(*call) ||
	    desc->content_ext[MONAD_STORAGE_TAG_TASK] != task->id ||
	    !monad_event_iterator_payload_memcpy(&task->reader.iter, desc, call, sizeof(*call)))
		return false;
	event->is_call = true;
	event->desc = *desc;
	call->comm[MONAD_STORAGE_COMM_LEN - 1] = '\0';
	call->fs[MONAD_STORAGE_FS_LEN - 1] = '\0';
	call->file[MONAD_STORAGE_FILE_LEN - 1] = '\0';
	return true;
}

static void handle(struct task *task, const struct monad_event_descriptor *desc)
{
	struct task_event event;
	bool show;

	if (task->programs)
		show = take_call(task, desc, &event);
	else
		show = task_block_take(&task->block, &task->options, &task->results,
				       &task->reader, desc, &event);
	if (!show)
		return;
	task->results.shown++;
	task_note_slowest(&task->results, &event);
	task_print_event(task->json, task->options.kind, &event);
}

static bool output_gone(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO };

	return poll(&output, 1, 0) == 1 && output.revents & (POLLERR | POLLHUP | POLLNVAL);
}

static bool enough(const struct task *task)
{
	return task->results.shown >= task->options.max_events ||
	       (task->programs && task_programs_full(task->programs));
}

/* Until there is a reason to end, which is what it returns. */
static const char *follow(struct task *task)
{
	struct monad_event_descriptor desc;
	uint64_t missed, now;

	for (;;) {
		if (interrupted)
			return "interrupt";
		if (ferror(stdout))
			return "output";
		if (enough(task))
			return "max_events";
		now = clock_ns(CLOCK_MONOTONIC);
		if (now >= task->deadline_ns)
			return "duration";
		switch (ring_follow_next(&task->ring, &desc, &missed)) {
		case RING_FOLLOW_EVENT:
			handle(task, &desc);
			break;
		case RING_FOLLOW_GAP:
			task->reader.missed += missed;
			break;
		case RING_FOLLOW_NONE:
			fflush(stdout);
			if (output_gone())
				return "output";
			ring_follow_wait(&task->ring, task->deadline_ns - now);
			break;
		}
	}
}

/* What was written to the ring until now. */
static void drain(struct task *task)
{
	struct monad_event_descriptor desc;
	struct ring_walk walk;
	uint64_t missed;

	ring_walk_begin(&walk, &task->reader.iter);
	while (!ferror(stdout)) {
		switch (ring_walk_next(&walk, &desc, &missed)) {
		case RING_WALK_EVENT:
			handle(task, &desc);
			break;
		case RING_WALK_GAP:
			task->reader.missed += missed;
			break;
		case RING_WALK_END:
			return;
		}
	}
}

static int run(struct task *task)
{
	struct task_results *results = &task->results;
	uint64_t began_ns;

	catch_interrupts();
	monad_event_iterator_set_seqno(&task->reader.iter,
				       monad_event_ring_last_seqno(&task->reader.ring) + 1);
	results->began_ns = clock_ns(CLOCK_REALTIME);
	began_ns = clock_ns(CLOCK_MONOTONIC);
	task->deadline_ns = began_ns + task->options.duration_ns;
	if (task->programs)
		task_programs_begin(task->programs, task->deadline_ns);
	/* From here on it sees what happens, and says so. */
	task_print_begin(task->json, task->options.kind, task->id);
	fflush(stdout);
	results->ended_by = follow(task);
	results->window_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
	if (task->programs && task_programs_end(task->programs, results))
		return EXIT_FAILED;
	drain(task);
	if (task->programs) {
		/* What was just being written is counted a moment after it is there. */
		if (results->counters.value[MONAD_TASK_RECORDED] > results->shown)
			results->missed = results->counters.value[MONAD_TASK_RECORDED] -
					  results->shown;
	} else {
		results->missed = task->reader.missed + task->reader.expired;
		task_block_end(&task->block, results);
	}
	task_print_summary(task->json, &task->options, results);
	return EXIT_OK;
}

/* The waiter wants the ring's descriptor. */
static int open_ring(struct task *task, const char *path)
{
	int err, fd, status;

	status = reader_open(&task->reader, path, NULL);
	if (status)
		return status;
	err = monad_event_ring_open_fd(path, &fd, NULL, 0);
	if (!err) {
		err = ring_follow_begin(&task->ring, &task->reader.iter, fd);
		close(fd);
	}
	if (!err)
		return EXIT_OK;
	error("%s", lib_error());
	reader_close(&task->reader);
	return EXIT_FAILED;
}

static void close_ring(struct task *task)
{
	ring_follow_end(&task->ring);
	reader_close(&task->reader);
}

static int run_programs(struct task *task)
{
	const char *ring = task->options.ring ? task->options.ring : DEFAULT_RING;
	struct monad_ring_info info;
	char path[128];
	int status;

	if (bpf_prepare_ring(ring, path, sizeof(path), &info))
		return EXIT_FAILED;
	status = open_ring(task, path);
	if (status)
		return status;
	/* Not 0; JSON numbers are no larger. */
	while (!task->id) {
		if (getrandom(&task->id, sizeof(task->id), 0) != sizeof(task->id))
			continue;
	}
	task->programs = task_programs_new(&task->options, info.ring_id, task->id);
	status = task->programs ? run(task) : EXIT_FAILED;
	task_programs_free(task->programs);
	close_ring(task);
	return status;
}

static int run_block(struct task *task)
{
	int status;

	if (task_block_begin(&task->block, &task->options))
		return EXIT_FAILED;
	status = open_ring(task, task->block.ring);
	if (status)
		return status;
	status = run(task);
	close_ring(task);
	return status;
}

int cmd_task(int argc, char **argv)
{
	static const struct argp argp = {
		argp_options, parse_option, "KIND", doc, NULL, NULL, NULL
	};
	struct arguments args = {
		.options = {
			.duration_ns = 10 * NSEC_PER_SEC,
			.max_events = 10000,
			.sample_rate = 1,
		},
	};
	struct task *task;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	bpf_log_begin(args.options.verbose);
	if (bpf_check_system("a task"))
		return EXIT_FAILED;
	task = xcalloc(1, sizeof(*task));
	task->options = args.options;
	json_init(&task->writer, stdout, false);
	task->json = args.options.json ? &task->writer : NULL;
	status = args.options.kind == TASK_BLOCK ? run_block(task) : run_programs(task);
	free(task->results.devices);
	free(task);
	return status;
}
