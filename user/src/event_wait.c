// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Waiting for events. The device's ioctls do it where they can; the rest here does
 * the same for files, and for modules that are older than those ioctls.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <monad/ring_ioctl.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_wait.h>

#include "error.h"
#include "lock_holder.h"

#define NSEC_PER_SEC 1000000000ULL

/* Looks at memory before the first sleep: a microsecond or so, less than a sleep costs. */
#define SPINS 1000

#define SLEEP_MIN_NS 50000ULL
#define SLEEP_MAX_NS 10000000ULL

/* How often to find out whether there is a writer; it takes reading /proc/locks. */
#define LOOK_NS (NSEC_PER_SEC / 4)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static struct timespec to_timespec(uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ns / NSEC_PER_SEC),
		.tv_nsec = (long)(ns % NSEC_PER_SEC),
	};

	return ts;
}

/* Whether the module knows an ioctl: one with a size of 0 is refused and does nothing. */
static bool knows_ioctl(int fd, unsigned long request)
{
	union {
		struct monad_ring_wait wait;
		struct monad_ring_poll poll;
	} none;

	memset(&none, 0, sizeof(none));
	return ioctl(fd, request, &none) == 0 || errno == EINVAL;
}

int monad_event_waiter_init(struct monad_event_waiter *waiter, int ring_fd)
{
	struct stat st;

	if (!waiter)
		return FAIL(EFAULT, "waiter is NULL");
	memset(waiter, 0, sizeof(*waiter));
	waiter->ring_fd = -1;
	waiter->timer_fd = -1;
	if (fstat(ring_fd, &st) != 0)
		return FAIL(errno, "cannot fstat descriptor %d of an event ring", ring_fd);
	if (!S_ISCHR(st.st_mode) && !S_ISREG(st.st_mode))
		return FAIL(EINVAL, "descriptor %d is neither of a file nor of a device", ring_fd);
	waiter->ring_fd = fcntl(ring_fd, F_DUPFD_CLOEXEC, 3);
	if (waiter->ring_fd < 0)
		return FAIL(errno, "cannot duplicate descriptor %d", ring_fd);
	waiter->device = S_ISCHR(st.st_mode);
	if (waiter->device) {
		waiter->ioctl_wait = knows_ioctl(waiter->ring_fd, MONAD_RING_IOC_WAIT);
		waiter->ioctl_poll = knows_ioctl(waiter->ring_fd, MONAD_RING_IOC_SET_POLL);
	}
	return 0;
}

/* Ours are from 3 on, so that a zeroed object is known for what it is. */
static bool is_initialized(const struct monad_event_waiter *waiter)
{
	return waiter->ring_fd > 0;
}

void monad_event_waiter_destroy(struct monad_event_waiter *waiter)
{
	if (!waiter || !is_initialized(waiter))
		return;
	close(waiter->ring_fd);
	if (waiter->timer_fd >= 0)
		close(waiter->timer_fd);
	waiter->ring_fd = -1;
	waiter->timer_fd = -1;
}

static int check_args(const struct monad_event_waiter *waiter,
		      const struct monad_event_iterator *iter, uint64_t batch)
{
	if (!waiter || !iter)
		return FAIL(EFAULT, "%s is NULL", waiter ? "iterator" : "waiter");
	if (!is_initialized(waiter) || !iter->header)
		return FAIL(EINVAL, "the %s was not initialized",
			    iter->header ? "waiter" : "iterator");
	if (batch > (iter->desc_capacity_mask + 1) / 2)
		return FAIL(EINVAL,
			    "a batch of %" PRIu64 " events is more than half of the ring's %"
			    PRIu64, batch, iter->desc_capacity_mask + 1);
	return 0;
}

/*
 * Moves @ready, which begins as iter->next_seqno, up to the first event before @end that
 * is not there yet. True when there is none: all are there, or overwritten.
 */
