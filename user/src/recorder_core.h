/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What all recorders of one ring in this process share. */
#ifndef MONAD_EVENT_SRC_RECORDER_CORE_H
#define MONAD_EVENT_SRC_RECORDER_CORE_H

#include <stdbool.h>

#include <monad_event/event_ring.h>

struct monad_event_recorder_core_;

/*
 * A core for @ring, whose content is that of a sound ring that nobody writes to. @ext: where to
 * count, or NULL to keep the counters in the core. 0, ENOMEM, EMFILE or ERANGE, with a message
 * that names @name. Neither this nor _destroy() is thread-safe; recording is.
 */
int recorder_core_create(const struct monad_event_ring *ring, struct monad_ring_ext *ext,
			 const char *name, struct monad_event_recorder_core_ **core);

/* Whether something is reserved and neither committed nor discarded. */
bool recorder_core_is_busy(const struct monad_event_recorder_core_ *core);

/*
 * Before the ring is unmapped. Recorders that are left refuse all events, until the core is
 * used again, which is as late as can be.
 */
void recorder_core_destroy(struct monad_event_recorder_core_ *core);

/*
 * In a child of the process that created it: it may be used for a ring of the child's own, late
 * as well. Until then the recorders that the child inherited refuse all events and count that.
 */
void recorder_core_abandon(struct monad_event_recorder_core_ *core);

#endif /* MONAD_EVENT_SRC_RECORDER_CORE_H */
