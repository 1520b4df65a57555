// SPDX-License-Identifier: GPL-2.0
/* monad-storage task: one question, asked for a while, with a summary at the end. */
#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_programs.h"
#include "disk.h"
#include "monad_storage.h"
#include "parse.h"
#include "task.h"
#include "task_ask.h"
#include "task_print.h"
#include "task_run.h"

static const char doc[] =
	"Look into slow I/O above the block layer, for a while: print what matches as it "
	"happens, then sum it up.\n\n"
	"KIND is\n"
	"  vfs-latency         reads and writes of files: read, pread, readv, ...\n"
	"  fsync-latency       fsync, fdatasync, msync, O_SYNC and O_DSYNC writes\n"
	"  writeback-pressure  writers that are put to sleep until disks keep up\n"
	"  block-latency       I/O of block devices, as it is being recorded\n\n"
	"Programs are attached while it runs, and gone when it ends, however it ends. The "
	"summary holds all that matches --pid, --device and --op; the other options say "
	"what of it is printed.\v"
	"EXAMPLES\n"
	"  monad-storage task fsync-latency -d sda --min-latency 20ms\n"
	"  monad-storage task vfs-latency -p 1234 --duration 1m --sample-rate 100\n"
	"  monad-storage task writeback-pressure --json\n"
	"  monad-storage task fsync-latency --socket " DEFAULT_SOCKET "\n";

enum { KEY_MIN_LATENCY = 0x300, KEY_JSON };

static const struct argp_option argp_options[] = {
	{ "duration", 't', "TIME", 0, "How long, up to 10m (10s)", 0 },
	{ "max-events", 'n', "N", 0, "End after so many events (10000)", 0 },
	{ "sample-rate", 's', "N", 0, "Print one in N events (1)", 0 },
	{ "device", 'd', "DISK", 0, "Only files on this disk; may be given again", 1 },
	PID_OPTION(1),
	{ "op", 'o', "OP", 0, "Only this operation; may be given again", 1 },
	{ "min-latency", KEY_MIN_LATENCY, "TIME", 0,
	  "Print only what took at least that long, as 500us or 10ms", 1 },
	{ "ring", 'r', "NAME", 0, "Ring to use (" DEFAULT_RING ")", 2 },
	{ "socket", 'S', "PATH", 0,
	  "Let 'monad-storage serve' do it, which listens there: takes no root", 2 },
	{ "json", KEY_JSON, NULL, 0, "One JSON object a line", 2 },
	{ "verbose", 'v', NULL, 0, "Say what libbpf says", 2 },
	{}
};

struct arguments {
	struct task_options options;
	const char *kind;
	const char *socket; /* NULL: here */
	const char *ops[TASK_OPS];
	unsigned int nr_ops;
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
	o->kind = task_kind_by_name(args->kind);
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
	if (args->socket && (o->ring || o->verbose))
		argp_error(state, "--ring and --verbose are for tasks that run here, not for "
			   "those of a server (--socket)");
	o->slow_ns = o->min_latency_ns ? o->min_latency_ns : TASK_SLOW_NS;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *args = state->input;
	struct task_options *o = &args->options;

	switch (key) {
	case 't':
		if (parse_duration(arg, &o->duration_ns) || o->duration_ns < TASK_MIN_DURATION_NS ||
		    o->duration_ns > TASK_MAX_DURATION_NS)
			argp_error(state, "--duration is 100ms to 10m, not '%s'", arg);
		return 0;
	case 'n':
		o->max_events = parse_count(state, "max-events", arg, TASK_MAX_EVENTS);
		return 0;
	case 's':
		o->sample_rate = parse_count(state, "sample-rate", arg, TASK_MAX_SAMPLE_RATE);
		return 0;
	case 'd':
		add_disk(state, o, arg);
		return 0;
	case 'p':
		pid_set_add(&o->pids, arg, state);
		return 0;
	case 'o':
		if (args->nr_ops == TASK_OPS)
			argp_error(state, "no more than %d operations", TASK_OPS);
		args->ops[args->nr_ops++] = arg;
		return 0;
	case KEY_MIN_LATENCY:
		if (parse_latency(arg, &o->min_latency_ns))
			argp_error(state, "'%s' is no time with a unit; say 500us, 10ms, 2s", arg);
		return 0;
	case 'r':
		o->ring = arg;
		return 0;
	case 'S':
		args->socket = arg;
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

int cmd_task(int argc, char **argv)
{
	static const struct argp argp = {
		argp_options, parse_option, "KIND", doc, NULL, NULL, NULL
	};
	struct arguments args = {
		.options = {
			.duration_ns = TASK_DURATION_NS,
			.max_events = TASK_EVENTS,
			.sample_rate = 1,
		},
	};
	struct task_printer printer;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (args.socket)
		return task_ask(&args.options, args.socket);
	bpf_log_begin(args.options.verbose);
	if (bpf_check_system("a task"))
		return EXIT_FAILED;
	task_printer_init(&printer, &args.options);
	return task_run(&args.options, &printer.output);
}
