// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Copying events out of a ring that writers go on writing to.
 *
 * The oldest events go first, since they are overwritten first. Each one is
 * complete when it has been checked after its last byte was copied; what it becomes
 * in the snapshot is decided then, and nothing is written to the snapshot before all
 * of them are copied. From the first one on, every sequence number becomes exactly
 * one event, so that new numbers are the old ones minus a constant.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>

#include "error.h"
#include "snapshot.h"

/* Payloads are copied in pieces of this size. */
#define PIECE (64UL << 10)

struct copy {
	struct snapshot_events *out;
	struct monad_event_iterator iter;
	unsigned int seqno_tags; /* bit mask: which flow tags are sequence numbers */
	uint64_t events_bytes;	 /* of payload_bytes, what is not of placeholders */
	uint64_t unwritten;	 /* not ready ones since the last event that was put out */
	uint8_t piece[PIECE];
};

/* Which flow tags hold sequence numbers, as far as the content type is known. */
static unsigned int find_seqno_tags(const struct monad_event_ring *ring)
{
	const struct monad_event_flow_tag *tags;
	unsigned int found = 0;
	size_t count;

	if (!monad_event_ring_schema_known(ring))
		return 0;
	tags = monad_event_flow_tags(ring->header->content_type, &count);
	for (size_t i = 0; i < count; i++) {
		if (tags[i].is_seqno)
			found |= 1U << tags[i].index;
	}
	return found;
}

/* @event, whose payload is in the spool, as the next one. */
static int put_event(struct copy *copy, struct monad_event_descriptor *event)
{
	struct monad_event_snapshot_stats *stats = &copy->out->stats;

	event->seqno = ++stats->events;
	event->unused = 0;
	for (unsigned int i = 0; i < 4; i++) {
		if (copy->seqno_tags & 1U << i) {
			/* What it points to has to be in the snapshot, and no later. */
			const uint64_t target = event->content_ext[i] - stats->base_seqno + 1;
			const bool inside = event->content_ext[i] >= stats->base_seqno &&
					    target <= event->seqno;

			event->content_ext[i] = inside ? target : 0;
		}
	}
	return spool_put(&copy->out->descriptors, event, sizeof(*event));
}

static int put_payload(struct copy *copy, const void *data, size_t len)
{
	static const uint8_t zeroes[MONAD_EVENT_PAYLOAD_ALIGN];
	const size_t padding = -len & (MONAD_EVENT_PAYLOAD_ALIGN - 1);
	int err = spool_put(&copy->out->payloads, data, len);

	if (!err && padding)
		err = spool_put(&copy->out->payloads, zeroes, padding);
	copy->out->payload_bytes += len + padding;
	return err;
}

/* An event of type RECORD_ERROR; the rest of @event is as it should be. */
static int put_record_error(struct copy *copy, struct monad_event_descriptor *event,
			    enum monad_event_record_error_type type)
{
	const struct monad_event_record_error payload = {
		.error_type = (uint16_t)type,
		.dropped_event_type = event->event_type,
		.requested_payload_size = event->payload_size,
	};
	int err;

	event->event_type = MONAD_EVENT_RECORD_ERROR_EVENT_TYPE;
	event->payload_size = sizeof(payload);
	event->payload_buf_offset = copy->out->payload_bytes;
	err = put_payload(copy, &payload, sizeof(payload));
	return err ? err : put_event(copy, event);
}

/* NONE events for those not ready, now that an event follows them. */
static int put_unwritten(struct copy *copy)
{
	int err = 0;

	for (; copy->unwritten && !err; copy->unwritten--) {
		struct monad_event_descriptor event = {
			.event_type = MONAD_EVENT_NONE_EVENT_TYPE,
			.record_epoch_nanos = copy->out->stats.last_epoch_nanos,
			.payload_buf_offset = copy->out->payload_bytes,
		};

		err = put_event(copy, &event);
	}
	return err;
}

/* The next @count sequence numbers are gone. */
static int put_missed(struct copy *copy, uint64_t count)
{
	struct monad_event_snapshot_stats *stats = &copy->out->stats;
	int err = 0;

	stats->missed += count;
	if (!stats->events)
		return 0;
	err = put_unwritten(copy);
	for (; count && !err; count--) {
		struct monad_event_descriptor event = {
			.record_epoch_nanos = stats->last_epoch_nanos,
		};

		err = put_record_error(copy, &event, MONAD_EVENT_RECORD_ERROR_MISSING_EVENT);
	}
	return err;
}

