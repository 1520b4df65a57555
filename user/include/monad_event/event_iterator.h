/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Reading a ring's events in order.
 *
 *	struct monad_event_iterator it;
 *	struct monad_event_descriptor event;
 *
 *	monad_event_ring_init_iterator(&ring, &it);
 *	for (;;) {
 *		switch (monad_event_iterator_try_next(&it, &event)) {
 *		case MONAD_EVENT_SUCCESS:
 *			use(&event);
 *			break;
 *		case MONAD_EVENT_NOT_READY:
 *			wait a little;
 *			break;
 *		case MONAD_EVENT_GAP:
 *			missed += monad_event_iterator_recover(&it);
 *			break;
 *		}
 *	}
 *
 * Every sequence number is either delivered by try_next or counted by recover,
 * exactly once. Events of type MONAD_EVENT_NONE_EVENT_TYPE are delivered too:
 * those are events that their writer discarded, to be passed over.
 *
 * Thread safety: one thread per iterator. Any number of iterators can read the
 * same ring without knowing of each other.
 */
#ifndef MONAD_EVENT_EVENT_ITERATOR_H
#define MONAD_EVENT_EVENT_ITERATOR_H

#include <monad_event/event_ring.h>

#ifdef __cplusplus
extern "C" {
#endif

enum monad_event_iter_result {
	MONAD_EVENT_SUCCESS = 0,   /* the event was copied */
	MONAD_EVENT_NOT_READY = 1, /* it is not written yet */
	MONAD_EVENT_GAP = 2,	   /* it has been overwritten */
};

/*
 * How far behind the point where writers overwrite a repositioned iterator
 * starts: 1/16 of the ring's descriptors.
 */
#define MONAD_EVENT_ITERATOR_MARGIN_SHIFT 4

/*
 * Holds what it needs of the ring, which must stay mapped but may be moved.
 * next_seqno and the two counters are public for reading.
 */
struct monad_event_iterator {
	uint64_t next_seqno; /* of the event that is read next */
	const struct monad_event_descriptor *descriptors;
	uint64_t desc_capacity_mask;
	const struct monad_event_ring_header *header;
	const uint8_t *payload_buf;
	uint64_t payload_buf_mask;
	uint64_t events_missed;	   /* sum of what _recover() returned */
	uint64_t payloads_expired; /* how often a payload function here failed */
};

/*
 * Copies the next event's descriptor to @event if it is there; the iterator does
 * not move. @event is written on success only.
 */
static inline enum monad_event_iter_result
monad_event_iterator_try_copy(const struct monad_event_iterator *iter,
			      struct monad_event_descriptor *event)
{
	const uint64_t want = iter->next_seqno;
	const struct monad_event_descriptor *const slot =
		&iter->descriptors[(want - 1) & iter->desc_capacity_mask];
	/* Also orders _recover()'s look at last_seqno behind a gap seen here. */
	const uint64_t seqno = __atomic_load_n(&slot->seqno, __ATOMIC_ACQUIRE);

	if (__builtin_expect(seqno == want, 1)) {
		/* Overwritten while being copied: the slot is a newer event's. */
		return monad_event_slot_copy_(slot, want, event) ? MONAD_EVENT_SUCCESS
								 : MONAD_EVENT_GAP;
	}
	return seqno < want ? MONAD_EVENT_NOT_READY : MONAD_EVENT_GAP;
}

/* As _try_copy(), and moves on to the event after it on success. */
static inline enum monad_event_iter_result
monad_event_iterator_try_next(struct monad_event_iterator *iter,
			      struct monad_event_descriptor *event)
{
	enum monad_event_iter_result result = monad_event_iterator_try_copy(iter, event);

	if (__builtin_expect(result == MONAD_EVENT_SUCCESS, 1))
		iter->next_seqno++;
	return result;
}

/*
 * The next event read is @seqno, unchecked: it can turn out a gap, or not be
 * ready for long. There is no event 0: it stands for the first one, 1.
 */
static inline void monad_event_iterator_set_seqno(struct monad_event_iterator *iter, uint64_t seqno)
{
	iter->next_seqno = seqno ? seqno : 1;
}

/*
 * The next event read is the newest, which may still be being written; in an
 * empty ring the first one to come. Returns the sequence number before it.
 */
static inline uint64_t monad_event_iterator_reset(struct monad_event_iterator *iter)
{
	uint64_t last = __atomic_load_n(&iter->header->control.last_seqno, __ATOMIC_ACQUIRE);

	monad_event_iterator_set_seqno(iter, last);
	return iter->next_seqno - 1;
}

/*
 * The next event read is the oldest that is safe: in a ring that has wrapped,
 * 1/16 of its descriptors after the oldest that is there, so that a busy writer
 * does not overwrite it at once. Descriptors outlive their payloads when
 * payloads are large: the payload of this event may have expired already.
 * Returns the event's sequence number.
 */
static inline uint64_t monad_event_iterator_seek_oldest(struct monad_event_iterator *iter)
{
	uint64_t last = __atomic_load_n(&iter->header->control.last_seqno, __ATOMIC_ACQUIRE);
	uint64_t capacity = iter->desc_capacity_mask + 1;
	uint64_t keep = capacity - (capacity >> MONAD_EVENT_ITERATOR_MARGIN_SHIFT);

	monad_event_iterator_set_seqno(iter, last > keep ? last - keep + 1 : 1);
	return iter->next_seqno;
}

/*
 * After MONAD_EVENT_GAP: moves forward to the oldest event that is safe, as
 * _seek_oldest() does, and returns how many events were skipped by that: exactly
 * the sequence numbers that this iterator will now never deliver, at least 1.
 */
static inline uint64_t monad_event_iterator_recover(struct monad_event_iterator *iter)
{
	const uint64_t from = iter->next_seqno;

	/* Forward, whatever a broken ring says: a reader must not hang in a gap. */
	if (monad_event_iterator_seek_oldest(iter) <= from)
		iter->next_seqno = from + 1;
	iter->events_missed += iter->next_seqno - from;
	return iter->next_seqno - from;
}

/*
 * How many events have been allocated that this iterator has not read: 0 when it
 * has caught up. More than the ring's capacity: the next read is, or is about to
 * become, a gap. Looks at the writers' busiest cache line, as
 * monad_event_ring_last_seqno() does.
 */
static inline uint64_t monad_event_iterator_lag(const struct monad_event_iterator *iter)
{
	uint64_t last = __atomic_load_n(&iter->header->control.last_seqno, __ATOMIC_ACQUIRE);

	return last >= iter->next_seqno ? last - iter->next_seqno + 1 : 0;
}

/*
 * monad_event_ring_payload_peek(), _check() and _memcpy() for an event that this
 * iterator delivered. The latter two also count a payload that has expired in
 * iter->payloads_expired; they are not asked for events without payload.
 */
static inline const void *
monad_event_iterator_payload_peek(const struct monad_event_iterator *iter,
				  const struct monad_event_descriptor *event)
{
	if (event->payload_size > iter->payload_buf_mask + 1)
		return NULL;
	return iter->payload_buf + (event->payload_buf_offset & iter->payload_buf_mask);
}

static inline bool monad_event_iterator_payload_check(struct monad_event_iterator *iter,
						      const struct monad_event_descriptor *event)
{
	/* As in monad_event_ring_payload_check(). */
	MONAD_EVENT_READ_FENCE_();
	if (event->payload_buf_offset >=
	    MONAD_EVENT_LOAD_(&iter->header->control.buffer_window_start))
		return true;
	iter->payloads_expired++;
	return false;
}

static inline void *monad_event_iterator_payload_memcpy(struct monad_event_iterator *iter,
							const struct monad_event_descriptor *event,
							void *dst, size_t n)
{
	const uint8_t *src;

	if (n > iter->payload_buf_mask + 1)
		return NULL;
	src = iter->payload_buf + (event->payload_buf_offset & iter->payload_buf_mask);
	monad_event_copy_bytes_(dst, src, n);
	return monad_event_iterator_payload_check(iter, event) ? dst : NULL;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MONAD_EVENT_EVENT_ITERATOR_H */
