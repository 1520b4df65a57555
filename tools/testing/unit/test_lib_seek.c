// SPDX-License-Identifier: GPL-2.0
/* Iterators moved to a sequence number, a time, a flow, and backwards; batches. */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_ring.h>

#include "ring_image.h"
#include "tap.h"

#define CAPACITY 1024ULL
#define MARGIN	 (CAPACITY / 16)
#define MS	 1000000ULL
#define BASE	 1700000000000000000ULL /* of the image's events: BASE + seqno */

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

static void put_time(uint64_t seqno, uint64_t nanos)
{
	put(&image, slot_offset(&image, seqno) + 16, nanos, 8);
}

static void put_seqno(uint64_t seqno, uint64_t value)
{
	put(&image, slot_offset(&image, seqno), value, 8);
}

static void put_tag(uint64_t seqno, int index, uint64_t value)
{
	put(&image, slot_offset(&image, seqno) + 32 + 8 * index, value, 8);
}

static void test_seqno(void)
{
	uint64_t distance = 99;

	setup(3000); /* 1977 to 3000 are there */
	eq_int(monad_event_iterator_seek_seqno(&iter, 2000, &distance), MONAD_EVENT_SEEK_FOUND,
	       "an event that is there");
	eq_u64(distance, 0, "is no distance away");
	eq_u64(iter.next_seqno, 2000, "the iterator is at it");
	eq_int(monad_event_iterator_seek_seqno(&iter, 1977, NULL), MONAD_EVENT_SEEK_FOUND,
	       "the oldest one");
	eq_int(monad_event_iterator_seek_seqno(&iter, 3001, &distance), MONAD_EVENT_SEEK_AHEAD,
	       "the next one");
	eq_u64(distance, 1, "is one away");
	eq_u64(iter.next_seqno, 3001, "where it will be");
	eq_int(monad_event_iterator_seek_seqno(&iter, 100000, &distance), MONAD_EVENT_SEEK_AHEAD,
	       "one far ahead");
	eq_u64(distance, 97000, "how far");
	eq_u64(iter.events_missed, 0, "nothing missed so far");
	eq_int(monad_event_iterator_seek_seqno(&iter, 1976, &distance), MONAD_EVENT_SEEK_GONE,
	       "one too old");
	eq_u64(distance, 1 + MARGIN, "how many were missed");
	eq_u64(iter.next_seqno, 1977 + MARGIN, "the oldest that is safe");
	eq_u64(iter.events_missed, 1 + MARGIN, "the iterator kept count");
	eq_int(monad_event_iterator_seek_seqno(&iter, 0, &distance), MONAD_EVENT_SEEK_GONE,
	       "0 stands for 1");
	eq_u64(distance, 1976 + MARGIN, "and that is long gone");

	put_last_seqno(&image, 3001);
	put_seqno(3001, 0);
	eq_int(monad_event_iterator_seek_seqno(&iter, 3001, &distance), MONAD_EVENT_SEEK_AHEAD,
	       "one being written");
	eq_u64(distance, 0, "is no event away");
	eq_int(monad_event_iterator_seek_seqno(&iter, 1977, &distance), MONAD_EVENT_SEEK_GONE,
	       "one whose slot is being written over");
	eq_u64(distance, 1 + MARGIN, "is missed");
	teardown();
}

