// SPDX-License-Identifier: GPL-2.0
/*
 * A writer that stalls between reserve and commit, on one CPU, while another writes for all
 * the ring is worth: nobody overwrites anybody, what cannot be recorded is refused and
 * counted, and all goes on afterwards.
 */
#include <pthread.h>

#include "kselftest_harness.h"

#include "writers.h"

#define STALLED 0 /* writer */
#define BUSY 1

FIXTURE(stall)
{
	struct writers writers;
	struct ring *ring;
	struct reader reader;
	pthread_t thread;
};

FIXTURE_VARIANT(stall)
{
	unsigned int stalled_len;
	unsigned int min_len;
	unsigned int max_len;
	/* events that must fit beside the stalled one: 13/16 of descriptors, or of bytes */
	unsigned int room;
};

/* The ring runs out of descriptors. */
FIXTURE_VARIANT_ADD(stall, small) {
	.stalled_len = 100, .min_len = 0, .max_len = 200, .room = SMALL_CAPACITY / 16 * 13,
};

/* It runs out of bytes, allocated by the add ... */
FIXTURE_VARIANT_ADD(stall, medium) {
	.stalled_len = 4096, .min_len = 4096, .max_len = 4096,
	.room = SMALL_PAYLOAD / 4096 / 16 * 13,
};

/* ... or by compare-and-swap. */
FIXTURE_VARIANT_ADD(stall, large) {
	.stalled_len = 50000, .min_len = WRITER_MAX_LEN, .max_len = WRITER_MAX_LEN,
	.room = SMALL_PAYLOAD / WRITER_MAX_LEN / 16 * 13,
};

/* The one that stalls has no payload to protect, only a descriptor. */
FIXTURE_VARIANT_ADD(stall, empty) {
	.stalled_len = 0, .min_len = 16, .max_len = 16, .room = SMALL_CAPACITY / 16 * 13,
};

FIXTURE_SETUP(stall)
{
	struct writer *writer;

	SETUP_WRITERS(&self->writers, SMALL);
	self->ring = &self->writers.ring;
	reader_init(&self->reader, self->ring, 1);
	writer = self->writers.writer;
	writer[STALLED].min_len = variant->stalled_len;
	writer[STALLED].max_len = variant->stalled_len;
	writer[BUSY].min_len = variant->min_len;
	writer[BUSY].max_len = variant->max_len;
	pin_to_cpu(0);
}

FIXTURE_TEARDOWN(stall)
{
	reader_free(&self->reader);
	writers_teardown(&self->writers);
}

static void *stall_on_cpu_1(void *arg)
{
	struct writers *w = arg;
	struct writer_run run = { .writer = STALLED };

	pin_to_cpu(1);
	run_program(w->bpf->progs.stall, &run, sizeof(run));
	return NULL;
}

/* Returns when the writer holds its event: false if it got none. */
static bool begin_stall(FIXTURE_DATA(stall) *self)
{
	struct writer_bpf__bss *bss = self->writers.bpf->bss;

	bss->stall_go = 0;
	bss->stall_state = 0;
	if (pthread_create(&self->thread, NULL, stall_on_cpu_1, &self->writers))
		return false;
	while (!__atomic_load_n(&bss->stall_state, __ATOMIC_ACQUIRE))
		usleep(1000);
	return bss->stall_state == 1;
}

static void end_stall(FIXTURE_DATA(stall) *self)
{
	__atomic_store_n(&self->writers.bpf->bss->stall_go, 1, __ATOMIC_RELEASE);
	pthread_join(self->thread, NULL);
}

/* Whole laps, read as they come: nothing may be refused, missed or wrong. */
static void all_is_well(struct __test_metadata *_metadata, FIXTURE_DATA(stall) *self)
{
	struct writers *w = &self->writers;
	uint64_t refused = w->writer[BUSY].refused, missed = self->reader.missed;
	unsigned int i;

	for (i = 0; i < 300; i++) {
		ASSERT_EQ(0, writers_burst(w, BUSY, 10));
		EXPECT_EQ(10, reader_drain(&self->reader));
	}
	EXPECT_EQ(refused, w->writer[BUSY].refused);
	EXPECT_EQ(missed, self->reader.missed);
	EXPECT_EQ(0, self->reader.wrong);
}

