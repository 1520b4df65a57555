// SPDX-License-Identifier: GPL-2.0
/*
 * All CPUs write at once, in every context that a module can bring about: two threads on each,
 * which preempt each other anywhere, timers that interrupt them, and interrupts they raise
 * themselves, in the middle of an event and between any two steps of the recorder. A reader
 * checks all that it is given.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/preempt.h>

#include "../compat.h"
#include "recorder_kunit.h"

#define SECONDS 4
#define THREADS 2 /* for each CPU */
#define PERIOD_NS (400 * NSEC_PER_USEC)
#define TYPE 3

/* Counters of one context, which nobody else writes. */
struct writer {
	struct test_ring *ring;
	u64 rng;
	u64 id;
	u64 offered, refused, committed, discarded;
	u64 overwritten; /* events that did not stay as they were until committed */
	struct irq_work *raise; /* in the middle of an event, or NULL */
	struct task_struct *task;
};

struct cpu_writers {
	struct writer thread[THREADS], timer, work;
	struct hrtimer hrtimer;
	bool has_timer;
	struct irq_work irq_work;
	u64 step_rng; /* of all threads there: it does not matter if one undoes another's */
};

/* Whose steps are interrupted, by CPU. */
static struct cpu_writers *stepping;
struct recorder_hook recorder_hook;

static void interrupt_step(void)
{
	struct cpu_writers *cpu = stepping + raw_smp_processor_id();

	if (!in_task())
		return;
	if (next_random(&cpu->step_rng) % 64 == 0)
		irq_work_queue(&cpu->irq_work);
}

struct reader {
	struct test_ring *ring;
	struct task_struct *task;
	u8 *copy;
	u64 seen, missed, expired, wrong;
	u64 first_wrong;
};

static void write_one(struct writer *w)
{
	u64 size = random_size(&w->rng), x = next_random(&w->rng);
	struct monad_ring_record *rec;

	w->offered++;
	rec = recorder_reserve(&w->ring->r, TYPE, size);
	if (!rec) {
		w->refused++;
		return;
	}
	recorder_tag(rec, 0, w->id);
	recorder_tag(rec, 1, ~rec->seqno);
	fill(rec, 0, size / 2);
	if (w->raise && x % 8 == 0)
		irq_work_queue(w->raise);
	if (x % 4 == 1)
		udelay(x >> 8 & 15);
	fill(rec, size / 2, size);
	if (!intact(rec->payload, rec->seqno, size) || READ_ONCE(rec->desc->seqno) ||
	    rec->desc->content_ext[0] != w->id || rec->desc->content_ext[1] != ~rec->seqno)
		w->overwritten++;
	if (x % 16 == 2) {
		w->discarded++;
		recorder_discard(rec);
	} else {
		w->committed++;
		recorder_commit(rec);
	}
}

static int write_many(void *arg)
{
	struct writer *w = arg;

	while (!kthread_should_stop()) {
		/* All that a BPF program is guaranteed. */
		migrate_disable();
		write_one(w);
		migrate_enable();
		cond_resched();
	}
	return 0;
}

static enum hrtimer_restart write_in_timer(struct hrtimer *timer)
{
	struct cpu_writers *cpu = container_of(timer, struct cpu_writers, hrtimer);

	write_one(&cpu->timer);
	hrtimer_forward_now(timer, ns_to_ktime(PERIOD_NS / 2 + cpu->timer.rng % PERIOD_NS));
	return HRTIMER_RESTART;
}

static void write_in_work(struct irq_work *work)
{
	write_one(&container_of(work, struct cpu_writers, irq_work)->work);
}

static void wrong(struct reader *r, u64 seqno)
{
	if (!r->wrong++)
		r->first_wrong = seqno;
}

/* Event @want, of which @desc is a copy that is whole. */
static void check_event(struct reader *r, u64 want, const struct monad_event_descriptor *desc)
{
	u64 size = desc->payload_size, offset = desc->payload_buf_offset;

	r->seen++;
	if (desc->event_type == MONAD_EVENT_NONE_EVENT_TYPE) {
		if (size || desc->content_ext[0] || desc->content_ext[1])
			wrong(r, want);
		return;
	}
	if (desc->event_type != TYPE || desc->unused || size > r->ring->r.max_size ||
	    offset % MONAD_EVENT_PAYLOAD_ALIGN || desc->content_ext[1] != ~want ||
	    desc->content_ext[2] || desc->content_ext[3] || !desc->record_epoch_nanos) {
		wrong(r, want);
		return;
	}
	memcpy(r->copy, r->ring->payload + (offset & (PAYLOAD_SIZE - 1)), size);
	/* The bytes before the window: what was given out anew is in none of them. */
	smp_rmb();
	if (offset < READ_ONCE(r->ring->header->control.buffer_window_start)) {
		r->expired++;
		return;
	}
	if (!intact(r->copy, want, size))
		wrong(r, want);
}

