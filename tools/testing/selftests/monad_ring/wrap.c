// SPDX-License-Identifier: GPL-2.0
/*
 * One writer laps a small ring, and its reader: descriptors and payload bytes wrap, large
 * events take their own path, and what was missed is counted exactly.
 */
#include <inttypes.h>

#include "kselftest_harness.h"

#include "writers.h"

FIXTURE(wrap)
{
	struct writers writers;
	struct writer *writer; /* the one */
	struct ring *ring;
	struct reader reader;
};

FIXTURE_SETUP(wrap)
{
	SETUP_WRITERS(&self->writers, SMALL);
	self->writer = &self->writers.writer[0];
	self->ring = &self->writers.ring;
	ASSERT_EQ(SMALL_CAPACITY, self->ring->info.descriptor_capacity);
	ASSERT_EQ(SMALL_PAYLOAD, self->ring->info.payload_buf_size);
	reader_init(&self->reader, self->ring, 1);
}

FIXTURE_TEARDOWN(wrap)
{
	reader_free(&self->reader);
	writers_teardown(&self->writers);
}

static int burst(FIXTURE_DATA(wrap) *self, unsigned int events)
{
	return writers_burst(&self->writers, 0, events);
}

/* @events of them, a few at a time, read before they can be lapped. */
static void write_and_read(struct __test_metadata *_metadata, FIXTURE_DATA(wrap) *self,
			   unsigned int events, unsigned int at_a_time)
{
	const struct reader *reader = &self->reader;
	unsigned int i;

	for (i = 0; i < events; i += at_a_time) {
		ASSERT_EQ(0, burst(self, at_a_time));
		reader_drain(&self->reader);
	}
	EXPECT_EQ(0, self->writer->errors);
	EXPECT_EQ(0, self->writer->refused);
	EXPECT_EQ(0, ring_lost_all(self->ring));
	EXPECT_EQ(i, self->writer->committed + self->writer->discarded);
	EXPECT_EQ(i, reader->seen);
	EXPECT_EQ(0, reader->missed);
	EXPECT_EQ(0, reader->wrong);
	EXPECT_EQ(i, self->ring->header->control.last_seqno);
	EXPECT_EQ(self->writer->bytes, self->ring->header->control.next_payload_byte);
}

/* Descriptors wrap, payload bytes do not. */
TEST_F(wrap, descriptors)
{
	self->writer->max_len = 40;
	write_and_read(_metadata, self, 5 * SMALL_CAPACITY, 100);
	EXPECT_GT(SMALL_PAYLOAD, self->ring->header->control.next_payload_byte);
}

/* Payload bytes wrap many times, in events that the end of the buffer cuts anywhere. */
TEST_F(wrap, payload)
{
	self->writer->max_len = 4096;
	write_and_read(_metadata, self, 10 * SMALL_CAPACITY, 100);
	EXPECT_LT(8 * SMALL_PAYLOAD, self->ring->header->control.next_payload_byte);
}

/* Events too large for the add take the compare-and-swap, between those that do not. */
TEST_F(wrap, large)
{
	self->writer->max_len = 300;
	self->writer->big_every = 3;
	self->writer->big_len = WRITER_MAX_LEN;
	write_and_read(_metadata, self, SMALL_CAPACITY, 15);
	EXPECT_LT(8 * SMALL_PAYLOAD, self->ring->header->control.next_payload_byte);
}

/* Either side of what the fast path takes. */
TEST_F(wrap, around_fast)
{
	self->writer->min_len = 4096 - 20;
	self->writer->max_len = 4096 + 20;
	write_and_read(_metadata, self, 2 * SMALL_CAPACITY, 64);
}

TEST_F(wrap, discarded)
{
	self->writer->max_len = 2000;
	self->writer->discard_every = 3;
	write_and_read(_metadata, self, 3 * SMALL_CAPACITY, 96);
	EXPECT_EQ(SMALL_CAPACITY, self->writer->discarded);
	EXPECT_EQ(SMALL_CAPACITY, self->reader.discarded);
	EXPECT_EQ(SMALL_CAPACITY, self->ring->ext->discarded);
}

