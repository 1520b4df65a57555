// SPDX-License-Identifier: GPL-2.0
/*
 * Ring files with anything in them: mapped, iterated, copied. A ring is some MiB, so an
 * input is a list of changes to one that is sound: an operation, where, and a value.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_ring_util.h>

#include "fuzz_input.h"
#include "ring_image.h"
#include "snapshot.h"

#define EVENTS	    40
#define CAPACITY    1024
#define MAX_CHANGES 256

static struct image image;

static struct {
	uint64_t offset, old;
} undo[MAX_CHANGES];
static unsigned int changes;

static void make_image(void)
{
	image_create(&image, 10, 21, 4096);
	memcpy(image.map + MONAD_RING_EXT_OFFSET, MONAD_RING_EXT_MAGIC, 8);
	put(&image, MONAD_RING_EXT_OFFSET + 8, sizeof(struct monad_ring_ext), 4);
	put_events_up_to(&image, EVENTS);
}

static void change(uint64_t offset, uint64_t value, int bytes)
{
	if (changes == MAX_CHANGES || offset + 8 > image.size)
		return;
	undo[changes].offset = offset;
	undo[changes++].old = get(&image, offset, 8);
	put(&image, offset, value, bytes);
}

static void change_back(void)
{
	while (changes) {
		changes--;
		put(&image, undo[changes].offset, undo[changes].old, 8);
	}
}

/* A piece of the file is cut off; false: there is no ring to go on with. */
static void cut(struct input *input)
{
	uint64_t size = take(input, 4) % (image.size + 1);
	struct monad_event_ring ring;
	int fd = memfd_create("cut", MFD_CLOEXEC);

	MUST(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	MUST(pwrite(fd, image.map, size < 65536 ? size : 65536, 0) >= 0);
	if (monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, "cut") == 0) {
		struct monad_event_descriptor event;

		/* Then all of it is there. */
		MUST(ring.payload_buf[ring.payload_buf_mask] == 0);
		monad_event_ring_try_copy(&ring, 1, &event);
		monad_event_ring_unmap(&ring);
	}
	close(fd);
}

static void apply(struct input *input)
{
	uint64_t slot;

	switch (take(input, 1) % 8) {
	case 0: /* the header */
		slot = take(input, 1) % 185;
		change(slot, take(input, 8), 8);
		break;
	case 1: /* the blocks behind it */
		slot = take(input, 2) % 8192;
		change(MONAD_RING_EXT_OFFSET + slot, take(input, 4), 4);
		break;
	case 2: /* a word of a descriptor */
		slot = take(input, 2) % CAPACITY;
		change(MIB2 + 64 * slot + 8 * (take(input, 1) % 8), take(input, 8), 8);
		break;
	case 3: /* an event in its place */
		slot = take(input, 2);
		change(MIB2 + 64 * (slot % CAPACITY), slot + 1, 8);
		change(MIB2 + 64 * (slot % CAPACITY) + 8, take(input, 8), 8);
		change(MIB2 + 64 * (slot % CAPACITY) + 24, take(input, 4), 8);
		break;
	case 4: /* small changes of the control words */
		change(64, take(input, 2), 8);
		change(128, take(input, 3), 8);
		break;
	case 5:
		change(6, take(input, 2), 2);
		break;
	case 6:
		cut(input);
		break;
	case 7:
		slot = take(input, 3);
		change(image.payload_offset + slot % MIB2, take(input, 1), 1);
		break;
	}
}

static void use_payload(struct monad_event_iterator *iter, const struct monad_event_ring *ring,
			const struct monad_event_descriptor *event)
{
	const uint8_t *payload = monad_event_iterator_payload_peek(iter, event);
	static volatile uint8_t sink;
	uint8_t copy[512];

	MUST(!payload == (event->payload_size > ring->payload_buf_mask + 1));
	if (payload && event->payload_size) {
		sink = payload[0];
		sink = payload[event->payload_size - 1];
		(void)sink;
	}
	monad_event_iterator_payload_check(iter, event);
	monad_event_iterator_payload_memcpy(iter, event, copy,
					    event->payload_size < sizeof(copy) ? event->payload_size
									       : sizeof(copy));
	monad_event_ring_payload_memcpy(ring, event, copy, sizeof(copy));
	monad_event_ring_payload_check(ring, event);
	monad_event_lookup_metadata(ring->header->content_type, event->event_type);
}

/* From wherever it is, to the end or for a while: never back, never in one place. */
static void walk(struct monad_event_iterator *iter, const struct monad_event_ring *ring)
{
	struct monad_event_descriptor event;

	for (unsigned int steps = 0; steps < 3 * CAPACITY; steps++) {
		const uint64_t before = iter->next_seqno;

		switch (monad_event_iterator_try_next(iter, &event)) {
		case MONAD_EVENT_SUCCESS:
			MUST(event.seqno == before && iter->next_seqno == before + 1);
			use_payload(iter, ring, &event);
			break;
		case MONAD_EVENT_GAP:
			MUST(monad_event_iterator_recover(iter) == iter->next_seqno - before);
			MUST(iter->next_seqno != before);
			break;
		case MONAD_EVENT_NOT_READY:
			monad_event_iterator_lag(iter);
			return;
		}
	}
}

