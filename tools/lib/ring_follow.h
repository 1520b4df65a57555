/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Following a ring: the next event, and waiting for it, with the library's waiter. When
 * nobody writes any more, this goes on behind events that were begun and not finished.
 */
#ifndef MONAD_TOOLS_RING_FOLLOW_H
#define MONAD_TOOLS_RING_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_wait.h>

enum ring_follow_result {
	RING_FOLLOW_EVENT, /* here is one */
	RING_FOLLOW_GAP,   /* some were missed: overwritten, or never written */
	RING_FOLLOW_NONE,  /* there is none now: ring_follow_wait() */
};

struct ring_follow {
	struct monad_event_iterator *iter;
	struct monad_event_waiter waiter;
	bool gone; /* nobody writes any more, as far as the last wait could tell */
};

/*
 * To follow the ring open at @fd from where @iter is. 0, or a positive errno with
 * lib_error() saying more. @fd may be closed then.
 */
int ring_follow_begin(struct ring_follow *follow, struct monad_event_iterator *iter, int fd);
void ring_follow_end(struct ring_follow *follow);

/* The next @event, or how many were @missed. */
enum ring_follow_result ring_follow_next(struct ring_follow *follow,
					 struct monad_event_descriptor *event, uint64_t *missed);

/*
 * Waits until there is something to read, a signal came, or @timeout_ns are over, or
 * about half a second: what else the caller looks at is looked at as often as that. True
 * if this is where it turned out that nobody writes any more.
 */
bool ring_follow_wait(struct ring_follow *follow, uint64_t timeout_ns);

#endif /* MONAD_TOOLS_RING_FOLLOW_H */