/* Payloads that cross the buffer's end are whole in both places they are mapped at. */
TEST_F(wrap, contiguous)
{
	uint64_t offset, end, crossed = 0;
	const struct ring *ring = self->ring;
	unsigned int i;

	self->writer->min_len = 5000;
	self->writer->max_len = 9000;
	for (i = 0; i < 1500; i++) {
		ASSERT_EQ(0, burst(self, 1));
		ASSERT_EQ(1, reader_drain(&self->reader));
		offset = self->reader.event.payload_buf_offset & (SMALL_PAYLOAD - 1);
		end = offset + self->reader.event.payload_size;
		if (end <= SMALL_PAYLOAD)
			continue;
		crossed++;
		EXPECT_EQ(0, memcmp(ring->payload + SMALL_PAYLOAD, ring->payload,
				    end - SMALL_PAYLOAD));
		EXPECT_EQ(0, memcmp(ring->payload,
				    self->reader.payload + SMALL_PAYLOAD - offset,
				    end - SMALL_PAYLOAD));
	}
	EXPECT_EQ(0, self->reader.wrong);
	EXPECT_LE(4, crossed);
}

/* What every look at the control words must find, whatever was written. */
static void check_window(struct __test_metadata *_metadata, const struct ring *ring)
{
	uint64_t window = ring->header->control.buffer_window_start;
	uint64_t next = ring->header->control.next_payload_byte;

	/* What has been overwritten is below the window, and no more than needs be. */
	EXPECT_LE(next, window + SMALL_PAYLOAD);
	if (window)
		EXPECT_LE(window + SMALL_PAYLOAD / 16 * 13, next);
}

/*
 * A reader asleep while exactly so many small events are written misses all but the newest
 * that there are slots for.
 */
TEST_F(wrap, gap_of_descriptors)
{
	static const unsigned int laps[] = { 1024, 1025, 1026, 1500, 2048, 5000 };
	struct reader *reader = &self->reader;
	uint64_t missed = 0, seen = 0;
	unsigned int i;

	self->writer->max_len = 1000;
	for (i = 0; i < ARRAY_SIZE(laps); i++) {
		ASSERT_EQ(0, burst(self, laps[i]));
		check_window(_metadata, self->ring);
		seen += SMALL_CAPACITY;
		missed += laps[i] - SMALL_CAPACITY;
		EXPECT_EQ(SMALL_CAPACITY, reader_drain(reader));
		EXPECT_EQ(missed, reader->missed);
		EXPECT_EQ(seen, reader->seen);
	}
	EXPECT_EQ(0, reader->wrong);
	EXPECT_EQ(0, self->writer->refused);
	EXPECT_EQ(self->ring->header->control.last_seqno, reader->seen + reader->missed);
}

/* Large ones: all whose payload is above the window are there, the others are missed. */
TEST_F(wrap, gap_of_payload)
{
	static const unsigned int laps[] = { 200, 256, 257, 300, 1000 };
	const uint64_t len = 8192;
	struct reader *reader = &self->reader;
	const struct ring *ring = self->ring;
	uint64_t start = 0, first, last = 0;
	unsigned int i;

	self->writer->min_len = len;
	self->writer->max_len = len;
	for (i = 0; i < ARRAY_SIZE(laps); i++) {
		ASSERT_EQ(0, burst(self, laps[i]));
		check_window(_metadata, ring);
		start = last + 1;
		last += laps[i];
		/* Event s stands at (s - 1) * len: the first not below the window. */
		first = (ring->header->control.buffer_window_start + len - 1) / len + 1;
		if (first < start)
			first = start;
		EXPECT_EQ(last - first + 1, reader_drain(reader));
		EXPECT_EQ(last, reader->seen + reader->missed);
		if (first > start)
			EXPECT_LE(SMALL_PAYLOAD / len * 13 / 16, last - first + 1);
	}
	EXPECT_EQ(0, reader->wrong);
	EXPECT_EQ(0, self->writer->refused);
}

/* A ring that was never lapped has all of its history. */
TEST_F(wrap, not_yet)
{
	self->writer->max_len = 1000;
	ASSERT_EQ(0, burst(self, 900));
	EXPECT_EQ(0, self->ring->header->control.buffer_window_start);
	EXPECT_EQ(900, reader_drain(&self->reader));
	EXPECT_EQ(READER_NOT_READY, reader_next(&self->reader));
	EXPECT_EQ(0, self->reader.missed);
	EXPECT_EQ(0, self->reader.wrong);
}

TEST_HARNESS_MAIN
