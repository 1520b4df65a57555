/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading all that is in a ring without being held up by an event that was allocated and is
 * never written, because its writer was stopped or died.
 */
#ifndef MONAD_TOOLS_RING_WALK_H
#define MONAD_TOOLS_RING_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include <monad_event/event_iterator.h>

enum ring_walk_result {
	RING_WALK_EVENT, /* here is one */
	RING_WALK_GAP,   /* some were missed: overwritten, or never written */
	RING_WALK_END,
};

/* A walk from an iterator's place to the event that was the newest at its start. */
struct ring_walk {
	struct monad_event_iterator *iter;
	uint64_t last;
	unsigned int patience; /* milliseconds left to wait for what is not written */
};

/*
 * The numbers of the oldest and the @last event that can be in the ring, by one look at it: never
 * further apart than it has room for.
 */
uint64_t ring_numbers(const struct monad_event_ring *ring, uint64_t *last);

/* Whether events are being recorded right now; takes a few milliseconds. */
bool ring_is_busy(const struct monad_event_ring *ring);

/*
 * To the oldest event of all when nobody records; otherwise to the oldest one that
 * is not overwritten before it is printed.
 */
void ring_seek_start(struct monad_event_iterator *iter, const struct monad_event_ring *ring);

void ring_walk_begin(struct ring_walk *walk, struct monad_event_iterator *iter);

/* The next @event, or how many were @missed. */
enum ring_walk_result ring_walk_next(struct ring_walk *walk, struct monad_event_descriptor *event,
				     uint64_t *missed);

#endif /* MONAD_TOOLS_RING_WALK_H */
