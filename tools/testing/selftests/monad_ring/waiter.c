// SPDX-License-Identifier: GPL-2.0
/*
 * The library's waiting, on devices: the kernel wakes it, and what it says is the same as
 * for files, which the library's own tests have.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <monad_event/event_ring_util.h>
#include <monad_event/event_wait.h>

#include "kselftest_harness.h"

#include "kfunc.h"
#include "kfunc.skel.h"
#include "ring.h"

#define MS 1000000LL
#define FORCE_WAKEUP 2ULL
#define NAME "waiter"

FIXTURE(waiter)
{
	struct kfunc_bpf *bpf;
	struct kfunc_call call;
	struct monad_event_ring ring;
	struct monad_event_iterator iter;
	struct monad_event_waiter waiter;
	struct monad_event_descriptor event;
	struct monad_ring_info info;
	uint64_t took_ms; /* by the last wait */
	useconds_t after_us[8]; /* when write_later() writes, one after the other */
	int control; /* the default ring, to create and destroy */
};

FIXTURE_SETUP(waiter)
{
	struct monad_ring_create create = {
		.size = sizeof(create),
		.name = NAME,
		.descriptors_shift = 10,
		.payload_shift = 21,
		.numa_node = -1,
	};
	int fd;

	SETUP_MODULE(SMALL_RINGS);
	quiet_libbpf();
	self->control = ring_open_fd(NULL);
	ASSERT_LE(0, self->control);
	ASSERT_EQ(0, ioctl(self->control, MONAD_RING_IOC_CREATE, &create));
	ASSERT_EQ(0, monad_event_ring_open_fd(NAME, &fd, NULL, 0));
	ASSERT_EQ(0, monad_event_ring_mmap(&self->ring, PROT_READ, 0, fd, 0, NAME));
	ASSERT_EQ(0, monad_event_ring_init_iterator(&self->ring, &self->iter));
	ASSERT_EQ(0, monad_event_waiter_init(&self->waiter, fd));
	close(fd); /* it has its own */
	self->bpf = kfunc_bpf__open_and_load();
	ASSERT_NE(NULL, self->bpf);
	self->call.ring = create.ring_id;
	self->call.type = 2;
	self->call.size = 8;
}

static int destroy_ring(int control)
{
	struct monad_ring_destroy destroy = { .size = sizeof(destroy), .name = NAME };

	return ioctl(control, MONAD_RING_IOC_DESTROY, &destroy);
}

FIXTURE_TEARDOWN(waiter)
{
	kfunc_bpf__destroy(self->bpf);
	monad_event_waiter_destroy(&self->waiter);
	monad_event_ring_unmap(&self->ring);
	destroy_ring(self->control);
	close(self->control);
}

static int write_event(FIXTURE_DATA(waiter) *self)
{
	int err = run_program(self->bpf->progs.output, &self->call, sizeof(self->call));

	return err ?: self->call.ret;
}

static void *write_later(void *arg)
{
	FIXTURE_DATA(waiter) *self = arg;

	for (unsigned int i = 0; i < 8 && self->after_us[i]; i++) {
		usleep(self->after_us[i]);
		write_event(self);
	}
	return NULL;
}

static void *destroy_later(void *arg)
{
	FIXTURE_DATA(waiter) *self = arg;

	usleep(self->after_us[0]);
	destroy_ring(self->control);
	return NULL;
}

static int wait_for(FIXTURE_DATA(waiter) *self, uint64_t batch, int64_t timeout_ns)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	int err = monad_event_waiter_wait(&self->waiter, &self->iter, batch, timeout_ns);

	self->took_ms = (now_ns(CLOCK_MONOTONIC) - began) / MS;
	return err;
}

/* It is the kernel that waits, and that is no slower than asking it. */
TEST_F(waiter, in_kernel)
{
	EXPECT_TRUE(self->waiter.ioctl_wait);
	EXPECT_TRUE(self->waiter.ioctl_poll);
}

TEST_F(waiter, timeouts)
{
	EXPECT_EQ(ETIMEDOUT, wait_for(self, 1, 0));
	EXPECT_EQ(ETIMEDOUT, wait_for(self, 1, 60 * MS));
	EXPECT_LE(60, self->took_ms);
	ASSERT_EQ(0, write_event(self));
	EXPECT_EQ(0, wait_for(self, 1, 0));
	EXPECT_EQ(0, wait_for(self, 0, -1));
	EXPECT_EQ(0, wait_for(self, 2, 60 * MS));
	EXPECT_LE(60, self->took_ms);
	ASSERT_EQ(0, write_event(self));
	EXPECT_EQ(0, wait_for(self, 2, -1));
	monad_event_iterator_set_seqno(&self->iter, 3);
	EXPECT_EQ(ETIMEDOUT, wait_for(self, 1, 10 * MS));
	EXPECT_EQ(ETIMEDOUT, wait_for(self, 512, 0));
	EXPECT_EQ(EINVAL, wait_for(self, 513, 0));
}

