// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder in the kernel, as BPF programs call it: one writer at a time here, and what
 * interrupts it on purpose. What native tests cannot have is the kernel's own atomics, per-CPU
 * memory and interrupts, and KASAN, lockdep and the rest that look on.
 */
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "recorder_kunit.h"
#include "../recorder.c"

#define TYPE 7

static int recorder_init(struct kunit *test)
{
	struct test_ring *ring = test_ring_alloc(1);

	KUNIT_ASSERT_NOT_NULL(test, ring);
	test->priv = ring;
	/* A BPF program stays on its CPU, too. */
	return set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
}

static void recorder_exit(struct kunit *test)
{
	struct test_ring *ring = test->priv;

	if (!ring)
		return;
	KUNIT_EXPECT_EQ(test, test_ring_busy(ring), 0U);
	test_ring_free(ring);
}

static u64 slot_of(struct monad_ring_record *rec)
{
	return rec - port_slot(rec->recorder, 0);
}

/* Reserves and fills. NULL when refused. */
static struct monad_ring_record *begin(struct test_ring *ring, u64 size)
{
	struct monad_ring_record *rec = recorder_reserve(&ring->r, TYPE, size);

	if (rec)
		fill(rec, 0, size);
	return rec;
}

static bool write_event(struct test_ring *ring, u64 size)
{
	struct monad_ring_record *rec = begin(ring, size);

	if (rec)
		recorder_commit(rec);
	return rec;
}

/* The event @seqno is there, of @size bytes that are right. */
static void expect_event(struct kunit *test, u64 seqno, u64 size)
{
	struct test_ring *ring = test->priv;
	struct monad_event_descriptor *desc = test_ring_desc(ring, seqno);
	u64 offset = desc->payload_buf_offset;

	KUNIT_EXPECT_EQ(test, desc->seqno, seqno);
	KUNIT_EXPECT_EQ(test, (u64)desc->event_type, (u64)TYPE);
	KUNIT_EXPECT_EQ(test, (u64)desc->unused, 0ULL);
	KUNIT_EXPECT_EQ(test, (u64)desc->payload_size, size);
	KUNIT_EXPECT_EQ(test, offset % MONAD_EVENT_PAYLOAD_ALIGN, 0ULL);
	KUNIT_EXPECT_GE(test, offset, ring->header->control.buffer_window_start);
	KUNIT_EXPECT_TRUE(test, intact(ring->payload + (offset & (PAYLOAD_SIZE - 1)), seqno, size));
}

static void fast_path(struct kunit *test)
{
	struct test_ring *ring = test->priv;
	struct monad_event_ring_control *control = &ring->header->control;
	u64 before = ktime_get_real_ns(), i;
	struct monad_ring_record *rec;

	rec = begin(ring, 100);
	KUNIT_ASSERT_NOT_NULL(test, rec);
	KUNIT_EXPECT_EQ(test, slot_of(rec), 0ULL);
	KUNIT_EXPECT_EQ(test, rec->seqno, 1ULL);
	KUNIT_EXPECT_EQ(test, rec->size, 100ULL);
	KUNIT_EXPECT_PTR_EQ(test, rec->payload, ring->payload);
	/* Not there before it is committed. */
	KUNIT_EXPECT_EQ(test, ring->descs[0].seqno, 0ULL);
	KUNIT_EXPECT_EQ(test, test_ring_busy(ring), 1U);
	for (i = 0; i < 4; i++)
		recorder_tag(rec, i, 10 + i);
	recorder_commit(rec);
	KUNIT_EXPECT_EQ(test, test_ring_busy(ring), 0U);
	expect_event(test, 1, 100);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, ring->descs[0].content_ext[i], 10 + i);
	/* The clock that can be read in an NMI may be off by a tick. */
	KUNIT_EXPECT_GE(test, ring->descs[0].record_epoch_nanos, before - NSEC_PER_SEC);
	KUNIT_EXPECT_LE(test, ring->descs[0].record_epoch_nanos,
			ktime_get_real_ns() + NSEC_PER_SEC);

	KUNIT_EXPECT_TRUE(test, write_event(ring, 0));
	KUNIT_EXPECT_TRUE(test, write_event(ring, 1));
	expect_event(test, 2, 0);
	expect_event(test, 3, 1);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, ring->descs[1].content_ext[i], 0ULL);
	KUNIT_EXPECT_EQ(test, ring->descs[1].payload_buf_offset, 112ULL);
	KUNIT_EXPECT_EQ(test, ring->descs[2].payload_buf_offset, 112ULL);
	KUNIT_EXPECT_EQ(test, control->next_payload_byte, 128ULL);
	KUNIT_EXPECT_EQ(test, control->last_seqno, 3ULL);
	KUNIT_EXPECT_EQ(test, control->buffer_window_start, 0ULL);
	KUNIT_EXPECT_EQ(test, test_ring_lost(ring), 0ULL);
}

