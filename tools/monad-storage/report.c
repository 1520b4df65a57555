// SPDX-License-Identifier: GPL-2.0
/* monad-storage report: a page of what happened, to look at and to pass on. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "monad_storage.h"
#include "new_file.h"
#include "parse.h"
#include "report_data.h"
#include "ring_walk.h"
#include "view.h"

static const char doc[] =
	"Write a page of what is in the ring: latencies over time, percentiles, who waited, what "
	"failed, and what was lost. One HTML file that needs nothing else, no network and no "
	"script, to look at and to pass on.\v"
	"TIME is as of 'monad-storage replay'. The ring can be one that is recorded to, a ring "
	"file or a snapshot ('monad-ring snapshot').\n\n"
	"EXAMPLES\n"
	"  monad-storage report storage.html\n"
	"  monad-storage report --since 10m -d sda disk.html\n"
	"  monad-storage report -r before-the-crash.zst crash.html\n";

#define NO_TIME "'%s' is no time; say 60s, 03:12 or '2024-05-31 03:12:30'"

enum { KEY_SINCE = VIEW_KEY_OWN, KEY_UNTIL };

static const struct argp_option options[] = {
	VIEW_OPTION_RING,
	{ "since", KEY_SINCE, "TIME", 0, "Begin there (with the oldest event)", 0 },
	{ "until", KEY_UNTIL, "TIME", 0, "End there (with the newest event)", 0 },
	{}
};

struct options {
	struct view view;
	struct report report;
	const char *output;
	uint64_t now_ns, until_ns;
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
	case KEY_SINCE:
		if (parse_time(arg, o->now_ns, &o->report.since_ns))
			argp_error(state, NO_TIME, arg);
		return 0;
	case KEY_UNTIL:
		if (parse_time(arg, o->now_ns, &o->until_ns))
			argp_error(state, NO_TIME, arg);
		return 0;
	case ARGP_KEY_END:
		if (!o->output)
			argp_error(state, "which file is to be written?");
		return 0;
	}
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
	uint64_t missed;

	ring_walk_begin(&walk, &reader->iter);
	for (;;) {
		switch (ring_walk_next(&walk, &desc, &missed)) {
		case RING_WALK_EVENT:
			if (desc.record_epoch_nanos < o->report.since_ns ||
			    desc.record_epoch_nanos >= o->until_ns)
				break;
			reader_note_time(reader, desc.record_epoch_nanos);
			if (view_event(&o->view, &desc, &event))
				report_add(&o->report, &event);
			break;
		case RING_WALK_GAP:
			reader->missed += missed;
			break;
		case RING_WALK_END:
			return;
		}
	}
}

/* An exit status. */
static int write_page(const struct options *o)
{
	struct new_file file;
	FILE *out;
	int err;

	err = new_file_create(&file, o->output);
	if (err) {
		error("creating %s: %s", o->output, strerror(err));
		return EXIT_FAILED;
	}
	out = new_file_stream(&file);
	if (!out) {
		err = errno;
	} else {
		report_write(out, &o->report);
		err = new_file_stream_end(&file, out);
	}
	if (!err)
		err = new_file_publish(&file, true);
	if (err)
		error("writing %s: %s", o->output, strerror(err));
	new_file_close(&file);
	return err ? EXIT_FAILED : EXIT_OK;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_option, "FILE", doc, view_children, NULL, NULL
	};
	struct options o = { .until_ns = UINT64_MAX };
	struct reader_span span;
	char *only;
	int status;

	o.now_ns = clock_ns(CLOCK_REALTIME);
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (o.report.since_ns > o.until_ns) {
		error("--since is later than --until");
		return EXIT_USAGE;
	}
	status = view_open(&o.view);
	if (status)
		return status;
	/* The device's own flushes are rows of their own in the table. */
	o.view.filter.cache_flushes = true;
	o.report.summary = summary_new();
	o.report.reader = &o.view.reader;
	o.report.ring = o.view.ring;
	only = filter_text(&o.view.filter);
	o.report.only = only ?: "";
	if (reader_span(&o.view.reader, &span)) {
		o.report.reach_ns = span.oldest_ns;
		o.report.reach_later = span.first_seqno > 1 && span.oldest_ns > o.report.since_ns;
	}
	ring_seek_start(&o.view.reader.iter, &o.view.reader.ring);
	gather(&o);
	status = write_page(&o);
	if (status == EXIT_OK)
		printf("%zu operation%s in %s\n", o.report.nr_points,
		       o.report.nr_points == 1 ? "" : "s", o.output);
	summary_free(o.report.summary);
	free(o.report.points);
	free(only);
	view_close(&o.view);
	return status;
}
