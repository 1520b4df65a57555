// SPDX-License-Identifier: GPL-2.0
/* monad-storage cgroups: how much I/O each cgroup is charged with. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "cgroup_path.h"
#include "human.h"
#include "interval.h"
#include "json_writer.h"
#include "metrics.h"
#include "monad_storage.h"
#include "printable.h"

static const char doc[] =
	"Show how much I/O each cgroup is charged with, those with the most time in I/O first: "
	"operations, bytes and the time they took, added up over all disks.\n\n"
	"Without INTERVAL: since the recording was started; with it: in each interval, COUNT "
	"times.\v"
	"The kernel charges I/O to the nearest cgroup above the task that has the io controller "
	"enabled (cgroup v2, cgroup.subtree_control): without it, all is the root's. "
	"AVERAGE is per operation, from when it was first seen to its end. An I/O to a stack of "
	"devices (dm, md) is counted once, on the lowest of them.\n\n"
	"EXAMPLES\n"
	"  monad-storage cgroups\n"
	"  monad-storage cgroups 1        each second\n";

enum { KEY_JSON = 0x200 };

static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0, "One JSON object, in each interval a line", 0 },
	{}
};

struct cgroups {
	struct interval interval;
	bool json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct cgroups *cgroups = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return interval_parse(&cgroups->interval, arg, state);
	case KEY_JSON:
		cgroups->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static uint64_t sum_of(const uint64_t values[MONAD_STORAGE_DIRECTIONS])
{
	uint64_t sum = 0;

	for (int i = 0; i < MONAD_STORAGE_DIRECTIONS; i++)
		sum += values[i];
	return sum;
}

static int compare(const void *a, const void *b)
{
	const struct metrics_cgroup *x = a, *y = b;
	uint64_t wx = sum_of(x->sum.total_ns), wy = sum_of(y->sum.total_ns);

	return wx != wy ? (wx < wy) - (wx > wy) : (x->id > y->id) - (x->id < y->id);
}

static void print_row(const char *name, const struct monad_storage_cgroup *c)
{
	uint64_t ops = sum_of(c->ops), ns = sum_of(c->total_ns);
	char read[HUMAN_LEN], written[HUMAN_LEN], average[HUMAN_LEN], all[HUMAN_LEN];

	if (!ops)
		return;
	printf("%9" PRIu64 " %6s %9" PRIu64 " %6s %9" PRIu64 " %6" PRIu64 " %8s %8s  %s\n",
	       c->ops[MONAD_STORAGE_READS],
	       human_bytes(c->bytes[MONAD_STORAGE_READS], read), c->ops[MONAD_STORAGE_WRITES],
	       human_bytes(c->bytes[MONAD_STORAGE_WRITES], written), c->ops[MONAD_STORAGE_OTHERS],
	       c->errors, human_duration(ns / ops, average), human_duration(ns, all), name);
}

static void print(const struct metrics *metrics, uint64_t window_ns)
{
	char path[PATH_MAX], text[PATH_MAX], window[HUMAN_WINDOW_LEN];

	if (window_ns)
		puts(human_window(clock_ns(CLOCK_REALTIME), window_ns, window));

	printf("%9s %6s %9s %6s %9s %6s %8s %8s  %s\n", "READS", "SIZE", "WRITES", "SIZE", "OTHERS",
	       "ERR", "AVERAGE", "ALL", "CGROUP");
	for (size_t i = 0; i < metrics->nr_cgroups; i++) {
		const struct metrics_cgroup *c = &metrics->cgroups[i];

		if (cgroup_path(c->id, path, sizeof(path)))
			snprintf(path, sizeof(path), "(id %" PRIu64 ")", c->id);
		print_row(printable(text, sizeof(text), path), &c->sum);
	}
	print_row("(cgroups that are gone)", &metrics->gone_cgroups);
	print_row("(not known)", &metrics->unknown_cgroup);
	fflush(stdout);
}

static void json_sum(struct json_writer *json, const struct monad_storage_cgroup *c)
{
	static const char *const names[MONAD_STORAGE_DIRECTIONS] = { "reads", "writes", "others" };

	for (int i = 0; i < MONAD_STORAGE_DIRECTIONS; i++) {
		json_key(json, names[i]);
		json_begin_object(json);
		json_u64_field(json, "ops", c->ops[i]);
		json_u64_field(json, "bytes", c->bytes[i]);
		json_u64_field(json, "total_ns", c->total_ns[i]);
		json_end_object(json);
	}
	json_u64_field(json, "errors", c->errors);
}

static void print_json(const struct cgroups *cgroups, const struct metrics *metrics,
		       uint64_t window_ns)
{
	struct json_writer json;
	char path[PATH_MAX];

	json_init(&json, stdout, !cgroups->interval.ns);
	json_begin_object(&json);
	if (window_ns)
		json_u64_field(&json, "window_ns", window_ns);
	json_key(&json, "cgroups");
	json_begin_array(&json);
	for (size_t i = 0; i < metrics->nr_cgroups; i++) {
		const struct metrics_cgroup *c = &metrics->cgroups[i];

		json_begin_object(&json);
		json_u64_field(&json, "id", c->id);
		json_string_field(&json, "path",
				  cgroup_path(c->id, path, sizeof(path)) ? NULL : path);
		json_sum(&json, &c->sum);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_key(&json, "gone");
	json_begin_object(&json);
	json_sum(&json, &metrics->gone_cgroups);
	json_end_object(&json);
	json_key(&json, "unknown");
	json_begin_object(&json);
	json_sum(&json, &metrics->unknown_cgroup);
	json_end_object(&json);
	json_end_object(&json);
	json_end(&json);
	fflush(stdout);
}

static void show(const void *what, struct metrics *metrics, uint64_t window_ns)
{
	const struct cgroups *cgroups = what;

	if (metrics->nr_cgroups)
		qsort(metrics->cgroups, metrics->nr_cgroups, sizeof(*metrics->cgroups), compare);
	if (cgroups->json)
		print_json(cgroups, metrics, window_ns);
	else
		print(metrics, window_ns);
}

int cmd_cgroups(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, INTERVAL_ARGS, doc, NULL, NULL,
					  NULL };
	struct cgroups cgroups = {};

	argp_parse(&argp, argc, argv, 0, NULL, &cgroups);
	return metrics_show(&cgroups.interval, show, &cgroups);
}
