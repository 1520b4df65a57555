// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_ring_util.h>

#include "monad_storage.h"
#include "reader.h"

int reader_open(struct reader *reader, const char *ring)
{
	int err;

	memset(reader, 0, sizeof(*reader));
	err = monad_event_ring_open(&reader->ring, ring, 0);
	if (err) {
		error("%s", monad_event_ring_get_last_error());
		if (err == ENOENT && access("/sys/module/monad_ring", F_OK))
			error("the module is not loaded: modprobe monad_ring");
		return EXIT_FAILED;
	}
	if (reader->ring.header->content_type == MONAD_EVENT_CONTENT_TYPE_NONE) {
		error("nothing was ever recorded in ring %s: 'monad-storage start' begins", ring);
		goto fail;
	}
	err = monad_event_ring_check_content_type(&reader->ring, MONAD_EVENT_CONTENT_TYPE_STORAGE,
						  g_monad_storage_event_schema_hash);
	if (err) {
		error("%s", monad_event_ring_get_last_error());
		if (reader->ring.header->content_type == MONAD_EVENT_CONTENT_TYPE_STORAGE)
			error("the ring was recorded by another version of monad-storage: "
			      "read it with that one");
		goto fail;
	}
	err = monad_event_ring_init_iterator(&reader->ring, &reader->iter);
	if (err) {
		error("%s", monad_event_ring_get_last_error());
		goto fail;
	}
	return EXIT_OK;
fail:
	monad_event_ring_unmap(&reader->ring);
	return EXIT_FAILED;
}

void reader_close(struct reader *reader)
{
	monad_event_ring_unmap(&reader->ring);
}

/*
 * Events of different CPUs may be a little out of order in time: the search by
 * halves goes this much too far back, and the caller leaves out what is older.
 */
#define TIME_SLACK_NS (NSEC_PER_SEC / 4)

bool reader_seek_time(struct reader *reader, uint64_t epoch_ns)
{
	uint64_t want = epoch_ns > TIME_SLACK_NS ? epoch_ns - TIME_SLACK_NS : 0;
	uint64_t low = monad_event_iterator_seek_oldest(&reader->iter), oldest = low;
	uint64_t high = monad_event_ring_last_seqno(&reader->ring) + 1;
	struct monad_event_descriptor desc;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!monad_event_ring_try_copy(&reader->ring, middle, &desc)) {
			/* overwritten, or still being written, which is new */
			if (middle < monad_event_ring_oldest_seqno(&reader->ring))
				low = middle + 1;
			else
				high = middle;
		} else if (desc.record_epoch_nanos < want) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	monad_event_iterator_set_seqno(&reader->iter, low);
	return low > oldest || oldest == 1;
}

bool reader_span(struct reader *reader, uint64_t *oldest_ns, uint64_t *newest_ns)
{
	struct monad_event_iterator iter = reader->iter;
	uint64_t low = monad_event_iterator_seek_oldest(&iter);
	uint64_t last = monad_event_ring_last_seqno(&reader->ring), high = last;
	struct monad_event_descriptor desc;

	/* Descriptors outlive payloads: the oldest one that still has its own. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (monad_event_ring_try_copy(&reader->ring, middle, &desc) &&
		    monad_event_ring_payload_check(&reader->ring, &desc))
			high = middle;
		else
			low = middle + 1;
	}
	if (!monad_event_ring_try_copy(&reader->ring, low, &desc))
		return false;
	*oldest_ns = desc.record_epoch_nanos;
	/* The very newest may still be being written. */
	while (last > low && !monad_event_ring_try_copy(&reader->ring, last, &desc))
		last--;
	*newest_ns = desc.record_epoch_nanos;
	return true;
}
