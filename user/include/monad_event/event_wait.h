/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Waiting for events, of rings of any kind by the same calls:
 *
 *	monad_event_ring_open_fd(name, &fd, NULL, 0);
 *	monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, name);
 *	monad_event_ring_init_iterator(&ring, &it);
 *	monad_event_waiter_init(&waiter, fd);
 *	close(fd);
 *	do {
 *		while ((result = monad_event_iterator_try_next(&it, &event)) ==
 *		       MONAD_EVENT_SUCCESS)
 *			use(&event);
 *		missed += result == MONAD_EVENT_GAP
 *				  ? monad_event_iterator_recover(&it)
 *				  : monad_event_iterator_recover_lapped(&it);
 *		err = monad_event_waiter_wait(&waiter, &it, 1, -1);
 *	} while (!err || err == EINTR);
 *
 * Behind a device the kernel wakes us. With a file, or a module that cannot do that
 * yet, memory is looked at again and again, after sleeps that grow from 50 us to 10 ms:
 * an idle ring costs next to nothing, and an event is seen 10 ms late at most.
 *
 * That nothing will come any more ends all waiting. A ring says so itself (ENODEV);
 * or nobody holds the lock on the file that a ring file's writer holds (EOWNERDEAD),
 * which is always so with files that were copied, and snapshots. Where that cannot be found
 * out (no descriptor is free, no /proc is mounted), waiting goes on.
 *
 * Functions that return int return 0 or a positive errno, and leave a message in
 * monad_event_ring_get_last_error(). Thread safety: one thread per waiter at a time.
 */
#ifndef MONAD_EVENT_EVENT_WAIT_H
#define MONAD_EVENT_EVENT_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <monad_event/event_iterator.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The fields are private. */
struct monad_event_waiter {
	int ring_fd;  /* a duplicate; -1: not initialized */
	int timer_fd; /* for polling where the kernel does not tell; -1: none yet */
	bool device;
	bool ioctl_wait; /* the module knows MONAD_RING_IOC_WAIT ... */
	bool ioctl_poll; /* ... and _SET_POLL */
	int gone;	 /* what was found out of the writer: 0 or an errno, ... */
	uint64_t next_look_ns; /* ... and when to look again, CLOCK_MONOTONIC */
	uint64_t armed_seqno;  /* of the last _arm() of a timer, and how long it was */
	uint64_t tick_ns;
	uint64_t reserved[4];
};

/*
 * Prepares @waiter to wait for events of the ring whose device or file is open at
 * @ring_fd, read-only is enough. It keeps a duplicate of that, which it closes in
 * monad_event_waiter_destroy(), so @ring_fd may be closed. While it does so, the
 * memory of a ring that is destroyed is not freed, and the module stays loaded.
 *
 * EFAULT: NULL. EBADF: not a descriptor. EINVAL: neither a file nor a device.
 */
int monad_event_waiter_init(struct monad_event_waiter *waiter, int ring_fd);

/* Closes what it holds. Does nothing to one that was not initialized, or twice. */
void monad_event_waiter_destroy(struct monad_event_waiter *waiter);

/*
 * Sleeps until the next @batch events of @iter (0 means 1) are there or have been
 * overwritten, or until @timeout_ns nanoseconds are over and the next one at least is there.
 * @timeout_ns: 0 does not sleep, a negative number is no limit. A writer's forced wakeup
 * (MONAD_RING_FORCE_WAKEUP) ends it early, on devices: treat a return as a hint to
 * try. Makes no system call when the events are there already.
 *
 * ETIMEDOUT: the next event is not there. ENODEV: it will never be, the ring was
 * destroyed or closed by its writer. EOWNERDEAD: nor will it, nobody has the ring
 * file open for writing any more (found out within a quarter of a second). In both
 * cases all that can be read was read; but if monad_event_iterator_lag() is not 0, the
 * next event was begun and never finished, and there may be others behind it. EINTR:
 * a signal handler ran. One that runs just before the sleep goes unnoticed: where that
 * matters, use a limited timeout, or ppoll(2) and monad_event_waiter_fd(). EINVAL:
 * @batch is more than half of the ring's descriptors, or @waiter was not initialized.
 * EFAULT: NULL.
 */
int monad_event_waiter_wait(struct monad_event_waiter *waiter,
			    const struct monad_event_iterator *iter, uint64_t batch,
			    int64_t timeout_ns);

/*
 * A descriptor for poll(2), select(2) or epoll(7), which is the waiter's and the same
 * each time: it becomes readable (POLLIN), when armed, as monad_event_waiter_arm()
 * says; behind a device that is destroyed, POLLHUP. -1, and a message, when there is
 * none to be had.
 *
 * Behind a device the position that is waited for belongs to the open file, and with
 * it to all duplicates: waiters that poll at the same time need a ring_fd each from an
 * open(2) of its own.
 */
int monad_event_waiter_fd(struct monad_event_waiter *waiter);

/*
 * To be called before each time that monad_event_waiter_fd() is waited for: it will
 * become readable when the next @watermark events (0 means 1) of @iter are there, which
 * includes now. It may become readable without that, of files each few
 * milliseconds: try to read, arm again. Wait level-triggered.
 *
 * ENODEV, EOWNERDEAD, EINVAL, EFAULT: as monad_event_waiter_wait().
 */
int monad_event_waiter_arm(struct monad_event_waiter *waiter,
			   const struct monad_event_iterator *iter, uint64_t watermark);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MONAD_EVENT_EVENT_WAIT_H */
