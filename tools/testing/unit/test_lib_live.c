// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a ring in every way while the module's recorder writes to it: one reader waits
 * for batches and hands over by cursor in between, another one searches for times and
 * walks backwards. Each sequence number is delivered or counted once, nothing is torn,
 * and what a search finds is what was searched for.
 */
#include <errno.h>
#include <sched.h>

#include <monad_event/event_wait.h>

#include "ring_writer.h"

#define WRITERS 2
#define EVENTS	150000ULL /* of each writer, at least */
#define BATCH	64

static struct ring_writer w;
static struct monad_event_ring ring;
static bool writers_done;
static bool late; /* a writer was held up for so long that times are out of order by more */

static bool readers_had_enough(void);

static void *writer(void *arg)
{
	unsigned int id = *(unsigned int *)arg;

	port_cpu = id;
	for (uint64_t i = 1; i <= EVENTS || !readers_had_enough(); i++) {
		uint64_t began = clock_ms(CLOCK_MONOTONIC);

		while (!ring_writer_write(&w, 2, (uint64_t)id << 32 | i)) {
			sched_yield();
			began = clock_ms(CLOCK_MONOTONIC);
		}
		if (clock_ms(CLOCK_MONOTONIC) - began > 90)
			__atomic_store_n(&late, true, __ATOMIC_RELAXED);
		/* Fast enough to lap readers now and then, slow enough to be read. */
		if (i % 2000 == 0)
			usleep(1000);
	}
	return NULL;
}

static struct {
	uint64_t delivered, torn, disorder, restores, waits, timeouts;
	uint64_t per_writer[WRITERS];
	struct monad_event_iterator iter;
} follower;

static void take(const struct monad_event_descriptor *event, uint64_t expected)
{
	unsigned int id = event->content_ext[0] >> 32;
	uint64_t number = event->content_ext[0] & 0xffffffff, value;

	follower.delivered++;
	follower.disorder += event->seqno != expected;
	if (event->event_type != 2 || event->payload_size != 8 || id >= WRITERS) {
		follower.torn++;
		return;
	}
	follower.disorder += number <= follower.per_writer[id];
	follower.per_writer[id] = number;
	if (monad_event_iterator_payload_memcpy(&follower.iter, event, &value, sizeof(value)))
		follower.torn += value != event->content_ext[0];
}

static void *follow(void *arg)
{
	struct monad_event_descriptor events[BATCH];
	struct monad_event_iterator *iter = &follower.iter;
	enum monad_event_iter_result result;
	struct monad_event_waiter waiter;
	struct monad_event_cursor cursor;
	uint64_t missed = 0, skipped;
	int err;

	(void)arg;
	if (monad_event_waiter_init(&waiter, w.image.fd))
		bail_out("%s", monad_event_ring_get_last_error());
	monad_event_iterator_set_seqno(iter, 1);
	while (!__atomic_load_n(&writers_done, __ATOMIC_ACQUIRE) ||
	       iter->next_seqno <= monad_event_ring_last_seqno(&ring)) {
		uint64_t place = iter->next_seqno;
		size_t n = monad_event_iterator_next_batch(iter, events, BATCH, &result);

		for (size_t i = 0; i < n; i++)
			take(&events[i], place + i);
		if (result == MONAD_EVENT_GAP)
			monad_event_iterator_recover(iter);
		if (result == MONAD_EVENT_NOT_READY) {
			err = monad_event_waiter_wait(&waiter, iter, BATCH, 5000000);
			__atomic_add_fetch(&follower.waits, 1, __ATOMIC_RELAXED);
			if (err == ETIMEDOUT)
				follower.timeouts++;
			else if (err)
				bail_out("%s", monad_event_ring_get_last_error());
		}
		/* Another iterator takes over, at times much later. */
		if (n == BATCH && place % 1000 < BATCH) {
			missed += iter->events_missed;
			if (monad_event_iterator_save(iter, &cursor) ||
			    monad_event_ring_init_iterator(&ring, iter))
				bail_out("%s", monad_event_ring_get_last_error());
			if (place % 7 == 0)
				usleep(3000);
			if (monad_event_iterator_restore(iter, &cursor, &skipped))
				bail_out("%s", monad_event_ring_get_last_error());
			follower.disorder += iter->next_seqno != cursor.seqno + skipped;
			__atomic_add_fetch(&follower.restores, 1, __ATOMIC_RELAXED);
		}
	}
	iter->events_missed += missed;
	monad_event_waiter_destroy(&waiter);
	return NULL;
}

static struct {
	uint64_t searches, found, before, early, walks, steps, wrong;
} searcher;

