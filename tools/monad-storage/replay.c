// SPDX-License-Identifier: GPL-2.0
/* monad-storage replay: prints, sums up, or writes for others, what is in the ring. */
#include "blktrace.h"
#include "human.h"
#include "folded.h"
#include "losses.h"
#include "monad_storage.h"
#include "period.h"
#include "print.h"
#include "summary.h"
#include "view.h"

static const char doc[] =
	"Print, or sum up, the I/O that is in the ring: what happened before, though "
	"nobody was watching. Or write it as blktrace would have, for blkparse, btt and fio.\n\n"
	"Works while recording goes on, and after it was stopped.\v"
	"TIME is how long ago (60s, 5m, 2h; a bare number is seconds), a time of day "
	"(03:12, 03:12:30), a date and time ('2024-05-31 03:12:30'), or @SECONDS since "
	"1970.\n\n" COLUMNS_DOC
	"EXAMPLES\n"
	"  monad-storage replay --since 60s            the last minute\n"
	"  monad-storage replay --since 03:11 --until 03:13 --min-latency 100ms\n"
	"  monad-storage replay --errors -d sda        what failed on one disk\n"
	"  monad-storage replay --summary              latencies, actors, losses\n"
	"  monad-storage replay --errors --stacks      and how it was asked for\n"
	"  monad-storage replay --folded | flamegraph.pl >io.svg\n"
	"  monad-storage replay --blktrace traces      traces/sda.blktrace.0, ...\n"
	"  blkparse -i traces/sda -d sda.bin && btt -i sda.bin\n"
	"\nPercentiles of --summary are at most 3 % off; those of 'monad-storage latency', which "
	"cost the kernel less, at most 12.5 % too high.\n";

enum { KEY_SUMMARY = PERIOD_KEY_OWN, KEY_FOLDED, KEY_BLKTRACE };

static const struct argp_option options[] = {
	VIEW_OPTION_RING,
	PERIOD_OPTIONS,
	{ "summary", KEY_SUMMARY, NULL, 0, "Sum up instead: per disk and operation, per actor", 0 },
	VIEW_OPTION_STACKS,
	{ "folded", KEY_FOLDED, NULL, 0,
	  "Sum up by stack instead, a line each with the microseconds waited: flamegraph.pl and "
	  "its like draw that", 0 },
	{ "blktrace", KEY_BLKTRACE, "DIR", 0,
	  "Write DIR/DISK.blktrace.CPU instead, with each step of each I/O", 0 },
	{ "histogram", 'H', NULL, 0, "With --summary: the histograms, too", 0 },
	{ "json", VIEW_KEY_JSON, NULL, 0, "One JSON object a line; with --summary, one in all", 0 },
	{}
};

struct replay {
	struct view view;
	struct period period;
	struct summary *summary; /* NULL: print events ... */
	bool summarize;
	bool histograms;
	struct folded *folded; /* NULL: not by stack */
	struct blktrace blktrace;
	const char *blktrace_dir; /* ... or write them there, if not NULL */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct replay *replay = state->input;

	switch (key) {
	case 'H':
		replay->histograms = true;
		return 0;
	case KEY_FOLDED:
		replay->folded = folded_new();
		replay->view.with_stacks = true;
		return 0;
	case KEY_SUMMARY:
		replay->summarize = true;
		return 0;
	case KEY_BLKTRACE:
		if (!*arg)
			argp_error(state, "--blktrace wants a directory");
		replay->blktrace_dir = arg;
		return 0;
	case ARGP_KEY_END:
		if (replay->folded && replay->summarize)
			argp_error(state,
				   "--folded and --summary are two ways to sum up: choose one");
		if (replay->folded && replay->view.json)
			argp_error(state,
				   "--folded is lines for flame graphs: it goes without --json");
		if (replay->blktrace_dir && (replay->summarize || replay->folded ||
					     replay->view.json || replay->view.with_stacks))
			argp_error(state, "--blktrace goes with none of --summary, --folded, "
				   "--json, --stacks");
		if (replay->summarize && replay->view.with_stacks)
			argp_error(state, "--summary has no stacks: --folded sums up by stack");
		if (replay->histograms && !replay->summarize)
			argp_error(state, "--histogram is for --summary");
		return 0;
	}
	if (!period_option(&replay->period, key, arg, state))
		return 0;
	return view_option(&replay->view, key, arg, state);
}