static void test_prev(void)
{
	setup(5);
	monad_event_iterator_set_seqno(&iter, 6);
	for (uint64_t seqno = 5; seqno >= 1; seqno--) {
		if (monad_event_iterator_try_prev(&iter, &event) != MONAD_EVENT_PREV_SUCCESS ||
		    event.seqno != seqno || iter.next_seqno != seqno ||
		    event.content_ext[3] != seqno * 10 + 3)
			ok(false, "event %d backwards", (int)seqno);
	}
	event.seqno = 77;
	eq_int(monad_event_iterator_try_prev(&iter, &event), MONAD_EVENT_PREV_BEGIN,
	       "the beginning");
	eq_u64(event.seqno, 77, "nothing copied");
	eq_u64(iter.next_seqno, 1, "not moved");
	eq_int(monad_event_iterator_try_next(&iter, &event), MONAD_EVENT_SUCCESS, "forwards again");
	eq_u64(event.seqno, 1, "the same event");
	put_seqno(4, 0);
	monad_event_iterator_set_seqno(&iter, 5);
	eq_int(monad_event_iterator_try_prev(&iter, &event), MONAD_EVENT_PREV_NOT_READY,
	       "one that is not written");
	eq_u64(iter.next_seqno, 5, "holds the iterator");
	monad_event_iterator_set_seqno(&iter, iter.next_seqno - 1);
	eq_int(monad_event_iterator_try_prev(&iter, &event), MONAD_EVENT_PREV_SUCCESS,
	       "until it is passed over");
	eq_u64(event.seqno, 3, "and then there is the one before");
	teardown();

	setup(3000);
	monad_event_iterator_set_seqno(&iter, 1978);
	eq_int(monad_event_iterator_try_prev(&iter, &event), MONAD_EVENT_PREV_SUCCESS,
	       "the oldest that is there");
	eq_u64(event.seqno, 1977, "which is");
	eq_int(monad_event_iterator_try_prev(&iter, &event), MONAD_EVENT_PREV_GAP, "no more");
	eq_u64(iter.next_seqno, 1977, "not moved");
	eq_u64(iter.events_missed, 0, "and nothing counts as missed");
	put_last_seqno(&image, 3001);
	put_seqno(3001, 0);
	monad_event_iterator_set_seqno(&iter, 1978);
	eq_int(monad_event_iterator_try_prev(&iter, &event), MONAD_EVENT_PREV_GAP,
	       "one being written over is a gap");
	teardown();
}

static void test_batch(void)
{
	struct monad_event_descriptor events[8];
	enum monad_event_iter_result result = MONAD_EVENT_GAP;

	setup(10);
	monad_event_iterator_set_seqno(&iter, 1);
	eq_u64(monad_event_iterator_next_batch(&iter, events, 8, &result), 8, "a batch of 8");
	eq_int(result, MONAD_EVENT_SUCCESS, "in full");
	ok(events[0].seqno == 1 && events[7].seqno == 8 && events[7].content_ext[0] == 80,
	   "events 1 to 8");
	events[2].seqno = 4711;
	eq_u64(monad_event_iterator_next_batch(&iter, events, 8, &result), 2, "what is left");
	eq_int(result, MONAD_EVENT_NOT_READY, "all of it");
	ok(events[0].seqno == 9 && events[1].seqno == 10 && events[2].seqno == 4711, "9 and 10");
	eq_u64(monad_event_iterator_next_batch(&iter, events, 8, NULL), 0, "nothing");
	eq_u64(monad_event_iterator_next_batch(&iter, events, 0, &result), 0, "a batch of none");
	eq_int(result, MONAD_EVENT_SUCCESS, "is in full at once");
	put_seqno(5, 5 + CAPACITY);
	monad_event_iterator_set_seqno(&iter, 3);
	eq_u64(monad_event_iterator_next_batch(&iter, events, 8, &result), 2, "until a gap");
	eq_int(result, MONAD_EVENT_GAP, "which is told");
	eq_u64(iter.next_seqno, 5, "the iterator is at it");
	eq_u64(monad_event_iterator_recover(&iter), 1, "and recovers");
	teardown();
}

static void check_time(uint64_t nanos, enum monad_event_seek_result want, uint64_t seqno,
		       const char *what)
{
	eq_int(monad_event_iterator_seek_time(&iter, nanos), want, "time: %s", what);
	eq_u64(iter.next_seqno, seqno, "time: %s: where", what);
}