/*
 * Copies @event's payload to the spool. @expired: it was not all there; what was
 * copied of it stays in the spool and belongs to no event.
 */
static int copy_payload(struct copy *copy, const struct monad_event_descriptor *event,
			bool *expired)
{
	const struct monad_event_ring *ring = copy->out->ring;
	const uint64_t room = 2 * (ring->payload_buf_mask + 1) - copy->events_bytes;
	const uint64_t before = copy->out->payload_bytes;
	struct monad_event_descriptor piece = *event;
	int err = 0;

	/*
	 * An event without payload has none to lose. What is in a ring at one time fits
	 * in its payload buffer, unless descriptors lie: no more than twice that is
	 * copied, since some of it may have been allocated only just now.
	 */
	*expired = event->payload_size &&
		   (event->payload_size > ring->payload_buf_mask + 1 ||
		    event->payload_size > room || !monad_event_ring_payload_check(ring, event));
	for (uint64_t done = 0; done < event->payload_size && !*expired && !err; done += PIECE) {
		const uint64_t left = event->payload_size - done;
		const size_t len = left < PIECE ? left : PIECE;

		piece.payload_buf_offset = event->payload_buf_offset + done;
		if (!monad_event_ring_payload_memcpy(ring, &piece, copy->piece, len) ||
		    !monad_event_ring_payload_check(ring, event))
			*expired = true;
		else
			err = put_payload(copy, copy->piece, len);
	}
	/* A multiple of 16, as the buffer's size is, so never more than that. */
	copy->events_bytes += copy->out->payload_bytes - before;
	return err;
}

static int copy_event(struct copy *copy, struct monad_event_descriptor *event)
{
	struct monad_event_snapshot_stats *stats = &copy->out->stats;
	const uint64_t offset = copy->out->payload_bytes;
	const uint64_t seqno = event->seqno;
	bool expired;
	int err;

	err = copy_payload(copy, event, &expired);
	if (err)
		return err;
	/* Among payloads that have expired, a discarded event is nothing to begin with. */
	if (!stats->events && event->event_type == MONAD_EVENT_NONE_EVENT_TYPE &&
	    !monad_event_ring_payload_check(copy->out->ring, event))
		expired = true;
	if (expired) {
		stats->missed++;
		stats->expired++;
		if (!stats->events)
			return 0;
		err = put_unwritten(copy);
		if (err)
			return err;
		stats->last_epoch_nanos = event->record_epoch_nanos;
		return put_record_error(copy, event, MONAD_EVENT_RECORD_ERROR_OVERFLOW_EXPIRE);
	}
	if (!stats->events) {
		stats->base_seqno = seqno;
		stats->first_epoch_nanos = event->record_epoch_nanos;
		copy->unwritten = 0;
	}
	err = put_unwritten(copy);
	if (err)
		return err;
	stats->copied++;
	stats->last_epoch_nanos = event->record_epoch_nanos;
	event->payload_buf_offset = offset;
	return put_event(copy, event);
}

/*
 * The oldest event that can be there. No more than there are descriptors lie between it and
 * what was chosen as the last one, though somebody sets the ring's last one back meanwhile.
 */
static uint64_t oldest_now(const struct copy *copy)
{
	const uint64_t last = copy->out->stats.last_seqno;
	const uint64_t capacity = copy->out->ring->desc_capacity_mask + 1;
	const uint64_t oldest = monad_event_ring_oldest_seqno(copy->out->ring);

	return last > capacity && oldest < last - capacity + 1 ? last - capacity + 1 : oldest;
}

