// SPDX-License-Identifier: GPL-2.0
/*
 * Waking readers: the wait call, poll, select and epoll, watermarks, flags, stalled writers. That
 * no wakeup is ever lost is for wakeups.c.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "writers.h"

#define MS 1000000LL
#define NO_WAKEUP 1
#define FORCE_WAKEUP 2
/* Longer than any wakeup takes here, or the module looks again for. */
#define LONG (200 * MS)
/* Until a thread surely sleeps. */
#define SETTLE_US 100000

FIXTURE(notify)
{
	struct writers w;
	int epoll;
	pthread_t sleeper;
	/* of the sleeper */
	struct monad_ring_wait wait;
	int result;
	uint64_t slept_ns;
	bool started;
};

FIXTURE_SETUP(notify)
{
	SETUP_WRITERS(&self->w, SMALL);
	for (unsigned int i = 0; i < WRITERS; i++)
		self->w.writer[i].max_len = 64;
	self->epoll = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_LE(0, self->epoll);
}

FIXTURE_TEARDOWN(notify)
{
	close(self->epoll);
	writers_teardown(&self->w);
}

/* Writes @events events whose commits carry @flags. */
static int commit_flags(FIXTURE_DATA(notify) *self, unsigned int events, uint64_t flags)
{
	self->w.bpf->bss->commit_flags = flags;
	return writers_burst(&self->w, 0, events);
}

static int commit(FIXTURE_DATA(notify) *self, unsigned int events)
{
	return commit_flags(self, events, 0);
}

/* 0 or the errno. */
static int wait_for(int fd, uint64_t seqno, uint64_t batch, int64_t timeout_ns)
{
	struct monad_ring_wait wait = {
		.size = sizeof(wait), .seqno = seqno, .batch = batch, .timeout_ns = timeout_ns,
	};

	return ioctl(fd, MONAD_RING_IOC_WAIT, &wait) ? errno : 0;
}

static int set_poll(int fd, uint64_t seqno, uint64_t watermark)
{
	struct monad_ring_poll poll = {
		.size = sizeof(poll), .seqno = seqno, .watermark = watermark,
	};

	return ioctl(fd, MONAD_RING_IOC_SET_POLL, &poll) ? errno : 0;
}

/* What poll says within @timeout_ms. */
static int poll_now(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) < 0 ? -errno : p.revents;
}

static void *sleep_in_wait(void *arg)
{
	FIXTURE_DATA(notify) *self = arg;
	uint64_t began = now_ns(CLOCK_MONOTONIC);

	self->result = ioctl(self->w.ring.fd, MONAD_RING_IOC_WAIT, &self->wait) ? errno : 0;
	self->slept_ns = now_ns(CLOCK_MONOTONIC) - began;
	return NULL;
}

static void *sleep_in_poll(void *arg)
{
	FIXTURE_DATA(notify) *self = arg;
	uint64_t began = now_ns(CLOCK_MONOTONIC);

	self->result = poll_now(self->w.ring.fd, self->wait.timeout_ns / MS);
	self->slept_ns = now_ns(CLOCK_MONOTONIC) - began;
	return NULL;
}

/* Starts a thread that sleeps, and lets it fall asleep. */
static int go_to_sleep(FIXTURE_DATA(notify) *self, void *(*how)(void *), uint64_t seqno,
		       uint64_t batch, int64_t timeout_ns)
{
	int err;

	self->wait = (struct monad_ring_wait){
		.size = sizeof(self->wait), .seqno = seqno, .batch = batch,
		.timeout_ns = timeout_ns,
	};
	self->result = -1;
	err = pthread_create(&self->sleeper, NULL, how, self);
	usleep(SETTLE_US);
	return err;
}

static bool still_asleep(FIXTURE_DATA(notify) *self)
{
	usleep(SETTLE_US);
	return __atomic_load_n(&self->result, __ATOMIC_ACQUIRE) == -1;
}

static int woken(FIXTURE_DATA(notify) *self)
{
	pthread_join(self->sleeper, NULL);
	return self->result;
}