TEST_F(waiter, woken)
{
	pthread_t thread;

	self->after_us[0] = 300000;
	ASSERT_EQ(0, pthread_create(&thread, NULL, write_later, self));
	EXPECT_EQ(0, wait_for(self, 1, -1));
	EXPECT_LE(290, self->took_ms);
	EXPECT_GT(2000, self->took_ms);
	pthread_join(thread, NULL);
	EXPECT_EQ(MONAD_EVENT_SUCCESS, monad_event_iterator_try_next(&self->iter, &self->event));
	EXPECT_EQ(1, self->event.seqno);

	for (int i = 0; i < 4; i++)
		self->after_us[i] = 100000;
	ASSERT_EQ(0, pthread_create(&thread, NULL, write_later, self));
	EXPECT_EQ(0, wait_for(self, 4, 20000 * MS));
	EXPECT_LE(390, self->took_ms);
	EXPECT_GT(5000, self->took_ms);
	pthread_join(thread, NULL);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(MONAD_EVENT_SUCCESS,
			  monad_event_iterator_try_next(&self->iter, &self->event));
}

/* Its writer does not let the reader wait for the whole batch. */
TEST_F(waiter, forced)
{
	pthread_t thread;

	self->after_us[0] = 200000;
	self->call.flags = FORCE_WAKEUP;
	ASSERT_EQ(0, pthread_create(&thread, NULL, write_later, self));
	EXPECT_EQ(0, wait_for(self, 100, 20000 * MS));
	EXPECT_GT(5000, self->took_ms);
	pthread_join(thread, NULL);
}

static void on_alarm(int signal)
{
}

TEST_F(waiter, interrupted)
{
	struct sigaction action = { .sa_handler = on_alarm }, old;
	struct itimerval timer = { .it_value.tv_usec = 200000 };

	sigaction(SIGALRM, &action, &old);
	setitimer(ITIMER_REAL, &timer, NULL);
	EXPECT_EQ(EINTR, wait_for(self, 1, 20000 * MS));
	EXPECT_GT(5000, self->took_ms);
	sigaction(SIGALRM, &old, NULL);
}

TEST_F(waiter, destroyed)
{
	struct pollfd pollfd = { .fd = monad_event_waiter_fd(&self->waiter), .events = POLLIN };
	pthread_t thread;

	ASSERT_EQ(0, write_event(self));
	monad_event_iterator_set_seqno(&self->iter, 2);
	ASSERT_EQ(0, monad_event_waiter_arm(&self->waiter, &self->iter, 1));
	self->after_us[0] = 300000;
	ASSERT_EQ(0, pthread_create(&thread, NULL, destroy_later, self));
	EXPECT_EQ(ENODEV, wait_for(self, 1, -1));
	EXPECT_NE(NULL, strstr(monad_event_ring_get_last_error(), "destroyed"));
	pthread_join(thread, NULL);
	EXPECT_EQ(1, poll(&pollfd, 1, 0));
	EXPECT_EQ(POLLHUP, pollfd.revents & POLLHUP);
	EXPECT_EQ(ENODEV, wait_for(self, 1, 0));
	EXPECT_EQ(ENODEV, monad_event_waiter_arm(&self->waiter, &self->iter, 1));
	/* What is in it can still be read, and an iterator taken back to it. */
	monad_event_iterator_set_seqno(&self->iter, 1);
	EXPECT_EQ(0, wait_for(self, 1, -1));
	EXPECT_EQ(0, wait_for(self, 2, -1));
	EXPECT_EQ(MONAD_EVENT_SUCCESS, monad_event_iterator_try_next(&self->iter, &self->event));
}

TEST_F(waiter, polled)
{
	int fd = monad_event_waiter_fd(&self->waiter), epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event wanted = { .events = EPOLLIN }, got;
	pthread_t thread;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &wanted));
	ASSERT_EQ(0, monad_event_waiter_arm(&self->waiter, &self->iter, 1));
	EXPECT_EQ(0, epoll_wait(epoll, &got, 1, 50));
	self->after_us[0] = 200000;
	ASSERT_EQ(0, pthread_create(&thread, NULL, write_later, self));
	EXPECT_EQ(1, epoll_wait(epoll, &got, 1, 20000));
	EXPECT_EQ(1, epoll_wait(epoll, &got, 1, 0)); /* until the iterator moves on */
	pthread_join(thread, NULL);
	EXPECT_EQ(MONAD_EVENT_SUCCESS, monad_event_iterator_try_next(&self->iter, &self->event));
	ASSERT_EQ(0, monad_event_waiter_arm(&self->waiter, &self->iter, 2));
	EXPECT_EQ(0, epoll_wait(epoll, &got, 1, 50));
	ASSERT_EQ(0, write_event(self));
	EXPECT_EQ(0, epoll_wait(epoll, &got, 1, 50)); /* the watermark is 2 */
	ASSERT_EQ(0, write_event(self));
	EXPECT_EQ(1, epoll_wait(epoll, &got, 1, 20000));
	close(epoll);
}

/* As fast as the events come, one by one: none is lost or waited for in vain. */
TEST_F(waiter, ping_pong)
{
	for (uint64_t i = 1; i <= 2000; i++) {
		ASSERT_EQ(0, write_event(self));
		ASSERT_EQ(0, wait_for(self, 1, 20000 * MS));
		ASSERT_EQ(MONAD_EVENT_SUCCESS,
			  monad_event_iterator_try_next(&self->iter, &self->event));
		ASSERT_EQ(i, self->event.seqno);
	}
}

TEST_F(waiter, idle)
{
	struct rusage before, after;
	long us;

	getrusage(RUSAGE_SELF, &before);
	EXPECT_EQ(ETIMEDOUT, wait_for(self, 1, 3000 * MS));
	getrusage(RUSAGE_SELF, &after);
	us = (after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
	      before.ru_stime.tv_sec) * 1000000 +
	     after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec -
	     before.ru_stime.tv_usec;
	EXPECT_GT(30000, us);
}

TEST_HARNESS_MAIN