/* As deep as it goes, and committed in an order that is neither that nor its reverse. */
static void nesting(struct kunit *test)
{
	static const unsigned int order[RECORDER_SLOTS] = { 3, 0, 7, 1, 6, 2, 5, 4 };
	struct monad_ring_record *rec[RECORDER_SLOTS], *again;
	struct test_ring *ring = test->priv;
	unsigned int i, lowest = RECORDER_SLOTS;

	for (i = 0; i < RECORDER_SLOTS; i++) {
		rec[i] = begin(ring, 50 + i);
		KUNIT_ASSERT_NOT_NULL(test, rec[i]);
		KUNIT_EXPECT_EQ(test, slot_of(rec[i]), (u64)i);
	}
	KUNIT_EXPECT_NULL(test, begin(ring, 1));
	KUNIT_EXPECT_EQ(test, ring->ext->lost[MONAD_RING_LOST_NO_SLOT], 1ULL);
	KUNIT_EXPECT_EQ(test, ring->header->control.last_seqno, (u64)RECORDER_SLOTS);
	for (i = 0; i < RECORDER_SLOTS; i++) {
		KUNIT_EXPECT_EQ(test, test_ring_desc(ring, order[i] + 1)->seqno, 0ULL);
		recorder_commit(rec[order[i]]);
		expect_event(test, order[i] + 1, 50 + order[i]);
		/* The first that is free is the one that is taken. */
		lowest = min(lowest, order[i]);
		again = begin(ring, 9);
		KUNIT_ASSERT_NOT_NULL(test, again);
		KUNIT_EXPECT_EQ(test, slot_of(again), (u64)lowest);
		recorder_commit(again);
	}
	KUNIT_EXPECT_EQ(test, test_ring_lost(ring), 1ULL);
}

struct interruption {
	struct irq_work work;
	struct test_ring *ring;
	u64 slot, seqno;
	unsigned int cpu;
};

static void interrupt(struct irq_work *work)
{
	struct interruption *i = container_of(work, struct interruption, work);
	struct monad_ring_record *rec = begin(i->ring, 77);

	i->cpu = smp_processor_id();
	if (!rec)
		return;
	i->slot = slot_of(rec);
	i->seqno = rec->seqno;
	recorder_commit(rec);
}

/* A hard interrupt while an event is being written. */
static void interrupted(struct kunit *test)
{
	struct test_ring *ring = test->priv;
	struct interruption i = { .ring = ring };
	struct monad_ring_record *rec;

	init_irq_work(&i.work, interrupt);
	rec = begin(ring, 33);
	KUNIT_ASSERT_NOT_NULL(test, rec);
	irq_work_queue(&i.work);
	irq_work_sync(&i.work);
	KUNIT_EXPECT_EQ(test, i.cpu, raw_smp_processor_id());
	KUNIT_EXPECT_EQ(test, i.slot, 1ULL);
	KUNIT_EXPECT_EQ(test, i.seqno, 2ULL);
	expect_event(test, 2, 77);
	KUNIT_EXPECT_EQ(test, rec->seqno, 1ULL);
	recorder_commit(rec);
	expect_event(test, 1, 33);
}

