// SPDX-License-Identifier: GPL-2.0
/* monad-ring watch: events as they are recorded. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <monad_event/event_iterator.h>

#include "arguments.h"
#include "event_output.h"
#include "interrupt.h"
#include "monad-ring.h"
#include "parse.h"
#include "ring_follow.h"
#include "ring_handle.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

/* How often to look whether an idle ring's name leads to another ring by now. */
#define STALE_CHECK_NS NSEC_PER_SEC

/* Where to begin. */
struct start {
	enum { START_NEWEST, START_OLDEST, START_SEQNO } at;
	uint64_t seqno; /* for START_SEQNO */
};

struct watch {
	struct start start;
	struct event_output output;
	struct ring_handle handle;
	struct monad_event_iterator iter;
	struct ring_follow follow;
	uint64_t deadline_ns;	 /* of --timeout, on the monotonic clock; or 0 */
	uint64_t stale_check_ns; /* when to look next */
	uint64_t newest;	 /* largest last_seqno ever seen */
	bool failed;	 /* to follow a new ring */
};

static void print_help(void)
{
	fputs("Usage: monad-ring watch [OPTIONS] RING\n"
	      "\n"
	      "Prints the events of RING as they are recorded, until interrupted. Reports how\n"
	      "many it missed when it cannot keep up, and totals at the end, both on standard\n"
	      "error, or in the JSON.\n"
	      "\n"
	      "Options:\n"
	      "  -f, --from WHERE         where to begin: newest (the default), oldest, or a\n"
	      "                           sequence number\n"
	      "  -w, --timeout SECONDS    stop after that time\n",
	      stdout);
	fputs(event_output_help, stdout);
	fputs("\n"
	      "EXAMPLES\n"
	      "  monad-ring watch monad_ring\n"
	      "  monad-ring watch monad_ring --from oldest --type RQ_COMPLETE --count 100\n"
	      "  monad-ring watch monad_ring --tag cgroup=4711 --timeout 10 --json\n",
	      stdout);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static bool timed_out(const struct watch *watch, uint64_t now)
{
	return watch->deadline_ns && now >= watch->deadline_ns;
}

/* Iterator and waiter for the ring that is open; false, with a message: they cannot be had. */
static bool begin(struct watch *watch)
{
	if (monad_event_ring_init_iterator(&watch->handle.ring, &watch->iter) != 0 ||
	    ring_follow_begin(&watch->follow, &watch->iter, watch->handle.fd) != 0) {
		complain_lib();
		return false;
	}
	return true;
}

/* The ring's name leads to a new ring: follow it. False: stop. */
static bool follow_new_ring(struct watch *watch)
{
	struct ring_handle handle;

	if (ring_handle_open(&handle, watch->handle.name) != 0)
		return true; /* being made, perhaps; look again later */
	ring_follow_end(&watch->follow);
	ring_handle_close(&watch->handle);
	watch->handle = handle;
	watch->failed = true;
	if (!begin(watch))
		return false;
	if (!event_output_start(&watch->output, &watch->handle)) {
		complain("the ring was made anew, and is not what was asked for any more");
		return false;
	}
	watch->failed = false;
	monad_event_iterator_seek_oldest(&watch->iter);
	watch->newest = 0;
	return event_output_note(&watch->output, "recreated",
				 "the ring was made anew; these are the new one's events");
}

/*
 * Nothing to read: sees to it that this is because there is nothing, and waits.
 * False: stop.
 */
static bool idle(struct watch *watch)
{
	const uint64_t now = now_ns();
	const uint64_t last = monad_event_ring_last_seqno(&watch->handle.ring);

	if (timed_out(watch, now))
		return false;
	if (watch->handle.snapshot) {
		event_output_note(&watch->output, "end",
				  "a snapshot has no writer, so no event will follow");
		return false;
	}
	if (last < watch->newest) {
		/* A file that was initialized again in place. */
		monad_event_iterator_seek_oldest(&watch->iter);
		watch->newest = last;
		return event_output_note(&watch->output, "recreated",
					 "the ring begins anew with event 1");
	}
	watch->newest = last;
	if (now >= watch->stale_check_ns) {
		watch->stale_check_ns = now + STALE_CHECK_NS;
		if (ring_handle_is_stale(&watch->handle))
			return follow_new_ring(watch);
	}
	if (ring_follow_wait(&watch->follow,
			     watch->deadline_ns ? watch->deadline_ns - now : UINT64_MAX))
		return event_output_note(&watch->output, "writer-gone",
					 "nobody writes to the ring any more; waiting for another "
					 "one of its name");
	return true;
}

static void run(struct watch *watch)
{
	struct monad_event_descriptor event;
	unsigned int unchecked = 0;
	bool go_on = true;
	uint64_t missed;

	watch->stale_check_ns = now_ns() + STALE_CHECK_NS;
	while (go_on && !interrupted) {
		switch (ring_follow_next(&watch->follow, &event, &missed)) {
		case RING_FOLLOW_EVENT:
			go_on = event_output_event(&watch->output, &watch->iter, &event);
			/* A ring that is never idle must not outrun the timeout. */
			if (++unchecked % 256 == 0 && timed_out(watch, now_ns()))
				go_on = false;
			break;
		case RING_FOLLOW_GAP:
			go_on = event_output_gap(&watch->output, missed);
			break;
		case RING_FOLLOW_NONE:
			go_on = idle(watch);
			break;
		}
	}
}

/* "newest", "oldest" or a number; false if it is none of them. */
static bool parse_start(const char *text, struct start *start)
{
	start->at = strcmp(text, "newest") == 0	  ? START_NEWEST
		    : strcmp(text, "oldest") == 0 ? START_OLDEST
						  : START_SEQNO;
	return start->at != START_SEQNO || parse_u64(text, &start->seqno);
}

static void seek_start(struct monad_event_iterator *iter, const struct start *start)
{
	switch (start->at) {
	case START_NEWEST:
		monad_event_iterator_reset(iter);
		break;
	case START_OLDEST:
		monad_event_iterator_seek_oldest(iter);
		break;
	case START_SEQNO:
		monad_event_iterator_set_seqno(iter, start->seqno);
		break;
	}
}

static bool parse_timeout(const char *text, uint64_t *deadline_ns)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
		return false;
	*deadline_ns = now_ns() + (uint64_t)(seconds * 1e9);
	return true;
}