static void handle(struct replay *replay, const struct monad_event_descriptor *desc)
{
	struct storage_event event;

	if (!view_event(&replay->view, desc, &event))
		return;
	if (replay->folded)
		folded_add(replay->folded, replay->view.stacks, &event);
	else if (replay->summary)
		summary_add(replay->summary, &event);
	else if (replay->blktrace_dir)
		blktrace_add(&replay->blktrace, &event);
	else
		view_print(&replay->view, &event);
}

/* @missed were missed after the event of @latest_ns. */
static void handle_gap(struct replay *replay, uint64_t latest_ns, uint64_t missed)
{
	if (!missed)
		return;
	if (replay->blktrace_dir)
		blktrace_add_gap(&replay->blktrace, latest_ns, missed);
	else if (!replay->summary && !replay->folded)
		losses_gap(view_json(&replay->view), missed);
}

static void run(struct replay *replay)
{
	struct reader *reader = &replay->view.reader;
	struct monad_event_descriptor desc;
	struct ring_walk walk;
	bool more = true;

	ring_walk_begin(&walk, &reader->iter);
	while (more && !ferror(stdout)) {
		uint64_t latest_ns = reader->latest_ns, missed = reader->missed;

		more = period_next(&replay->period, reader, &walk, &desc);
		handle_gap(replay, latest_ns, reader->missed - missed);
		if (more)
			handle(replay, &desc);
	}
}

static void print_summary(struct replay *replay)
{
	struct view *view = &replay->view;

	if (view->json) {
		/* One document, for people as well. */
		json_init(&view->writer, stdout, true);
		summary_print_json(&view->writer, replay->summary, &view->reader);
	} else {
		summary_print(replay->summary, &view->reader, replay->histograms);
	}
	summary_free(replay->summary);
}

/*
 * What is asked of an operation, that it failed or took long, is known at its end only: that
 * is when it is chosen, with all its steps.
 */
static void begin_blktrace(struct replay *replay)
{
	struct filter *filter = &replay->view.filter;

	replay->blktrace.errors = filter->errors;
	replay->blktrace.min_latency_ns = filter->min_latency_ns;
	filter->errors = false;
	filter->min_latency_ns = 0;
	filter->all_types = true;
}

/* An exit status. */
static int write_blktrace(struct replay *replay)
{
	struct blktrace *blktrace = &replay->blktrace;
	int status = EXIT_FAILED;

	blktrace_convert(blktrace);
	losses_totals(NULL, &replay->view.reader);
	if (replay->view.reader.clock_set_back)
		warning("the clock was set back meanwhile: what is before and after is mixed");
	if (blktrace->unseen)
		warning("%zu operations have no C: their end was not seen", blktrace->unseen);
	if (blktrace->nr_records)
		status = blktrace_write(blktrace, replay->blktrace_dir);
	else
		error("nothing to write: the ring has no such events");
	blktrace_free(blktrace);
	return status;
}

int cmd_replay(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_option, NULL, doc, view_children, NULL, NULL
	};
	struct replay replay = {};
	struct view *view = &replay.view;
	struct reader_span span;
	int status;

	period_init(&replay.period);
	argp_parse(&argp, argc, argv, 0, NULL, &replay);
	if (period_check(&replay.period))
		return EXIT_USAGE;
	status = view_open(view);
	if (status)
		return status;
	period_is_held(&replay.period, &view->reader, &span);
	ring_seek_start(&view->reader.iter, &view->reader.ring);
	/* A summary wants the device's flushes too, which are nobody's operation. */
	view->filter.cache_flushes = replay.summarize;
	if (replay.summarize)
		replay.summary = summary_new();
	else if (replay.blktrace_dir)
		begin_blktrace(&replay);
	else if (!view->json && !replay.folded)
		print_header(view->filter.all_types);
	run(&replay);
	if (replay.summary) {
		print_summary(&replay);
	} else if (replay.blktrace_dir) {
		status = write_blktrace(&replay);
	} else if (replay.folded) {
		folded_print(replay.folded);
		losses_totals(NULL, &view->reader);
		folded_free(replay.folded);
	} else {
		losses_totals(view_json(view), &view->reader);
		if (!view->json && !view->reader.printed)
			warning("no such event is in the ring");
	}
	view_close(view);
	return status;
}
