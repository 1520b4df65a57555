// SPDX-License-Identifier: GPL-2.0
/* Iterators: positions, what is ready and what is gone, exact counts of gaps. */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring.h>

#include "ring_image.h"
#include "tap.h"

#define CAPACITY 1024ULL
#define MARGIN	 (CAPACITY / 16)

static struct image image;
static struct monad_event_ring ring;
static struct monad_event_iterator iter;
static struct monad_event_descriptor event;

static void setup(uint64_t last)
{
	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, last);
	if (monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 0, "x") ||
	    monad_event_ring_init_iterator(&ring, &iter))
		bail_out("%s", monad_event_ring_get_last_error());
}

static void teardown(void)
{
	monad_event_ring_unmap(&ring);
	image_destroy(&image);
}

static enum monad_event_iter_result next(void)
{
	memset(&event, 0xff, sizeof(event));
	return monad_event_iterator_try_next(&iter, &event);
}

static void test_empty(void)
{
	setup(0);
	eq_u64(iter.next_seqno, 1, "an empty ring starts with event 1");
	eq_int(next(), MONAD_EVENT_NOT_READY, "which is not there");
	eq_u64(event.seqno, ~0ULL, "and nothing is copied");
	eq_u64(monad_event_iterator_reset(&iter), 0, "the seqno before it is 0");
	eq_u64(monad_event_iterator_seek_oldest(&iter), 1, "1 is the oldest, too");
	eq_u64(monad_event_ring_oldest_seqno(&ring), 1, "also for the ring");
	eq_u64(monad_event_iterator_lag(&iter), 0, "no lag");
	monad_event_iterator_set_seqno(&iter, 0);
	eq_int(next(), MONAD_EVENT_NOT_READY, "event 0 is no event");
	eq_u64(iter.next_seqno, 1, "but stands for the first");
	ok(!monad_event_ring_try_copy(&ring, 0, &event), "there is no event 0 to copy");
	ok(!monad_event_ring_try_copy(&ring, 1, &event), "nor 1");
	put_events_up_to(&image, 1);
	eq_int(next(), MONAD_EVENT_SUCCESS, "the first event");
	eq_u64(event.seqno, 1, "its seqno");
	eq_int(next(), MONAD_EVENT_NOT_READY, "no second");
	teardown();
}

static void test_fields(void)
{
	setup(10);
	eq_u64(iter.next_seqno, 10, "starts at the newest");
	eq_int(monad_event_iterator_try_copy(&iter, &event), MONAD_EVENT_SUCCESS, "try_copy");
	eq_u64(iter.next_seqno, 10, "does not move");
	eq_int(next(), MONAD_EVENT_SUCCESS, "try_next");
	eq_u64(iter.next_seqno, 11, "moves");
	eq_u64(event.seqno, 10, "seqno");
	eq_u64(event.event_type, 2, "event_type");
	eq_u64(event.payload_size, 16, "payload_size");
	eq_u64(event.record_epoch_nanos, 1700000000000000010ULL, "record_epoch_nanos");
	eq_u64(event.payload_buf_offset, 144, "payload_buf_offset");
	for (unsigned int i = 0; i < 4; i++)
		eq_u64(event.content_ext[i], 100 + i, "content_ext[%u]", i);
	eq_u64(monad_event_iterator_reset(&iter), 9, "reset returns the seqno before");
	monad_event_iterator_set_seqno(&iter, 4);
	eq_u64(monad_event_iterator_lag(&iter), 7, "lag");
	for (uint64_t seqno = 4; seqno <= 10; seqno++) {
		if (next() != MONAD_EVENT_SUCCESS || event.seqno != seqno)
			ok(false, "event %d", (int)seqno);
	}
	eq_int(next(), MONAD_EVENT_NOT_READY, "all read");
	eq_u64(monad_event_iterator_lag(&iter), 0, "no lag");
	ok(monad_event_ring_try_copy(&ring, 7, &event) && event.seqno == 7, "any event by seqno");
	ok(!monad_event_ring_try_copy(&ring, 11, &event), "not one to come");
	ok(!monad_event_ring_try_copy(&ring, 7 + CAPACITY, &event), "nor the slot's next one");
	teardown();
}