/* Many times around: both windows move, never too far and never not far enough. */
static void window_motion(struct kunit *test)
{
	struct test_ring *ring = test->priv;
	struct monad_event_ring_control *control = &ring->header->control;
	u64 rng = 88172645463325252ULL, wrong = 0, wrapped = 0, size, n = 0;
	struct monad_ring_record *rec;

	while (control->next_payload_byte < 9 * PAYLOAD_SIZE ||
	       control->last_seqno < 9 * ring->capacity) {
		u64 offset;

		size = random_size(&rng);
		rec = begin(ring, size);
		KUNIT_ASSERT_NOT_NULL(test, rec);
		offset = rec->desc->payload_buf_offset;
		wrong += rec->seqno != ++n;
		/* The permits. */
		wrong += control->next_payload_byte > control->buffer_window_start + PAYLOAD_SIZE;
		wrong += control->last_seqno > ring->r.seqno_window + ring->capacity;
		wrong += offset < control->buffer_window_start;
		/* The history: all but an eighth and a sixteenth. */
		if (control->buffer_window_start)
			wrong += control->next_payload_byte - control->buffer_window_start <
				 PAYLOAD_SIZE / 16 * 13;
		if (ring->r.seqno_window)
			wrong += control->last_seqno - ring->r.seqno_window <
				 ring->capacity / 16 * 13;
		/* Past the end it continues in the second mapping. */
		wrapped += (offset & (PAYLOAD_SIZE - 1)) + size > PAYLOAD_SIZE;
		recorder_commit(rec);
		if (n > 100)
			wrong += !intact(ring->payload +
					 (test_ring_desc(ring, n - 100)->payload_buf_offset &
					  (PAYLOAD_SIZE - 1)),
					 n - 100, test_ring_desc(ring, n - 100)->payload_size) &&
				 test_ring_desc(ring, n - 100)->payload_buf_offset >=
				 control->buffer_window_start;
		if (n % 256 == 0)
			cond_resched();
	}
	KUNIT_EXPECT_EQ(test, wrong, 0ULL);
	KUNIT_EXPECT_GT(test, wrapped, 0ULL);
	KUNIT_EXPECT_EQ(test, test_ring_lost(ring), 0ULL);
	/* What is left is what was written last. */
	for (size = 0; size < ring->capacity; size++)
		wrong += test_ring_desc(ring, n - size)->seqno != n - size;
	KUNIT_EXPECT_EQ(test, wrong, 0ULL);
}

/* A writer that sleeps is not written over, nor do others wait for it: they are refused. */
static void stalled(struct kunit *test, u64 others, u64 most)
{
	struct test_ring *ring = test->priv;
	struct monad_event_ring_control *control = &ring->header->control;
	struct monad_ring_record *rec;
	u64 seqno, offset, i, refused = 0, written = 0;
	bool moved_on;

	/* Not at the beginning, where nothing has ever been overwritten. */
	for (i = 0; i < 3 * most; i++)
		KUNIT_ASSERT_TRUE(test, write_event(ring, others));
	rec = begin(ring, 1000);
	KUNIT_ASSERT_NOT_NULL(test, rec);
	seqno = rec->seqno;
	offset = rec->desc->payload_buf_offset;
	for (i = 0; i < 3 * most; i++) {
		if (write_event(ring, others))
			written++;
		else
			refused++;
	}
	/* Nearly all of the ring could be written; then, and only then, it was full. */
	KUNIT_EXPECT_GE(test, written, most / 16 * 13);
	KUNIT_EXPECT_LE(test, written, most);
	KUNIT_EXPECT_EQ(test, written + refused, 3 * most);
	KUNIT_EXPECT_EQ(test, ring->ext->lost[MONAD_RING_LOST_STALLED], refused);
	KUNIT_EXPECT_EQ(test, test_ring_lost(ring), refused);
	KUNIT_EXPECT_LE(test, control->buffer_window_start, offset);
	KUNIT_EXPECT_LE(test, control->next_payload_byte, offset + PAYLOAD_SIZE);
	KUNIT_EXPECT_LT(test, ring->r.seqno_window, seqno);
	KUNIT_EXPECT_EQ(test, rec->desc->seqno, 0ULL);
	recorder_commit(rec);
	expect_event(test, seqno, 1000);
	/* And on it goes. */
	for (i = 0; i < 3 * most; i++)
		KUNIT_ASSERT_TRUE(test, write_event(ring, others));
	KUNIT_EXPECT_EQ(test, test_ring_lost(ring), refused);
	moved_on = control->buffer_window_start > offset || ring->r.seqno_window >= seqno;
	KUNIT_EXPECT_TRUE(test, moved_on);
}