static void test_time(void)
{
	setup(0);
	check_time(BASE, MONAD_EVENT_SEEK_AHEAD, 1, "empty ring");
	teardown();

	setup(1000);
	for (uint64_t seqno = 1; seqno <= 1000; seqno++)
		put_time(seqno, BASE + seqno * 10 * MS);
	check_time(0, MONAD_EVENT_SEEK_FOUND, 1, "the beginning of time");
	check_time(BASE + 10 * MS, MONAD_EVENT_SEEK_FOUND, 1, "that of the first event");
	check_time(BASE + 10 * MS + 1, MONAD_EVENT_SEEK_FOUND, 2, "a nanosecond later");
	check_time(BASE + 5000 * MS, MONAD_EVENT_SEEK_FOUND, 500, "half-way");
	check_time(BASE + 5000 * MS - 1, MONAD_EVENT_SEEK_FOUND, 500, "a nanosecond before");
	check_time(BASE + 10000 * MS, MONAD_EVENT_SEEK_FOUND, 1000, "that of the last one");
	check_time(BASE + 10000 * MS + 1, MONAD_EVENT_SEEK_AHEAD, 1001, "a nanosecond later");
	check_time(UINT64_MAX, MONAD_EVENT_SEEK_AHEAD, 1001, "the end of time");
	eq_u64(iter.events_missed, 0, "time: nothing counts as missed");

	/* Out of order: 480 is as late as the slack allows, and 500 comes after it. */
	put_time(480, BASE + 4900 * MS);
	check_time(BASE + 4900 * MS, MONAD_EVENT_SEEK_FOUND, 480, "an event that is early");
	check_time(BASE + 4900 * MS + 1, MONAD_EVENT_SEEK_FOUND, 491, "those after it");
	/* Discarded ones have a time and count; unwritten ones have none. */
	put(&image, slot_offset(&image, 700) + 8, 0, 2);
	check_time(BASE + 7000 * MS, MONAD_EVENT_SEEK_FOUND, 700, "a discarded event");
	put_seqno(701, 0);
	put_seqno(702, 0);
	check_time(BASE + 7010 * MS, MONAD_EVENT_SEEK_FOUND, 701, "events not written, in front");
	check_time(BASE + 7040 * MS, MONAD_EVENT_SEEK_FOUND, 704, "but not farther in front");
	/* As if the ring had gone once around while we searched. */
	put_seqno(1, 1 + CAPACITY);
	check_time(0, MONAD_EVENT_SEEK_GONE, 2, "overwritten since the search began");
	put_seqno(999, 0);
	put_seqno(1000, 0);
	check_time(BASE + 9985 * MS, MONAD_EVENT_SEEK_AHEAD, 999, "events not written, at the end");
	teardown();

	setup(3000);
	for (uint64_t seqno = 1977; seqno <= 3000; seqno++)
		put_time(seqno, BASE + seqno * 10 * MS);
	check_time(BASE + 10000 * MS, MONAD_EVENT_SEEK_GONE, 1977, "before the oldest");
	check_time(BASE + 19770 * MS, MONAD_EVENT_SEEK_GONE, 1977, "that of the oldest");
	check_time(BASE + 19770 * MS + 100 * MS, MONAD_EVENT_SEEK_GONE, 1987,
		   "the slack after the oldest");
	check_time(BASE + 19770 * MS + 100 * MS + 1, MONAD_EVENT_SEEK_FOUND, 1988,
		   "more than the slack after the oldest");
	teardown();
}

static uint64_t rng = 88172645463325252ULL;

static uint64_t random_u64(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng >> 8;
}

/* What _seek_time() is to find, by its definition, looking at everything. */
static enum monad_event_seek_result scan_time(uint64_t nanos, uint64_t *place)
{
	const uint64_t last = monad_event_ring_last_seqno(&ring);
	const uint64_t oldest = monad_event_ring_oldest_seqno(&ring);
	bool reaches = oldest == 1, found = false;

	*place = oldest;
	for (uint64_t seqno = oldest; seqno <= last && !found; seqno++) {
		if (!monad_event_ring_try_copy(&ring, seqno, &event))
			continue;
		found = event.record_epoch_nanos >= nanos;
		if (!found)
			*place = seqno + 1;
		if (event.record_epoch_nanos + MONAD_EVENT_TIME_SLACK_NANOS < nanos)
			reaches = true;
	}
	if (!reaches)
		return MONAD_EVENT_SEEK_GONE;
	return found ? MONAD_EVENT_SEEK_FOUND : MONAD_EVENT_SEEK_AHEAD;
}

/*
 * Random rings with time stamps out of order by up to the slack, events not written,
 * bursts and pauses: the search finds what the scan finds.
 */
