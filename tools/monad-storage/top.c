// SPDX-License-Identifier: GPL-2.0
/* monad-storage top: which disks are busy, and whose I/O that is, each interval anew. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "event.h"
#include "interrupt.h"
#include "monad_storage.h"
#include "parse.h"
#include "pins.h"
#include "reader.h"
#include "ring_walk.h"
#include "top.h"

/* The ring is read so often, so that it is not overwritten meanwhile. */
#define READ_EVERY_NS (NSEC_PER_SEC / 10)

static const char doc[] =
	"Show which disks are busy, and whose I/O that is, again and again: every second, or "
	"every INTERVAL, COUNT times.\n\n"
	"The disks' numbers are the programs' own. The list of actors comes from the events in "
	"the ring; what was overwritten before it could be read is counted and said. The two "
	"are read one after the other: they differ by what ended in between.\v"
	"On a terminal, keys choose what actors are sorted by: w time waited, o operations, "
	"b bytes, s the slowest, e errors; q ends it.\n\n"
	"COLUMNS\n"
	"  AVG, p99  from when an I/O was first seen until it was done; p99 is at most\n"
	"            12.5 % too high\n"
	"  NOW       under way at the end of the interval\n"
	"  WAITED    the sum of these times of all I/O of an actor: more than the\n"
	"            interval when many are under way at once\n"
	"events missed: they were overwritten before they were read; actors lack them\n\n"
	"A narrow terminal has fewer columns. One that is TERM=dumb has, as a pipe has, one table "
	"after the other.\n\n"
	"EXAMPLES\n"
	"  monad-storage top                      every second\n"
	"  monad-storage top -d sda 5             one disk, every 5 seconds\n"
	"  monad-storage top --sort=bytes 1 1     once, after a second\n";

enum { KEY_JSON = 0x200, KEY_SORT, KEY_ROWS };

static const struct argp_option options[] = {
	{ "ring", 'r', "NAME", 0, "Ring to read (the one recorded to)", 0 },
	{ "sort", KEY_SORT, "WHAT", 0, "waited, ops, bytes, slowest or errors", 0 },
	{ "rows", 'n', "N", 0, "Actors to show (20, or as many as the screen has room for)", 0 },
	{ "batch", 'b', NULL, 0, "One after the other, though it is a terminal", 0 },
	{ "json", KEY_JSON, NULL, 0, "One JSON object for each interval, a line each", 0 },
	{}
};

