// SPDX-License-Identifier: GPL-2.0
/*
 * Waking readers that sleep. The overview is in notify.h.
 */
#include <linux/sched/signal.h>

#include "notify.h"

/*
 * So many events behind the one waited for, and that one still not published: its writer is
 * stalled, not just about to commit. Or as many as there can be writers at a time, if that is more
 * (from 9 CPUs on).
 */
#define STALLED_EVENTS 64

/* How many events a poll looks at in search of one that is missing. */
#define SEARCH_EVENTS 1024

/* Ticks between looks, and how many looks make one tick certain to have passed. */
#define LOOK_TICKS 1
#define LOOKS 2

/* Whether event @seqno is there, or was. */
static bool published(const struct monad_recorder *r, u64 seqno)
{
	/* Whoever is told that it is there finds it there. Pairs with LMM(recorder_commit:A). */
	return smp_load_acquire(&r->descs[(seqno - 1) & r->desc_mask].seqno) >= seqno;
}

static bool all_there(const struct monad_recorder *r, const struct monad_wanted *wanted)
{
	return published(r, wanted->seqno) && published(r, wanted->seqno + wanted->count - 1);
}

/* Whether there is reason to wake the reader. */
static bool wanted_there(struct monad_notify *notify, const struct monad_wanted *wanted)
{
	const struct monad_recorder *r = notify->recorder;

	if (all_there(r, wanted))
		return true;
	return READ_ONCE(notify->forced_seqno) >= wanted->seqno && published(r, wanted->seqno);
}

/* Sees to it that the reader is woken when event @seqno is there. Any number of times. */
static void arm(struct monad_notify *notify, u64 seqno)
{
	u64 last = READ_ONCE(notify->recorder->control->last_seqno);
	u64 stalled = max_t(u64, STALLED_EVENTS, notify->recorder->nr_slots);
	unsigned long flags;

	spin_lock_irqsave(&notify->lock, flags);
	if (last >= seqno && last - seqno >= stalled) {
		if (notify->stalled_at != MONAD_NOTIFY_NEVER && notify->stalled_at != seqno)
			notify->stalled_many = true;
		notify->stalled_at = min(notify->stalled_at, seqno);
	} else {
		if (notify->wake_at != MONAD_NOTIFY_NEVER && notify->wake_at != seqno)
			notify->wake_many = true;
		/* No store that changes nothing: all writers look at it. */
		if (seqno < notify->wake_at)
			WRITE_ONCE(notify->wake_at, seqno);
	}
	notify->looks = LOOKS;
	spin_unlock_irqrestore(&notify->lock, flags);
	schedule_delayed_work(&notify->look_again, LOOK_TICKS);
	/*
	 * wake_at before the caller's next look at the event. What the writer lacks, a
	 * barrier between the same two the other way round, the worker makes up for.
	 */
	smp_mb();
}

/*
 * Arms for the event of @wanted that is missing: the last, or the first if only that is, or if
 * no more is asked for after a forced wakeup.
 */
static void arm_wanted(struct monad_notify *notify, const struct monad_wanted *wanted)
{
	u64 last = wanted->seqno + wanted->count - 1;

	if (READ_ONCE(notify->forced_seqno) >= wanted->seqno ||
	    published(notify->recorder, last))
		last = wanted->seqno;
	arm(notify, last);
}

/*
 * All of them, also those who asked epoll to be woken one at a time: each file has its own idea
 * of what it waits for, and the one woken may not be the one for whom it came. For the same
 * reason without a key: that would be an answer to io_uring, which would not ask poll, and that
 * arms for the next event.
 */
static void wake_sleepers(wait_queue_head_t *wait)
{
	__wake_up(wait, TASK_INTERRUPTIBLE, 0, NULL);
}