/* Whether @want was there, or is not to be had any more. */
static bool read_one(struct reader *r, u64 *want)
{
	struct monad_event_descriptor *slot = test_ring_desc(r->ring, *want), copy;
	u64 seqno, to;

	/* What the writer did before it stored this, after it. */
	seqno = smp_load_acquire(&slot->seqno);
	if (seqno < *want)
		return false;
	if (seqno == *want) {
		copy = *slot;
		/* The fields before the second look. */
		smp_rmb();
		seqno = READ_ONCE(slot->seqno);
	}
	if (seqno == *want) {
		check_event(r, (*want)++, &copy);
		return true;
	}
	/* Lapped: on with what will not be overwritten at once. */
	to = READ_ONCE(r->ring->header->control.last_seqno) - r->ring->capacity / 2;
	if ((s64)(to - *want) <= 0)
		to = *want + 1;
	r->missed += to - *want;
	*want = to;
	return true;
}

static int read_all(void *arg)
{
	struct reader *r = arg;
	u64 want = 1;

	for (;;) {
		/* Before the look, so that one finds all that was written when it was said. */
		bool stop = kthread_should_stop();

		if (!read_one(r, &want)) {
			if (stop)
				return 0;
			usleep_range(50, 100);
		}
		cond_resched();
	}
}

static void init_writer(struct writer *w, struct test_ring *ring, u64 id)
{
	w->ring = ring;
	w->id = id;
	w->rng = 88172645463325252ULL + id * 0x9e3779b97f4a7c15ULL;
}

static void start_timer(void *arg)
{
	struct cpu_writers *cpu = arg;

	hrtimer_start(&cpu->hrtimer, ns_to_ktime(PERIOD_NS), HRTIMER_MODE_REL_PINNED_HARD);
}

static int start_cpu(struct cpu_writers *cpu, struct test_ring *ring, unsigned int nr)
{
	struct task_struct *task;
	unsigned int i;

	compat_hrtimer_setup(&cpu->hrtimer, write_in_timer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_HARD);
	cpu->has_timer = true;
	cpu->irq_work = IRQ_WORK_INIT_HARD(write_in_work);
	cpu->step_rng = 88172645463325252ULL + nr;
	init_writer(&cpu->timer, ring, nr << 8 | 1);
	init_writer(&cpu->work, ring, nr << 8 | 2);
	for (i = 0; i < THREADS; i++) {
		struct writer *w = &cpu->thread[i];

		init_writer(w, ring, nr << 8 | (3 + i));
		w->raise = &cpu->irq_work;
		task = kthread_create(write_many, w, "recorder/%u:%u", nr, i);
		if (IS_ERR(task))
			return PTR_ERR(task);
		kthread_bind(task, nr);
		w->task = task;
		wake_up_process(task);
	}
	return smp_call_function_single(nr, start_timer, cpu, true);
}

static void stop_threads(struct cpu_writers *cpu)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (cpu->thread[i].task)
			kthread_stop(cpu->thread[i].task);
}

static void stop_interrupts(struct cpu_writers *cpu)
{
	if (cpu->has_timer)
		hrtimer_cancel(&cpu->hrtimer);
	if (cpu->irq_work.func)
		irq_work_sync(&cpu->irq_work);
}

struct totals {
	u64 offered, refused, committed, discarded, overwritten;
};

static void add(struct totals *t, const struct writer *w)
{
	t->offered += w->offered;
	t->refused += w->refused;
	t->committed += w->committed;
	t->discarded += w->discarded;
	t->overwritten += w->overwritten;
}

