// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_ring_util.h>

#include "monad_storage.h"
#include "pins.h"
#include "reader.h"

/* Rings are called by their names, or by their devices, which end in them. */
static bool is_called(const char *device, const char *ring)
{
	size_t length = strlen(ring), whole = strlen(device);

	if (length >= whole)
		return !strcmp(ring, device);
	return length && !strcmp(device + whole - length, ring) &&
	       strchr("/-", device[whole - length - 1]);
}

static void look_who_records(struct reader *reader, const char *ring)
{
	struct monad_storage_session session;

	if (pins_read_session(&session) || !is_called(session.ring, ring))
		return;
	reader->recorded_to = true;
	reader->notable_only = session.events == MONAD_STORAGE_EVENTS_NOTABLE;
}

int reader_open(struct reader *reader, const char *ring, bool *unused)
{
	int err;

	memset(reader, 0, sizeof(*reader));
	err = monad_event_ring_open(&reader->ring, ring, 0);
	if (err) {
		error("%s", lib_error());
		return EXIT_FAILED;
	}
	if (reader->ring.header->content_type == MONAD_EVENT_CONTENT_TYPE_NONE) {
		if (unused)
			*unused = true;
		else
			error("nothing was ever recorded in ring %s: 'monad-storage start' begins "
			      "it", ring);
		goto fail;
	}
	err = monad_event_ring_check_content_type(&reader->ring, MONAD_EVENT_CONTENT_TYPE_STORAGE,
						  g_monad_storage_event_schema_hash);
	if (err) {
		error("%s", lib_error());
		if (reader->ring.header->content_type == MONAD_EVENT_CONTENT_TYPE_STORAGE)
			error("the ring was recorded by another version of monad-storage: "
			      "read it with that one");
		goto fail;
	}
	err = monad_event_ring_init_iterator(&reader->ring, &reader->iter);
	if (err) {
		error("%s", lib_error());
		goto fail;
	}
	look_who_records(reader, ring);
	return EXIT_OK;
fail:
	monad_event_ring_unmap(&reader->ring);
	return EXIT_FAILED;
}

void reader_close(struct reader *reader)
{
	monad_event_ring_unmap(&reader->ring);
}

bool reader_next(struct reader *reader, struct ring_walk *walk,
		 struct monad_event_descriptor *desc)
{
	uint64_t missed;

	for (;;) {
		switch (ring_walk_next(walk, desc, &missed)) {
		case RING_WALK_EVENT:
			return true;
		case RING_WALK_GAP:
			reader->missed += missed;
			break;
		case RING_WALK_END:
			return false;
		}
	}
}

/* Events of different CPUs may be a little out of order in time. */
#define TIME_SLACK_NS (NSEC_PER_SEC / 4)

void reader_note_time(struct reader *reader, uint64_t epoch_ns)
{
	if (epoch_ns + TIME_SLACK_NS < reader->latest_ns)
		reader->clock_set_back = true;
	if (epoch_ns > reader->latest_ns)
		reader->latest_ns = epoch_ns;
}

/* By looking at all: nothing is in order by time once the clock was set. */
bool reader_span(struct reader *reader, struct reader_span *span)
{
	uint64_t last, seqno = ring_numbers(&reader->ring, &last);
	struct reader times = {};
	struct monad_event_descriptor desc;

	memset(span, 0, sizeof(*span));
	for (; seqno <= last; seqno++) {
		/* Overwritten meanwhile, or not written. */
		if (!monad_event_ring_try_copy(&reader->ring, seqno, &desc))
			continue;
		/* Descriptors outlive payloads: the oldest one that still has its own. */
		if (!span->first_seqno &&
		    !monad_event_ring_payload_check(&reader->ring, &desc))
			continue;
		if (!span->first_seqno) {
			span->first_seqno = desc.seqno;
			span->oldest_ns = desc.record_epoch_nanos;
		}
		span->newest_ns = desc.record_epoch_nanos;
		reader_note_time(&times, desc.record_epoch_nanos);
	}
	span->clock_set_back = times.clock_set_back;
	return span->first_seqno;
}
