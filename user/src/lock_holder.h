/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The lock on a ring file that its writer holds: getting it, and who has it, in words. */
#ifndef MONAD_EVENT_SRC_LOCK_HOLDER_H
#define MONAD_EVENT_SRC_LOCK_HOLDER_H

#include <monad_event/event_ring_util.h>

#define LOCK_HOLDER_MAX 96

/*
 * flock(2) LOCK_EX. 0 or an errno, without a message. EWOULDBLOCK: somebody else has it, and not
 * only for the moment that a reader takes to find out whether there is a writer.
 */
int lock_for_writing(int fd);

/*
 * Whether somebody holds an exclusive lock on the file, who may be invisible from here: tries to
 * get a shared one, and lets go of it. 0: yes; EOWNERDEAD: nobody does; anything else: there is
 * no telling.
 */
int try_shared_lock(int fd);

/*
 * "process 4711 (fio)", and the like, in @buf, which is returned. A guess: whoever held it may
 * have let go. The thread's error message is overwritten.
 */
const char *lock_holder(int fd, char buf[LOCK_HOLDER_MAX]);

#endif /* MONAD_EVENT_SRC_LOCK_HOLDER_H */
