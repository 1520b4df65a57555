// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <time.h>

#include <monad_event/event_iterator.h>

#include "ring_contents.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

/*
 * The oldest event that can be read: the very oldest, or in a busy ring, where
 * that is gone before one has looked, the oldest that is safe.
 */
static void get_oldest(struct ring_contents *contents, const struct ring_handle *handle)
{
	struct monad_event_iterator iter;
	uint64_t seqno = monad_event_ring_oldest_seqno(&handle->ring);

	contents->has_oldest = monad_event_ring_try_copy(&handle->ring, seqno, &contents->oldest);
	if (contents->has_oldest || monad_event_ring_init_iterator(&handle->ring, &iter) != 0)
		return;
	monad_event_iterator_seek_oldest(&iter);
	contents->has_oldest =
		monad_event_iterator_try_copy(&iter, &contents->oldest) == MONAD_EVENT_SUCCESS;
}

/* The newest that is written; the last few allocated ones may not be. */
static void get_newest(struct ring_contents *contents, const struct ring_handle *handle)
{
	for (uint64_t i = 0; i < 64 && i < contents->last_seqno && !contents->has_newest; i++) {
		uint64_t seqno = contents->last_seqno - i;

		contents->has_newest = monad_event_ring_try_copy(&handle->ring, seqno,
								 &contents->newest);
	}
}

void ring_contents_get(struct ring_contents *contents, const struct ring_handle *handle)
{
	const struct monad_event_ring_control *control = &handle->ring.header->control;
	struct timespec ts;
	uint64_t now;

	memset(contents, 0, sizeof(*contents));
	contents->last_seqno = monad_event_ring_last_seqno(&handle->ring);
	contents->next_payload_byte =
		__atomic_load_n(&control->next_payload_byte, __ATOMIC_RELAXED);
	contents->window_start = __atomic_load_n(&control->buffer_window_start, __ATOMIC_RELAXED);
	get_oldest(contents, handle);
	get_newest(contents, handle);
	clock_gettime(CLOCK_REALTIME, &ts);
	now = (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
	if (contents->has_oldest && contents->oldest.record_epoch_nanos < now)
		contents->age_ns = now - contents->oldest.record_epoch_nanos;
}