static void check(struct kunit *test, struct test_ring *ring, struct cpu_writers *cpus,
		  const struct reader *r)
{
	u64 last = ring->header->control.last_seqno, misplaced = 0, i;
	struct totals all = {}, timers = {}, works = {};
	unsigned int nr, slots = 0;

	for_each_online_cpu(nr) {
		add(&timers, &cpus[nr].timer);
		add(&works, &cpus[nr].work);
		add(&all, &cpus[nr].timer);
		add(&all, &cpus[nr].work);
		for (i = 0; i < THREADS; i++)
			add(&all, &cpus[nr].thread[i]);
		/* A slot that was ever used has the last event's descriptor. */
		for (i = 0; i < RECORDER_SLOTS; i++)
			slots += !!per_cpu_ptr(ring->r.slots, nr)->slot[i].desc;
	}
	for (i = 0; i < ring->capacity; i++)
		misplaced += test_ring_desc(ring, last - i)->seqno != last - i;

	KUNIT_EXPECT_EQ(test, all.overwritten, 0ULL);
	KUNIT_EXPECT_EQ(test, r->wrong, 0ULL);
	KUNIT_EXPECT_EQ_MSG(test, r->wrong, 0ULL, "the first is event %llu", r->first_wrong);
	KUNIT_EXPECT_EQ(test, all.committed + all.discarded + all.refused, all.offered);
	KUNIT_EXPECT_EQ(test, last, all.committed + all.discarded);
	KUNIT_EXPECT_EQ(test, test_ring_lost(ring), all.refused);
	KUNIT_EXPECT_EQ(test, ring->ext->discarded, all.discarded);
	KUNIT_EXPECT_EQ(test, r->seen + r->missed, last);
	KUNIT_EXPECT_EQ(test, misplaced, 0ULL);
	KUNIT_EXPECT_EQ(test, test_ring_busy(ring), 0U);
	/* That it was a test. */
	KUNIT_EXPECT_GT(test, last, 2 * ring->capacity);
	KUNIT_EXPECT_GT(test, ring->header->control.buffer_window_start, PAYLOAD_SIZE);
	KUNIT_EXPECT_GT(test, r->seen - r->expired, last / 100);
	KUNIT_EXPECT_GT(test, timers.committed, 100ULL);
	KUNIT_EXPECT_GT(test, works.committed, 100ULL);
	KUNIT_EXPECT_GT(test, slots, num_online_cpus());
	kunit_info(test, "%llu offered, %llu in timers, %llu in interrupts; %llu recorded, lost: %llu stalled, %llu no slot, %llu contended; %u slots used\n",
		   all.offered, timers.offered, works.offered, last,
		   ring->ext->lost[MONAD_RING_LOST_STALLED],
		   ring->ext->lost[MONAD_RING_LOST_NO_SLOT],
		   ring->ext->lost[MONAD_RING_LOST_CONTENDED], slots);
	kunit_info(test, "%llu seen, %llu missed, %llu expired\n", r->seen, r->missed, r->expired);
}

void recorder_stress(struct kunit *test, struct test_ring *ring)
{
	struct reader reader = { .ring = ring };
	struct cpu_writers *cpus;
	unsigned int nr;
	int err = 0;

	cpus = kvcalloc(nr_cpu_ids, sizeof(*cpus), GFP_KERNEL);
	reader.copy = kvmalloc(ring->r.max_size, GFP_KERNEL);
	if (!cpus || !reader.copy) {
		KUNIT_FAIL(test, "no memory");
		goto out;
	}
	reader.task = kthread_run(read_all, &reader, "recorder/read");
	if (IS_ERR(reader.task)) {
		KUNIT_FAIL(test, "no reader: %ld", PTR_ERR(reader.task));
		goto out;
	}
	cpus_read_lock();
	for_each_online_cpu(nr)
		err = err ?: start_cpu(&cpus[nr], ring, nr);
	if (!err) {
		stepping = cpus;
		WRITE_ONCE(recorder_hook.step, interrupt_step);
		msleep(SECONDS * MSEC_PER_SEC);
	}
	for_each_online_cpu(nr)
		stop_threads(&cpus[nr]);
	/* There is no task in any step now. */
	WRITE_ONCE(recorder_hook.step, NULL);
	for_each_online_cpu(nr)
		stop_interrupts(&cpus[nr]);
	kthread_stop(reader.task);
	if (err)
		KUNIT_FAIL(test, "no writers: %d", err);
	else
		check(test, ring, cpus, &reader);
	cpus_read_unlock();
out:
	kvfree(reader.copy);
	kvfree(cpus);
}
