// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <time.h>

#include "ring_follow.h"

/* The longest wait: a signal that comes just before it takes this long to be noticed. */
#define WAIT_MAX_NS 500000000ULL

/* How often a ring that nobody writes to is looked at. */
#define GONE_NS 100000000ULL

int ring_follow_begin(struct ring_follow *follow, struct monad_event_iterator *iter, int fd)
{
	memset(follow, 0, sizeof(*follow));
	follow->iter = iter;
	return monad_event_waiter_init(&follow->waiter, fd);
}

void ring_follow_end(struct ring_follow *follow)
{
	monad_event_waiter_destroy(&follow->waiter);
}

enum ring_follow_result ring_follow_next(struct ring_follow *follow,
					 struct monad_event_descriptor *event, uint64_t *missed)
{
	struct monad_event_iterator *iter = follow->iter;

	switch (monad_event_iterator_try_next(iter, event)) {
	case MONAD_EVENT_SUCCESS:
		return RING_FOLLOW_EVENT;
	case MONAD_EVENT_GAP:
		*missed = monad_event_iterator_recover(iter);
		return RING_FOLLOW_GAP;
	case MONAD_EVENT_NOT_READY:
		break;
	}
	*missed = monad_event_iterator_recover_lapped(iter);
	if (*missed)
		return RING_FOLLOW_GAP;
	if (follow->gone && monad_event_iterator_lag(iter)) {
		/* Never finished; there may be others behind it. */
		monad_event_iterator_set_seqno(iter, iter->next_seqno + 1);
		*missed = 1;
		return RING_FOLLOW_GAP;
	}
	return RING_FOLLOW_NONE;
}

static void pause_ns(uint64_t ns)
{
	const struct timespec pause = {0, (long)ns};

	nanosleep(&pause, NULL);
}

bool ring_follow_wait(struct ring_follow *follow, uint64_t timeout_ns)
{
	const bool was_gone = follow->gone;
	int err;

	if (timeout_ns > WAIT_MAX_NS)
		timeout_ns = WAIT_MAX_NS;
	err = monad_event_waiter_wait(&follow->waiter, follow->iter, 1, (int64_t)timeout_ns);
	follow->gone = err == ENODEV || err == EOWNERDEAD;
	/* What does not wait is paced here, whatever it was. */
	if (err && err != ETIMEDOUT && err != EINTR)
		pause_ns(timeout_ns < GONE_NS ? timeout_ns : GONE_NS);
	return follow->gone && !was_gone;
}
