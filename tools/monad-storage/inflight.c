// SPDX-License-Identifier: GPL-2.0
/* monad-storage inflight: what is under way now, since when, and whose it is. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cgroup_set.h"
#include "disk.h"
#include "event.h"
#include "human.h"
#include "inflight_table.h"
#include "json_writer.h"
#include "monad_storage.h"
#include "parse.h"
#include "pid_set.h"
#include "pins.h"
#include "printable.h"
#include "series_filter.h"

static const char doc[] =
	"Show the I/O that is under way now, oldest first: what hangs, on which disk, and "
	"who asked for it.\n\n"
	"An I/O that never comes back is in no ring and no histogram: it is here.\v"
	"STATE\n"
	"  waiting for a request: the disk has no free one, or a limit keeps it\n"
	"  queued  as a request: in a scheduler, for a flush, or given back\n"
	"  issued  with the device\n"
	"  bio     with a driver that takes bios (dm, md, zram, ...)\n\n"
	"EXAMPLES\n"
	"  monad-storage inflight                 all of it\n"
	"  monad-storage inflight --min-age 10s   what is stuck\n";

enum { KEY_JSON = 0x200, KEY_MIN_AGE };

static const struct argp_option options[] = {
	PID_OPTION(0),
	CGROUP_OPTION(0),
	{ "min-age", KEY_MIN_AGE, "TIME", 0,
	  "Only what began at least that long ago, as 500ms or 10s", 0 },
	{ "json", KEY_JSON, NULL, 0, "One JSON object", 0 },
	{}
};

struct inflight {
	struct series_filter filter;
	struct pid_set pids;
	struct cgroup_set cgroups; /* that pay */
	uint64_t min_age_ns;
	bool json;
};

struct io {
	struct monad_storage_io io;
	uint64_t age_ns;
	const char *state;
	char disk[32];
};

