// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "reader.h"

/* How many wrong events are described in full. */
#define DESCRIBED 5

void reader_init(struct reader *reader, const struct ring *ring, uint64_t first)
{
	memset(reader, 0, sizeof(*reader));
	reader->ring = ring;
	reader->next = first;
	reader->check_order = true;
	reader->payload = malloc(READER_MAX_EVENT);
	if (!reader->payload)
		abort();
}

void reader_free(struct reader *reader)
{
	free(reader->payload);
	reader->payload = NULL;
}

/* Goes on at @to, which is above next. */
static enum reader_result gap(struct reader *reader, uint64_t to)
{
	reader->missed += to - reader->next;
	reader->gaps++;
	reader->next = to;
	return READER_GAP;
}

/* Lapped: goes on at the oldest event there still can be, and the margin. */
static enum reader_result lapped(struct reader *reader)
{
	const struct ring *ring = reader->ring;
	uint64_t last = __atomic_load_n(&ring->header->control.last_seqno, __ATOMIC_ACQUIRE);
	uint64_t oldest = 1;

	if (last > ring->info.descriptor_capacity)
		oldest = last - ring->info.descriptor_capacity + 1;
	oldest += reader->margin;
	if (oldest > last)
		oldest = last;
	return gap(reader, oldest > reader->next ? oldest : reader->next + 1);
}

enum reader_result reader_next(struct reader *reader)
{
	const struct ring *ring = reader->ring;
	const volatile struct monad_event_descriptor *desc;
	uint64_t seqno, offset, allocated, window;

	desc = &ring->descs[(reader->next - 1) & (ring->info.descriptor_capacity - 1)];
	seqno = __atomic_load_n(&desc->seqno, __ATOMIC_ACQUIRE);
	if (seqno < reader->next)
		return READER_NOT_READY;
	if (seqno > reader->next)
		return lapped(reader);
	memcpy(&reader->event, (const void *)desc, sizeof(reader->event));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&desc->seqno, __ATOMIC_RELAXED) != reader->next)
		return lapped(reader);

	offset = reader->event.payload_buf_offset;
	if (reader->event.payload_size > READER_MAX_EVENT) {
		fprintf(stderr, "# event %" PRIu64 " claims %u bytes\n", reader->next,
			reader->event.payload_size);
		reader->wrong++;
		return gap(reader, reader->next + 1);
	}
	memcpy(reader->payload, ring->payload + (offset & (ring->info.payload_buf_size - 1)),
	       reader->event.payload_size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	allocated = __atomic_load_n(&ring->header->control.next_payload_byte, __ATOMIC_ACQUIRE);
	window = __atomic_load_n(&ring->header->control.buffer_window_start, __ATOMIC_ACQUIRE);
	if (allocated > window + ring->info.payload_buf_size) {
		fprintf(stderr, "# %" PRIu64 " bytes are allocated, the window begins at %" PRIu64
			"\n", allocated, window);
		reader->wrong++;
	}
	if (offset < window)
		return gap(reader, reader->next + 1);
	reader->next++;
	reader->seen++;
	return READER_EVENT;
}

#define COMPLAIN(format, ...) do { \
	if (reader->wrong < DESCRIBED) \
		fprintf(stderr, "# event %" PRIu64 ": " format "\n", e->seqno, ##__VA_ARGS__); \
	return false; \
} while (0)

static bool check_discarded(struct reader *reader)
{
	const struct monad_event_descriptor *e = &reader->event;
	unsigned int i;

	reader->discarded++;
	if (e->payload_size)
		COMPLAIN("discarded, but %u bytes of payload", e->payload_size);
	for (i = 0; i < 4; i++)
		if (e->content_ext[i])
			COMPLAIN("discarded, but tag %u is %#" PRIx64, i, e->content_ext[i]);
	return true;
}

static bool check_payload(struct reader *reader)
{
	const struct monad_event_descriptor *e = &reader->event;
	uint32_t len = e->payload_size, i, rest;
	uint64_t want, have;

	for (i = 0; i < (len + 7) / 8; i++) {
		rest = len - i * 8 < 8 ? len - i * 8 : 8;
		want = pattern_word(e->seqno, len, i);
		have = 0;
		memcpy(&have, reader->payload + i * 8, rest);
		if (rest < 8)
			want &= (1ULL << rest * 8) - 1;
		if (have != want)
			COMPLAIN("byte %u of %u at offset %#" PRIx64 ": %016" PRIx64
				 " is not %016" PRIx64, i * 8, len, e->payload_buf_offset, have,
				 want);
	}
	return true;
}

/* A writer's counts grow by one, unless some of its events were missed. */
static bool check_count(struct reader *reader, unsigned int writer)
{
	const struct monad_event_descriptor *e = &reader->event;
	uint64_t count = e->content_ext[0], expected = reader->count[writer];
	bool complete = reader->gaps_then[writer] == reader->gaps;

	reader->count[writer] = count + 1;
	reader->gaps_then[writer] = reader->gaps;
	if (count < expected || (complete && count != expected))
		COMPLAIN("count %" PRIu64 " of writer %u, %s %" PRIu64, count, writer,
			 complete ? "expected" : "less than", expected);
	return true;
}

static bool check_event(struct reader *reader)
{
	const struct monad_event_descriptor *e = &reader->event;
	unsigned int writer = e->event_type - PATTERN_TYPE;

	if (e->seqno != reader->next - 1)
		COMPLAIN("is not the %" PRIu64 " that was asked for", reader->next - 1);
	if (e->unused || e->payload_buf_offset % MONAD_EVENT_PAYLOAD_ALIGN)
		COMPLAIN("unused %#x, offset %#" PRIx64, e->unused, e->payload_buf_offset);
	if (e->event_type == MONAD_EVENT_NONE_EVENT_TYPE)
		return check_discarded(reader);
	if (writer >= READER_WRITERS)
		COMPLAIN("type %#x", e->event_type);
	if (e->content_ext[1] != ~e->seqno ||
	    e->content_ext[2] != ((uint64_t)writer << 32 | e->payload_size) ||
	    e->content_ext[3] != pattern_word(e->seqno, e->payload_size, PATTERN_TAG))
		COMPLAIN("size %u, writer %u, tags %#" PRIx64 " %#" PRIx64 " %#" PRIx64,
			 e->payload_size, writer, e->content_ext[1], e->content_ext[2],
			 e->content_ext[3]);
	if (!check_payload(reader))
		return false;
	return !reader->check_order || check_count(reader, writer);
}

bool reader_check(struct reader *reader)
{
	if (check_event(reader)) {
		reader->bytes += (reader->event.payload_size + 15ULL) & ~15ULL;
		return true;
	}
	reader->wrong++;
	return false;
}

uint64_t reader_drain(struct reader *reader)
{
	const struct ring *ring = reader->ring;
	uint64_t before = reader->seen;

	while (reader->next <= __atomic_load_n(&ring->header->control.last_seqno,
					       __ATOMIC_ACQUIRE)) {
		enum reader_result result = reader_next(reader);

		if (result == READER_NOT_READY)
			break;
		if (result == READER_EVENT)
			reader_check(reader);
	}
	return reader->seen - before;
}
