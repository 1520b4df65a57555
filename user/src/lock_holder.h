/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Who holds the lock on a ring file, in words. */
#ifndef MONAD_EVENT_SRC_LOCK_HOLDER_H
#define MONAD_EVENT_SRC_LOCK_HOLDER_H

#include <monad_event/event_ring_util.h>

#define LOCK_HOLDER_MAX 96

/*
 * "process 4711 (fio)", and the like, in @buf, which is returned. A guess: whoever held it may
 * have let go. The thread's error message is overwritten.
 */
const char *lock_holder(int fd, char buf[LOCK_HOLDER_MAX]);

#endif /* MONAD_EVENT_SRC_LOCK_HOLDER_H */
