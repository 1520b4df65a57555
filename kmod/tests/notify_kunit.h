/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readers that sleep, and writers who do not see that.
 */
#ifndef MONAD_NOTIFY_KUNIT_H
#define MONAD_NOTIFY_KUNIT_H

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "recorder_kunit.h"
#include "../notify.c"

#define SLEEPERS 3
#define HELD 3
#define BEFORE 5 /* events that are there before any of a scene's */
/* In jiffies: what has not come by then never will. And for how long nothing must come. */
#define PATIENCE (5 * HZ)
#define QUIET max(HZ / 10, 10)

struct sleeper {
	struct notify_test *t;
	struct monad_wanted wanted;
	/* that waits: a thread */
	struct task_struct *task;
	s64 timeout_ns;
	int err;
	struct completion over;
	/* that polls: an entry of the wait queue */
	struct wait_queue_entry entry;
	u64 edge;
	unsigned int wakes;
	bool queued, woken, ready;
};

struct notify_test {
	struct test_ring *ring;
	struct monad_notify notify;
	u64 base; /* the scene's events follow this one */
	struct monad_ring_record *held[HELD];
	struct sleeper sleeper[SLEEPERS];
	struct completion woken; /* any that polls */
	u64 wakeups;		 /* when an event was last missed */
};

/*
 * Events are numbered from 1 in a scene. Those that have been begun are published before anybody
 * sleeps, except for those that are held.
 */
struct scene {
	const char *name;
	u64 begun;
	u64 held[HELD];
	bool forced;			    /* a forced wakeup comes before anybody sleeps */
	struct monad_wanted want[SLEEPERS]; /* in the order in which they go to sleep */
	u64 missed;			    /* the one whose writer misses them; is held, or next */
	unsigned int woken;		    /* bit for each sleeper who gets it */
	unsigned int idle_wakes;	    /* of one who does not, to see what it is short of */
};

#define ONE(seqno) { seqno, 1 }
#define STALLED (STALLED_EVENTS + 8)
/* What poll says when there is something to read. */
#define IN ((__force u32)(EPOLLIN | EPOLLRDNORM))

/*
 * Writers
 */

static inline u64 last_event(const struct notify_test *t)
{
	return READ_ONCE(t->ring->header->control.last_seqno);
}

/* Since an event was last missed. */
static inline u64 wakeups(const struct notify_test *t)
{
	return READ_ONCE(t->ring->ext->wakeups) - t->wakeups;
}

/* As bpf_monad_ring_commit() does. */
static inline void commit(struct notify_test *t, struct monad_ring_record *rec)
{
	if (monad_notify_wanted(&t->notify, recorder_commit(rec)))
		monad_notify_raise(&t->notify, 0);
}

static inline struct monad_ring_record *begin(struct kunit *test)
{
	struct notify_test *t = test->priv;
	struct monad_ring_record *rec = recorder_reserve(&t->ring->r, 1, 16);

	KUNIT_ASSERT_NOT_NULL(test, rec);
	return rec;
}

/* Events up to @seqno, all but those that are to be held. */
static inline void write_up_to(struct kunit *test, u64 seqno, const u64 *hold)
{
	struct notify_test *t = test->priv;
	struct monad_ring_record *rec;
	unsigned int i;

	while (last_event(t) < t->base + seqno) {
		rec = begin(test);
		for (i = 0; hold && i < HELD; i++) {
			if (hold[i] && t->base + hold[i] == rec->seqno)
				break;
		}
		if (hold && i < HELD)
			t->held[i] = rec;
		else
			commit(t, rec);
	}
}

static inline void release_held(struct notify_test *t)
{
	unsigned int i;

	for (i = 0; i < HELD; i++) {
		if (t->held[i])
			commit(t, t->held[i]);
		t->held[i] = NULL;
	}
}

/* The writer that does not see that somebody sleeps. @rec: to begin with, if it is not held */
static inline void publish_unseen(struct notify_test *t, u64 seqno, struct monad_ring_record *rec)
{
	unsigned int i;

	for (i = 0; i < HELD; i++) {
		if (t->held[i] && t->held[i]->seqno == t->base + seqno) {
			rec = t->held[i];
			t->held[i] = NULL;
		}
	}
	t->wakeups = READ_ONCE(t->ring->ext->wakeups);
	recorder_commit(rec);
}

/* What is to be published, if it is not held: nothing can be reserved while nothing may fail. */
static inline struct monad_ring_record *begin_missed(struct kunit *test, const struct scene *scene)
{
	return scene->missed > scene->begun ? begin(test) : NULL;
}

static inline void dequeue(struct sleeper *s)
{
	if (s->queued)
		remove_wait_queue(&s->t->notify.wait, &s->entry);
	s->queued = false;
}

static inline void set_scene(struct kunit *test, const struct scene *scene)
{
	struct notify_test *t = test->priv;
	unsigned int i;

	t->base = last_event(t);
	write_up_to(test, scene->begun, scene->held);
	if (scene->forced) {
		monad_notify_raise(&t->notify, MONAD_NOTIFY_FORCE_WAKEUP);
		irq_work_sync(&t->notify.irq_work);
	}
	for (i = 0; i < SLEEPERS; i++) {
		struct sleeper *s = &t->sleeper[i];

		dequeue(s); /* is there after a failure only */
		memset(s, 0, sizeof(*s));
		s->t = t;
		s->wanted.seqno = t->base + scene->want[i].seqno;
		s->wanted.count = scene->want[i].count;
		s->timeout_ns = -1;
		init_completion(&s->over);
	}
}