/* The ring that is open. */
static int watch_ring(struct watch *watch)
{
	int ret = EXIT_FAILED;

	if (!event_output_start(&watch->output, &watch->handle)) {
		ret = EXIT_USAGE;
	} else if (begin(watch)) {
		seek_start(&watch->iter, &watch->start);
		setvbuf(stdout, NULL, _IOLBF, 0);
		catch_interrupts();
		run(watch);
		event_output_finish(&watch->output);
		ret = finish_output();
		if (watch->failed)
			ret = EXIT_FAILED;
	}
	ring_follow_end(&watch->follow);
	ring_handle_close(&watch->handle);
	return ret;
}

int cmd_watch(int argc, char **argv, bool json)
{
	static const struct option options[] = {
		EVENT_OUTPUT_LONG_OPTIONS,
		{"from", required_argument, NULL, 'f'},
		{"timeout", required_argument, NULL, 'w'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct watch watch = {.start = {.at = START_NEWEST}, .output = {.json = json}};
	const char *wrong;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, EVENT_OUTPUT_SHORT_OPTIONS "f:w:h", options, NULL)) !=
	       -1) {
		wrong = NULL;
		switch (opt) {
		case 'f':
			if (!parse_start(optarg, &watch.start))
				wrong = "--from wants newest, oldest or a sequence number, not";
			break;
		case 'w':
			if (!parse_timeout(optarg, &watch.deadline_ns))
				wrong = "--timeout wants seconds, not";
			break;
		case 'h':
			print_help();
			return finish_output();
		case '?':
			return usage_error("watch",
					   "unknown option, or value missing:", argv[optind - 1]);
		default:
			wrong = event_output_option(&watch.output, opt, optarg);
			break;
		}
		if (wrong)
			return usage_error("watch", wrong, optarg);
	}
	ret = open_only_ring(argc, argv, &watch.handle);
	return ret == EXIT_OK ? watch_ring(&watch) : ret;
}