/* The newest is allocated but not written: other fields may be there already. */
static void test_uncommitted(void)
{
	setup(10);
	put_event(&image, 11, 2, 160, 16);
	put(&image, slot_offset(&image, 11), 0, 8);
	put_last_seqno(&image, 11);
	eq_u64(monad_event_iterator_reset(&iter), 10, "reset goes to the uncommitted one");
	eq_int(next(), MONAD_EVENT_NOT_READY, "it is not ready");
	put(&image, slot_offset(&image, 11), 11, 8);
	eq_int(next(), MONAD_EVENT_SUCCESS, "then it is");
	monad_event_iterator_set_seqno(&iter, 500);
	eq_int(next(), MONAD_EVENT_NOT_READY, "a seqno ahead of the ring");
	eq_u64(iter.next_seqno, 500, "is waited for");
	eq_u64(monad_event_iterator_lag(&iter), 0, "without lag");
	teardown();

	/* In a slot that has been used: seqno 0, or still that of the last lap. */
	setup(2 * CAPACITY + 10);
	put(&image, slot_offset(&image, 2 * CAPACITY + 11), 0, 8);
	put_last_seqno(&image, 2 * CAPACITY + 12);
	monad_event_iterator_set_seqno(&iter, 2 * CAPACITY + 11);
	eq_int(next(), MONAD_EVENT_NOT_READY, "being written, in a wrapped ring");
	monad_event_iterator_set_seqno(&iter, 2 * CAPACITY + 12);
	eq_int(next(), MONAD_EVENT_NOT_READY, "allocated, in a wrapped ring");
	teardown();
}

/* Discarded events are delivered as what they are. */
static void test_discarded(void)
{
	setup(3);
	put_event(&image, 2, 0, 16, 0);
	monad_event_iterator_set_seqno(&iter, 1);
	for (uint64_t seqno = 1; seqno <= 3; seqno++) {
		eq_int(next(), MONAD_EVENT_SUCCESS, "event %d", (int)seqno);
		eq_u64(event.event_type, seqno == 2 ? 0 : 2, "its type");
	}
	teardown();
}

static void test_oldest(void)
{
	static const struct {
		uint64_t last, oldest, safe;
	} cases[] = {
		{1, 1, 1},
		{CAPACITY - MARGIN, 1, 1},
		{CAPACITY - MARGIN + 1, 1, 2},
		{CAPACITY - 1, 1, MARGIN},
		{CAPACITY, 1, MARGIN + 1},
		{CAPACITY + 1, 2, MARGIN + 2},
		{5 * CAPACITY + 7, 4 * CAPACITY + 8, 4 * CAPACITY + 8 + MARGIN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(cases[i].last);
		eq_u64(monad_event_ring_oldest_seqno(&ring), cases[i].oldest, "oldest of %d",
		       (int)cases[i].last);
		eq_u64(monad_event_iterator_seek_oldest(&iter), cases[i].safe,
		       "oldest that is safe");
		monad_event_iterator_set_seqno(&iter, cases[i].oldest);
		eq_int(next(), MONAD_EVENT_SUCCESS, "the oldest is there");
		if (cases[i].oldest > 1) {
			monad_event_iterator_set_seqno(&iter, cases[i].oldest - 1);
			eq_int(next(), MONAD_EVENT_GAP, "the one before is not");
		}
		teardown();
	}
}

/* Reads all there is; how many events were delivered, in order. */
static uint64_t read_all(uint64_t *missed)
{
	uint64_t delivered = 0, expected = iter.next_seqno;

	*missed = 0;
	for (;;) {
		switch (next()) {
		case MONAD_EVENT_SUCCESS:
			if (event.seqno != expected || event.content_ext[3] != event.seqno * 10 + 3)
				ok(false, "event %llu in place of %llu",
				   (unsigned long long)event.seqno, (unsigned long long)expected);
			expected++;
			delivered++;
			break;
		case MONAD_EVENT_NOT_READY:
			return delivered;
		case MONAD_EVENT_GAP: {
			uint64_t gap = monad_event_iterator_recover(&iter);

			expected += gap;
			*missed += gap;
			break;
		}
		}
	}
}

/* A writer laps the reader by all sorts of distances; the sums are exact. */
static void test_gaps(void)
{
	static const uint64_t steps[] = {
		1, 5, 1023, 1024, 1025, 960, 961, 2000, CAPACITY * 3, CAPACITY * 100, 1, 3, 100000};
	uint64_t last = 0, delivered = 0, missed = 0, gap;

	setup(0);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t got, expected_gap, behind = last + 1 - iter.next_seqno;

		eq_u64(behind, 0, "step %zu: the reader had caught up", i);
		last += steps[i];
		put_events_up_to(&image, last);
		got = read_all(&gap);
		expected_gap = steps[i] > CAPACITY ? steps[i] - CAPACITY + MARGIN : 0;
		eq_u64(gap, expected_gap, "step %zu of %llu events: missed", i,
		       (unsigned long long)steps[i]);
		eq_u64(got + gap, steps[i], "step %zu: every seqno was delivered or missed", i);
		delivered += got;
		missed += gap;
	}
	eq_u64(delivered + missed, last, "so was every one of all");
	eq_u64(iter.events_missed, missed, "the iterator kept count");
	teardown();
}

