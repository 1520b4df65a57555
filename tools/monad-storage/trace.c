// SPDX-License-Identifier: GPL-2.0
/* monad-storage trace: prints events as they come. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <monad_event/event_ring_util.h>

#include "filter.h"
#include "losses.h"
#include "monad_storage.h"
#include "print.h"
#include "reader.h"
#include "ring_follow.h"

static const char doc[] =
	"Print I/O as it ends, from now on, until interrupted.\n\n"
	"Reads the ring only: it does not matter who started the recording, and any "
	"number of readers can do so at once.\v"
	COLUMNS_DOC
	"EXAMPLES\n"
	"  monad-storage trace                         everything\n"
	"  monad-storage trace -d sda --min-latency 10ms\n"
	"  monad-storage trace -p 1234 --json | jq 'select(.seqno).total_ns'\n";

enum { KEY_JSON = 0x200 };

static const struct argp_option options[] = {
	{ "ring", 'r', "NAME", 0, "Ring to read: a name or a path (" DEFAULT_RING ")", 0 },
	{ "json", KEY_JSON, NULL, 0, "One JSON object a line", 0 },
	{}
};

struct trace {
	struct filter filter;
	const char *ring;
	bool json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct trace *trace = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &trace->filter;
		return 0;
	case 'r':
		trace->ring = arg;
		return 0;
	case KEY_JSON:
		trace->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	interrupted = 1;
}

/* Prints one event if it is wanted. */
static void handle(struct trace *trace, struct reader *reader, struct json_writer *json,
		   const struct monad_event_descriptor *desc)
{
	struct storage_event event;

	if (!filter_descriptor(&trace->filter, desc))
		return;
	switch (event_read(&reader->iter, desc, &event)) {
	case EVENT_OK:
		if (!filter_event(&trace->filter, &event))
			return;
		reader->printed++;
		if (trace->json)
			print_event_json(json, &event);
		else
			print_event(&event, trace->filter.all_types);
		return;
	case EVENT_EXPIRED:
		reader->expired++;
		return;
	case EVENT_UNKNOWN:
		reader->unknown++;
		return;
	}
}

static void gap(struct reader *reader, struct json_writer *json, uint64_t missed)
{
	reader->missed += missed;
	losses_gap(json, missed);
}

static void follow(struct trace *trace, struct reader *reader, struct ring_follow *ring)
{
	struct json_writer json, *as_json = trace->json ? &json : NULL;
	struct monad_event_descriptor desc;
	uint64_t missed;

	json_init(&json, stdout, false);
	monad_event_iterator_set_seqno(&reader->iter,
				       monad_event_ring_last_seqno(&reader->ring) + 1);
	while (!interrupted && !ferror(stdout)) {
		switch (ring_follow_next(ring, &desc, &missed)) {
		case RING_FOLLOW_EVENT:
			handle(trace, reader, &json, &desc);
			break;
		case RING_FOLLOW_GAP:
			gap(reader, as_json, missed);
			break;
		case RING_FOLLOW_NONE:
			fflush(stdout);
			if (ring_follow_wait(ring, UINT64_MAX))
				error("nobody writes to ring %s any more: no more events will come",
				      trace->ring);
			break;
		}
	}
	losses_totals(as_json, reader);
}

/* The waiter wants the ring's descriptor. */
static int begin(struct trace *trace, struct reader *reader, struct ring_follow *ring)
{
	int err, fd;

	err = monad_event_ring_open_fd(trace->ring, &fd, NULL, 0);
	if (!err) {
		err = ring_follow_begin(ring, &reader->iter, fd);
		close(fd);
	}
	if (!err)
		return EXIT_OK;
	error("%s", lib_error());
	return EXIT_FAILED;
}

int cmd_trace(int argc, char **argv)
{
	static const struct argp_child children[] = { { &filter_argp, 0, "Which events:", 1 }, {} };
	static const struct argp argp = { options, parse_option, NULL, doc, children, NULL, NULL };
	struct sigaction action = { .sa_handler = interrupt };
	struct trace trace = { .ring = DEFAULT_RING };
	struct ring_follow ring;
	struct reader reader;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &trace);
	status = reader_open(&reader, trace.ring, NULL);
	if (status)
		return status;
	status = begin(&trace, &reader, &ring);
	if (status)
		goto out;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!trace.json)
		print_header(trace.filter.all_types);
	follow(&trace, &reader, &ring);
	ring_follow_end(&ring);
out:
	reader_close(&reader);
	return status;
}
