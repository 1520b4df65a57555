// SPDX-License-Identifier: GPL-2.0
/* monad-ring dump: everything that is in a ring now. */
#include <getopt.h>
#include <stdio.h>
#include <time.h>

#include <monad_event/event_iterator.h>

#include "event_output.h"
#include "monad-ring.h"
#include "ring_handle.h"

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
	fputs("\n"
	      "EXAMPLES\n"
	      "  monad-ring dump monad_ring\n"
	      "  monad-ring dump --type RQ_REQUEUE --hex monad_ring\n"
	      "  monad-ring dump --json ./ring-file | jq 'select(.size > 4096)'\n",
	      stdout);
}

/*
 * The oldest event of all when nobody records; otherwise the oldest one that is
 * not overwritten before it is printed.
 */
static void seek_start(struct monad_event_iterator *iter, const struct ring_handle *handle)
{
	if (ring_handle_is_busy(handle))
		monad_event_iterator_seek_oldest(iter);
	else
		monad_event_iterator_set_seqno(iter, monad_event_ring_oldest_seqno(&handle->ring));
}

/*
 * An event that is allocated and not written: usually it is in a moment. One
 * that is not, because its writer was stopped or died, does not keep the events
 * behind it from being printed. @patience: milliseconds left to wait.
 */
static bool skip_unwritten(struct event_output *output, struct monad_event_iterator *iter,
			   unsigned int *patience)
{
	const struct timespec pause = {0, 1000L * 1000};

	if (monad_event_iterator_lag(iter) > iter->desc_capacity_mask + 1)
		return event_output_gap(output, monad_event_iterator_recover(iter));
	if (*patience > 0) {
		(*patience)--;
		nanosleep(&pause, NULL);
		return true;
	}
	monad_event_iterator_set_seqno(iter, iter->next_seqno + 1);
	return event_output_gap(output, 1);
}

static void dump(struct event_output *output, const struct ring_handle *handle,
		 struct monad_event_iterator *iter)
{
	const uint64_t last = monad_event_ring_last_seqno(&handle->ring);
	struct monad_event_descriptor event;
	unsigned int patience = 100;
	bool go_on = true;

	while (go_on && iter->next_seqno <= last) {
		switch (monad_event_iterator_try_next(iter, &event)) {
		case MONAD_EVENT_SUCCESS:
			go_on = event_output_event(output, iter, &event);
			break;
		case MONAD_EVENT_GAP:
			go_on = event_output_gap(output, monad_event_iterator_recover(iter));
			break;
		case MONAD_EVENT_NOT_READY:
			go_on = skip_unwritten(output, iter, &patience);
			break;
		}
	}
}

int cmd_dump(int argc, char **argv, bool json)
{
	static const struct option options[] = {
		EVENT_OUTPUT_LONG_OPTIONS,
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
		wrong = event_output_option(&output, opt, optarg);
		if (wrong)
			return usage_error("dump", wrong, optarg);
	}
	if (argc - optind != 1)
		return usage_error("dump", "wants the name of one ring", NULL);
	if (ring_handle_open(&handle, argv[optind]) != 0) {
		complain_lib();
		return EXIT_FAILED;
	}
	if (!event_output_start(&output, &handle)) {
		ring_handle_close(&handle);
		return EXIT_USAGE;
	}
	if (monad_event_ring_init_iterator(&handle.ring, &iter) != 0) {
		complain_lib();
		ring_handle_close(&handle);
		return EXIT_FAILED;
	}
	seek_start(&iter, &handle);
	dump(&output, &handle, &iter);
	event_output_finish(&output);
	ret = finish_output();
	ring_handle_close(&handle);
	return ret;
}
