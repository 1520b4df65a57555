// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* An iterator's place, saved and found again. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring.h>

#include "error.h"

#define LOST_HINT \
	"start anew, or go on from the first event after the cursor's last_nanos " \
	"(monad_event_iterator_seek_time)"

/* The time stamp of event @seqno; false when it is not there (any more). */
static bool event_time(const struct monad_event_iterator *iter, uint64_t seqno, uint64_t *nanos)
{
	struct monad_event_iterator there = *iter;
	struct monad_event_descriptor event;

	if (seqno == 0)
		return false;
	there.next_seqno = seqno;
	if (monad_event_iterator_try_copy(&there, &event) != MONAD_EVENT_SUCCESS)
		return false;
	*nanos = event.record_epoch_nanos;
	return true;
}

/* Fills in what tells the ring from others; zero where it has nothing. */
static void ring_identity(const struct monad_event_iterator *iter,
			  struct monad_event_cursor *identity)
{
	const struct monad_event_ring ring = {
		.mmap_prot = PROT_READ,
		.header = (struct monad_event_ring_header *)iter->header,
	};
	const struct monad_ring_ext *ext = monad_event_ring_ext(&ring);

	memset(identity, 0, sizeof(*identity));
	if (ext) {
		memcpy(identity->uuid, ext->uuid, sizeof(identity->uuid));
		identity->generation = ext->generation;
	}
}

int monad_event_iterator_save(const struct monad_event_iterator *iter,
			      struct monad_event_cursor *cursor)
{
	if (!iter || !cursor)
		return FAIL(EFAULT, "%s is NULL", iter ? "cursor" : "iterator");
	if (!iter->header)
		return FAIL(EINVAL, "the iterator was not initialized");
	ring_identity(iter, cursor);
	memcpy(cursor->magic, MONAD_EVENT_CURSOR_MAGIC, sizeof(cursor->magic));
	cursor->seqno = iter->next_seqno;
	if (!event_time(iter, iter->next_seqno - 1, &cursor->last_nanos))
		cursor->last_nanos = 0;
	return 0;
}

/* What may have happened to a ring in which what the cursor has seen is not, or is another. */
static const char *what_happened(const struct monad_event_cursor *ring)
{
	static const uint8_t none[sizeof(ring->uuid)];

	/* What has no identity cannot tell itself from its successor. */
	if (memcmp(ring->uuid, none, sizeof(none)) == 0)
		return "the ring was made anew since the cursor was saved";
	return "the ring has lost events that the cursor has seen, because its machine went down "
	       "before they were on disk, or because an older copy took its place";
}

/* ESTALE unless @cursor's place is one of the ring @iter is of. */
static int check_place(const struct monad_event_iterator *iter,
		       const struct monad_event_cursor *ring,
		       const struct monad_event_cursor *cursor)
{
	const uint64_t last = monad_event_last_seqno_(iter->header);
	uint64_t nanos;

	if (cursor->seqno - 1 > last && !cursor->last_nanos)
		return FAIL_HINT(ESTALE,
				 "monad_event_iterator_set_seqno() goes there all the same",
				 "the cursor is at event %" PRIu64
				 ", which the ring is not at yet, or not any more: its last event "
				 "is %" PRIu64,
				 cursor->seqno, last);
	if (cursor->seqno - 1 > last)
		return FAIL_HINT(ESTALE, LOST_HINT,
				 "%s: its last event is %" PRIu64 ", the cursor has seen %" PRIu64,
				 what_happened(ring), last, cursor->seqno - 1);
	if (cursor->last_nanos && event_time(iter, cursor->seqno - 1, &nanos) &&
	    nanos != cursor->last_nanos)
		return FAIL_HINT(ESTALE, LOST_HINT,
				 "%s: its event %" PRIu64
				 " is of another time than the one the cursor has seen",
				 what_happened(ring), cursor->seqno - 1);
	return 0;
}

/* ESTALE unless this is the ring that @cursor is of. */
static int check_ring(const struct monad_event_iterator *iter,
		      const struct monad_event_cursor *cursor)
{
	struct monad_event_cursor ring;

	ring_identity(iter, &ring);
	if (memcmp(ring.uuid, cursor->uuid, sizeof(ring.uuid)) != 0)
		return FAIL_HINT(ESTALE, "start anew, at the oldest event for example",
				 "the cursor is of another ring, or the ring was made anew "
				 "since (UUID %02x%02x%02x%02x..., the ring's is "
				 "%02x%02x%02x%02x...)",
				 cursor->uuid[0], cursor->uuid[1], cursor->uuid[2],
				 cursor->uuid[3], ring.uuid[0], ring.uuid[1], ring.uuid[2],
				 ring.uuid[3]);
	if (ring.generation != cursor->generation)
		return FAIL(ESTALE,
			    "the ring was made anew since the cursor was saved: it is "
			    "generation %" PRIu64 ", the cursor is of %" PRIu64,
			    ring.generation, cursor->generation);
	return check_place(iter, &ring, cursor);
}

int monad_event_iterator_restore(struct monad_event_iterator *iter,
				 const struct monad_event_cursor *cursor, uint64_t *missed)
{
	enum monad_event_seek_result result;
	uint64_t distance;
	int err;

	if (missed)
		*missed = 0;
	if (!iter || !cursor)
		return FAIL(EFAULT, "%s is NULL", iter ? "cursor" : "iterator");
	if (!iter->header)
		return FAIL(EINVAL, "the iterator was not initialized");
	if (memcmp(cursor->magic, MONAD_EVENT_CURSOR_MAGIC, sizeof(cursor->magic)) != 0 ||
	    cursor->seqno == 0)
		return FAIL(EINVAL, "this is no cursor that was saved");
	err = check_ring(iter, cursor);
	if (err)
		return err;
	result = monad_event_iterator_seek_seqno(iter, cursor->seqno, &distance);
	if (missed && result == MONAD_EVENT_SEEK_GONE)
		*missed = distance;
	return 0;
}
