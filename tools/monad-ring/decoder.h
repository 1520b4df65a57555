/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is in payloads. A decoder sees a copy of the payload, which it may read
 * at leisure but which can be shorter than the structure it expects.
 */
#ifndef MONAD_RING_TOOL_DECODER_H
#define MONAD_RING_TOOL_DECODER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <monad_event/event_ring.h>

#include "json_writer.h"

struct decoder {
	/* One line's worth of text, with a space in front of each item. */
	void (*print)(FILE *out, const struct monad_event_ring *ring, const void *payload,
		      size_t len);
	/* Fields, into an object that is open. */
	void (*json)(struct json_writer *json, const struct monad_event_ring *ring,
		     const void *payload, size_t len);
};

/*
 * The decoder for an event of @ring, NULL when there is none: of a ring whose events are
 * laid out in another way, only what all rings have in common is decoded.
 */
const struct decoder *decoder_lookup(const struct monad_event_ring *ring, uint16_t event_type);

#endif /* MONAD_RING_TOOL_DECODER_H */
