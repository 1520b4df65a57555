// SPDX-License-Identifier: GPL-2.0
/* monad-storage errors: what failed, by what it was, and what nearly did. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "json_writer.h"
#include "metrics.h"
#include "monad_storage.h"
#include "series_filter.h"

static const char doc[] =
	"Show what failed since the recording was started: per disk, operation and error; and "
	"what was in trouble without failing: timeouts and requeues.\n\n"
	"The programs count this in the kernel: nothing is lost to it.\v"
	"Exit status: 0, whether or not there are errors; 1 when nothing is recording.\n\n"
	"COLUMNS\n"
	"  TIMEOUTS  requests that took longer than the device is given\n"
	"  REQUEUES  times that a request which was issued was given back by the driver\n"
	"            (requeues_issued in JSON, state=\"issued\" in metrics)\n"
	"  UNISSUED  times that one was given back which the driver did not take, as\n"
	"            with its queue full (requeues_unissued, state=\"unissued\")\n"
	"  PARTIALS  completions of a part, after which the rest went on, or of the\n"
	"            data of a write that is flushed then: no trouble, and journals\n"
	"            have many\n\n"
	"Which I/Os failed, and whose they were:\n\n"
	"  monad-storage replay --errors\n";

enum { KEY_JSON = 0x200 };

static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0, "One JSON object", 0 },
	{}
};

struct errors {
	struct series_filter filter;
	bool json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct errors *errors = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &errors->filter;
		return 0;
	case KEY_JSON:
		errors->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static bool in_trouble(const struct metrics_series *s)
{
	return s->sum.timeouts || s->sum.requeues_issued || s->sum.requeues_unissued;
}

static unsigned int print_errors(const struct errors *errors, const struct metrics *metrics)
{
	unsigned int rows = 0;

	for (size_t i = 0; i < metrics->nr_errors; i++) {
		const struct metrics_error *e = &metrics->errors[i];

		if (!series_filter(&errors->filter, e->dev, e->disk, e->op))
			continue;
		if (!rows++)
			printf("%-10s %-12s %-14s %9s  %s\n", "DISK", "OP", "ERROR", "COUNT",
			       "MEANING");
		printf("%-10s %-12s %-14s %9" PRIu64 "  %s\n", e->disk, metrics_op_name(e->op),
		       errno_name(e->error), e->count, strerror((int)e->error));
	}
	return rows;
}

static unsigned int print_trouble(const struct errors *errors, const struct metrics *metrics,
				  bool gap)
{
	unsigned int rows = 0;

	for (size_t i = 0; i < metrics->nr_series; i++) {
		const struct metrics_series *s = &metrics->series[i];

		if (!in_trouble(s) || !series_filter(&errors->filter, s->dev, s->disk, s->op))
			continue;
		if (!rows++)
			printf("%s%-10s %-12s %9s %9s %9s %9s %9s\n", gap ? "\n" : "", "DISK",
			       "OP", "OPS", "TIMEOUTS", "REQUEUES", "UNISSUED", "PARTIALS");
		printf("%-10s %-12s %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64
		       "\n",
		       s->disk, metrics_op_name(s->op), s->sum.ops, s->sum.timeouts,
		       s->sum.requeues_issued, s->sum.requeues_unissued, s->sum.partials);
	}
	return rows;
}

static void print(const struct errors *errors, const struct metrics *metrics)
{
	unsigned int rows = print_errors(errors, metrics);

	rows += print_trouble(errors, metrics, rows);
	if (metrics->unknown_errors) {
		printf("%s%" PRIu64 " more errors, of more kinds than there was room for\n",
		       rows ? "\n" : "", metrics->unknown_errors);
		rows++;
	}
	if (!rows)
		puts("no errors, timeouts or requeues");
}

static void print_json(const struct errors *errors, const struct metrics *metrics)
{
	struct json_writer json;

	json_init(&json, stdout, true);
	json_begin_object(&json);
	json_key(&json, "errors");
	json_begin_array(&json);
	for (size_t i = 0; i < metrics->nr_errors; i++) {
		const struct metrics_error *e = &metrics->errors[i];

		if (!series_filter(&errors->filter, e->dev, e->disk, e->op))
			continue;
		json_begin_object(&json);
		json_string_field(&json, "disk", e->disk);
		json_string_field(&json, "op", metrics_op_name(e->op));
		json_string_field(&json, "error", errno_name(e->error));
		json_u64_field(&json, "errno", e->error);
		json_u64_field(&json, "count", e->count);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_u64_field(&json, "unknown_errors", metrics->unknown_errors);
	json_key(&json, "trouble");
	json_begin_array(&json);
	for (size_t i = 0; i < metrics->nr_series; i++) {
		const struct metrics_series *s = &metrics->series[i];

		if (!in_trouble(s) || !series_filter(&errors->filter, s->dev, s->disk, s->op))
			continue;
		json_begin_object(&json);
		json_string_field(&json, "disk", s->disk);
		json_string_field(&json, "op", metrics_op_name(s->op));
		json_u64_field(&json, "ops", s->sum.ops);
		json_u64_field(&json, "timeouts", s->sum.timeouts);
		json_u64_field(&json, "requeues_issued", s->sum.requeues_issued);
		json_u64_field(&json, "requeues_unissued", s->sum.requeues_unissued);
		json_u64_field(&json, "partials", s->sum.partials);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	json_end(&json);
}

int cmd_errors(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &series_filter_argp, 0, "Which I/O:", 1 }, {}
	};
	static const struct argp argp = { options, parse_option, NULL, doc, children, NULL, NULL };
	struct errors errors = {};
	struct metrics metrics;

	argp_parse(&argp, argc, argv, 0, NULL, &errors);
	if (metrics_read_or_complain(&metrics))
		return EXIT_FAILED;
	if (errors.json)
		print_json(&errors, &metrics);
	else
		print(&errors, &metrics);
	metrics_free(&metrics);
	return EXIT_OK;
}