const struct top_sort top_sorts[SORTS] = {
	[BY_WAITED] = { "waited", 'w' },   [BY_OPS] = { "ops", 'o' },
	[BY_BYTES] = { "bytes", 'b' },	   [BY_SLOWEST] = { "slowest", 's' },
	[BY_ERRORS] = { "errors", 'e' },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;
	uint64_t number;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &top->filter;
		return 0;
	case ARGP_KEY_ARG:
		return interval_parse(&top->interval, arg, state);
	case 'r':
		top->ring = arg;
		return 0;
	case 'n':
		if (!parse_u64(arg, &number) || !number || number > 100000)
			argp_error(state, "--rows is 1 to 100000, not '%s'", arg);
		top->rows = number;
		return 0;
	case 'b':
		top->batch = true;
		return 0;
	case KEY_SORT:
		for (int i = 0; i < SORTS; i++) {
			if (!strcmp(arg, top_sorts[i].name)) {
				top->sort = i;
				return 0;
			}
		}
		argp_error(state, "--sort is waited, ops, bytes, slowest or errors, not '%s'", arg);
		return 0;
	case KEY_JSON:
		top->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static bool wanted(const struct top *top, const struct monad_event_descriptor *desc)
{
	return event_is_operation(desc->event_type) && ops_have(top->filter.ops, event_op(desc));
}

/* What came into the ring since the last time. */
static void read_ring(const struct top *top, struct reader *reader, struct ring_walk *walk,
		      struct summary *summary)
{
	struct monad_event_descriptor desc;
	struct storage_event event;

	while (reader_next(reader, walk, &desc)) {
		if (!wanted(top, &desc))
			continue;
		if (event_read(&reader->iter, &desc, &event) != EVENT_OK)
			reader->expired++;
		else if (series_filter_event(&top->filter, event_dev(&desc), event.complete.disk,
					     event_op(&desc)))
			summary_add(summary, &event);
	}
}

static void forget(struct shown *shown)
{
	free(shown->disks);
	free(shown->actors);
	memset(shown, 0, sizeof(*shown));
}

/* Reads the ring until @until_ns; false when that is the end of it. */
static bool watch(struct top *top, struct reader *reader, struct summary *summary,
		  struct shown *last, uint64_t until_ns)
{
	struct ring_walk walk;
	uint64_t now;

	while (!interrupted && !top->quit && !ferror(stdout)) {
		ring_walk_begin(&walk, &reader->iter);
		read_ring(top, reader, &walk, summary);
		now = clock_ns(CLOCK_MONOTONIC);
		if (now >= until_ns)
			return true;
		if (top_sleep(top, until_ns - now < READ_EVERY_NS ? until_ns - now :
								    READ_EVERY_NS) &&
		    last->window_ns)
			top_show(top, last);
	}
	return false;
}

/* What the terminal shows while it is ours goes when it is given back: messages come after that. */
static int read_metrics(struct top *top, struct metrics *metrics)
{
	int err = metrics_read(metrics);

	if (!err)
		return EXIT_OK;
	top_leave_terminal(top);
	pins_complain(err);
	return EXIT_FAILED;
}

/* The events that come from now on. An exit status. */
static int open_ring(struct top *top, struct reader *reader)
{
	int err = pins_read_session(&top->session), status;

	if (err) {
		pins_complain(err);
		return EXIT_FAILED;
	}
	status = reader_open(reader, top->ring ? top->ring : top->session.ring, NULL);
	if (status == EXIT_OK)
		monad_event_iterator_set_seqno(&reader->iter,
					       monad_event_ring_last_seqno(&reader->ring) + 1);
	return status;
}

/* One interval; @before is replaced by what is there at its end. An exit status. */
static int gather(struct top *top, struct reader *reader, struct summary *summary,
		  struct metrics *before, struct shown *shown)
{
	struct metrics now, since;
	bool another, screen;
	int status;

	if (read_metrics(top, &now))
		return EXIT_FAILED;
	another = now.started_ns != before->started_ns;
	forget(shown);
	metrics_since(&since, &now, before);
	shown->end_ns = clock_ns(CLOCK_REALTIME);
	shown->window_ns = now.taken_ns - before->taken_ns;
	top_gather_disks(top, &since, shown);
	shown->actors = summary_sorted_actors(summary);
	shown->nr_actors = summary->nr_actors;
	shown->missed = reader->missed + reader->expired;
	shown->notable_only = reader->notable_only;
	reader->missed = 0;
	reader->expired = 0;
	metrics_free(&since);
	metrics_free(before);
	*before = now;
	if (!another)
		return EXIT_OK;
	/* Stopped and started meanwhile, with other settings perhaps. Messages are to be seen. */
	screen = top_leave_terminal(top);
	reader_close(reader);
	status = open_ring(top, reader);
	if (screen && status == EXIT_OK)
		top_take_terminal(top);
	return status;
}

static int run(struct top *top, struct reader *reader)
{
	uint64_t left = top->interval.count ? top->interval.count : UINT64_MAX;
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC);
	struct shown shown = {};
	struct metrics before;
	int status = EXIT_OK;

	if (read_metrics(top, &before))
		return EXIT_FAILED;
	while (left && status == EXIT_OK) {
		struct summary *summary = summary_new();
		bool more;

		until_ns = interval_end(until_ns, top->interval.ns);
		more = watch(top, reader, summary, &shown, until_ns);
		if (more) {
			status = gather(top, reader, summary, &before, &shown);
			if (status == EXIT_OK)
				top_show(top, &shown);
		}
		summary_free(summary);
		if (!more)
			break;
		left--;
	}
	/* The last one stays, of those that were asked for: a terminal's own screen goes. */
	if (!left && status == EXIT_OK && top_leave_terminal(top))
		top_show(top, &shown);
	forget(&shown);
	metrics_free(&before);
	return status;
}

int cmd_top(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &series_filter_argp, 0, "Which I/O:", 1 }, {}
	};
	static const struct argp argp = { options, parse_option, INTERVAL_ARGS, doc, children,
					  NULL, NULL };
	struct top top = { .interval.ns = NSEC_PER_SEC };
	struct reader reader;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &top);
	status = open_ring(&top, &reader);
	if (status)
		return status;
	catch_interrupts();
	top_take_terminal(&top);
	status = run(&top, &reader);
	reader_close(&reader);
	return status;
}
