/* SPDX-License-Identifier: GPL-2.0 */
/* Choosing and printing events: what watch and dump have in common. */
#ifndef MONAD_RING_TOOL_EVENT_OUTPUT_H
#define MONAD_RING_TOOL_EVENT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <monad_event/event_iterator.h>

#include "json_writer.h"
#include "ring_handle.h"

#define MAX_TYPE_FILTERS 64
#define MAX_TAG_FILTERS	 16

struct event_output {
	/* options */
	bool json;
	bool hex;
	bool raw; /* the bytes of payloads and nothing else */
	uint64_t count;				  /* stop after so many events; 0: do not */
	const char *type_names[MAX_TYPE_FILTERS]; /* any of them */
	size_t type_count;
	struct {
		const char *name; /* NAME=VALUE, or INDEX=VALUE */
		unsigned int index; /* what that is in this ring */
		uint64_t value;
	} tags[MAX_TAG_FILTERS]; /* all of them */
	size_t tag_count;

	/* state */
	uint16_t types[MAX_TYPE_FILTERS]; /* of type_names, in this ring */
	const struct monad_event_ring *ring;
	const struct monad_event_flow_tag *flow_tags; /* their names, in this ring */
	size_t flow_tag_count;
	struct json_writer writer;
	uint8_t *payload; /* the last one copied */
	size_t payload_size;

	/* totals */
	uint64_t printed;
	uint64_t discarded; /* by their writers */
	uint64_t filtered;  /* not asked for */
	uint64_t missed;
	uint64_t expired; /* payloads of printed events */
};

/* Options of getopt_long() that event_output_option() knows. */
#define EVENT_OUTPUT_SHORT_OPTIONS "jxt:T:n:"
#define EVENT_OUTPUT_LONG_OPTIONS                                                              \
	{"json", no_argument, NULL, 'j'}, {"hex", no_argument, NULL, 'x'},                     \
		{"type", required_argument, NULL, 't'}, {"tag", required_argument, NULL, 'T'}, \
	{                                                                                      \
		"count", required_argument, NULL, 'n'                                          \
	}

/* What to say of them in a command's help. */
extern const char event_output_help[];

/* NULL, or what is wrong with the value of option @opt. */
const char *event_output_option(struct event_output *output, int opt, const char *value);

/*
 * Looks up what was asked for in the ring that is to be printed. False, with a
 * message, when it does not exist there. May be called again for another ring.
 */
bool event_output_start(struct event_output *output, const struct ring_handle *handle);

/*
 * Prints @event, just delivered by @iter, or counts why not. False: stop now,
 * since enough were printed or nobody reads the output.
 */
bool event_output_event(struct event_output *output, struct monad_event_iterator *iter,
			const struct monad_event_descriptor *event);

/* Reports that @missed events are not there any more. False: stop. */
bool event_output_gap(struct event_output *output, uint64_t missed);

/* Reports something else that happened to the ring: "recreated", ... */
bool event_output_note(struct event_output *output, const char *what, const char *text);

/* The closing line of totals; frees what is held. */
void event_output_finish(struct event_output *output);

#endif /* MONAD_RING_TOOL_EVENT_OUTPUT_H */