static bool are_there(const struct monad_event_iterator *iter, uint64_t *ready, uint64_t end)
{
	while (*ready != end) {
		const struct monad_event_descriptor *slot =
			&iter->descriptors[(*ready - 1) & iter->desc_capacity_mask];

		if (__atomic_load_n(&slot->seqno, __ATOMIC_ACQUIRE) < *ready)
			return false;
		++*ready;
	}
	return true;
}

/* The next event was overwritten, though its slot may look as if it was being written. */
static bool is_lapped(const struct monad_event_iterator *iter)
{
	return monad_event_iterator_lag(iter) > iter->desc_capacity_mask + 1;
}

/*
 * Whether a ring file has a writer. /proc/locks does not have the locks of processes in
 * other PID namespaces. So, when it has none, this tries to get one, and not before:
 * it would keep others from getting theirs for a moment. Who cannot find out, for want of
 * descriptors or a /proc, goes on waiting: nobody's last events are to be missed.
 */
static bool has_writer(int fd)
{
	pid_t pid;
	int listed, locked;

	listed = monad_event_ring_query_excl_writer_pid(fd, &pid);
	if (listed == 0)
		return true;
	locked = try_shared_lock(fd);
	/* Where the file cannot be opened any more, what is listed has to do. */
	if (locked == EACCES)
		return listed != EOWNERDEAD;
	return locked != EOWNERDEAD;
}

static void look_at_lock(struct monad_event_waiter *waiter, uint64_t now)
{
	waiter->gone = has_writer(waiter->ring_fd) ? 0 : EOWNERDEAD;
	waiter->next_look_ns = now + LOOK_NS;
}

/* 0: events may come. Otherwise ENODEV or EOWNERDEAD, without a message. */
static int look_for_writer(struct monad_event_waiter *waiter,
			   const struct monad_event_iterator *iter, uint64_t now)
{
	const struct monad_event_ring ring = {
		.mmap_prot = PROT_READ,
		.header = (struct monad_event_ring_header *)iter->header,
	};
	const struct monad_ring_ext *ext = monad_event_ring_ext(&ring);

	if (ext && __atomic_load_n(&ext->state, __ATOMIC_ACQUIRE) == MONAD_RING_STATE_GONE)
		waiter->gone = ENODEV;
	else if (waiter->device)
		waiter->gone = 0;
	else if (now >= waiter->next_look_ns)
		look_at_lock(waiter, now);
	return waiter->gone;
}

static int fail_gone(int err)
{
	return err == ENODEV ? FAIL(err, "the event ring was destroyed or closed by its writer")
			     : FAIL(err, "no process writes to this event ring");
}

static int wait_in_kernel(const struct monad_event_waiter *waiter, uint64_t seqno, uint64_t batch,
			  int64_t timeout_ns)
{
	struct monad_ring_wait wait = {
		.size = sizeof(wait),
		.seqno = seqno,
		.batch = batch,
		.timeout_ns = timeout_ns,
	};

	if (ioctl(waiter->ring_fd, MONAD_RING_IOC_WAIT, &wait) == 0)
		return 0;
	if (errno == ENODEV)
		return fail_gone(ENODEV);
	return FAIL(errno, "event %" PRIu64 " did not come", seqno);
}

