// SPDX-License-Identifier: GPL-2.0
/* The events of a ring, one by one; they may be overwritten meanwhile, which is no finding. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <monad_event/event_iterator.h>

#include "interrupt.h"
#include "ring_check.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

/* How much the clocks of writers, and ours, may differ. */
#define FUTURE_NS (60 * NSEC_PER_SEC)

/* There were no such rings before: 2000-01-01. */
#define PAST_NS (UINT64_C(946684800) * NSEC_PER_SEC)

/* How often, a millisecond apart, an event that is not finished is looked at again, in all. */
#define PATIENCE 100

/* How often a slot that changes while it is looked at is looked at again. */
#define TRIES 1000

/* The bytes of one event's payload. */
struct check_extent {
	uint64_t offset; /* unwrapped */
	uint64_t seqno;
	uint32_t size;
};

static uint64_t slot_offset(const struct ring_check *check, uint64_t seqno)
{
	return MONAD_EVENT_RING_HEADER_SIZE +
	       ((seqno - 1) & check->handle->ring.desc_capacity_mask) *
		       sizeof(struct monad_event_descriptor);
}

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Keeps where the payload is, to be compared with all others in the end. */
static void keep_extent(struct ring_check *check, const struct monad_event_descriptor *event)
{
	struct check_extent *more;
	size_t room;

	if (!event->payload_size || check->overlap_unchecked)
		return;
	if (check->extent_count == check->extent_room) {
		room = check->extent_room ? 2 * check->extent_room : 1024;
		more = reallocarray(check->extents, room, sizeof(*more));
		if (!more) {
			check->overlap_unchecked = true;
			return;
		}
		check->extents = more;
		check->extent_room = room;
	}
	check->extents[check->extent_count++] = (struct check_extent){
		.offset = event->payload_buf_offset,
		.seqno = event->seqno,
		.size = event->payload_size,
	};
}

static void check_payload(struct ring_check *check, const struct monad_event_descriptor *event,
			  uint64_t at)
{
	const struct monad_event_ring *ring = &check->handle->ring;
	const uint64_t offset = event->payload_buf_offset;
	const uint64_t next = load(&ring->header->control.next_payload_byte);

	if (offset % MONAD_EVENT_PAYLOAD_ALIGN)
		ring_check_found(check, CHECK_PAYLOAD, event->seqno, at,
				 "its payload is at byte %" PRIu64 ", which is no multiple of %d",
				 offset, MONAD_EVENT_PAYLOAD_ALIGN);
	if (event->payload_size > ring->payload_buf_mask + 1)
		ring_check_found(check, CHECK_PAYLOAD, event->seqno, at,
				 "its payload has %u bytes, the ring's buffer %" PRIu64,
				 event->payload_size, ring->payload_buf_mask + 1);
	else if (offset > next || event->payload_size > next - offset)
		ring_check_found(check, CHECK_PAYLOAD, event->seqno, at,
				 "its payload, %u bytes from byte %" PRIu64
				 " on, ends after %" PRIu64 ", where the next one begins",
				 event->payload_size, offset, next);
	else if (!monad_event_ring_payload_check(ring, event))
		check->expired += event->payload_size > 0;
	else
		keep_extent(check, event);
}

static void check_type(struct ring_check *check, const struct monad_event_descriptor *event,
		       uint64_t at)
{
	if (!check->schema_known ||
	    monad_event_ring_lookup_metadata(&check->handle->ring, event->event_type))
		return;
	ring_check_found(check, CHECK_TYPE, event->seqno, at,
			 "events of content type %s have no type %u",
			 monad_event_content_type_name(check->handle->ring.header->content_type),
			 event->event_type);
}

static void check_tags(struct ring_check *check, const struct monad_event_descriptor *event,
		       uint64_t at)
{
	const struct monad_event_flow_tag *tags;
	size_t count;

	if (!check->schema_known)
		return;
	tags = monad_event_flow_tags(check->handle->ring.header->content_type, &count);
	for (size_t i = 0; i < count; i++) {
		if (tags[i].is_seqno && event->content_ext[tags[i].index] > event->seqno)
			ring_check_found(check, CHECK_TAG, event->seqno, at,
					 "its %s is event %" PRIu64 ", which is a later one",
					 tags[i].c_name, event->content_ext[tags[i].index]);
	}
}

static void check_record_error(struct ring_check *check,
			       const struct monad_event_descriptor *event, uint64_t at)
{
	struct monad_event_record_error error;

	if (event->event_type != MONAD_EVENT_RECORD_ERROR_EVENT_TYPE)
		return;
	if (event->payload_size < sizeof(error)) {
		ring_check_found(check, CHECK_ERROR, event->seqno, at,
				 "RECORD_ERROR has %u bytes of payload, not %zu",
				 event->payload_size, sizeof(error));
		return;
	}
	if (!monad_event_ring_payload_memcpy(&check->handle->ring, event, &error, sizeof(error)))
		return;
	if (error.error_type > MONAD_EVENT_RECORD_ERROR_MISSING_EVENT)
		ring_check_found(check, CHECK_ERROR, event->seqno, at,
				 "RECORD_ERROR of unknown type %u", error.error_type);
	else if (error.truncated_payload_size > event->payload_size - sizeof(error))
		ring_check_found(check, CHECK_ERROR, event->seqno, at,
				 "RECORD_ERROR says that it has %u bytes of the payload, and has "
				 "%zu",
				 error.truncated_payload_size,
				 event->payload_size - sizeof(error));
}

