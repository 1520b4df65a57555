// SPDX-License-Identifier: GPL-2.0
#include <time.h>

#include "monad_storage.h"
#include "ring_lap.h"

void ring_mark(const struct monad_event_ring *ring, struct ring_mark *mark)
{
	const struct monad_event_ring_control *control = &ring->header->control;

	mark->time_ns = clock_ns(CLOCK_MONOTONIC);
	mark->seqno = __atomic_load_n(&control->last_seqno, __ATOMIC_RELAXED);
	mark->bytes = __atomic_load_n(&control->next_payload_byte, __ATOMIC_RELAXED);
}

static uint64_t lap_ns(uint64_t capacity, uint64_t written, uint64_t ns)
{
	double lap = (double)capacity / (double)written * (double)ns;

	return written && lap < 1e18 ? (uint64_t)lap : UINT64_MAX;
}

uint64_t ring_lap_ns(const struct monad_event_ring *ring, const struct ring_mark *since,
		     uint64_t least_ns)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC) - since->time_ns, by_events, by_bytes;
	struct ring_mark now;

	if (ns < least_ns) {
		const struct timespec rest = { .tv_sec = (time_t)((least_ns - ns) / NSEC_PER_SEC),
					       .tv_nsec = (long)((least_ns - ns) % NSEC_PER_SEC) };

		nanosleep(&rest, NULL);
	}
	ring_mark(ring, &now);
	ns = now.time_ns - since->time_ns;
	by_events = lap_ns(ring->desc_capacity_mask + 1, now.seqno - since->seqno, ns);
	by_bytes = lap_ns(ring->header->size.payload_buf_size, now.bytes - since->bytes, ns);
	return by_events < by_bytes ? by_events : by_bytes;
}
