/* SPDX-License-Identifier: GPL-2.0 */
/* How soon a ring is overwritten, at the rate of the last moments. */
#ifndef MONAD_STORAGE_RING_LAP_H
#define MONAD_STORAGE_RING_LAP_H

#include <monad_event/event_ring.h>

/* How far it was written at some time. */
struct ring_mark {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t seqno;
	uint64_t bytes;
};

void ring_mark(const struct monad_event_ring *ring, struct ring_mark *mark);

/*
 * How long what is written now will be there, in nanoseconds; UINT64_MAX if nothing was
 * written since the mark. Sleeps if that is less than @least_ns ago.
 */
uint64_t ring_lap_ns(const struct monad_event_ring *ring, const struct ring_mark *since,
		     uint64_t least_ns);

#endif /* MONAD_STORAGE_RING_LAP_H */