TEST_F_TIMEOUT(stall, two_laps, 60)
{
	unsigned int before[] = { 0, 7, 400, 1500 }, i;
	struct writers *w = &self->writers;
	struct writer *busy = &w->writer[BUSY];
	const struct ring *ring = self->ring;
	uint64_t committed, refused = 0, seqno;
	struct reader ahead;

	for (i = 0; i < ARRAY_SIZE(before); i++) {
		/* Stall at different places of the ring, the end of the buffer among them. */
		for (; before[i]; before[i]--) {
			ASSERT_EQ(0, writers_burst(w, BUSY, 1));
			ASSERT_EQ(1, reader_drain(&self->reader));
		}
		committed = busy->committed;
		ASSERT_TRUE(begin_stall(self));
		seqno = w->bpf->bss->stall_seqno;
		EXPECT_EQ(self->reader.next, seqno);

		ASSERT_EQ(0, writers_burst(w, BUSY, 2 * SMALL_CAPACITY));
		EXPECT_EQ(1, w->bpf->bss->stall_state);
		EXPECT_LE(variant->room, busy->committed - committed);
		EXPECT_GT(SMALL_CAPACITY, busy->committed - committed);
		EXPECT_LT(refused, busy->refused);
		refused = busy->refused;
		EXPECT_EQ(refused, ring_lost(ring, MONAD_RING_LOST_STALLED));
		EXPECT_EQ(refused, ring_lost_all(ring));
		EXPECT_EQ(busy->tried, busy->committed + busy->refused);
		EXPECT_EQ(ring->header->control.last_seqno,
			  seqno + busy->committed - committed);

		/* A reader waits for the stalled one; what came after it is there already. */
		EXPECT_EQ(0, reader_drain(&self->reader));
		EXPECT_EQ(READER_NOT_READY, reader_next(&self->reader));
		reader_init(&ahead, ring, seqno + 1);
		ahead.count[BUSY] = committed;
		EXPECT_EQ(busy->committed - committed, reader_drain(&ahead));
		EXPECT_EQ(0, ahead.missed);
		EXPECT_EQ(0, ahead.wrong);
		reader_free(&ahead);

		end_stall(self);
		EXPECT_EQ(2, w->bpf->bss->stall_state);
		/* The stalled one, its bytes intact, and those after it. */
		EXPECT_EQ(busy->committed - committed + 1, reader_drain(&self->reader));
		EXPECT_EQ(0, self->reader.missed);
		EXPECT_EQ(0, self->reader.wrong);
		all_is_well(_metadata, self);
	}
	EXPECT_EQ(0, writers_sum(w, errors));
	EXPECT_EQ(ring->header->control.next_payload_byte, writers_sum(w, bytes));
}

/* The window stays below the stalled event, or readers would call it expired. */
TEST_F(stall, window)
{
	const struct ring *ring = self->ring;
	struct writers *w = &self->writers;
	uint64_t offset;

	ASSERT_EQ(0, writers_burst(w, BUSY, 3 * SMALL_CAPACITY));
	ASSERT_TRUE(begin_stall(self));
	offset = ring->descs[(w->bpf->bss->stall_seqno - 1) & (SMALL_CAPACITY - 1)]
			.payload_buf_offset;
	ASSERT_EQ(0, writers_burst(w, BUSY, 2 * SMALL_CAPACITY));
	EXPECT_GE(offset, ring->header->control.buffer_window_start);
	EXPECT_LE(ring->header->control.next_payload_byte,
		  ring->header->control.buffer_window_start + SMALL_PAYLOAD);
	end_stall(self);
}

FIXTURE(nested)
{
	struct writers writers;
	struct reader reader;
};

FIXTURE_SETUP(nested)
{
	SETUP_WRITERS(&self->writers, SMALL);
	reader_init(&self->reader, &self->writers.ring, 1);
}

FIXTURE_TEARDOWN(nested)
{
	reader_free(&self->reader);
	writers_teardown(&self->writers);
}

/* A CPU has eight record slots: eight events at once, and the ninth is refused. */
TEST_F(nested, nine)
{
	struct writer_run run = { .writer = 0 };
	struct writers *w = &self->writers;
	unsigned int i;

	w->writer[0].max_len = 100;
	/* Again and again: a slot that is not given back would be missed. */
	for (i = 1; i <= 50; i++) {
		ASSERT_EQ(0, run_program(w->bpf->progs.hold, &run, sizeof(run)));
		ASSERT_EQ(0xff, w->bpf->bss->hold_got);
		ASSERT_EQ(i, ring_lost(&w->ring, MONAD_RING_LOST_NO_SLOT));
		ASSERT_EQ(i, ring_lost_all(&w->ring));
		ASSERT_EQ(8 * i, w->ring.ext->discarded);
		ASSERT_EQ(0, writers_burst(w, 0, 10));
		ASSERT_EQ(18, reader_drain(&self->reader));
	}
	EXPECT_EQ(10 * 50, w->writer[0].committed);
	EXPECT_EQ(8 * 50, self->reader.discarded);
	EXPECT_EQ(0, self->reader.wrong);
	EXPECT_EQ(0, self->reader.missed);
	EXPECT_EQ(w->ring.header->control.next_payload_byte, w->writer[0].bytes);
}

TEST_HARNESS_MAIN
