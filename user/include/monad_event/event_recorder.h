/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Writing events into a ring file: by any thread, any number of threads at once, and
 * signal handlers. (Rings of the kernel module are written by BPF programs only.)
 *
 *	struct monad_event_recorder recorder;
 *	struct monad_event_descriptor *event;
 *	uint64_t seqno;
 *	uint8_t *payload;
 *
 *	err = monad_event_ring_init_recorder(&ring, &recorder);
 *	...
 *	event = monad_event_recorder_reserve(&recorder, size, &seqno, &payload);
 *	if (event) {
 *		event->event_type = MY_EVENT;
 *		event->content_ext[0] = tag;
 *		memcpy(payload, data, size);
 *		monad_event_recorder_commit(event, seqno);
 *	}
 *
 * Events are seen in the order of their reservation, each once it and all before it are
 * committed. So commit soon: readers wait at a reservation, and writers cannot go further
 * than once around the ring behind it. They are then refused, and counted, until it is
 * committed; never does a writer, however late, change what is another's. A thread that
 * ends without committing is a writer that is late for ever: the ring stalls
 * (MONAD_RING_LOST_STALLED counts what is lost) until any other thread commits or discards
 * what it left behind, or the ring is closed.
 *
 * A ring has one writing process at a time. monad_event_ring_init_recorder() takes the
 * exclusive flock(2) that says who. A child made by fork(2) writes nothing through what it
 * inherited: its reservations are refused (MONAD_RING_LOST_NO_SLOT).
 *
 * Thread safety: all functions below may be called by any thread, on the same recorder
 * too, and all but monad_event_ring_init_recorder() by signal handlers, also by one that
 * interrupted another of them. They leave errno and the error message alone. An event may
 * be committed by another thread than the one that reserved it. No recorder of a ring may
 * be used once the ring is unmapped.
 */
#ifndef MONAD_EVENT_EVENT_RECORDER_H
#define MONAD_EVENT_EVENT_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include <monad/event_ring.h>
#include <monad_event/event_ring.h>

#ifdef __cplusplus
extern "C" {
#endif

struct monad_event_recorder_core_;

/*
 * All recorders of a ring in a process are equal, may be copied, and hold nothing that has
 * to be released. Zeroed: no event is taken, none is counted.
 */
struct monad_event_recorder {
	struct monad_event_recorder_core_ *core_;
};

/* The one behind the two calls that reserve. */
struct monad_event_descriptor *
monad_event_recorder_reserve_(const struct monad_event_recorder *recorder, uint16_t event_type,
			      size_t payload_size, uint64_t *seqno, uint8_t **payload);

/*
 * Reserves an event with @payload_size bytes of payload, which the caller now fills in, with
 * event_type (0, NONE, if it does not) and content_ext (all 0) of the descriptor that is
 * returned. Everything else there is not to be touched. *@payload is on a 16-byte boundary and
 * not cleared: older events' bytes may be in it. @seqno and @payload may not be NULL.
 *
 * Returns NULL, with 0 in *@seqno and NULL in *@payload, when the event cannot be recorded;
 * monad_event_recorder_counters() says why, by a count for each cause. The largest event is a
 * quarter of the payload buffer, or 4 GiB - 1.
 */
static inline struct monad_event_descriptor *
monad_event_recorder_reserve(struct monad_event_recorder *recorder, size_t payload_size,
			     uint64_t *seqno, uint8_t **payload)
{
	return monad_event_recorder_reserve_(recorder, MONAD_EVENT_NONE_EVENT_TYPE, payload_size,
					     seqno, payload);
}

/*
 * As above, and sets the event's type, which is not 0 or 1: those are refused and counted
 * (MONAD_RING_LOST_BAD_ARG).
 */
struct monad_event_descriptor *
monad_event_recorder_reserve_type(struct monad_event_recorder *recorder, uint16_t event_type,
				  size_t payload_size, uint64_t *seqno, uint8_t **payload);

void monad_event_recorder_commit_(struct monad_event_descriptor *event, uint64_t seqno);

/*
 * Makes the event visible; it is not the caller's any more. @event and @seqno as they were
 * given by reserve. Anything else, and a second commit, changes nothing and is counted
 * (MONAD_RING_LOST_BAD_ARG), where it can be told which ring is meant; but two threads must not
 * commit the same event at the same time.
 */
static inline void monad_event_recorder_commit(struct monad_event_descriptor *event, uint64_t seqno)
{
	monad_event_recorder_commit_(event, seqno);
}

/*
 * Instead of a commit: the event becomes one of type NONE without payload, which readers pass
 * over, and is counted as discarded.
 */
void monad_event_recorder_discard(struct monad_event_descriptor *event, uint64_t seqno);

/*
 * Records an event of @size bytes, copied from @data (NULL if there are none). 0, or
 *
 *	EMSGSIZE	It is too large, and was counted so. In its place stands an event of
 *			type RECORD_ERROR: struct monad_event_record_error, and after it as
 *			much of @data as makes 4096 bytes with it.
 *	ENOBUFS		It was not recorded, and counted.
 *	EINVAL		@event_type is 0 or 1, or @data is missing; counted as BAD_ARG.
 */
int monad_event_recorder_output(struct monad_event_recorder *recorder, uint16_t event_type,
				const void *data, size_t size);

/*
 * Where the recorder counts what it lost and discarded: lost[] (enum monad_ring_lost) and
 * discarded are of use. In the ring's own extension block if it has one, otherwise kept
 * by this process. Good until the ring is unmapped; NULL for a zeroed recorder.
 */
const struct monad_ring_ext *
monad_event_recorder_counters(const struct monad_event_recorder *recorder);

/* CLOCK_REALTIME in nanoseconds, as in record_epoch_nanos. */
uint64_t monad_event_get_epoch_nanos(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MONAD_EVENT_EVENT_RECORDER_H */