/* Moves in every way there is, and reads on from there. */
static void seek_all(const struct monad_event_ring *ring, struct monad_event_iterator *iter,
		     struct input *input)
{
	struct monad_event_descriptor event, batch[7];
	struct monad_event_cursor cursor;
	uint64_t distance;

	monad_event_iterator_seek_seqno(iter, take(input, 8), &distance);
	walk(iter, ring);
	monad_event_iterator_seek_time(iter, 1700000000000000000ULL + take(input, 2));
	while (monad_event_iterator_next_batch(iter, batch, 7, NULL) == 7)
		;
	MUST(monad_event_iterator_save(iter, &cursor) == 0);
	if (take(input, 1) & 1)
		cursor.seqno = take(input, 8);
	monad_event_iterator_restore(iter, &cursor, &distance);
	for (unsigned int i = 0; i < 64; i++) {
		if (monad_event_iterator_try_prev(iter, &event) != MONAD_EVENT_PREV_SUCCESS)
			break;
		monad_event_iterator_seek_flow(iter, &event, i % 6, 64);
	}
	walk(iter, ring);
}

static void read_all(const struct monad_event_ring *ring, struct input *input)
{
	struct monad_event_descriptor event;
	struct monad_event_iterator iter;

	MUST(ring->desc_capacity_mask <= 0xffffffff);
	monad_event_ring_ext(ring);
	monad_event_ring_snapshot_info(ring);
	monad_event_content_type_name(ring->header->content_type);
	monad_event_ring_check_content_type(ring, MONAD_EVENT_CONTENT_TYPE_TEST,
					    g_monad_test_event_schema_hash);
	MUST(monad_event_ring_init_iterator(ring, &iter) == 0);
	walk(&iter, ring);
	monad_event_iterator_seek_oldest(&iter);
	walk(&iter, ring);
	monad_event_iterator_set_seqno(&iter, monad_event_ring_oldest_seqno(ring));
	walk(&iter, ring);
	monad_event_iterator_set_seqno(&iter, take(input, 8));
	walk(&iter, ring);
	seek_all(ring, &iter, input);
	monad_event_ring_try_copy(ring, take(input, 8), &event);
}

/* What a snapshot would be made of. */
static void copy_all(const struct monad_event_ring *ring, struct input *input)
{
	struct monad_event_snapshot_options options = {.size = sizeof(options)};
	struct snapshot_events events;
	const struct monad_event_snapshot_stats *stats = &events.stats;
	const uint64_t choice = take(input, 1);

	if (choice & 1)
		options.first_seqno = take(input, choice & 2 ? 8 : 1);
	if (choice & 4)
		options.last_seqno = take(input, choice & 2 ? 8 : 1);
	if (choice & 8)
		options.from_epoch_nanos = 1700000000000000000ULL + take(input, 1);
	if (choice & 16)
		options.to_epoch_nanos = 1700000000000000000ULL + take(input, 1);
	MUST(snapshot_events_copy(&events, ring, &options) == 0);
	MUST(stats->copied + stats->missed + stats->not_ready ==
	     (stats->last_seqno ? stats->last_seqno - stats->first_seqno + 1 : 0));
	MUST(stats->events <= ring->desc_capacity_mask + 1 && stats->copied <= stats->events);
	MUST(events.payload_bytes <= 2 * (ring->payload_buf_mask + 1) + 16 * stats->events);
	MUST(events.payload_bytes % 16 == 0);
	for (uint64_t i = 1; i <= stats->events; i++) {
		struct monad_event_descriptor event;

		MUST(spool_get(&events.descriptors, &event, sizeof(event)) == 0);
		MUST(event.seqno == i && event.payload_buf_offset % 16 == 0);
		MUST(event.payload_buf_offset + event.payload_size <= events.payload_bytes);
		MUST(stats->base_seqno || !stats->events);
	}
	snapshot_events_free(&events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct monad_event_ring ring;
	unsigned int count;
	int err;

	if (!image.map)
		make_image();
	count = (unsigned int)take(&input, 1) % 64;
	while (count-- && input.left)
		apply(&input);
	err = monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 0, "fuzz");
	if (err) {
		MUST(err == EPROTO || err == EINVAL);
		MUST(!ring.header);
	} else {
		read_all(&ring, &input);
		if (one_in(4, data, size))
			copy_all(&ring, &input);
		monad_event_ring_unmap(&ring);
	}
	change_back();
	return 0;
}