TEST_F(notify, wait_does_not_sleep)
{
	int fd = self->w.ring.fd;
	uint64_t began = now_ns(CLOCK_MONOTONIC);

	EXPECT_EQ(ETIMEDOUT, wait_for(fd, 1, 1, 0));
	ASSERT_EQ(0, commit(self, 3));
	EXPECT_EQ(0, wait_for(fd, 1, 1, 0));
	EXPECT_EQ(0, wait_for(fd, 1, 3, 0));
	EXPECT_EQ(0, wait_for(fd, 3, 0, -1));
	EXPECT_EQ(0, wait_for(fd, 1, 3, INT64_MAX));
	/* The first is there, and no time for the others. */
	EXPECT_EQ(0, wait_for(fd, 1, 4, 0));
	EXPECT_EQ(ETIMEDOUT, wait_for(fd, 4, 1, 0));
	EXPECT_GT(LONG, now_ns(CLOCK_MONOTONIC) - began);

	/* Overwritten is there, too: the reader finds a gap. */
	ASSERT_EQ(0, commit(self, 2 * SMALL_CAPACITY));
	EXPECT_EQ(0, wait_for(fd, 1, SMALL_CAPACITY / 2, -1));
}

TEST_F(notify, wait_times_out)
{
	static const int64_t timeouts[] = { 1, 1000, MS, 50 * MS, LONG };
	uint64_t began, took;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(timeouts); i++) {
		began = now_ns(CLOCK_MONOTONIC);
		EXPECT_EQ(ETIMEDOUT, wait_for(self->w.ring.fd, 1, 1, timeouts[i]));
		took = now_ns(CLOCK_MONOTONIC) - began;
		EXPECT_LE(timeouts[i], took);
		EXPECT_GT(timeouts[i] + LONG, took);
	}
	/* A batch that is not complete is better than none, but not before the time is over. */
	ASSERT_EQ(0, commit(self, 1));
	began = now_ns(CLOCK_MONOTONIC);
	EXPECT_EQ(0, wait_for(self->w.ring.fd, 1, 2, 50 * MS));
	EXPECT_LE(50 * MS, now_ns(CLOCK_MONOTONIC) - began);
}

TEST_F(notify, wait_wakes)
{
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 1, 1, -1));
	EXPECT_TRUE(still_asleep(self));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(0, woken(self));
	EXPECT_EQ(1, self->wait.last_seqno);

	/* Not by events before the one that is waited for. */
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 5, 1, -1));
	ASSERT_EQ(0, commit(self, 3));
	EXPECT_TRUE(still_asleep(self));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(0, woken(self));
	EXPECT_EQ(5, self->wait.last_seqno);

	/* A discarded event is one that is there. */
	self->w.writer[0].discard_every = 1;
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 6, 1, -1));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(0, woken(self));
}

TEST_F(notify, wait_for_batch)
{
	uint64_t wakeups;

	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 1, 100, -1));
	wakeups = self->w.ring.ext->wakeups;
	ASSERT_EQ(0, commit(self, 60));
	ASSERT_EQ(0, commit(self, 39));
	EXPECT_TRUE(still_asleep(self));
	EXPECT_EQ(wakeups, self->w.ring.ext->wakeups);
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(0, woken(self));
	EXPECT_EQ(wakeups + 1, self->w.ring.ext->wakeups);

	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 101, SMALL_CAPACITY / 2, -1));
	ASSERT_EQ(0, commit(self, SMALL_CAPACITY / 2 - 1));
	EXPECT_TRUE(still_asleep(self));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(0, woken(self));
}

TEST_F(notify, flags)
{
	/* Not by this event ... */
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 1, 1, -1));
	ASSERT_EQ(0, commit_flags(self, 5, NO_WAKEUP));
	EXPECT_TRUE(still_asleep(self));
	/* ... but by the next one without the flag. */
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(0, woken(self));

	/* Now, whatever the batch. */
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 7, 500, -1));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_TRUE(still_asleep(self));
	ASSERT_EQ(0, commit_flags(self, 1, FORCE_WAKEUP));
	EXPECT_EQ(0, woken(self));
	/* Forced, not forced to wait for more: what came up to then. */
	EXPECT_EQ(0, wait_for(self->w.ring.fd, 7, 500, -1));
	EXPECT_EQ(0, wait_for(self->w.ring.fd, 8, 500, -1));

	/* Not one that waits for what is still to come. */
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 20, 1, -1));
	ASSERT_EQ(0, commit_flags(self, 1, FORCE_WAKEUP));
	EXPECT_TRUE(still_asleep(self));
	ASSERT_EQ(0, commit(self, 11));
	EXPECT_EQ(0, woken(self));

	/* Both: forced. */
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 21, 500, -1));
	ASSERT_EQ(0, commit_flags(self, 1, NO_WAKEUP | FORCE_WAKEUP));
	EXPECT_EQ(0, woken(self));
}

