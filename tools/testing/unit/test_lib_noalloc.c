// SPDX-License-Identifier: GPL-2.0
/*
 * Reading allocates nothing: malloc() and its relatives are ours here, and count. Not
 * under sanitizers, which have to have their own.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#include <monad_event/event_wait.h>

#include "ring_writer.h"

static unsigned long allocations;

#ifndef SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	allocations++;
	return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	allocations++;
	return __libc_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	allocations++;
	return __libc_memalign(align, size);
}
#endif

int main(void)
{
	struct monad_event_descriptor event, batch[16];
	struct monad_event_iterator iter;
	struct monad_event_cursor cursor;
	struct monad_event_waiter waiter;
	struct monad_event_ring ring;
	static struct ring_writer w;
	unsigned long before;
	uint64_t value, sum = 0;
	char *volatile probe;

#ifdef SANITIZED
	skip_all("built with a sanitizer, which replaces malloc()");
#endif
	ring_writer_create(&w, 10, 21, 1);
	if (monad_event_ring_mmap(&ring, PROT_READ, 0, w.image.fd, 0, "x") ||
	    monad_event_ring_init_iterator(&ring, &iter) ||
	    monad_event_waiter_init(&waiter, w.image.fd))
		bail_out("%s", monad_event_ring_get_last_error());

	before = allocations;
	probe = malloc(100);
	free(probe);
	eq_u64(allocations - before, 1, "allocations are counted");

	before = allocations;
	for (uint64_t i = 1; i <= 5000; i++)
		ring_writer_write(&w, 2, i);
	monad_event_iterator_set_seqno(&iter, 1);
	sum += monad_event_iterator_try_next(&iter, &event) == MONAD_EVENT_GAP;
	monad_event_iterator_recover(&iter);
	while (monad_event_iterator_try_next(&iter, &event) == MONAD_EVENT_SUCCESS) {
		if (monad_event_iterator_payload_memcpy(&iter, &event, &value, sizeof(value)))
			sum += value;
	}
	monad_event_iterator_seek_oldest(&iter);
	while (monad_event_iterator_next_batch(&iter, batch, 16, NULL))
		sum++;
	while (monad_event_iterator_try_prev(&iter, &event) == MONAD_EVENT_PREV_SUCCESS)
		sum++;
	monad_event_iterator_seek_time(&iter, event.record_epoch_nanos);
	monad_event_iterator_seek_seqno(&iter, 4500, NULL);
	monad_event_iterator_try_copy(&iter, &event);
	monad_event_iterator_seek_flow(&iter, &event, 0, 1000);
	monad_event_iterator_save(&iter, &cursor);
	monad_event_iterator_restore(&iter, &cursor, NULL);
	sum += (uint64_t)monad_event_waiter_wait(&waiter, &iter, 16, -1);
	eq_u64(allocations - before, 0, "reading in every way allocates nothing");
	ok(sum > 5000, "and reads");

	monad_event_waiter_destroy(&waiter);
	monad_event_ring_unmap(&ring);
	ring_writer_destroy(&w);
	return done_testing();
}