struct list {
	const struct inflight *inflight;
	struct io *ios;
	size_t nr, room;
	uint64_t unseen; /* have ended, and are not among them */
	uint64_t others; /* under way, but not asked for */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct inflight *inflight = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &inflight->filter;
		return 0;
	case 'p':
		pid_set_add(&inflight->pids, arg, state);
		return 0;
	case 'c':
		if (cgroup_set_add(&inflight->cgroups, arg))
			exit(EXIT_FAILED);
		return 0;
	case KEY_MIN_AGE:
		if (parse_latency(arg, &inflight->min_age_ns))
			argp_error(state, "'%s' is no time with a unit; say 500ms, 10s", arg);
		return 0;
	case KEY_JSON:
		inflight->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const char *state_of(const struct monad_storage_io *io, bool bio)
{
	switch (io->state) {
	case MONAD_STORAGE_STATE_ISSUED:
		return "issued";
	case MONAD_STORAGE_STATE_WAITING:
		return "waiting";
	default:
		return bio ? "bio" : "queued";
	}
}

static void gather(const struct inflight_io *from, void *arg)
{
	struct list *list = arg;
	struct io io = {
		.io = from->io,
		.age_ns = from->age_ns,
		.state = state_of(&from->io, from->bio),
	};

	disk_name(io.io.dev, io.disk, sizeof(io.disk));
	if (io.age_ns < list->inflight->min_age_ns ||
	    !pid_set_has(&list->inflight->pids, io.io.pid, io.io.tgid) ||
	    !cgroup_set_has(&list->inflight->cgroups, io.io.cgroup_id) ||
	    !series_filter(&list->inflight->filter, io.io.dev, io.disk, io.io.op)) {
		list->others++;
		return;
	}
	if (list->nr == list->room) {
		list->room = list->room * 2 + 64;
		list->ios = xrealloc(list->ios, list->room * sizeof(io));
	}
	list->ios[list->nr++] = io;
}

static int compare(const void *a, const void *b)
{
	const struct io *x = a, *y = b;

	return (x->age_ns < y->age_ns) - (x->age_ns > y->age_ns);
}

static void print(const struct list *list)
{
	char age[HUMAN_LEN], size[HUMAN_LEN], sector[24];
	char comm[MONAD_STORAGE_COMM_LEN + 1], name[MONAD_STORAGE_COMM_LEN + 1];

	if (list->unseen)
		warning("%" PRIu64 " more have ended, and nobody saw it (recursion misses)",
			list->unseen);
	if (!list->nr) {
		if (list->others)
			printf("nothing of what was asked for is under way; %" PRIu64 " other%s\n",
			       list->others, list->others == 1 ? " is" : "s are");
		else
			puts("nothing is under way");
		return;
	}
	printf("%7s %-7s %-10s %-12s %12s %6s %6s %8s %8s %s\n", "AGE", "STATE", "DISK", "OP",
	       "SECTOR", "SIZE", "ISSUES", "REQUEUES", "PID", "COMM");
	for (size_t i = 0; i < list->nr; i++) {
		const struct io *io = &list->ios[i];

		if (io->io.sector == MONAD_STORAGE_NO_SECTOR)
			snprintf(sector, sizeof(sector), "-");
		else
			snprintf(sector, sizeof(sector), "%" PRIu64, io->io.sector);
		snprintf(comm, sizeof(comm), "%.*s", MONAD_STORAGE_COMM_LEN, io->io.comm);
		printf("%7s %-7s %-10s %-12s %12s %6s %6u %8u %8u %s%s%s\n",
		       human_duration(io->age_ns, age), io->state, io->disk, op_name(io->io.op),
		       sector, human_bytes(io->io.bytes, size), io->io.issues,
		       io->io.requeues_issued + io->io.requeues_unissued, io->io.tgid,
		       printable(name, sizeof(name), comm),
		       io->io.flags & MONAD_STORAGE_F_ACTOR_ISSUER ? " (who issued it)" : "",
		       io->io.flags & MONAD_STORAGE_F_TIMED_OUT ? " (timed out)" : "");
	}
}

static void print_json(const struct list *list)
{
	struct json_writer json;

	json_init(&json, stdout, true);
	json_begin_object(&json);
	json_key(&json, "inflight");
	json_begin_array(&json);
	for (size_t i = 0; i < list->nr; i++) {
		const struct monad_storage_io *io = &list->ios[i].io;

		json_begin_object(&json);
		json_u64_field(&json, "age_ns", list->ios[i].age_ns);
		json_string_field(&json, "state", list->ios[i].state);
		json_string_field(&json, "disk", list->ios[i].disk);
		json_u64_field(&json, "major", io->dev >> 20);
		json_u64_field(&json, "minor", io->dev & 0xfffff);
		json_string_field(&json, "op", op_name(io->op));
		if (io->sector != MONAD_STORAGE_NO_SECTOR)
			json_u64_field(&json, "sector", io->sector);
		json_u64_field(&json, "bytes", io->bytes);
		json_u64_field(&json, "bytes_done", io->bytes_done);
		json_u64_field(&json, "issues", io->issues);
		json_u64_field(&json, "requeues_issued", io->requeues_issued);
		json_u64_field(&json, "requeues_unissued", io->requeues_unissued);
		json_u64_field(&json, "partials", io->partials);
		json_u64_field(&json, "pid", io->pid);
		json_u64_field(&json, "tgid", io->tgid);
		json_key(&json, "comm");
		json_string_n(&json, io->comm, strnlen(io->comm, sizeof(io->comm)));
		json_bool_field(&json, "timed_out", io->flags & MONAD_STORAGE_F_TIMED_OUT);
		json_bool_field(&json, "kthread", io->flags & MONAD_STORAGE_F_KTHREAD);
		json_bool_field(&json, "actor_is_issuer", io->flags & MONAD_STORAGE_F_ACTOR_ISSUER);
		json_u64_field(&json, "cgroup_id", io->cgroup_id);
		json_u64_field(&json, "actor_cgroup_id", io->actor_cgroup_id);
		json_u64_field(&json, "start_seqno", io->start_seqno);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_u64_field(&json, "not_asked_for", list->others);
	json_u64_field(&json, "ended_unseen", list->unseen);
	json_end_object(&json);
	json_end(&json);
}

int cmd_inflight(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &series_filter_argp, 0, "Which I/O:", 1 }, {}
	};
	static const struct argp argp = { options, parse_option, NULL, doc, children, NULL, NULL };
	struct inflight inflight = {};
	struct list list = { .inflight = &inflight };
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &inflight);
	err = inflight_visit(gather, &list, &list.unseen);
	if (err) {
		pins_complain(err);
		free(list.ios);
		return EXIT_FAILED;
	}
	if (list.nr)
		qsort(list.ios, list.nr, sizeof(*list.ios), compare);
	if (inflight.json)
		print_json(&list);
	else
		print(&list);
	free(list.ios);
	cgroup_set_free(&inflight.cgroups);
	return EXIT_OK;
}