static void on_signal(int nr)
{
}

TEST_F(notify, wait_interrupted)
{
	struct sigaction action = { .sa_handler = on_signal };

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 1, 1, -1));
	pthread_kill(self->sleeper, SIGUSR1);
	EXPECT_EQ(EINTR, woken(self));
	/* And with SA_RESTART all the same: how much of the time is left is not known. */
	action.sa_flags = SA_RESTART;
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 1, 1, 10 * 1000 * MS));
	pthread_kill(self->sleeper, SIGUSR1);
	EXPECT_EQ(EINTR, woken(self));
}

TEST_F(notify, wait_refuses)
{
	struct monad_ring_wait good = { .size = 40, .seqno = 1, .batch = 1 }, bad;
	int fd = self->w.ring.fd;

	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(0, ioctl(fd, MONAD_RING_IOC_WAIT, &good));
	EXPECT_EQ(1, good.last_seqno);
#define REFUSED(field, value) do { \
		bad = good; \
		bad.field = value; \
		bad.last_seqno = 77; \
		EXPECT_EQ(-1, ioctl(fd, MONAD_RING_IOC_WAIT, &bad)); \
		EXPECT_EQ(EINVAL, errno); \
		EXPECT_EQ(77, bad.last_seqno); \
	} while (0)
	REFUSED(size, 0);
	REFUSED(size, 39);
	REFUSED(size, 41);
	REFUSED(size, UINT32_MAX);
	REFUSED(flags, 1);
	REFUSED(flags, 1U << 31);
	REFUSED(seqno, 0);
	REFUSED(batch, SMALL_CAPACITY / 2 + 1);
	REFUSED(batch, UINT64_MAX);
	/* The last of the batch would be number 0 again. */
	good.seqno = UINT64_MAX;
	REFUSED(batch, 2);
	EXPECT_EQ(-1, ioctl(fd, MONAD_RING_IOC_WAIT, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(fd, MONAD_RING_IOC_WAIT, self->w.ring.base));
	EXPECT_NE(0, errno);
	EXPECT_EQ(ETIMEDOUT, wait_for(fd, UINT64_MAX - 1, 1, 0));
	EXPECT_EQ(ETIMEDOUT, wait_for(fd, UINT64_MAX / 2, 1, MS));
}

TEST_F(notify, set_poll_refuses)
{
	struct monad_ring_poll good = { .size = 24, .seqno = 1, .watermark = 1 }, bad;
	int fd = self->w.ring.fd;

	EXPECT_EQ(0, ioctl(fd, MONAD_RING_IOC_SET_POLL, &good));
#undef REFUSED
#define REFUSED(field, value) do { \
		bad = good; \
		bad.field = value; \
		EXPECT_EQ(-1, ioctl(fd, MONAD_RING_IOC_SET_POLL, &bad)); \
		EXPECT_EQ(EINVAL, errno); \
	} while (0)
	REFUSED(size, 0);
	REFUSED(size, 23);
	REFUSED(size, 25);
	REFUSED(flags, 1);
	REFUSED(seqno, 0);
	REFUSED(watermark, SMALL_CAPACITY / 2 + 1);
	REFUSED(watermark, UINT64_MAX);
	EXPECT_EQ(-1, ioctl(fd, MONAD_RING_IOC_SET_POLL, NULL));
	EXPECT_EQ(EFAULT, errno);
	/* What was refused did not change what was set. */
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(POLLIN, poll_now(fd, 0));
}

/* A file stands at the newest event when it is opened, or at the first to come. */
TEST_F(notify, poll_from_open)
{
	int fd;

	EXPECT_EQ(0, poll_now(self->w.ring.fd, 50));
	ASSERT_EQ(0, commit(self, 10));
	EXPECT_EQ(POLLIN, poll_now(self->w.ring.fd, 0));
	fd = ring_open_fd(SMALL);
	ASSERT_LE(0, fd);
	EXPECT_EQ(POLLIN, poll_now(fd, 0));
	EXPECT_EQ(0, set_poll(fd, 11, 1));
	EXPECT_EQ(0, poll_now(fd, 50));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(POLLIN, poll_now(fd, -1));
	/* Level-triggered: still there. */
	EXPECT_EQ(POLLIN, poll_now(fd, -1));
	EXPECT_EQ(0, set_poll(fd, 12, 1));
	EXPECT_EQ(0, poll_now(fd, 50));
	EXPECT_EQ(0, set_poll(fd, 11, 1));
	EXPECT_EQ(POLLIN, poll_now(fd, -1));
	/* Each open file for itself. */
	EXPECT_EQ(POLLIN, poll_now(self->w.ring.fd, 0));
	close(fd);
}

