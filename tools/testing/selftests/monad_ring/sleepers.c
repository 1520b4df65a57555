// SPDX-License-Identifier: GPL-2.0
/*
 * Readers that sleep are woken also where several wait for different events, which is more than
 * the one word that a writer looks at can tell.
 */
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"

#include "writers.h"

#define MS 1000000LL
#define TIMEOUT_NS (6000 * MS * slowness()) /* after which a reader that was not woken goes on */
#define SOON_NS (3000 * MS * slowness())
#define READERS 6
#define FORCE_WAKEUP 2 /* MONAD_RING_FORCE_WAKEUP of the programs */

struct sleeper {
	int fd;
	uint64_t seqno;
	uint64_t batch;
	int epoll;
	uint64_t woken_ns;
	int ret;
	pthread_t thread;
};

FIXTURE(sleepers)
{
	struct writers w;
	struct sleeper sleeper[READERS];
	pthread_t stalled[2];
};

FIXTURE_SETUP(sleepers)
{
	unsigned int i;

	SETUP_WRITERS(&self->w, SMALL);
	for (i = 0; i < 3; i++)
		self->w.writer[i].max_len = 100;
	for (i = 0; i < READERS; i++) {
		self->sleeper[i].fd = ring_open_fd(SMALL);
		ASSERT_LE(0, self->sleeper[i].fd);
	}
	pin_to_cpu(0);
}

FIXTURE_TEARDOWN(sleepers)
{
	unsigned int i;

	for (i = 0; i < READERS; i++)
		close(self->sleeper[i].fd);
	writers_teardown(&self->w);
}

static void *sleep_in_wait(void *arg)
{
	struct sleeper *sleeper = arg;
	struct monad_ring_wait wait = {
		.size = sizeof(wait), .seqno = sleeper->seqno, .batch = sleeper->batch,
		.timeout_ns = TIMEOUT_NS,
	};

	sleeper->ret = ioctl(sleeper->fd, MONAD_RING_IOC_WAIT, &wait) ? -errno : 0;
	sleeper->woken_ns = now_ns(CLOCK_MONOTONIC);
	return NULL;
}

static void *sleep_in_epoll(void *arg)
{
	struct sleeper *sleeper = arg;
	struct epoll_event event;

	sleeper->ret = epoll_wait(sleeper->epoll, &event, 1, TIMEOUT_NS / MS);
	sleeper->woken_ns = now_ns(CLOCK_MONOTONIC);
	return NULL;
}

/*
 * Each of these asked that only one be woken, and each waits for another event: the one that is
 * woken is not to be the wrong one.
 */
TEST_F_TIMEOUT(sleepers, exclusive, 30)
{
	struct monad_ring_poll poll = { .size = sizeof(poll), .seqno = 1 };
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	uint64_t then;
	unsigned int i;

	for (i = 0; i < READERS; i++) {
		struct sleeper *sleeper = &self->sleeper[i];

		/* The lowest in the middle of the queue. */
		poll.watermark = i == READERS / 2 ? 10 : 100 + i;
		ASSERT_EQ(0, ioctl(sleeper->fd, MONAD_RING_IOC_SET_POLL, &poll));
		sleeper->epoll = epoll_create1(EPOLL_CLOEXEC);
		ASSERT_EQ(0, epoll_ctl(sleeper->epoll, EPOLL_CTL_ADD, sleeper->fd, &event));
		ASSERT_EQ(0, pthread_create(&sleeper->thread, NULL, sleep_in_epoll, sleeper));
		usleep(50000);
	}
	ASSERT_EQ(0, writers_burst(&self->w, 2, 10));
	then = now_ns(CLOCK_MONOTONIC);
	for (i = 0; i < READERS; i++)
		pthread_join(self->sleeper[i].thread, NULL);
	for (i = 0; i < READERS; i++) {
		if (i == READERS / 2)
			EXPECT_GT(then + SOON_NS, self->sleeper[i].woken_ns);
		EXPECT_EQ(i == READERS / 2, self->sleeper[i].ret);
		close(self->sleeper[i].epoll);
	}
}