/* Wakes all, who arm again if it was not for them. */
static void wake_all(struct monad_notify *notify)
{
	struct monad_ring_ext *ext = notify->recorder->ext;
	unsigned long flags;

	spin_lock_irqsave(&notify->lock, flags);
	WRITE_ONCE(notify->wake_at, MONAD_NOTIFY_NEVER);
	notify->stalled_at = MONAD_NOTIFY_NEVER;
	notify->stalled_many = false;
	notify->wake_many = false;
	if (xchg(&notify->forced, 0))
		WRITE_ONCE(notify->forced_seqno, READ_ONCE(notify->recorder->control->last_seqno));
	/* For a counter: a reader that comes or goes just now may or may not count. */
	if (waitqueue_active(&notify->wait))
		WRITE_ONCE(ext->wakeups, ext->wakeups + 1);
	spin_unlock_irqrestore(&notify->lock, flags);
	wake_sleepers(&notify->wait);
}

static void notify_irq_work(struct irq_work *work)
{
	wake_all(container_of(work, struct monad_notify, irq_work));
}

/*
 * Finds what a writer and a reader both missed, and what a stalled writer committed at last.
 * Goes on for as long as one of these can be and somebody sleeps for it.
 */
static void look_again(struct work_struct *work)
{
	struct monad_notify *notify =
		container_of(to_delayed_work(work), struct monad_notify, look_again);
	bool again, many, wake;
	u64 stalled_at, wake_at;

	spin_lock_irq(&notify->lock);
	/* Readers queue before they arm: nobody is about to sleep, either. */
	if (!waitqueue_active(&notify->wait)) {
		notify->stalled_at = MONAD_NOTIFY_NEVER;
		notify->stalled_many = false;
	}
	wake_at = notify->wake_at;
	stalled_at = notify->stalled_at;
	/*
	 * Where readers wait for different events, and the lowest may not be published though a
	 * later one is, it is for them to find out which it is.
	 */
	many = notify->stalled_many ||
	       (notify->wake_many &&
		READ_ONCE(notify->recorder->control->last_seqno) > notify->wake_at);
	if (notify->looks)
		notify->looks--;
	again = notify->looks || stalled_at != MONAD_NOTIFY_NEVER;
	spin_unlock_irq(&notify->lock);

	wake = many ||
	       (wake_at != MONAD_NOTIFY_NEVER && published(notify->recorder, wake_at)) ||
	       (stalled_at != MONAD_NOTIFY_NEVER && published(notify->recorder, stalled_at));
	if (wake)
		wake_all(notify);
	if (again)
		schedule_delayed_work(&notify->look_again, LOOK_TICKS);
}

void monad_notify_init(struct monad_notify *notify, const struct monad_recorder *recorder)
{
	notify->recorder = recorder;
	notify->wake_at = MONAD_NOTIFY_NEVER;
	notify->stalled_at = MONAD_NOTIFY_NEVER;
	spin_lock_init(&notify->lock);
	init_waitqueue_head(&notify->wait);
	init_irq_work(&notify->irq_work, notify_irq_work);
	INIT_DELAYED_WORK(&notify->look_again, look_again);
}

/* For a ring that has neither writers nor readers any more. */
void monad_notify_stop(struct monad_notify *notify)
{
	irq_work_sync(&notify->irq_work);
	cancel_delayed_work_sync(&notify->look_again);
}

/* For a ring that has no writers any more: nobody sleeps for what cannot come. */
void monad_notify_gone(struct monad_notify *notify)
{
	spin_lock_irq(&notify->lock);
	/* After all that was written. Pairs with monad_notify_wait(). */
	smp_store_release(&notify->gone, true);
	spin_unlock_irq(&notify->lock);
	wake_all(notify);
}

/**
 * monad_notify_raise - wake those who sleep, soon
 * @notify: of the ring
 * @flags: MONAD_NOTIFY_FORCE_WAKEUP to wake those as well whose watermark is not reached
 *
 * Any context, NMI included.
 */