TEST_F(notify, poll_wakes)
{
	int fd = self->w.ring.fd;

	ASSERT_EQ(0, go_to_sleep(self, sleep_in_poll, 0, 0, -1 * MS));
	EXPECT_TRUE(still_asleep(self));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(POLLIN, woken(self));

	EXPECT_EQ(0, set_poll(fd, 2, 10));
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_poll, 0, 0, -1 * MS));
	ASSERT_EQ(0, commit(self, 9));
	EXPECT_TRUE(still_asleep(self));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(POLLIN, woken(self));

	EXPECT_EQ(0, set_poll(fd, 12, 10));
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_poll, 0, 0, -1 * MS));
	ASSERT_EQ(0, commit_flags(self, 1, NO_WAKEUP));
	EXPECT_TRUE(still_asleep(self));
	ASSERT_EQ(0, commit_flags(self, 1, FORCE_WAKEUP));
	EXPECT_EQ(POLLIN, woken(self));

	/* Somebody else may say that less will do, or look further back, meanwhile. */
	EXPECT_EQ(0, set_poll(fd, 14, 10));
	ASSERT_EQ(0, commit(self, 5));
	ASSERT_EQ(0, go_to_sleep(self, sleep_in_poll, 0, 0, -1 * MS));
	EXPECT_TRUE(still_asleep(self));
	EXPECT_EQ(0, set_poll(fd, 14, 5));
	EXPECT_EQ(POLLIN, woken(self));
}

TEST_F(notify, select)
{
	struct timeval none = { 0, 0 };
	int fd = self->w.ring.fd;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	EXPECT_EQ(0, select(fd + 1, &set, NULL, NULL, &none));
	ASSERT_EQ(0, commit(self, 1));
	FD_SET(fd, &set);
	EXPECT_EQ(1, select(fd + 1, &set, NULL, NULL, NULL));
	EXPECT_TRUE(FD_ISSET(fd, &set));
}

static int epoll_add(FIXTURE_DATA(notify) *self, uint32_t events)
{
	struct epoll_event event = { .events = events };

	return epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->w.ring.fd, &event) ? errno : 0;
}

/* What others say that they wait for is nothing to this file's readers. */
TEST_F(notify, set_poll_of_others)
{
	struct epoll_event event;
	int fd = ring_open_fd(SMALL);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, epoll_add(self, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, commit(self, 5));
	EXPECT_EQ(1, epoll_wait(self->epoll, &event, 1, -1));
	EXPECT_EQ(0, epoll_wait(self->epoll, &event, 1, 50));
	for (unsigned int i = 0; i < 100; i++)
		ASSERT_EQ(0, set_poll(fd, 1, 1));
	EXPECT_EQ(0, epoll_wait(self->epoll, &event, 1, 50));
	/* But what this one's say is. */
	EXPECT_EQ(0, set_poll(self->w.ring.fd, 2, 1));
	EXPECT_EQ(1, epoll_wait(self->epoll, &event, 1, 50));
	close(fd);
}

/* How many events epoll has within @timeout_ms; more than one would be strange. */
static int epoll_now(FIXTURE_DATA(notify) *self, int timeout_ms)
{
	struct epoll_event event[2];

	return epoll_wait(self->epoll, event, 2, timeout_ms);
}

TEST_F(notify, epoll_level)
{
	int fd = self->w.ring.fd;
	uint64_t next;

	ASSERT_EQ(0, epoll_add(self, EPOLLIN));
	EXPECT_EQ(0, epoll_now(self, 50));
	for (next = 1; next <= 5; next++) {
		ASSERT_EQ(0, commit(self, 1));
		EXPECT_EQ(1, epoll_now(self, -1));
		EXPECT_EQ(1, epoll_now(self, -1));
		EXPECT_EQ(0, set_poll(fd, next + 1, 1));
		EXPECT_EQ(0, epoll_now(self, 20));
	}
	EXPECT_EQ(0, set_poll(fd, next, 4));
	ASSERT_EQ(0, commit(self, 3));
	EXPECT_EQ(0, epoll_now(self, 50));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(1, epoll_now(self, -1));
}

