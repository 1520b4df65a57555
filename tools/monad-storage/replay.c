// SPDX-License-Identifier: GPL-2.0
/* monad-storage replay: prints, or sums up, what is in the ring. */
#include <stdlib.h>
#include <time.h>

#include "filter.h"
#include "human.h"
#include "losses.h"
#include "monad_storage.h"
#include "parse.h"
#include "print.h"
#include "reader.h"
#include "ring_walk.h"
#include "summary.h"

static const char doc[] =
	"Print, or sum up, the I/O that is in the ring: what happened before, though "
	"nobody was watching.\n\n"
	"Works while recording goes on, and after it was stopped.\v"
	"TIME is how long ago (60s, 5m, 2h; a bare number is seconds), a time of day "
	"(03:12, 03:12:30), a date and time ('2024-05-31 03:12:30'), or @SECONDS since "
	"1970.\n\n" COLUMNS_DOC
	"EXAMPLES\n"
	"  monad-storage replay --since 60s            the last minute\n"
	"  monad-storage replay --since 03:11 --until 03:13 --min-latency 100ms\n"
	"  monad-storage replay --errors -d sda        what failed on one disk\n"
	"  monad-storage replay --summary              latencies, actors, losses\n";

#define NO_TIME "'%s' is no time; say 60s, 03:12 or '2024-05-31 03:12:30'"

enum { KEY_JSON = 0x200, KEY_SINCE, KEY_UNTIL, KEY_SUMMARY };

static const struct argp_option options[] = {
	{ "ring", 'r', "NAME", 0, "Ring to read: a name or a path (" DEFAULT_RING ")", 0 },
	{ "since", KEY_SINCE, "TIME", 0, "Begin there (with the oldest event)", 0 },
	{ "until", KEY_UNTIL, "TIME", 0, "End there (with the newest event)", 0 },
	{ "summary", KEY_SUMMARY, NULL, 0, "Sum up instead: per disk and operation, per actor", 0 },
	{ "json", KEY_JSON, NULL, 0, "One JSON object a line; with --summary, one in all", 0 },
	{}
};

struct replay {
	struct filter filter;
	const char *ring;
	uint64_t now_ns;
	uint64_t since_ns;
	uint64_t until_ns;
	bool summary;
	bool json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct replay *replay = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &replay->filter;
		return 0;
	case 'r':
		replay->ring = arg;
		return 0;
	case KEY_SINCE:
		if (parse_time(arg, replay->now_ns, &replay->since_ns))
			argp_error(state, NO_TIME, arg);
		return 0;
	case KEY_UNTIL:
		if (parse_time(arg, replay->now_ns, &replay->until_ns))
			argp_error(state, NO_TIME, arg);
		return 0;
	case KEY_SUMMARY:
		replay->summary = true;
		return 0;
	case KEY_JSON:
		replay->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static bool in_time(const struct replay *replay, const struct monad_event_descriptor *desc)
{
	return desc->record_epoch_nanos >= replay->since_ns &&
	       desc->record_epoch_nanos < replay->until_ns;
}

static bool wanted(const struct replay *replay, const struct monad_event_descriptor *desc)
{
	return in_time(replay, desc) && filter_descriptor(&replay->filter, desc);
}

static void handle(struct replay *replay, struct reader *reader, struct summary *summary,
		   struct json_writer *json, const struct monad_event_descriptor *desc)
{
	struct storage_event event;

	if (!wanted(replay, desc))
		return;
	switch (event_read(&reader->iter, desc, &event)) {
	case EVENT_OK:
		if (!filter_event(&replay->filter, &event))
			return;
		reader->printed++;
		if (summary)
			summary_add(summary, &event);
		else if (replay->json)
			print_event_json(json, &event);
		else
			print_event(&event, replay->filter.all_types);
		return;
	case EVENT_EXPIRED:
		reader->expired++;
		return;
	case EVENT_UNKNOWN:
		reader->unknown++;
		return;
	}
}

static void run(struct replay *replay, struct reader *reader, struct summary *summary,
		struct json_writer *json)
{
	struct monad_event_descriptor desc;
	struct ring_walk walk;
	uint64_t missed;

	ring_walk_begin(&walk, &reader->iter);
	while (!ferror(stdout)) {
		switch (ring_walk_next(&walk, &desc, &missed)) {
		case RING_WALK_EVENT:
			if (in_time(replay, &desc))
				reader_note_time(reader, desc.record_epoch_nanos);
			handle(replay, reader, summary, json, &desc);
			break;
		case RING_WALK_GAP:
			reader->missed += missed;
			if (!summary)
				losses_gap(replay->json ? json : NULL, missed);
			break;
		case RING_WALK_END:
			return;
		}
	}
}

/* What stands above the output, so that nobody takes a part for the whole. */
static void say_where_it_begins(const struct replay *replay, struct reader *reader)
{
	char since[HUMAN_LEN], reach[HUMAN_LEN];
	struct reader_span span;

	if (!replay->since_ns)
		return;
	human_time(replay->since_ns, since);
	if (replay->since_ns > replay->now_ns)
		warning("--since %s is in the future", since);
	else if (reader_span(reader, &span) && span.first_seqno > 1 &&
		 span.oldest_ns > replay->since_ns)
		warning("the ring reaches back to %s only, not to %s",
			human_time(span.oldest_ns, reach), since);
}

int cmd_replay(int argc, char **argv)
{
	static const struct argp_child children[] = { { &filter_argp, 0, "Which events:", 1 }, {} };
	static const struct argp argp = { options, parse_option, NULL, doc, children, NULL, NULL };
	struct replay replay = { .ring = DEFAULT_RING, .until_ns = UINT64_MAX };
	struct json_writer json;
	struct summary *summary = NULL;
	struct reader reader;
	struct timespec now;
	int status;

	clock_gettime(CLOCK_REALTIME, &now);
	replay.now_ns = now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
	argp_parse(&argp, argc, argv, 0, NULL, &replay);
	if (replay.since_ns > replay.until_ns) {
		error("--since is later than --until");
		return EXIT_USAGE;
	}
	status = reader_open(&reader, replay.ring, NULL);
	if (status)
		return status;
	say_where_it_begins(&replay, &reader);
	ring_seek_start(&reader.iter, &reader.ring);
	json_init(&json, stdout, replay.summary);
	/* A summary wants the device's flushes too, which are nobody's operation. */
	replay.filter.cache_flushes = replay.summary;
	if (replay.summary)
		summary = summary_new();
	else if (!replay.json)
		print_header(replay.filter.all_types);
	run(&replay, &reader, summary, &json);
	if (summary) {
		if (replay.json)
			summary_print_json(&json, summary, &reader);
		else
			summary_print(summary, &reader);
		summary_free(summary);
	} else {
		losses_totals(replay.json ? &json : NULL, &reader);
	}
	reader_close(&reader);
	return EXIT_OK;
}