/* All that anybody waits for. */
static inline void write_all_wanted(struct kunit *test, const struct scene *scene)
{
	unsigned int i;
	u64 end = 0;

	for (i = 0; i < SLEEPERS; i++) {
		if (scene->want[i].count)
			end = max(end, scene->want[i].seqno + scene->want[i].count - 1);
	}
	release_held(test->priv);
	write_up_to(test, end, NULL);
}

static inline bool at_work(struct notify_test *t)
{
	return delayed_work_pending(&t->notify.look_again) ||
	       work_busy(&t->notify.look_again.work);
}

/* And the worker no longer looks, unless somebody sleeps for a stalled writer. */
static inline void expect_none_woken(struct kunit *test, const struct scene *scene)
{
	struct notify_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, wakeups(t), (u64)scene->idle_wakes);
	KUNIT_EXPECT_EQ(test, at_work(t), scene->begun >= STALLED);
}

/* With nobody there to look for, and even if there is an event that is not published. */
static inline void expect_worker_ends(struct kunit *test)
{
	unsigned long end = jiffies + PATIENCE;
	struct notify_test *t = test->priv;

	while (at_work(t) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_FALSE(test, at_work(t));
}

/*
 * Sleepers that wait
 */

static inline int sleep_in_wait(void *arg)
{
	struct sleeper *s = arg;

	s->err = monad_notify_wait(&s->t->notify, &s->wanted, s->timeout_ns);
	complete(&s->over);
	return 0;
}

/* Such that it runs before we go on, and nothing but its own sleep stops it. */
static inline void make_thread(struct kunit *test, struct sleeper *s)
{
	struct task_struct *task = kthread_create(sleep_in_wait, s, "notify/sleep");

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	s->task = get_task_struct(task);
	kthread_bind(task, raw_smp_processor_id());
	sched_set_fifo(task);
}

static inline bool asleep(const struct sleeper *s)
{
	return !s->task ||
	       (READ_ONCE(s->task->__state) == TASK_INTERRUPTIBLE && !READ_ONCE(s->task->on_rq));
}

static inline void put_to_sleep(struct kunit *test, struct sleeper *s)
{
	unsigned long end = jiffies + PATIENCE;

	wake_up_process(s->task);
	while (!asleep(s) && time_before(jiffies, end))
		cond_resched();
	KUNIT_EXPECT_FALSE(test, completion_done(&s->over));
}

static inline void end_threads(struct notify_test *t)
{
	unsigned int i;

	for (i = 0; i < SLEEPERS; i++) {
		if (!t->sleeper[i].task)
			continue;
		kthread_stop(t->sleeper[i].task);
		put_task_struct(t->sleeper[i].task);
		t->sleeper[i].task = NULL;
	}
}

/* While all sleep, and the worker still owes them a look. If that is so. */
static inline bool missed_by_threads(struct notify_test *t, u64 seqno,
				     struct monad_ring_record *rec)
{
	unsigned long flags;
	unsigned int i;
	bool so;

	spin_lock_irqsave(&t->notify.lock, flags);
	so = t->notify.looks;
	for (i = 0; i < SLEEPERS; i++)
		so = so && asleep(&t->sleeper[i]);
	if (so)
		publish_unseen(t, seqno, rec);
	spin_unlock_irqrestore(&t->notify.lock, flags);
	return so;
}

static inline void expect_over(struct kunit *test, struct sleeper *s)
{
	if (!wait_for_completion_timeout(&s->over, PATIENCE)) {
		KUNIT_FAIL(test, "sleeper %ld is not woken", s - s->t->sleeper);
		return;
	}
	KUNIT_EXPECT_EQ(test, s->err, 0);
	complete_all(&s->over);
}

/*
 * Sleepers that poll
 */

static inline int wake_entry(struct wait_queue_entry *entry, unsigned int mode, int sync,
			     void *key)
{
	struct sleeper *s = container_of(entry, struct sleeper, entry);

	s->wakes++;
	WRITE_ONCE(s->woken, true);
	complete(&s->t->woken);
	return 1;
}

static inline void enqueue(struct sleeper *s, bool exclusive)
{
	dequeue(s); /* likewise */
	init_waitqueue_func_entry(&s->entry, wake_entry);
	s->queued = true;
	if (exclusive)
		add_wait_queue_exclusive(&s->t->notify.wait, &s->entry);
	else
		add_wait_queue(&s->t->notify.wait, &s->entry);
}

static inline u32 poll_once(struct sleeper *s)
{
	return (__force u32)monad_notify_poll(&s->t->notify, &s->wanted, &s->edge);
}

/* As poll() does, until each of @who has something to read; the others then sleep on. */
static inline void sleep_in_poll(struct kunit *test, unsigned int who)
{
	struct notify_test *t = test->priv;
	long left = PATIENCE;
	unsigned int i;

	for (;;) {
		unsigned int ready = 0;

		for (i = 0; i < SLEEPERS; i++) {
			struct sleeper *s = &t->sleeper[i];

			if (s->queued && xchg(&s->woken, false) && poll_once(s) & IN) {
				s->ready = true;
				dequeue(s);
			}
			ready |= s->ready ? BIT(i) : 0;
		}
		if ((ready & who) == who)
			return;
		if (left)
			left = wait_for_completion_timeout(&t->woken, left);
		if (!left) {
			KUNIT_FAIL(test, "of sleepers %#x only %#x are woken", who, ready);
			return;
		}
	}
}

#endif /* MONAD_NOTIFY_KUNIT_H */