TEST_F(notify, epoll_edge)
{
	unsigned int i;

	ASSERT_EQ(0, epoll_add(self, EPOLLIN | EPOLLET));
	EXPECT_EQ(0, epoll_now(self, 50));
	for (i = 0; i < 5; i++) {
		/* One edge for all that came since. */
		ASSERT_EQ(0, commit(self, 1));
		ASSERT_EQ(0, commit(self, 3));
		EXPECT_EQ(1, epoll_now(self, -1));
		EXPECT_EQ(0, epoll_now(self, 50));
	}
	/* With a watermark, that many for an edge. */
	EXPECT_EQ(0, set_poll(self->w.ring.fd, 21, 10));
	EXPECT_EQ(0, epoll_now(self, 50));
	ASSERT_EQ(0, commit(self, 9));
	EXPECT_EQ(0, epoll_now(self, 50));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(1, epoll_now(self, -1));
	ASSERT_EQ(0, commit(self, 9));
	EXPECT_EQ(0, epoll_now(self, 50));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(1, epoll_now(self, -1));
	ASSERT_EQ(0, commit_flags(self, 1, FORCE_WAKEUP));
	EXPECT_EQ(1, epoll_now(self, -1));
}

TEST_F(notify, epoll_oneshot_exclusive)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };

	ASSERT_EQ(0, epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->w.ring.fd, &event));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(1, epoll_now(self, -1));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(0, epoll_now(self, 50));
	ASSERT_EQ(0, epoll_ctl(self->epoll, EPOLL_CTL_MOD, self->w.ring.fd, &event));
	EXPECT_EQ(1, epoll_now(self, -1));
	ASSERT_EQ(0, epoll_ctl(self->epoll, EPOLL_CTL_DEL, self->w.ring.fd, NULL));
	EXPECT_EQ(0, set_poll(self->w.ring.fd, 3, 1));
	ASSERT_EQ(0, epoll_add(self, EPOLLIN | EPOLLEXCLUSIVE));
	EXPECT_EQ(0, epoll_now(self, 50));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(1, epoll_now(self, -1));
}

static void *run_stall(void *arg)
{
	FIXTURE_DATA(notify) *self = arg;
	struct writer_run run = { .writer = 1 };

	pin_to_cpu(1);
	run_program(self->w.bpf->progs.stall, &run, sizeof(run));
	return NULL;
}

/*
 * A reader that waits for the event of a stalled writer is not woken by each event behind it,
 * and is woken soon when it is committed.
 */
TEST_F(notify, stalled)
{
	const unsigned int behind = 700;
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t wakeups, began;
	pthread_t staller;
	unsigned int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU only");
	ASSERT_EQ(0, pthread_create(&staller, NULL, run_stall, self));
	while (!self->w.bpf->bss->stall_state)
		usleep(1000);
	ASSERT_EQ(1, self->w.bpf->bss->stall_state);
	ASSERT_EQ(1, self->w.bpf->bss->stall_seqno);

	ASSERT_EQ(0, go_to_sleep(self, sleep_in_wait, 1, 1, -1));
	wakeups = self->w.ring.ext->wakeups;
	for (i = 0; i < behind; i++)
		ASSERT_EQ(0, commit(self, 1));
	EXPECT_TRUE(still_asleep(self));
	/* As many as it takes to know that the writer is stalled: there can be 8 writers a CPU. */
	EXPECT_LE(self->w.ring.ext->wakeups, wakeups + (cpus > 8 ? 8 * cpus : 64) + 1);
	EXPECT_EQ(ETIMEDOUT, wait_for(self->w.ring.fd, 1, 1, MS));
	EXPECT_EQ(0, wait_for(self->w.ring.fd, 2, 1, -1));

	began = now_ns(CLOCK_MONOTONIC);
	self->w.bpf->bss->stall_go = 1;
	EXPECT_EQ(0, woken(self));
	EXPECT_GT(LONG, now_ns(CLOCK_MONOTONIC) - began);
	pthread_join(staller, NULL);
	EXPECT_EQ(behind + 1, self->w.ring.header->control.last_seqno);
}

/* Nobody sleeps: nobody is woken, and the programs can tell. */
TEST_F(notify, costs_nothing)
{
	ASSERT_EQ(0, commit(self, 5000));
	EXPECT_EQ(0, self->w.ring.ext->wakeups);
	/* One who reads what is there does not sleep either. */
	EXPECT_EQ(0, wait_for(self->w.ring.fd, 4900, 100, -1));
	ASSERT_EQ(0, commit(self, 100));
	EXPECT_EQ(0, self->w.ring.ext->wakeups);
}

TEST_HARNESS_MAIN