/* The slot's event is being overwritten while it is read: 0, then newer. */
static void test_overwritten(void)
{
	setup(CAPACITY);
	monad_event_iterator_set_seqno(&iter, 1);
	put(&image, slot_offset(&image, 1), 0, 8);
	put_last_seqno(&image, CAPACITY + 1);
	eq_int(next(), MONAD_EVENT_NOT_READY, "a 0 may be anything");
	ok(monad_event_iterator_lag(&iter) > CAPACITY, "but the lag says that it is lost");
	eq_u64(monad_event_iterator_recover(&iter), MARGIN + 1, "recover at once");
	eq_u64(iter.next_seqno, 2 + MARGIN, "with the margin");
	monad_event_iterator_set_seqno(&iter, 1);
	put_event(&image, CAPACITY + 1, 2, 0, 0);
	eq_int(next(), MONAD_EVENT_GAP, "newer is a gap");
	teardown();
}

/* A ring that contradicts itself cannot hold a reader in a gap for ever. */
static void test_broken(void)
{
	setup(5);
	put(&image, slot_offset(&image, 3), ~0ULL, 8);
	monad_event_iterator_set_seqno(&iter, 3);
	eq_int(next(), MONAD_EVENT_GAP, "a seqno out of nowhere");
	eq_u64(monad_event_iterator_recover(&iter), 1, "is one event");
	eq_int(next(), MONAD_EVENT_SUCCESS, "the next one can be read");
	eq_u64(event.seqno, 4, "it is 4");
	put_last_seqno(&image, ~0ULL);
	monad_event_iterator_reset(&iter);
	eq_u64(iter.next_seqno, ~1ULL, "last_seqno out of nowhere: less than all numbers");
	eq_int(next(), MONAD_EVENT_NOT_READY, "that event is waited for");
	teardown();
}

/* The ring was made again under the reader: what it can see of that. */
static void test_recreated(void)
{
	setup(5000);
	monad_event_iterator_reset(&iter);
	eq_int(next(), MONAD_EVENT_SUCCESS, "the newest");
	memset(image.map + MIB2, 0, CAPACITY * 64);
	put_events_up_to(&image, 3);
	eq_int(next(), MONAD_EVENT_NOT_READY, "no such event in the new ring");
	ok(monad_event_ring_last_seqno(&ring) + 1 < iter.next_seqno, "last_seqno went back");
	eq_u64(monad_event_iterator_seek_oldest(&iter), 1, "start over");
	eq_int(next(), MONAD_EVENT_SUCCESS, "and read on");
	teardown();
}

static void test_payload(void)
{
	const uint8_t *payload;
	uint8_t copy[64];

	setup(0);
	/* Ends 8 bytes past the end of the buffer. */
	put_event(&image, 1, 3, MIB2 - 24, 32);
	for (int i = 0; i < 24; i++)
		image.map[image.payload_offset + MIB2 - 24 + i] = (uint8_t)i;
	for (int i = 24; i < 32; i++)
		image.map[image.payload_offset + i - 24] = (uint8_t)i;
	put_last_seqno(&image, 1);
	put_next_byte(&image, MIB2 + 8);
	put_window_start(&image, MIB2 - 24);
	eq_int(next(), MONAD_EVENT_SUCCESS, "an event whose payload wraps");
	payload = monad_event_ring_payload_peek(&ring, &event);
	ok(payload == ring.payload_buf + MIB2 - 24, "peek");
	ok(payload == monad_event_iterator_payload_peek(&iter, &event), "peek of the iterator");
	for (int i = 0; i < 32; i++) {
		if (payload[i] != i)
			ok(false, "byte %d", i);
	}
	ok(monad_event_ring_payload_check(&ring, &event), "check at the start of the window");
	memset(copy, 0xee, sizeof(copy));
	ok(monad_event_ring_payload_memcpy(&ring, &event, copy, 32) == copy, "memcpy");
	ok(copy[0] == 0 && copy[23] == 23 && copy[24] == 24 && copy[31] == 31, "what was copied");
	eq_u64(copy[32], 0xee, "and no more");
	ok(monad_event_iterator_payload_memcpy(&iter, &event, copy, 32) == copy, "the iterator's");
	ok(monad_event_iterator_payload_check(&iter, &event), "check of the iterator");
	eq_u64(iter.payloads_expired, 0, "nothing expired");

	put_window_start(&image, MIB2 - 23);
	ok(!monad_event_ring_payload_check(&ring, &event), "a byte later it has expired");
	ok(!monad_event_ring_payload_memcpy(&ring, &event, copy, 32), "so memcpy fails");
	ok(!monad_event_iterator_payload_check(&iter, &event), "for the iterator, too");
	ok(!monad_event_iterator_payload_memcpy(&iter, &event, copy, 32), "both ways");
	eq_u64(iter.payloads_expired, 2, "which counts them");
	ok(monad_event_ring_try_copy(&ring, 1, &event), "the descriptor is still there");
	teardown();
}

int main(void)
{
	test_empty();
	test_fields();
	test_uncommitted();
	test_discarded();
	test_oldest();
	test_gaps();
	test_overwritten();
	test_broken();
	test_recreated();
	test_payload();
	return done_testing();
}
