// SPDX-License-Identifier: GPL-2.0
/* monad-storage trace: prints events as they come. */
#include <errno.h>
#include <unistd.h>

#include <monad_event/event_ring_util.h>

#include "interrupt.h"
#include "losses.h"
#include "monad_storage.h"
#include "pins.h"
#include "print.h"
#include "ring_follow.h"
#include "symbols.h"
#include "view.h"

static const char doc[] =
	"Print I/O as it ends, from now on, until interrupted.\n\n"
	"Reads the ring only: it does not matter who started the recording, and any "
	"number of readers can do so at once.\v"
	COLUMNS_DOC
	"EXAMPLES\n"
	"  monad-storage trace                         everything\n"
	"  monad-storage trace -d sda --min-latency 10ms\n"
	"  monad-storage trace -p 1234 --json | jq 'select(.seqno).total_ns'\n";

static const struct argp_option options[] = {
	VIEW_OPTION_RING,
	{ "json", VIEW_KEY_JSON, NULL, 0, "One JSON object a line", 0 },
	VIEW_OPTION_STACKS,
	{}
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	return view_option(state->input, key, arg, state);
}

/* They start other programs, load more code, or end: now and then they are looked at anew. */
static void forget_processes(uint64_t *next_ns)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now < *next_ns)
		return;
	symbols_forget_processes();
	*next_ns = now + SYMBOLS_KEEP_NS;
}

static void follow(struct view *view, struct ring_follow *ring)
{
	struct reader *reader = &view->reader;
	struct monad_event_descriptor desc;
	struct storage_event event;
	uint64_t missed, forget_ns = 0;

	monad_event_iterator_set_seqno(&reader->iter,
				       monad_event_ring_last_seqno(&reader->ring) + 1);
	while (!interrupted && !ferror(stdout)) {
		switch (ring_follow_next(ring, &desc, &missed)) {
		case RING_FOLLOW_EVENT:
			if (view_event(view, &desc, &event))
				view_print(view, &event);
			break;
		case RING_FOLLOW_GAP:
			reader->missed += missed;
			losses_gap(view_json(view), missed);
			break;
		case RING_FOLLOW_NONE:
			fflush(stdout);
			forget_processes(&forget_ns);
			if (ring_follow_wait(ring, UINT64_MAX))
				error("nobody writes to ring %s any more: no more events will come",
				      view->ring);
			break;
		}
	}
	losses_totals(view_json(view), reader);
}

/* The waiter wants the ring's descriptor. */
static int begin(struct view *view, struct ring_follow *ring)
{
	int err, fd;

	err = monad_event_ring_open_fd(view->ring, &fd, NULL, 0);
	if (!err) {
		err = ring_follow_begin(ring, &view->reader.iter, fd);
		close(fd);
	}
	if (!err)
		return EXIT_OK;
	error("%s", lib_error());
	return EXIT_FAILED;
}

int cmd_trace(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_option, NULL, doc, view_children, NULL, NULL
	};
	struct monad_storage_session session;
	struct ring_follow ring;
	struct view view = {};
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &view);
	status = view_open(&view);
	if (status)
		return status;
	status = begin(&view, &ring);
	if (status)
		goto out;
	catch_interrupts();
	if (pins_read_session(&session) == -ENOENT)
		warning("nothing is recording now: 'monad-storage start' begins it");
	if (!view.json)
		print_header(view.filter.all_types);
	follow(&view, &ring);
	ring_follow_end(&ring);
out:
	view_close(&view);
	return status;
}