static void stalled_bytes(struct kunit *test)
{
	stalled(test, 4096, PAYLOAD_SIZE / 4096);
}

static void stalled_descriptors(struct kunit *test)
{
	struct test_ring *ring = test->priv;

	stalled(test, 16, ring->capacity);
}

static struct {
	struct test_ring *ring;
	u64 size, written;
	unsigned int step, which; /* which one, or 0: each */
	bool inside;
} at_step;

static void write_at_step(void)
{
	if (at_step.inside || (++at_step.step != at_step.which && at_step.which))
		return;
	at_step.inside = true;
	at_step.written += write_event(at_step.ring, at_step.size);
	at_step.inside = false;
}

/*
 * Another event at a step of each, up to the very last that fits: even those that looked for room
 * before others took it stay within what is free.
 */
static void to_the_brim(struct kunit *test, u64 size, unsigned int which)
{
	struct test_ring *ring = test->priv;
	struct monad_event_ring_control *control = &ring->header->control;
	u64 offset, seqno, wrong = 0, refused = 0;
	struct monad_ring_record *held, *rec;

	held = begin(ring, 1000);
	KUNIT_ASSERT_NOT_NULL(test, held);
	seqno = held->seqno;
	offset = held->desc->payload_buf_offset;
	at_step.ring = ring;
	at_step.size = size;
	at_step.which = which;
	while (refused < 10) {
		at_step.step = 0;
		WRITE_ONCE(recorder_hook.step, write_at_step);
		rec = recorder_reserve(&ring->r, TYPE, size);
		WRITE_ONCE(recorder_hook.step, NULL);
		wrong += control->next_payload_byte > offset + PAYLOAD_SIZE;
		wrong += control->last_seqno >= seqno + ring->capacity;
		if (!rec) {
			refused++;
			continue;
		}
		fill(rec, 0, size);
		recorder_commit(rec);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0ULL);
	KUNIT_EXPECT_EQ(test, held->desc->seqno, 0ULL);
	recorder_commit(held);
	expect_event(test, seqno, 1000);
	KUNIT_EXPECT_EQ(test, test_ring_lost(ring), ring->ext->lost[MONAD_RING_LOST_STALLED]);
}

#define MORE_THAN_ALL_STEPS 24

static void at_any_step(struct kunit *test, u64 size)
{
	unsigned int which;

	for (which = 0; which < MORE_THAN_ALL_STEPS; which++) {
		at_step.written = 0;
		to_the_brim(test, size, which);
		if (!which || which == 1)
			KUNIT_EXPECT_GT(test, at_step.written, 3ULL);
	}
}

static void brim_of_bytes(struct kunit *test)
{
	struct test_ring *ring = test->priv;

	at_any_step(test, ring->r.max_fast);
}

/* More than the margin that smaller ones share. */
static void brim_of_large_events(struct kunit *test)
{
	struct test_ring *ring = test->priv;

	at_any_step(test, 2 * ring->nr_slots * ring->r.max_fast);
}

static void brim_of_descriptors(struct kunit *test)
{
	at_any_step(test, 16);
}

static void discard(struct kunit *test)
{
	struct test_ring *ring = test->priv;
	struct monad_event_descriptor *desc = ring->descs;
	struct monad_ring_record *rec = begin(ring, 48);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, rec);
	recorder_tag(rec, 2, 99);
	recorder_discard(rec);
	KUNIT_EXPECT_EQ(test, desc->seqno, 1ULL);
	KUNIT_EXPECT_EQ(test, (int)desc->event_type, MONAD_EVENT_NONE_EVENT_TYPE);
	KUNIT_EXPECT_EQ(test, desc->payload_size, 0U);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, desc->content_ext[i], 0ULL);
	KUNIT_EXPECT_EQ(test, ring->ext->discarded, 1ULL);
	KUNIT_EXPECT_TRUE(test, write_event(ring, 5));
	expect_event(test, 2, 5);
	KUNIT_EXPECT_EQ(test, test_ring_lost(ring), 0ULL);
}

