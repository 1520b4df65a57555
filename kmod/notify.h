/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waking readers that sleep until there is something to read.
 *
 * DOC: notification
 *
 * Readers that keep up must not make writers slow. So writers look at one word, wake_at: the
 * lowest sequence number that somebody sleeps for, or NEVER. It is written when a reader goes to
 * sleep or is woken, and otherwise stays in every CPU's cache. The writer that commits that
 * event, or a later one, raises an irq_work; that resets wake_at and wakes all who sleep, and
 * those who have reason to sleep on *arm* it again. However many events are committed meanwhile,
 * there is one irq_work for each time that somebody went to sleep.
 *
 * The writer has no barrier between publishing its event and looking at wake_at, so that it may
 * miss a reader that arms just then, while that reader does not see the event yet either. That
 * can last as long as a store takes to become visible; no barrier but time is needed. A worker
 * looks again, at least one tick after the last arming, whether the event that wake_at names is
 * there, and wakes its reader if so. Nothing runs any more once it has looked.
 *
 * A reader whose event is not published although many after it are waits for a stalled writer. If
 * it armed wake_at, every commit would wake it. It is put on the worker's care instead, which
 * looks each tick for as long as anybody sleeps; where readers wait for several of these, it
 * wakes them each tick.
 */
#ifndef MONAD_RING_NOTIFY_H
#define MONAD_RING_NOTIFY_H

#include <linux/bits.h>
#include <linux/irq_work.h>
#include <linux/poll.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "recorder.h"

#define MONAD_NOTIFY_NEVER (~0ULL)

/* As BPF_RB_NO_WAKEUP and BPF_RB_FORCE_WAKEUP. */
#define MONAD_NOTIFY_NO_WAKEUP BIT_ULL(0)
#define MONAD_NOTIFY_FORCE_WAKEUP BIT_ULL(1)
#define MONAD_NOTIFY_FLAGS (MONAD_NOTIFY_NO_WAKEUP | MONAD_NOTIFY_FORCE_WAKEUP)

struct monad_notify {
	/* read for each event */
	u64 wake_at ____cacheline_aligned;

	/* the rest when somebody sleeps or is woken */
	const struct monad_recorder *recorder ____cacheline_aligned;
	spinlock_t lock;      /* of what follows, and of writing wake_at */
	u64 stalled_at;       /* lowest event that a reader waits for a stalled writer with */
	u64 forced_seqno;     /* up to here a watermark does not count */
	bool stalled_many;    /* others wait for later ones */
	bool wake_many;	      /* likewise of wake_at */
	unsigned int looks;   /* that the worker still owes those who armed */
	bool gone;	      /* no event will follow */
	int forced;           /* a forced wakeup is on its way */
	wait_queue_head_t wait;
	struct irq_work irq_work;
	struct delayed_work look_again;
};

/* What a reader waits for: @count events from @seqno on. */
struct monad_wanted {
	u64 seqno;
	u64 count;
};

void monad_notify_init(struct monad_notify *notify, const struct monad_recorder *recorder);
void monad_notify_stop(struct monad_notify *notify);
void monad_notify_gone(struct monad_notify *notify);
void monad_notify_raise(struct monad_notify *notify, u64 flags);
int monad_notify_wait(struct monad_notify *notify, const struct monad_wanted *wanted,
		      s64 timeout_ns);
__poll_t monad_notify_poll(struct monad_notify *notify, const struct monad_wanted *wanted,
			   u64 *edge);
void monad_notify_repoll(struct monad_notify *notify, wait_queue_head_t *wait,
			 const struct monad_wanted *wanted);

/* Whether the commit of event @seqno, just published, has to call monad_notify_raise(). */
static __always_inline bool monad_notify_wanted(const struct monad_notify *notify, u64 seqno)
{
	return seqno >= READ_ONCE(notify->wake_at);
}

#endif /* MONAD_RING_NOTIFY_H */