static void check_time(struct ring_check *check, const struct monad_event_descriptor *event,
		       uint64_t at)
{
	const uint64_t time = event->record_epoch_nanos;

	/* What stands for events that were never written may have none. */
	if (event->event_type == MONAD_EVENT_NONE_EVENT_TYPE && !time)
		return;
	if (time < PAST_NS || time > check->now_ns + FUTURE_NS) {
		ring_check_found(check, CHECK_TIME, event->seqno, at,
				 "it was recorded %" PRIu64 " seconds after 1970, which is %s",
				 time / NSEC_PER_SEC,
				 time < PAST_NS ? "long ago" : "in the future");
		return;
	}
	if (time + MONAD_EVENT_TIME_SLACK_NANOS < check->last_time)
		ring_check_found(check, CHECK_TIME, event->seqno, at,
				 "it was recorded %" PRIu64 " ms before event %" PRIu64
				 "; the clock was set back",
				 (check->last_time - time) / 1000000, check->last_time_seqno);
	/* Once for each time that it was set, not for all events from then on. */
	check->last_time = time;
	check->last_time_seqno = event->seqno;
}

static void check_event(struct ring_check *check, const struct monad_event_descriptor *event)
{
	const uint64_t at = slot_offset(check, event->seqno);

	check->events++;
	check->discarded += event->event_type == MONAD_EVENT_NONE_EVENT_TYPE;
	if (event->unused)
		ring_check_found(check, CHECK_RESERVED, event->seqno, at + 10,
				 "unused field of its descriptor is %u", event->unused);
	check_type(check, event, at);
	check_payload(check, event, at);
	check_tags(check, event, at);
	check_record_error(check, event, at);
	check_time(check, event, at);
}

/* Whether slot of event @want can hold @found now. */
static bool seqno_can_be(const struct ring_check *check, uint64_t want, uint64_t found)
{
	const struct monad_event_ring *ring = &check->handle->ring;
	const uint64_t last = load(&ring->header->control.last_seqno);

	return found == 0 || (((found - want) & ring->desc_capacity_mask) == 0 && found <= last);
}

static void pause_ms(void)
{
	const struct timespec pause = {0, 1000000};

	nanosleep(&pause, NULL);
}

/* The slot of event @seqno, which has been reserved. */
static void check_slot(struct ring_check *check, uint64_t seqno, unsigned int *patience)
{
	const struct monad_event_ring *ring = &check->handle->ring;
	struct monad_event_descriptor event;
	uint64_t found, last;

	/* Who changes a file under our eyes does not keep us here. */
	for (int tries = 0; tries < TRIES; tries++) {
		if (monad_event_ring_try_copy(ring, seqno, &event)) {
			check_event(check, &event);
			return;
		}
		found = load(&monad_event_ring_slot_(ring, seqno)->seqno);
		if (found == seqno)
			continue; /* written just now */
		if (!seqno_can_be(check, seqno, found)) {
			ring_check_found(check, CHECK_SEQNO, found, slot_offset(check, seqno),
					 "the slot of event %" PRIu64 " has this one", seqno);
			return;
		}
		last = load(&ring->header->control.last_seqno);
		if (last - seqno > ring->desc_capacity_mask) {
			check->overwritten++;
			return;
		}
		if (!check->may_be_live || !*patience || interrupted)
			break;
		--*patience;
		pause_ms();
	}
	ring_check_found(check, CHECK_UNFINISHED, seqno, slot_offset(check, seqno),
			 check->may_be_live ? "its writer has not finished it, yet or ever"
					    : "its writer died before it had finished it");
}

/* A slot that no event has had so far; @seqno will have it. */
static void check_unused_slot(struct ring_check *check, uint64_t seqno)
{
	const uint64_t found = load(&monad_event_ring_slot_(&check->handle->ring, seqno)->seqno);

	if (!seqno_can_be(check, seqno, found))
		ring_check_found(check, CHECK_SEQNO, found, slot_offset(check, seqno),
				 "event %" PRIu64 " will be in the slot that has this one", seqno);
}

static int by_offset(const void *a, const void *b)
{
	const struct check_extent *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->seqno < y->seqno ? -1 : x->seqno > y->seqno;
}

/* Unwrapped offsets are given out once, though not in the order of sequence numbers. */
static void check_overlap(struct ring_check *check)
{
	const struct check_extent *before = NULL;

	if (check->overlap_unchecked)
		return;
	if (check->extent_count)
		qsort(check->extents, check->extent_count, sizeof(*check->extents), by_offset);
	for (size_t i = 0; i < check->extent_count; i++) {
		const struct check_extent *extent = &check->extents[i];

		if (before && extent->offset - before->offset < before->size)
			ring_check_found(check, CHECK_OVERLAP, extent->seqno,
					 slot_offset(check, extent->seqno),
					 "its payload, from byte %" PRIu64
					 " on, is within that of event %" PRIu64,
					 extent->offset, before->seqno);
		if (!before || extent->offset + extent->size > before->offset + before->size)
			before = extent;
	}
}

void ring_check_events(struct ring_check *check)
{
	const struct monad_event_ring *ring = &check->handle->ring;
	const uint64_t capacity = ring->desc_capacity_mask + 1;
	const uint64_t last = check->last_seqno;
	const uint64_t first = last > capacity ? last - capacity + 1 : 1;
	unsigned int patience = PATIENCE;

	for (uint64_t seqno = first; seqno - first < capacity && !interrupted; seqno++) {
		if (seqno <= last)
			check_slot(check, seqno, &patience);
		else
			check_unused_slot(check, seqno);
	}
	check->interrupted = interrupted;
	check_overlap(check);
}
