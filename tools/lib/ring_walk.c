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
	walk->last = __atomic_load_n(&iter->header->control.last_seqno, __ATOMIC_ACQUIRE);
	walk->patience = PATIENCE;
}

enum ring_walk_result ring_walk_next(struct ring_walk *walk, struct monad_event_descriptor *event,
				     uint64_t *missed)
{
	struct monad_event_iterator *iter = walk->iter;

	while (iter->next_seqno <= walk->last) {
		switch (monad_event_iterator_try_next(iter, event)) {
		case MONAD_EVENT_SUCCESS:
			return RING_WALK_EVENT;
		case MONAD_EVENT_GAP:
			*missed = monad_event_iterator_recover(iter);
			return RING_WALK_GAP;
		case MONAD_EVENT_NOT_READY:
			break;
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
