// SPDX-License-Identifier: GPL-2.0
/*
 * No wakeup is ever lost: writers commit a few events, then wait, and commit nothing more, until
 * every reader has seen them. The readers sleep, each in another way, whenever they have read
 * what there is; so all that wakes one is the commit of what it went to sleep for.
 *
 * MONAD_RING_WAKEUPS=N in the environment: commits, instead of a hundred thousand.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "writers.h"

#define COMMITS 100000UL
/* A reader that has not read by then was not woken. */
#define LOST_NS (5000000000ULL * slowness())

enum how { IN_WAIT, IN_POLL, IN_EPOLL_LEVEL, IN_EPOLL_EDGE, IN_BATCHES, HOWS };

static const char *const how_name[] = {
	"wait", "poll", "epoll, level", "epoll, edge", "wait for batches with a time limit",
};

struct sleeper {
	struct ring ring;
	int epoll;
	enum how how;
	pthread_t thread;
	uint64_t next;   /* all before have been read; atomic */
	uint64_t slept;
	uint64_t overrun;
	int err;
};

FIXTURE(wakeups)
{
	struct writers w;
	struct sleeper sleeper[HOWS];
	unsigned int sleepers;
};

static bool stop;

FIXTURE_SETUP(wakeups)
{
	SETUP_WRITERS(&self->w, SMALL);
	stop = false;
}

FIXTURE_TEARDOWN(wakeups)
{
	writers_teardown(&self->w);
}

static int wait_for(struct sleeper *s, uint64_t batch, int64_t timeout_ns)
{
	struct monad_ring_wait wait = {
		.size = sizeof(wait), .seqno = s->next, .batch = batch, .timeout_ns = timeout_ns,
	};

	return ioctl(s->ring.fd, MONAD_RING_IOC_WAIT, &wait) ? errno : 0;
}

static int set_poll(struct sleeper *s)
{
	struct monad_ring_poll poll = { .size = sizeof(poll), .seqno = s->next };

	return ioctl(s->ring.fd, MONAD_RING_IOC_SET_POLL, &poll) ? errno : 0;
}

/* Sleeps until there is more to read. 0 or an errno. */
static int sleep_once(struct sleeper *s)
{
	struct epoll_event event;
	struct pollfd p = { .fd = s->ring.fd, .events = POLLIN };
	int err = 0;

	switch (s->how) {
	case IN_WAIT:
		return wait_for(s, 1, -1);
	case IN_BATCHES:
		err = wait_for(s, 5, 3000000);
		return err == ETIMEDOUT ? 0 : err;
	case IN_POLL:
		err = set_poll(s);
		return err ?: poll(&p, 1, -1) < 0 ? errno : 0;
	case IN_EPOLL_LEVEL:
		err = set_poll(s);
		return err ?: epoll_wait(s->epoll, &event, 1, -1) < 0 ? errno : 0;
	case IN_EPOLL_EDGE:
		return epoll_wait(s->epoll, &event, 1, -1) < 0 ? errno : 0;
	default:
		abort();
	}
}

static void *sleeper_run(void *arg)
{
	struct sleeper *s = arg;
	const uint64_t mask = SMALL_CAPACITY - 1;
	uint64_t next = s->next, seqno;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		while ((seqno = __atomic_load_n(&s->ring.descs[(next - 1) & mask].seqno,
						__ATOMIC_ACQUIRE)) >= next) {
			s->overrun += seqno > next;
			next++;
		}
		__atomic_store_n(&s->next, next, __ATOMIC_RELEASE);
		s->err = sleep_once(s);
		if (s->err)
			break;
		s->slept++;
	}
	return NULL;
}

static int sleeper_start(FIXTURE_DATA(wakeups) *self, enum how how)
{
	struct sleeper *s = &self->sleeper[self->sleepers];
	struct epoll_event event = { .events = how == IN_EPOLL_EDGE ? EPOLLIN | EPOLLET : EPOLLIN };
	int err;

	s->how = how;
	s->next = self->w.ring.header->control.last_seqno + 1;
	s->epoll = -1;
	err = ring_open(&s->ring, SMALL);
	if (err)
		return err;
	if (how == IN_EPOLL_LEVEL || how == IN_EPOLL_EDGE) {
		s->epoll = epoll_create1(EPOLL_CLOEXEC);
		if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->ring.fd, &event))
			return -errno;
	}
	err = pthread_create(&s->thread, NULL, sleeper_run, s);
	if (!err)
		self->sleepers++;
	return err;
}