static int wait_in_memory(struct monad_event_waiter *waiter,
			  const struct monad_event_iterator *iter, uint64_t ready, uint64_t end,
			  int64_t timeout_ns)
{
	const uint64_t seqno = iter->next_seqno, began = now_ns();
	uint64_t sleep_ns = SLEEP_MIN_NS;
	struct timespec ts;
	int err;

	for (unsigned int i = 0; i < SPINS && timeout_ns; i++) {
		if (are_there(iter, &ready, end))
			return 0;
	}
	for (;;) {
		const uint64_t now = now_ns();

		/* First the writer, then memory: what was its last is not overlooked. */
		err = look_for_writer(waiter, iter, now);
		if (are_there(iter, &ready, end) || is_lapped(iter))
			return 0;
		if (ready != seqno &&
		    (err || (timeout_ns >= 0 && now - began >= (uint64_t)timeout_ns)))
			return 0;
		if (err)
			return fail_gone(err);
		if (timeout_ns >= 0 && now - began >= (uint64_t)timeout_ns)
			return FAIL(ETIMEDOUT, "event %" PRIu64 " did not come", seqno);
		if (timeout_ns >= 0 && sleep_ns > (uint64_t)timeout_ns - (now - began))
			sleep_ns = (uint64_t)timeout_ns - (now - began);
		ts = to_timespec(sleep_ns);
		if (nanosleep(&ts, NULL) != 0)
			return FAIL(errno, "waiting for event %" PRIu64, seqno);
		sleep_ns *= 2;
		if (sleep_ns > SLEEP_MAX_NS)
			sleep_ns = SLEEP_MAX_NS;
	}
}

int monad_event_waiter_wait(struct monad_event_waiter *waiter,
			    const struct monad_event_iterator *iter, uint64_t batch,
			    int64_t timeout_ns)
{
	int err = check_args(waiter, iter, batch);
	uint64_t ready, end;

	if (err)
		return err;
	if (batch == 0)
		batch = 1;
	ready = iter->next_seqno;
	end = ready + batch;
	if (are_there(iter, &ready, end))
		return 0;
	if (waiter->ioctl_wait)
		return wait_in_kernel(waiter, iter->next_seqno, batch, timeout_ns);
	return wait_in_memory(waiter, iter, ready, end, timeout_ns);
}

int monad_event_waiter_fd(struct monad_event_waiter *waiter)
{
	if (!waiter || !is_initialized(waiter)) {
		(void)FAIL(EINVAL, "the waiter was not initialized");
		return -1;
	}
	if (waiter->ioctl_poll)
		return waiter->ring_fd;
	if (waiter->timer_fd < 0) {
		waiter->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		if (waiter->timer_fd < 0)
			(void)FAIL(errno, "cannot create a timer to poll");
	}
	return waiter->timer_fd;
}

/* Makes the timer expire in @ns, once; it stays readable until it is set again. */
static int set_timer(struct monad_event_waiter *waiter, uint64_t ns)
{
	const struct itimerspec spec = {.it_value = to_timespec(ns)};

	if (monad_event_waiter_fd(waiter) < 0)
		return errno;
	if (timerfd_settime(waiter->timer_fd, 0, &spec, NULL) != 0)
		return FAIL(errno, "cannot set a timer");
	return 0;
}

int monad_event_waiter_arm(struct monad_event_waiter *waiter,
			   const struct monad_event_iterator *iter, uint64_t watermark)
{
	struct monad_ring_poll poll = {.size = sizeof(poll), .watermark = watermark};
	int err = check_args(waiter, iter, watermark);
	uint64_t ready;

	if (err)
		return err;
	ready = iter->next_seqno;
	poll.seqno = ready;
	err = look_for_writer(waiter, iter, now_ns());
	if (err && !are_there(iter, &ready, iter->next_seqno + 1) && !is_lapped(iter))
		return fail_gone(err);
	if (waiter->ioctl_poll) {
		if (ioctl(waiter->ring_fd, MONAD_RING_IOC_SET_POLL, &poll) != 0)
			return FAIL(errno, "cannot wait for event %" PRIu64, poll.seqno);
		return 0;
	}
	if (err || are_there(iter, &ready, iter->next_seqno + (watermark ? watermark : 1)) ||
	    is_lapped(iter))
		return set_timer(waiter, 1);
	if (waiter->armed_seqno != iter->next_seqno) {
		waiter->armed_seqno = iter->next_seqno;
		waiter->tick_ns = SLEEP_MIN_NS;
	} else if (waiter->tick_ns < SLEEP_MAX_NS) {
		waiter->tick_ns *= 2;
	}
	return set_timer(waiter, waiter->tick_ns);
}