static int copy_range(struct copy *copy)
{
	struct monad_event_snapshot_stats *stats = &copy->out->stats;
	const uint64_t oldest = oldest_now(copy);
	uint64_t left = stats->last_seqno - stats->first_seqno + 1;
	struct monad_event_descriptor event;
	uint64_t gone = 0;
	int err = 0;

	/* Asked for, and long gone. */
	if (oldest > stats->first_seqno)
		gone = oldest - stats->first_seqno < left ? oldest - stats->first_seqno : left;
	stats->missed += gone;
	left -= gone;
	monad_event_iterator_set_seqno(&copy->iter, stats->first_seqno + gone);
	while (left && !err) {
		uint64_t count = 1;

		switch (monad_event_iterator_try_next(&copy->iter, &event)) {
		case MONAD_EVENT_SUCCESS:
			err = copy_event(copy, &event);
			break;
		case MONAD_EVENT_NOT_READY:
			/* It can have been lapped by one that is being written itself. */
			if (monad_event_iterator_lag(&copy->iter) <=
			    copy->iter.desc_capacity_mask + 1) {
				stats->not_ready++;
				copy->unwritten++;
				copy->iter.next_seqno++;
				break;
			}
			/* fallthrough */
		case MONAD_EVENT_GAP:
			count = monad_event_iterator_recover(&copy->iter);
			if (count > left)
				count = left;
			err = put_missed(copy, count);
			break;
		}
		left -= count;
	}
	return err;
}

/* Narrows the range down to what is between two times. */
static void choose_by_time(struct copy *copy, uint64_t from, uint64_t to)
{
	struct monad_event_snapshot_stats *stats = &copy->out->stats;
	const struct monad_event_ring *ring = copy->out->ring;
	const uint64_t oldest = oldest_now(copy);
	uint64_t seqno = stats->first_seqno > oldest ? stats->first_seqno : oldest;
	uint64_t first = 0, last = 0, left;

	left = stats->last_seqno >= seqno ? stats->last_seqno - seqno + 1 : 0;
	for (; left; left--, seqno++) {
		struct monad_event_descriptor event;

		if (!monad_event_ring_try_copy(ring, seqno, &event) ||
		    event.record_epoch_nanos < from || event.record_epoch_nanos > to)
			continue;
		if (!first)
			first = seqno;
		last = seqno;
	}
	stats->first_seqno = first;
	stats->last_seqno = last;
}

static void choose(struct copy *copy, const struct monad_event_snapshot_options *options)
{
	struct monad_event_snapshot_stats *stats = &copy->out->stats;
	const struct monad_event_ring *ring = copy->out->ring;
	const uint64_t oldest = monad_event_ring_oldest_seqno(ring);
	const uint64_t last = monad_event_ring_last_seqno(ring);
	struct monad_event_descriptor event;

	/* Or the oldest after it, if that is just being overwritten. */
	for (uint64_t seqno = oldest; seqno <= last && seqno - oldest < 1024; seqno++) {
		if (monad_event_ring_try_copy(ring, seqno, &event)) {
			stats->oldest_epoch_nanos = event.record_epoch_nanos;
			break;
		}
	}
	stats->first_seqno = options->first_seqno ? options->first_seqno : oldest;
	stats->last_seqno = options->last_seqno && options->last_seqno < last ? options->last_seqno
									      : last;
	if (options->from_epoch_nanos || options->to_epoch_nanos)
		choose_by_time(copy, options->from_epoch_nanos,
			       options->to_epoch_nanos ? options->to_epoch_nanos : UINT64_MAX);
	if (stats->first_seqno > stats->last_seqno || !stats->last_seqno) {
		stats->first_seqno = 0;
		stats->last_seqno = 0;
	}
}

int snapshot_events_copy(struct snapshot_events *events, const struct monad_event_ring *ring,
			 const struct monad_event_snapshot_options *options)
{
	struct timespec now;
	struct copy *copy;
	int err;

	memset(events, 0, sizeof(*events));
	events->ring = ring;
	events->descriptors.fd = -1;
	events->payloads.fd = -1;
	clock_gettime(CLOCK_REALTIME, &now);
	events->taken_epoch_nanos = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
	copy = calloc(1, sizeof(*copy));
	if (!copy)
		return FAIL(ENOMEM, "no memory to copy events");
	copy->out = events;
	copy->seqno_tags = find_seqno_tags(ring);
	err = spool_open(&events->descriptors, options->spool_dir);
	if (!err)
		err = spool_open(&events->payloads, options->spool_dir);
	if (!err)
		err = monad_event_ring_init_iterator(ring, &copy->iter);
	if (!err) {
		choose(copy, options);
		if (events->stats.last_seqno)
			err = copy_range(copy);
	}
	if (!err)
		err = spool_turn(&events->descriptors);
	if (!err)
		err = spool_turn(&events->payloads);
	free(copy);
	return err;
}

void snapshot_events_free(struct snapshot_events *events)
{
	spool_close(&events->descriptors);
	spool_close(&events->payloads);
}