static void test_time_random(void)
{
	unsigned int wrong = 0, gone = 0, found = 0, ahead = 0, searches = 0;

	for (int round = 0; round < 300; round++) {
		uint64_t last = random_u64() % 4000, oldest, now = BASE, newest;
		uint64_t jitter = random_u64() % 3 ? MONAD_EVENT_TIME_SLACK_NANOS : 2 * MS;

		setup(last);
		oldest = monad_event_ring_oldest_seqno(&ring);
		for (uint64_t seqno = oldest; seqno <= last; seqno++) {
			now += random_u64() % 50 ? random_u64() % (2 * MS)
						 : random_u64() % 500 * MS;
			put_time(seqno, now - random_u64() % (jitter + 1));
			if (random_u64() % 20 == 0)
				put_seqno(seqno, random_u64() % 2 || seqno <= CAPACITY
							 ? 0
							 : seqno - CAPACITY);
		}
		newest = now + 200 * MS;
		for (int i = 0; i < 40; i++) {
			uint64_t span = i % 4 ? newest - BASE + 400 * MS : 500 * MS;
			uint64_t nanos = BASE - 200 * MS + random_u64() % span, want;
			enum monad_event_seek_result want_result = scan_time(nanos, &want);

			searches++;
			if (monad_event_iterator_seek_time(&iter, nanos) != want_result ||
			    iter.next_seqno != want)
				wrong++;
			gone += want_result == MONAD_EVENT_SEEK_GONE;
			found += want_result == MONAD_EVENT_SEEK_FOUND;
			ahead += want_result == MONAD_EVENT_SEEK_AHEAD;
		}
		teardown();
	}
	eq_u64(wrong, 0, "time: %u searches in 300 random rings find what a scan finds", searches);
	ok(gone > 500 && found > 500 && ahead > 500, "time: %u found, %u ahead, %u gone", found,
	   ahead, gone);
}

static uint64_t thread_cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Whatever stands in a ring: every search ends soon, and somewhere in the ring. */
static void test_hostile(void)
{
	static const char *const names[] = {
		"equal times", "decreasing times", "random times", "lying seqnos",
		"no event written", "random everything", "last_seqno at its end",
		"last_seqno 0", "times at the end of time",
	};

	for (int kind = 0; kind < 9; kind++) {
		const uint64_t began = thread_cpu_ms();
		bool inside = true;

		setup(2500);
		for (uint64_t seqno = 1477; seqno <= 2500; seqno++) {
			uint64_t slot = slot_offset(&image, seqno);

			if (kind == 0)
				put_time(seqno, BASE);
			if (kind == 1)
				put_time(seqno, BASE - seqno * 1000 * MS);
			if (kind == 2)
				put_time(seqno, random_u64());
			if (kind == 3)
				put_seqno(seqno, random_u64() % 5000);
			if (kind == 4)
				put_seqno(seqno, 0);
			if (kind == 5) {
				for (int i = 0; i < 8; i++)
					put(&image, slot + 8 * i, random_u64() << 8 | seqno, 8);
			}
			if (kind == 8)
				put_time(seqno, UINT64_MAX);
		}
		if (kind == 6)
			put_last_seqno(&image, UINT64_MAX);
		if (kind == 7)
			put_last_seqno(&image, 0);
		for (int i = 0; i < 200; i++) {
			uint64_t nanos = BASE - 2500000 * MS + random_u64() % (5000000 * MS);

			if (i < 2)
				nanos = i ? UINT64_MAX : 0;

			monad_event_iterator_seek_time(&iter, nanos);
			if (kind == 6)
				inside &= iter.next_seqno >= UINT64_MAX - CAPACITY;
			else
				inside &= iter.next_seqno >= (kind == 7 ? 1 : 1477) &&
					  iter.next_seqno <= 2501;
			monad_event_iterator_seek_seqno(&iter, i % 2 ? random_u64() % 6000
								     : UINT64_MAX, NULL);
			monad_event_iterator_reset(&iter);
			for (int n = 0; n < 1500; n++)
				monad_event_iterator_try_prev(&iter, &event);
			for (unsigned int index = 0; index < 6; index++) {
				memset(&event, (int)random_u64(), sizeof(event));
				monad_event_iterator_seek_flow(&iter, &event, index, UINT64_MAX);
				event.seqno = 2000;
				monad_event_iterator_seek_flow(&iter, &event, index, 2000);
			}
		}
		ok(inside, "hostile: %s: searches end in the ring", names[kind]);
		ok(thread_cpu_ms() - began < 5000, "hostile: %s: and soon", names[kind]);
		teardown();
	}
}

