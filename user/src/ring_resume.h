/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Going on with a ring that another process has written to. */
#ifndef MONAD_EVENT_SRC_RING_RESUME_H
#define MONAD_EVENT_SRC_RING_RESUME_H

#include <stdint.h>

#include <monad_event/event_ring.h>

/* The extension block of a ring mapped for writing; NULL if it has none. */
struct monad_ring_ext *ring_writable_ext(const struct monad_event_ring *ring);

/*
 * Checks the whole of @ring, mapped for reading and writing and written by nobody, as what it
 * is: the bytes of a file that anybody may have made. Then publishes the events that a dead
 * writer reserved and did not commit, as type NONE; *@repaired says how many, and so does the
 * discarded counter of @ext, unless NULL.
 *
 * EPROTO, with a message that names @name: the ring is like none that a writer leaves behind,
 * and nothing was changed. May be repeated at any time: one who dies in it is repaired, too.
 */
int ring_resume(const struct monad_event_ring *ring, struct monad_ring_ext *ext, const char *name,
		uint64_t *repaired);

#endif /* MONAD_EVENT_SRC_RING_RESUME_H */
