// SPDX-License-Identifier: GPL-2.0
/*
 * Readers against a writer that laps them all the time: whatever an iterator
 * delivers is whole, in order, and with what it missed adds up. The writer here
 * follows the format's rules for publishing and nothing else.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring.h>

#include "ring_image.h"
#include "tap.h"

#define EVENTS	500000ULL
#define READERS 2
/*
 * Words of 8 bytes in a payload: so many that the payload buffer holds fewer
 * events than the descriptor array, and payloads expire before descriptors.
 */
#define MAX_WORDS 768

struct reader {
	pthread_t thread;
	const struct monad_event_ring *ring;
	uint64_t first, delivered, missed, expired, torn, disorder;
};

/* Event s has 1 to MAX_WORDS words of payload, all equal to s. */
static unsigned int words_of(uint64_t seqno)
{
	return 1 + (unsigned int)(seqno * 2654435761U >> 7) % MAX_WORDS;
}

/* Atomic, so that ThreadSanitizer accepts a race that the reader recognizes. */
static void store(void *ptr, uint64_t value, int order)
{
	if (order == __ATOMIC_RELEASE)
		__atomic_store_n((uint64_t *)ptr, value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint64_t *)ptr, value, __ATOMIC_RELAXED);
}

static void *writer(void *arg)
{
	struct monad_event_ring *ring = arg;
	uint64_t next_byte = 0, window = 0;
	uint64_t size = ring->payload_buf_mask + 1;

	for (uint64_t seqno = 1; seqno <= EVENTS; seqno++) {
		struct monad_event_descriptor *slot =
			&ring->descriptors[(seqno - 1) & ring->desc_capacity_mask];
		uint64_t *fields = (uint64_t *)(void *)slot;
		unsigned int words = words_of(seqno);
		uint64_t offset = next_byte;

		next_byte += ((uint64_t)words * 8 + 15) & ~15ULL;
		__atomic_store_n(&ring->header->control.last_seqno, seqno, __ATOMIC_SEQ_CST);
		__atomic_store_n(&ring->header->control.next_payload_byte, next_byte,
				 __ATOMIC_SEQ_CST);
		if (next_byte > window + size) {
			window = next_byte - size + size / 16;
			__atomic_exchange_n(&ring->header->control.buffer_window_start, window,
					    __ATOMIC_SEQ_CST);
		}
		/* An exchange for the barrier behind it, which TSan understands. */
		__atomic_exchange_n(&fields[0], 0, __ATOMIC_SEQ_CST);
		store(&fields[1], 3 | (uint64_t)words * 8 << 32, __ATOMIC_RELAXED);
		store(&fields[2], seqno * 3, __ATOMIC_RELAXED);
		store(&fields[3], offset, __ATOMIC_RELAXED);
		for (int i = 0; i < 4; i++)
			store(&fields[4 + i], seqno ^ i, __ATOMIC_RELAXED);
		for (unsigned int i = 0; i < words; i++) {
			uint64_t at = (offset + 8 * i) & ring->payload_buf_mask;

			store(ring->payload_buf + at, seqno, __ATOMIC_RELAXED);
		}
		store(&fields[0], seqno, __ATOMIC_RELEASE);
		/* Lets readers catch up now and then, also on a single CPU. */
		if (seqno % 700 == 0)
			sched_yield();
	}
	return NULL;
}

static bool whole(const struct monad_event_descriptor *event)
{
	uint64_t s = event->seqno;

	return event->event_type == 3 && event->unused == 0 &&
	       event->payload_size == words_of(s) * 8 && event->record_epoch_nanos == s * 3 &&
	       event->content_ext[0] == s && event->content_ext[3] == (s ^ 3);
}

static void *reader(void *arg)
{
	struct reader *r = arg;
	struct monad_event_descriptor event;
	struct monad_event_iterator iter;
	uint64_t payload[MAX_WORDS];
	uint64_t expected;

	if (monad_event_ring_init_iterator(r->ring, &iter))
		return NULL;
	monad_event_iterator_set_seqno(&iter, 1);
	r->first = 1;
	expected = 1;
	while (expected <= EVENTS) {
		switch (monad_event_iterator_try_next(&iter, &event)) {
		case MONAD_EVENT_SUCCESS:
			r->delivered++;
			if (event.seqno != expected++)
				r->disorder++;
			if (!whole(&event)) {
				r->torn++;
				break;
			}
			if (!monad_event_iterator_payload_memcpy(&iter, &event, payload,
								 event.payload_size)) {
				r->expired++;
				break;
			}
			for (unsigned int i = 0; i < event.payload_size / 8; i++)
				r->torn += payload[i] != event.seqno;
			break;
		case MONAD_EVENT_GAP:
			expected += monad_event_iterator_recover(&iter);
			break;
		case MONAD_EVENT_NOT_READY:
			break;
		}
	}
	r->missed = iter.events_missed;
	if (r->expired != iter.payloads_expired)
		r->disorder++;
	return NULL;
}

int main(void)
{
	struct monad_event_ring ring, writable;
	struct reader readers[READERS] = {0};
	struct image image;
	pthread_t thread;

	image_create(&image, 10, 21, 0);
	if (monad_event_ring_mmap(&writable, PROT_READ | PROT_WRITE, 0, image.fd, 0, "x") ||
	    monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 0, "x"))
		bail_out("%s", monad_event_ring_get_last_error());
	for (int i = 0; i < READERS; i++) {
		/* All through one mapping: that is what ThreadSanitizer can follow. */
		readers[i].ring = i % 2 ? &ring : &writable;
		pthread_create(&readers[i].thread, NULL, reader, &readers[i]);
	}
	pthread_create(&thread, NULL, writer, &writable);
	pthread_join(thread, NULL);
	for (int i = 0; i < READERS; i++) {
		struct reader *r = &readers[i];

		pthread_join(r->thread, NULL);
		eq_u64(r->torn, 0, "reader %d: nothing torn", i);
		eq_u64(r->disorder, 0, "reader %d: all in order", i);
		eq_u64(r->delivered + r->missed, EVENTS, "reader %d: delivered + missed", i);
		diag("reader %d: %llu delivered, %llu missed, %llu payloads expired", i,
		     (unsigned long long)r->delivered, (unsigned long long)r->missed,
		     (unsigned long long)r->expired);
	}
	monad_event_ring_unmap(&ring);
	monad_event_ring_unmap(&writable);
	image_destroy(&image);
	return done_testing();
}