/* The content type is EXEC, which has no hash to compare. */
static void test_flow(void)
{
	struct monad_event_descriptor at;

	setup(100);
	put(&image, 6, MONAD_EVENT_CONTENT_TYPE_EXEC, 2);
	/* Blocks begin at 10, 40 and 70; transactions 1 and 2 take turns in each. */
	for (uint64_t seqno = 1; seqno <= 100; seqno++) {
		put_tag(seqno, 0, seqno < 10 ? 0 : seqno < 40 ? 10 : seqno < 70 ? 40 : 70);
		put_tag(seqno, 1, seqno % 10 == 0 ? 0 : 1 + seqno % 2);
		put_tag(seqno, 2, 0);
		put_tag(seqno, 3, seqno % 7 == 0 ? 5 : 0);
	}
	monad_event_iterator_set_seqno(&iter, 95);
	ok(monad_event_ring_try_copy(&ring, 95, &at), "flow: event 95");
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 0, 0), MONAD_EVENT_SEEK_FOUND,
	       "flow: by a tag that is a seqno");
	eq_u64(iter.next_seqno, 70, "flow: the block's start");
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 1, 1000), MONAD_EVENT_SEEK_FOUND,
	       "flow: of a transaction");
	eq_u64(iter.next_seqno, 71, "flow: in the same block only");
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 1, 10), MONAD_EVENT_SEEK_FOUND,
	       "flow: within a limit");
	eq_u64(iter.next_seqno, 85, "flow: of 10 events");
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 1, 0), MONAD_EVENT_SEEK_FOUND,
	       "flow: within none");
	eq_u64(iter.next_seqno, 95, "flow: is the event itself");
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 2, 1000), MONAD_EVENT_SEEK_NONE,
	       "flow: a tag of 0");
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 4, 1000), MONAD_EVENT_SEEK_NONE,
	       "flow: no such tag");
	eq_u64(iter.next_seqno, 95, "flow: the iterator did not move");
	at.content_ext[0] = 96;
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 0, 0), MONAD_EVENT_SEEK_NONE,
	       "flow: begun after its own event");
	ok(monad_event_ring_try_copy(&ring, 98, &at), "flow: event 98");
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 3, 1000), MONAD_EVENT_SEEK_FOUND,
	       "flow: by a tag without a name");
	eq_u64(iter.next_seqno, 7, "flow: the earliest of that value");
	put_seqno(50, 0);
	put_seqno(49, 49 + CAPACITY);
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 3, 1000), MONAD_EVENT_SEEK_GONE,
	       "flow: up to overwritten events");
	eq_u64(iter.next_seqno, 56, "flow: passing over one that is not written");

	/* Under a schema of other events, a number is a number. */
	put(&image, 6, MONAD_EVENT_CONTENT_TYPE_STORAGE, 2);
	ok(monad_event_ring_try_copy(&ring, 95, &at), "flow: event 95");
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 0, 10), MONAD_EVENT_SEEK_FOUND,
	       "flow: in a ring of another schema");
	eq_u64(iter.next_seqno, 85, "flow: tags are compared");
	memcpy(image.map + 8, g_monad_storage_event_schema_hash, 32);
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 0, 10), MONAD_EVENT_SEEK_FOUND,
	       "flow: in one of the same");
	eq_u64(iter.next_seqno, 70, "flow: the tag leads there");
	teardown();

	setup(3000);
	put(&image, 6, MONAD_EVENT_CONTENT_TYPE_EXEC, 2);
	put_tag(2990, 0, 1500);
	ok(monad_event_ring_try_copy(&ring, 2990, &at), "flow: event 2990");
	eq_int(monad_event_iterator_seek_flow(&iter, &at, 0, 0), MONAD_EVENT_SEEK_GONE,
	       "flow: whose start was overwritten");
	eq_u64(iter.next_seqno, 1977 + MARGIN, "flow: the oldest that is safe");
	eq_u64(iter.events_missed, 1977 + MARGIN - 1500, "flow: what was missed is counted");
	teardown();
}

int main(void)
{
	test_seqno();
	test_prev();
	test_batch();
	test_time();
	test_time_random();
	test_hostile();
	test_flow();
	return done_testing();
}