static void search(struct monad_event_iterator *iter)
{
	struct monad_event_descriptor newest, event, previous;
	enum monad_event_seek_result result;
	uint64_t nanos;

	monad_event_iterator_set_seqno(iter, monad_event_ring_last_seqno(&ring) + 1);
	/* The newest that is written. */
	while (monad_event_iterator_try_prev(iter, &newest) == MONAD_EVENT_PREV_NOT_READY)
		monad_event_iterator_set_seqno(iter, iter->next_seqno - 1);
	if (monad_event_iterator_try_copy(iter, &newest) != MONAD_EVENT_SUCCESS)
		return;
	nanos = newest.record_epoch_nanos - searcher.searches % 500 * 1000;
	result = monad_event_iterator_seek_time(iter, nanos);
	searcher.searches++;
	if (result == MONAD_EVENT_SEEK_AHEAD || result == MONAD_EVENT_SEEK_NONE)
		searcher.wrong++; /* newest is of that time or later */
	if (monad_event_iterator_try_copy(iter, &event) != MONAD_EVENT_SUCCESS)
		return;
	searcher.found++;
	/* It can be one that was not written then: those may be a little earlier. */
	if (event.record_epoch_nanos + MONAD_EVENT_TIME_SLACK_NANOS < nanos)
		searcher.early++;
	for (previous = event;
	     monad_event_iterator_try_prev(iter, &event) == MONAD_EVENT_PREV_SUCCESS;
	     previous = event) {
		searcher.steps++;
		searcher.wrong += event.seqno != previous.seqno - 1;
		searcher.before += event.record_epoch_nanos >= nanos;
	}
	__atomic_add_fetch(&searcher.walks, 1, __ATOMIC_RELAXED);
}

/* So that what is tested does not depend on how fast this machine is today. */
static bool readers_had_enough(void)
{
	return __atomic_load_n(&follower.waits, __ATOMIC_RELAXED) >= 10 &&
	       __atomic_load_n(&follower.restores, __ATOMIC_RELAXED) >= 20 &&
	       __atomic_load_n(&searcher.walks, __ATOMIC_RELAXED) >= 50;
}

static void *search_on(void *arg)
{
	struct monad_event_iterator iter;

	if (monad_event_ring_init_iterator(&ring, &iter))
		bail_out("%s", monad_event_ring_get_last_error());
	while (!__atomic_load_n(&writers_done, __ATOMIC_ACQUIRE)) {
		search(&iter);
		usleep(200);
	}
	return arg;
}

int main(void)
{
	unsigned int ids[WRITERS];
	pthread_t writers[WRITERS], follower_thread, searcher_thread;

	alarm(120); /* rather than hang */
	ring_writer_create(&w, 12, 22, WRITERS);
	/* One mapping for all: that is what ThreadSanitizer can follow. */
	ring = w.ring;
	if (monad_event_ring_init_iterator(&ring, &follower.iter))
		bail_out("%s", monad_event_ring_get_last_error());
	pthread_create(&follower_thread, NULL, follow, NULL);
	pthread_create(&searcher_thread, NULL, search_on, NULL);
	for (unsigned int i = 0; i < WRITERS; i++) {
		ids[i] = i;
		pthread_create(&writers[i], NULL, writer, &ids[i]);
	}
	for (unsigned int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	__atomic_store_n(&writers_done, true, __ATOMIC_RELEASE);
	pthread_join(follower_thread, NULL);
	pthread_join(searcher_thread, NULL);

	eq_u64(follower.delivered + follower.iter.events_missed,
	       monad_event_ring_last_seqno(&ring),
	       "each event was delivered or counted as missed");
	eq_u64(follower.torn, 0, "nothing was torn");
	eq_u64(follower.disorder, 0, "all were in order");
	ok(follower.delivered >= 20 * BATCH, "many were delivered");
	diag("%llu delivered, %llu missed, %llu waits (%llu timed out), %llu restores",
	     (unsigned long long)follower.delivered,
	     (unsigned long long)follower.iter.events_missed, (unsigned long long)follower.waits,
	     (unsigned long long)follower.timeouts, (unsigned long long)follower.restores);

	eq_u64(searcher.wrong, 0, "searches: none in the wrong place");
	if (late) {
		skip("a writer was held up for longer than the slack");
	} else {
		eq_u64(searcher.early, 0, "searches: none found too early an event");
		eq_u64(searcher.before, 0, "searches: none missed an event before");
	}
	ok(searcher.steps > 1000, "searches: and the way back led far");
	diag("%llu searches, %llu found, %llu walks back of %llu steps",
	     (unsigned long long)searcher.searches, (unsigned long long)searcher.found,
	     (unsigned long long)searcher.walks, (unsigned long long)searcher.steps);
	ring_writer_destroy(&w);
	return done_testing();
}
