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
 * An iterator begins at the newest event. It can be moved to the oldest one
 * (_seek_oldest), to a sequence number (_seek_seqno), to a time (_seek_time), to
 * where something began (_seek_flow), backwards event by event (_try_prev), and to
 * where it, or one in another process, was before (_save, _restore). How to wait
 * for events: event_wait.h. Nothing here allocates memory.
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

/* What _try_prev() says; the first three are those of enum monad_event_iter_result. */
enum monad_event_prev_result {
	MONAD_EVENT_PREV_SUCCESS = 0,
	MONAD_EVENT_PREV_NOT_READY = 1, /* that event is not written yet */
	MONAD_EVENT_PREV_GAP = 2,	/* overwritten, and so are all before it */
	MONAD_EVENT_PREV_BEGIN = 3,	/* there is none before event 1 */
};

/* What the functions that look for an event say of it. */
enum monad_event_seek_result {
	MONAD_EVENT_SEEK_FOUND = 0, /* the iterator is there */
	MONAD_EVENT_SEEK_AHEAD = 1, /* not written yet; the iterator is where it will be */
	MONAD_EVENT_SEEK_GONE = 2,  /* overwritten; the iterator is as near as possible */
	MONAD_EVENT_SEEK_NONE = 3,  /* there is no such event; the iterator did not move */
};

/*
 * How far the time stamps of events may be out of order for _seek_time() to be exact:
 * a writer that is interrupted between looking at the clock and getting its sequence
 * number comes late by that much. Nanoseconds.
 */
#define MONAD_EVENT_TIME_SLACK_NANOS 100000000ULL

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
 * Calls _try_next() up to @n times: copies that many descriptors at most to
 * @events and returns how many. @result, unless NULL, becomes MONAD_EVENT_SUCCESS
 * when there were @n, otherwise what the event after them is: NOT_READY, or GAP. The
 * events returned are good in each case. They are copies, but their payloads expire
 * as they do for single events: the larger the batch, the likelier.
 */
static inline size_t monad_event_iterator_next_batch(struct monad_event_iterator *iter,
						     struct monad_event_descriptor *events,
						     size_t n, enum monad_event_iter_result *result)
{
	enum monad_event_iter_result last = MONAD_EVENT_SUCCESS;
	size_t count = 0;

	while (count < n) {
		last = monad_event_iterator_try_next(iter, &events[count]);
		if (last != MONAD_EVENT_SUCCESS)
			break;
		count++;
	}
	if (result)
		*result = last;
	return count;
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
	uint64_t last = monad_event_last_seqno_(iter->header);

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
	uint64_t last = monad_event_last_seqno_(iter->header);
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
	uint64_t last = monad_event_last_seqno_(iter->header);

	return last >= iter->next_seqno ? last - iter->next_seqno + 1 : 0;
}

/*
 * Copies the event before the iterator to @event, and moves back to it: the next
 * _try_prev() is about the one before that, the next _try_next() delivers it again.
 * Otherwise @event and the iterator are left as they are. On NOT_READY,
 * monad_event_iterator_set_seqno(iter, iter->next_seqno - 1) goes past that event. A
 * GAP counts nothing as missed: nothing was lost that was to be read.
 */
static inline enum monad_event_prev_result
monad_event_iterator_try_prev(struct monad_event_iterator *iter,
			      struct monad_event_descriptor *event)
{
	const uint64_t want = iter->next_seqno - 1;
	const struct monad_event_descriptor *const slot =
		&iter->descriptors[(want - 1) & iter->desc_capacity_mask];
	uint64_t seqno;

	if (want == 0)
		return MONAD_EVENT_PREV_BEGIN;
	seqno = __atomic_load_n(&slot->seqno, __ATOMIC_ACQUIRE);
	if (seqno == want && monad_event_slot_copy_(slot, want, event)) {
		iter->next_seqno = want;
		return MONAD_EVENT_PREV_SUCCESS;
	}
	if (seqno >= want)
		return MONAD_EVENT_PREV_GAP;
	/* Not written yet, or being written over. */
	seqno = monad_event_last_seqno_(iter->header);
	return seqno > want && seqno - want > iter->desc_capacity_mask
		       ? MONAD_EVENT_PREV_GAP
		       : MONAD_EVENT_PREV_NOT_READY;
}

/*
 * Moves to event @seqno (0 stands for 1), if it is there. @distance, unless NULL:
 *
 *	FOUND	0
 *	AHEAD	how many events are still to be recorded until @seqno is; 0: it is
 *		being written now
 *	GONE	how many events were missed from @seqno on. The iterator is at the
 *		oldest event that is safe, and iter->events_missed has grown, both as
 *		after monad_event_iterator_recover().
 *
 * Never NONE.
 */