void monad_notify_raise(struct monad_notify *notify, u64 flags)
{
	if (flags & MONAD_NOTIFY_FORCE_WAKEUP)
		WRITE_ONCE(notify->forced, 1);
	/* Fully ordered: if it was queued before, what it does comes after this commit. */
	irq_work_queue(&notify->irq_work);
}

static bool wait_over(struct monad_notify *notify, const struct monad_wanted *wanted)
{
	if (wanted_there(notify, wanted) || READ_ONCE(notify->gone))
		return true;
	arm_wanted(notify, wanted);
	return wanted_there(notify, wanted) || READ_ONCE(notify->gone);
}

/**
 * monad_notify_wait - sleep until events are there
 * @notify: of the ring
 * @wanted: how many, from which on
 * @timeout_ns: for so long at most; 0: not at all, negative: without limit
 *
 * Return: 0 when the first of them is there (or has been), -ETIMEDOUT, -EINTR, or -ENODEV
 * when it is not and never will be.
 */
int monad_notify_wait(struct monad_notify *notify, const struct monad_wanted *wanted,
		      s64 timeout_ns)
{
	ktime_t timeout = timeout_ns < 0 ? KTIME_MAX : ns_to_ktime(timeout_ns);
	int err = 0;
	bool gone;

	if (!timeout_ns)
		err = wanted_there(notify, wanted) ? 0 : -ETIME;
	else
		err = wait_event_interruptible_hrtimeout(notify->wait,
							 wait_over(notify, wanted), timeout);
	if (err == -ERESTARTSYS)
		return -EINTR;
	/* Before the event: it may come, and be the last, while we look. */
	gone = smp_load_acquire(&notify->gone); /* pairs with monad_notify_gone() */
	if (published(notify->recorder, wanted->seqno))
		return 0;
	return gone ? -ENODEV : -ETIMEDOUT;
}

/*
 * The first event from @seqno on that is not there yet. For one that is not far behind, else one
 * on the way to it: then arming for it is answered by the worker, and the search goes on.
 */
static u64 first_missing(const struct monad_recorder *r, u64 seqno)
{
	unsigned int i;

	for (i = 0; i < SEARCH_EVENTS && published(r, seqno); i++)
		seqno++;
	return seqno;
}

/**
 * monad_notify_poll - what poll says, after it put itself on the wait queue
 * @notify: of the ring
 * @wanted: what the reader waits for
 * @edge: of this reader alone: all events before were there when it last polled; is moved on
 *
 * Return: EPOLLIN | EPOLLRDNORM when that is there, EPOLLHUP when no more events will follow.
 */
__poll_t monad_notify_poll(struct monad_notify *notify, const struct monad_wanted *wanted,
			   u64 *edge)
{
	struct monad_wanted next = { .count = wanted->count };
	__poll_t mask = 0;

	if (READ_ONCE(notify->gone))
		mask |= EPOLLHUP;
	if (!wanted_there(notify, wanted)) {
		arm_wanted(notify, wanted);
		if (!wanted_there(notify, wanted))
			return mask;
	}
	/*
	 * An edge-triggered reader now reads what there is, and comes back when it is woken by
	 * what there is not: not the next event to be allocated, one that is may be missing.
	 */
	next.seqno = first_missing(notify->recorder, max(*edge, wanted->seqno));
	*edge = next.seqno;
	arm_wanted(notify, &next);
	return mask | EPOLLIN | EPOLLRDNORM;
}

/*
 * When a reader wants something else than when it last polled: it may be there already. @wait: of
 * those who poll through its file.
 */
void monad_notify_repoll(struct monad_notify *notify, wait_queue_head_t *wait,
			 const struct monad_wanted *wanted)
{
	if (!wanted_there(notify, wanted)) {
		arm_wanted(notify, wanted);
		if (!wanted_there(notify, wanted))
			return;
	}
	wake_sleepers(wait);
}
