// SPDX-License-Identifier: GPL-2.0
/* monad-storage report: a page of what happened, to look at and to pass on. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "monad_storage.h"
#include "period.h"
#include "report_data.h"
#include "summary_data.h"
#include "view.h"
#include "write_file.h"

static const char doc[] =
	"Write a page of what is in the ring: latencies over time, percentiles, who waited, what "
	"failed, and what was lost. One HTML file that needs nothing else, no network and no "
	"script, to look at and to pass on.\v"
	"TIME is as of 'monad-storage replay'. The ring can be one that is recorded to, a ring "
	"file or a snapshot ('monad-ring snapshot'). FILE appears when it is complete, in place of "
	"one that is there; - is standard output.\n\n"
	"EXAMPLES\n"
	"  monad-storage report storage.html\n"
	"  monad-storage report --since 10m -d sda disk.html\n"
	"  monad-storage report -r before-the-crash.zst crash.html\n";

static const struct argp_option options[] = {
	VIEW_OPTION_RING,
	PERIOD_OPTIONS,
	{}
};

struct options {
	struct view view;
	struct report report;
	struct period period;
	const char *output;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (o->output)
			argp_error(state, "one file to write, not '%s' as well", arg);
		o->output = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->output)
			argp_error(state, "which file is to be written?");
		return 0;
	}
	if (!period_option(&o->period, key, arg, state))
		return 0;
	return view_option(&o->view, key, arg, state);
}

void report_add(struct report *report, const struct storage_event *event)
{
	const struct monad_storage_complete *c = &event->complete;
	struct report_point *point;

	summary_add(report->summary, event);
	if (!event->is_complete || !event_is_operation(event->desc.event_type))
		return;
	if (report->nr_points == report->room) {
		report->room = report->room * 2 + 4096;
		report->points = xrealloc(report->points,
					  report->room * sizeof(*report->points));
	}
	point = &report->points[report->nr_points++];
	point->end_ns = event->desc.record_epoch_nanos;
	point->total_ns = c->flags & MONAD_STORAGE_F_TOTAL_NS ? c->total_ns : 0;
	point->bytes = c->bytes;
	point->dev = event_dev(&event->desc);
	/* Of the same event: what the summary has. */
	memcpy(point->disk, event_disk_name(&report->summary->disks, event),
	       sizeof(point->disk));
	point->op = c->op;
	point->failed = c->error;
	if (c->error)
		report->errors[report->nr_errors++ % REPORT_ERRORS] = *event;
}

static void gather(struct options *o)
{
	struct reader *reader = &o->view.reader;
	struct monad_event_descriptor desc;
	struct storage_event event;
	struct ring_walk walk;

	ring_walk_begin(&walk, &reader->iter);
	while (!interrupted && period_next(&o->period, reader, &walk, &desc)) {
		writeback_note_disk(&o->report.writeback, reader, &desc);
		if (desc.event_type == MONAD_STORAGE_DIRTY_THROTTLE)
			writeback_add(&o->report.writeback, reader, &o->view.filter, &desc);
		else if (view_event(&o->view, &desc, &event))
			report_add(&o->report, &event);
	}
}

static int print_page(FILE *out, void *report)
{
	report_write(out, report);
	return EXIT_OK;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_option, "FILE", doc, view_children, NULL, NULL
	};
	struct options o = {};
	struct reader_span span;
	char *only;
	int status;

	period_init(&o.period);
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (period_check(&o.period))
		return EXIT_USAGE;
	status = view_open(&o.view);
	if (status)
		return status;
	/* The device's own flushes are rows of their own in the table. */
	o.view.filter.cache_flushes = true;
	o.report.summary = summary_new();
	o.report.reader = &o.view.reader;
	o.report.filter = &o.view.filter;
	o.report.ring = o.view.ring;
	only = filter_text(&o.view.filter);
	o.report.only = only ?: "";
	o.report.reach_later = !period_is_held(&o.period, &o.view.reader, &span);
	o.report.reach_ns = span.oldest_ns;
	o.report.since_ns = o.period.since_ns;
	o.report.until_ns = o.period.until_ns;
	ring_seek_start(&o.view.reader.iter, &o.view.reader.ring);
	catch_interrupts();
	gather(&o);
	writeback_read_sums(&o.report.writeback, &o.view.reader);
	status = write_file(o.output, 0, print_page, &o.report);
	if (status == EXIT_OK && strcmp(o.output, "-") != 0)
		printf("%zu operation%s in %s\n", o.report.nr_points,
		       o.report.nr_points == 1 ? "" : "s", o.output);
	writeback_free(&o.report.writeback);
	summary_free(o.report.summary);
	free(o.report.points);
	free(only);
	view_close(&o.view);
	return status;
}