static void large_events(struct kunit *test)
{
	struct test_ring *ring = test->priv;
	u64 max = ring->r.max_size, n = 0, i;

	KUNIT_EXPECT_EQ(test, max, (u64)PAYLOAD_SIZE / 4);
	KUNIT_EXPECT_NULL(test, begin(ring, max + 1));
	KUNIT_EXPECT_NULL(test, recorder_reserve(&ring->r, TYPE, 1ULL << 32));
	KUNIT_EXPECT_NULL(test, recorder_reserve(&ring->r, TYPE, ~0ULL));
	KUNIT_EXPECT_EQ(test, ring->ext->lost[MONAD_RING_LOST_TOO_LARGE], 3ULL);
	KUNIT_EXPECT_EQ(test, ring->header->control.last_seqno, 0ULL);
	/* The sizes on both sides of the add, and the largest: around the ring, and across. */
	for (i = 0; i < 12; i++) {
		KUNIT_EXPECT_TRUE(test, write_event(ring, ring->r.max_fast));
		expect_event(test, ++n, ring->r.max_fast);
		KUNIT_EXPECT_TRUE(test, write_event(ring, ring->r.max_fast + 1));
		expect_event(test, ++n, ring->r.max_fast + 1);
		KUNIT_EXPECT_TRUE(test, write_event(ring, max));
		expect_event(test, ++n, max);
		KUNIT_EXPECT_TRUE(test, write_event(ring, max - 1));
		expect_event(test, ++n, max - 1);
	}
	KUNIT_EXPECT_EQ(test, test_ring_lost(ring), 3ULL);
}

static void too_small(struct kunit *test)
{
	struct test_ring *ring = test->priv;
	struct monad_recorder r = {};
	u64 most = ring->capacity / MARGIN_DIV;

	KUNIT_EXPECT_EQ(test, monad_recorder_init(&r, ring->header, ring->descs, ring->payload,
						  ring->ext, most), 0);
	KUNIT_EXPECT_EQ(test, monad_recorder_init(&r, ring->header, ring->descs, ring->payload,
						  ring->ext, most + 1), -ERANGE);
	KUNIT_EXPECT_EQ(test, 1ULL << monad_recorder_min_desc_shift(most), ring->capacity);
	KUNIT_EXPECT_EQ(test, 1ULL << monad_recorder_min_desc_shift(most + 1), 2 * ring->capacity);
}

static void short_of_descriptors(struct kunit *test)
{
	recorder_stress(test, test->priv);
}

static void short_of_bytes(struct kunit *test)
{
	test_ring_free(test->priv);
	test->priv = test_ring_alloc(8);
	KUNIT_ASSERT_NOT_NULL(test, test->priv);
	recorder_stress(test, test->priv);
}

static struct kunit_case recorder_cases[] = {
	KUNIT_CASE(fast_path),
	KUNIT_CASE(nesting),
	KUNIT_CASE(interrupted),
	KUNIT_CASE(window_motion),
	KUNIT_CASE(stalled_bytes),
	KUNIT_CASE(stalled_descriptors),
	KUNIT_CASE(brim_of_bytes),
	KUNIT_CASE(brim_of_large_events),
	KUNIT_CASE(brim_of_descriptors),
	KUNIT_CASE(discard),
	KUNIT_CASE(large_events),
	KUNIT_CASE(too_small),
	KUNIT_CASE(short_of_descriptors),
	KUNIT_CASE(short_of_bytes),
	{}
};

static struct kunit_suite recorder_suite = {
	.name = "monad_recorder",
	.init = recorder_init,
	.exit = recorder_exit,
	.test_cases = recorder_cases,
};

kunit_test_suite(recorder_suite);

MODULE_DESCRIPTION("KUnit tests of monad_ring's recorder");
MODULE_LICENSE("GPL");