enum monad_event_seek_result monad_event_iterator_seek_seqno(struct monad_event_iterator *iter,
							     uint64_t seqno, uint64_t *distance);

/*
 * Moves to the first event that was recorded at or after @epoch_nanos
 * (CLOCK_REALTIME), discarded ones included:
 *
 *	FOUND	The iterator is at it.
 *	AHEAD	There is none yet. The iterator is behind the last event there is.
 *	GONE	As FOUND or AHEAD, but the ring may not reach back that far: events
 *		recorded at or after that time may have been overwritten.
 *
 * Events directly in front of it that are not written yet are not passed over: their
 * time is not known, and the iterator is at the first of them. No margin is kept to
 * where writers overwrite.
 *
 * Exact as long as no event's time stamp is more than MONAD_EVENT_TIME_SLACK_NANOS
 * below that of any event before it: the event found is then the one that looking at
 * all of them from the oldest on finds, and GONE is not said in vain by more than
 * the slack. If the clock was set back by more while recording, the iterator is
 * at an event of that time or later, but there may be some before it.
 *
 * Looks at some dozen events and those of the slack, at each one at most twice in a
 * ring that makes no sense. Never NONE.
 */
enum monad_event_seek_result monad_event_iterator_seek_time(struct monad_event_iterator *iter,
							    uint64_t epoch_nanos);

/*
 * Moves to where something began that @event, which was read from this ring, is part
 * of: to the first event with the value that @event has in content_ext[@index].
 *
 * Where the content type says that this flow tag is the sequence number of the first
 * event (monad_event_flow_tags(); EXEC and STORAGE: index 0), that is where it goes,
 * as monad_event_iterator_seek_seqno() would.
 *
 * Otherwise the up to @limit events before @event are looked at, and the iterator is
 * put at the earliest one that has the same value (and the same values of the tags
 * within which this one counts: an EXEC transaction id means something in its block
 * only). GONE: overwritten events were come upon, so that it may have begun earlier.
 * Events not written yet are passed over.
 *
 * NONE: the value is 0, which means no flow; it is the number of a later event, which
 * cannot be; or there is no such index. AHEAD: only as _seek_seqno().
 */
enum monad_event_seek_result
monad_event_iterator_seek_flow(struct monad_event_iterator *iter,
			       const struct monad_event_descriptor *event, unsigned int index,
			       uint64_t limit);

/*
 * An iterator's place, good in another process and another mapping of the same ring.
 * Plain data without pointers, in the byte order of the machine: keep it as it is.
 */
struct monad_event_cursor {
	char magic[8];	     /* MONAD_EVENT_CURSOR_MAGIC, no NUL */
	uint8_t uuid[16];    /* of the ring; zero when it has none */
	uint64_t generation; /* of the ring; 0 when it has none */
	uint64_t seqno;	     /* of the event to be read next */
	uint64_t last_nanos; /* time stamp of the event before it; 0 when not known */
};

#define MONAD_EVENT_CURSOR_MAGIC "MONADCU1"

/* EFAULT: a NULL argument. EINVAL: an iterator that was not initialized. */
int monad_event_iterator_save(const struct monad_event_iterator *iter,
			      struct monad_event_cursor *cursor);

/*
 * Goes on where @cursor was saved. @iter was initialized for the ring that is to be
 * read. @missed, unless NULL, becomes the number of events that have been
 * overwritten since, exactly: the iterator is then at the oldest safe event,
 * and iter->events_missed has grown, as after monad_event_iterator_recover().
 *
 * ESTALE, and the iterator has not moved: this is not the ring that the cursor is of,
 * or it was made anew since; or it is, but has fewer events than the cursor has seen,
 * or, if that is still there, another one in the place of the last of those. That comes
 * to pass when a machine goes down before all of a ring file was written to its disk,
 * and numbers are then used again, for other events: those after last_nanos are new.
 * A ring of the plain format, which has no identity, may also have been made anew. The
 * message says which it is. A cursor that was saved ahead of the newest event is refused
 * until the ring has got there. EINVAL: not a cursor. EFAULT: a NULL argument.
 */
int monad_event_iterator_restore(struct monad_event_iterator *iter,
				 const struct monad_event_cursor *cursor, uint64_t *missed);

/*
 * After MONAD_EVENT_NOT_READY: recovers if the iterator's event has been overtaken by so
 * many others that its slot is another's by now, though nothing else is written there
 * yet. 0: it has not; otherwise as _recover(). For who is about to wait, since such a
 * slot may stay as it is for ever when its writer died.
 */
static inline uint64_t monad_event_iterator_recover_lapped(struct monad_event_iterator *iter)
{
	return monad_event_iterator_lag(iter) > iter->desc_capacity_mask + 1
		       ? monad_event_iterator_recover(iter)
		       : 0;
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