/* The reader that has not read event @seqno within the time, or NULL. */
static struct sleeper *who_sleeps(FIXTURE_DATA(wakeups) *self, uint64_t seqno)
{
	uint64_t began = 0;
	unsigned int i, tries;

	for (i = 0; i < self->sleepers; i++) {
		struct sleeper *s = &self->sleeper[i];

		for (tries = 0; __atomic_load_n(&s->next, __ATOMIC_ACQUIRE) <= seqno; tries++) {
			if (tries < 100) {
				sched_yield();
				continue;
			}
			if (!began)
				began = now_ns(CLOCK_MONOTONIC);
			if (now_ns(CLOCK_MONOTONIC) - began > LOST_NS || s->err)
				return s;
			usleep(tries < 1000 ? 10 : 1000);
		}
	}
	return NULL;
}

/* Mostly one or two events, sometimes many. */
static unsigned int pick(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	switch (*random >> 60) {
	case 0: return 1 + (*random >> 20) % 100;
	case 1: case 2: case 3: return 1 + (*random >> 20) % 8;
	default: return 1 + (*random >> 20) % 2;
	}
}

static unsigned long commits_wanted(void)
{
	const char *text = getenv("MONAD_RING_WAKEUPS");

	return text ? strtoul(text, NULL, 0) : COMMITS;
}

/* Lets readers that sleep in the @n ways of @how be woken by @commits commits. */
static void stress(struct __test_metadata *_metadata, FIXTURE_DATA(wakeups) *self,
		   const enum how *how, unsigned int n, unsigned long commits)
{
	uint64_t random = 88172645463325252ULL, first = self->w.ring.header->control.last_seqno;
	struct sleeper *s = NULL;
	uint64_t last = first;
	unsigned int i;

	for (i = 0; i < n; i++)
		ASSERT_EQ(0, sleeper_start(self, how[i]));
	while (last - first < commits && !s) {
		unsigned int events = pick(&random);

		ASSERT_EQ(0, writers_burst(&self->w, 0, events));
		last += events;
		s = who_sleeps(self, last);
	}
	EXPECT_EQ(NULL, s) {
		TH_LOG("asleep in %s before event %lu, errno %d, although all up to %lu are there",
		       how_name[s->how], (unsigned long)s->next, s->err, (unsigned long)last);
	}
	EXPECT_EQ(last, self->w.ring.header->control.last_seqno);
	/* Whoever sleeps in whatever way. */
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	self->w.bpf->bss->commit_flags = 2;
	ASSERT_EQ(0, writers_burst(&self->w, 0, 1));
	for (i = 0; i < n; i++) {
		s = &self->sleeper[i];
		pthread_join(s->thread, NULL);
		EXPECT_EQ(0, s->err);
		EXPECT_EQ(0, s->overrun);
		TH_LOG("%s: slept %lu times while %lu events were committed", how_name[s->how],
		       (unsigned long)s->slept, (unsigned long)(last - first));
		if (s->epoll >= 0)
			close(s->epoll);
		ring_close(&s->ring);
	}
}

#define ONE(name, how_) \
	TEST_F_TIMEOUT(wakeups, name, 3600) \
	{ \
		static const enum how how[] = { how_ }; \
\
		stress(_metadata, self, how, 1, commits_wanted()); \
	}

ONE(wait, IN_WAIT)
ONE(poll, IN_POLL)
ONE(epoll_level, IN_EPOLL_LEVEL)
ONE(epoll_edge, IN_EPOLL_EDGE)

/* Each wakes for something else. */
TEST_F_TIMEOUT(wakeups, all, 3600)
{
	static const enum how how[] = {
		IN_WAIT, IN_POLL, IN_EPOLL_LEVEL, IN_EPOLL_EDGE, IN_BATCHES,
	};

	stress(_metadata, self, how, HOWS, commits_wanted() / 8);
}

TEST_HARNESS_MAIN
