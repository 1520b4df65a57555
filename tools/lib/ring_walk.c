// SPDX-License-Identifier: GPL-2.0
#include <time.h>

#include "ring_walk.h"

/* How long a walk waits in all, milliseconds: usually an event is written in less. */
#define PATIENCE 100

static void pause_ms(long ms)
{
	const struct timespec pause = {0, ms * 1000 * 1000};

	nanosleep(&pause, NULL);
}

uint64_t ring_numbers(const struct monad_event_ring *ring, uint64_t *last)
{
	*last = monad_event_ring_last_seqno(ring);
	return *last > ring->desc_capacity_mask ? *last - ring->desc_capacity_mask : 1;
}

bool ring_is_busy(const struct monad_event_ring *ring)
{
	uint64_t before = monad_event_ring_last_seqno(ring);

	pause_ms(10);
	return monad_event_ring_last_seqno(ring) != before;
}

void ring_seek_start(struct monad_event_iterator *iter, const struct monad_event_ring *ring)
{
	if (ring_is_busy(ring))
		monad_event_iterator_seek_oldest(iter);
	else
		monad_event_iterator_set_seqno(iter, monad_event_ring_oldest_seqno(ring));
}

void ring_walk_begin(struct ring_walk *walk, struct monad_event_iterator *iter)
{
	walk->iter = iter;
	walk->last = iter->next_seqno - 1 + monad_event_iterator_lag(iter);
	walk->patience = PATIENCE;
}

enum ring_walk_result ring_walk_next(struct ring_walk *walk, struct monad_event_descriptor *event,
				     uint64_t *missed)
{
	struct monad_event_iterator *iter = walk->iter;

	while (iter->next_seqno <= walk->last) {
		enum monad_event_iter_result result = monad_event_iterator_try_next(iter, event);

		if (result == MONAD_EVENT_SUCCESS)
			return RING_WALK_EVENT;
		/* Of a broken ring: its last number has gone down. */
		if (!monad_event_iterator_lag(iter))
			break;
		if (result == MONAD_EVENT_GAP) {
			*missed = monad_event_iterator_recover(iter);
			return RING_WALK_GAP;
		}
		*missed = monad_event_iterator_recover_lapped(iter);
		if (*missed)
			return RING_WALK_GAP;
		if (!walk->patience) {
			/* What is behind it is to be seen. */
			monad_event_iterator_set_seqno(iter, iter->next_seqno + 1);
			*missed = 1;
			return RING_WALK_GAP;
		}
		walk->patience--;
		pause_ms(1);
	}
	return RING_WALK_END;
}