struct stall {
	struct writers *w;
	unsigned int writer;
};

static void *stall_on_cpu_1(void *arg)
{
	struct stall *stall = arg;
	struct writer_run run = { .writer = stall->writer };

	pin_to_cpu(1);
	run_program(stall->w->bpf->progs.stall, &run, sizeof(run));
	return NULL;
}

/* Starts @writer, and sees to it that it holds event @seqno. */
static bool begin_stall(struct __test_metadata *_metadata, FIXTURE_DATA(sleepers) *self,
			struct stall *stall, uint64_t seqno)
{
	unsigned int ms = 0;

	EXPECT_EQ(0, pthread_create(&self->stalled[stall->writer], NULL, stall_on_cpu_1, stall));
	while (self->w.ring.header->control.last_seqno < seqno && ms++ < 3000)
		usleep(1000);
	return self->w.ring.header->control.last_seqno == seqno;
}

static void end_stall(FIXTURE_DATA(sleepers) *self, unsigned int writer)
{
	__atomic_fetch_or(&self->w.bpf->bss->stall_go, 2 << writer, __ATOMIC_RELEASE);
	pthread_join(self->stalled[writer], NULL);
}

/* Two writers stall, and somebody waits for each: the later one goes on first. */
TEST_F_TIMEOUT(sleepers, two_stalled, 60)
{
	struct stall stall[2] = { { &self->w, 0 }, { &self->w, 1 } };
	bool good[2] = { false };
	unsigned int i;
	uint64_t then;

	for (i = 0; i < 2; i++) {
		good[i] = begin_stall(_metadata, self, &stall[i], i + 1);
		self->sleeper[i].seqno = i + 1;
	}
	if (!good[1]) {
		end_stall(self, 0);
		end_stall(self, 1);
		SKIP(return, "two programs cannot stall on one CPU: boot with preempt=full");
	}
	ASSERT_EQ(0, writers_burst(&self->w, 2, 200));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&self->sleeper[i].thread, NULL, sleep_in_wait,
					    &self->sleeper[i]));
	usleep(300000);
	end_stall(self, 1);
	then = now_ns(CLOCK_MONOTONIC);
	pthread_join(self->sleeper[1].thread, NULL);
	EXPECT_EQ(0, self->sleeper[1].ret);
	EXPECT_GT(then + SOON_NS, self->sleeper[1].woken_ns);
	EXPECT_EQ(0, self->sleeper[0].woken_ns);
	end_stall(self, 0);
	then = now_ns(CLOCK_MONOTONIC);
	pthread_join(self->sleeper[0].thread, NULL);
	EXPECT_EQ(0, self->sleeper[0].ret);
	EXPECT_GT(then + SOON_NS, self->sleeper[0].woken_ns);
}

/* A wakeup is forced when the first event is not ready yet: then it is when that is. */
TEST_F_TIMEOUT(sleepers, forced_too_early, 60)
{
	struct stall stall = { &self->w, 0 };
	uint64_t then;

	ASSERT_TRUE(begin_stall(_metadata, self, &stall, 1));
	self->sleeper[0].seqno = 1;
	self->sleeper[0].batch = 100;
	ASSERT_EQ(0, pthread_create(&self->sleeper[0].thread, NULL, sleep_in_wait,
				    &self->sleeper[0]));
	usleep(300000);
	self->w.bpf->bss->commit_flags = FORCE_WAKEUP;
	ASSERT_EQ(0, writers_burst(&self->w, 2, 1));
	usleep(300000);
	EXPECT_EQ(0, self->sleeper[0].woken_ns);
	end_stall(self, 0);
	then = now_ns(CLOCK_MONOTONIC);
	pthread_join(self->sleeper[0].thread, NULL);
	EXPECT_EQ(0, self->sleeper[0].ret);
	EXPECT_GT(then + SOON_NS, self->sleeper[0].woken_ns);
}

TEST_HARNESS_MAIN
