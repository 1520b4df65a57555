// SPDX-License-Identifier: GPL-2.0
/* monad-ring dump: everything that is in a ring now. */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>

#include "arguments.h"
#include "event_output.h"
#include "monad-ring.h"
#include "ring_handle.h"
#include "ring_walk.h"

enum { OPT_RAW = 256 };

static void print_help(void)
{
	fputs("Usage: monad-ring dump [OPTIONS] RING\n"
	      "\n"
	      "Prints all events that are in RING, from the oldest one that is still there to\n"
	      "the one that was the newest at the start.\n"
	      "\n"
	      "Options:\n",
	      stdout);
	fputs(event_output_help, stdout);
	fputs("      --raw                print the bytes of payloads and nothing else\n"
	      "\n"
	      "EXAMPLES\n"
	      "  monad-ring dump monad_ring\n"
	      "  monad-ring dump --type RQ_REQUEUE --hex monad_ring\n"
	      "  monad-ring dump --json ./ring-file | jq 'select(.size > 4096)'\n"
	      "  monad-ring dump --type SAMPLE --raw ./ring-file >samples\n",
	      stdout);
}

static void dump(struct event_output *output, struct monad_event_iterator *iter)
{
	struct monad_event_descriptor event;
	struct ring_walk walk;
	bool go_on = true;
	uint64_t missed;

	ring_walk_begin(&walk, iter);
	while (go_on) {
		switch (ring_walk_next(&walk, &event, &missed)) {
		case RING_WALK_EVENT:
			go_on = event_output_event(output, iter, &event);
			break;
		case RING_WALK_GAP:
			go_on = event_output_gap(output, missed);
			break;
		case RING_WALK_END:
			return;
		}
	}
}

int cmd_dump(int argc, char **argv, bool json)
{
	static const struct option options[] = {
		EVENT_OUTPUT_LONG_OPTIONS,
		{"raw", no_argument, NULL, OPT_RAW},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct event_output output = {.json = json};
	struct monad_event_iterator iter;
	struct ring_handle handle;
	const char *wrong;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, EVENT_OUTPUT_SHORT_OPTIONS "h", options, NULL)) !=
	       -1) {
		if (opt == 'h') {
			print_help();
			return finish_output();
		}
		if (opt == '?')
			return usage_error("dump",
					   "unknown option, or value missing:", argv[optind - 1]);
		if (opt == OPT_RAW) {
			output.raw = true;
			continue;
		}
		wrong = event_output_option(&output, opt, optarg);
		if (wrong)
			return usage_error("dump", wrong, optarg);
	}
	if (output.raw && (output.json || output.hex))
		return usage_error("dump", "--raw does not go with --json and --hex", NULL);
	if (output.raw && isatty(STDOUT_FILENO))
		return usage_error("dump", "--raw is not for a terminal; use a file or a pipe",
				   NULL);
	ret = open_only_ring(argc, argv, &handle);
	if (ret != EXIT_OK)
		return ret;
	if (!event_output_start(&output, &handle)) {
		ring_handle_close(&handle);
		return EXIT_USAGE;
	}
	if (monad_event_ring_init_iterator(&handle.ring, &iter) != 0) {
		complain_lib();
		ring_handle_close(&handle);
		return EXIT_FAILED;
	}
	ring_seek_start(&iter, &handle.ring);
	dump(&output, &iter);
	event_output_finish(&output);
	ret = finish_output();
	ring_handle_close(&handle);
	return ret;
}
