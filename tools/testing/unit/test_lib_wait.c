// SPDX-License-Identifier: GPL-2.0
/* Waiting for events of ring files: time, signals, batches, writers that die. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <monad_event/event_ring_util.h>
#include <monad_event/event_wait.h>

#include "ring_writer.h"

#define MS 1000000LL

static struct ring_writer w;
static struct monad_event_ring ring;
static struct monad_event_iterator iter;
static struct monad_event_waiter waiter;
static struct monad_event_descriptor event;
static uint64_t took_ms; /* by the last wait */

static void setup(void)
{
	ring_writer_create(&w, 10, 21, 1);
	if (monad_event_ring_mmap(&ring, PROT_READ, 0, w.image.fd, 0, "x") ||
	    monad_event_ring_init_iterator(&ring, &iter) ||
	    monad_event_waiter_init(&waiter, w.image.fd))
		bail_out("%s", monad_event_ring_get_last_error());
}

static void teardown(void)
{
	monad_event_waiter_destroy(&waiter);
	monad_event_ring_unmap(&ring);
	ring_writer_destroy(&w);
}

static int wait_for(uint64_t batch, int64_t timeout_ns)
{
	uint64_t began = clock_ms(CLOCK_MONOTONIC);
	int err = monad_event_waiter_wait(&waiter, &iter, batch, timeout_ns);

	took_ms = clock_ms(CLOCK_MONOTONIC) - began;
	return err;
}

static void test_timeouts(void)
{
	setup();
	eq_int(wait_for(1, 0), ETIMEDOUT, "an empty ring, no time");
	ok(strstr(monad_event_ring_get_last_error(), "event 1 did not come"), "says which");
	ok(took_ms < 200, "takes none");
	eq_int(wait_for(1, 60 * MS), ETIMEDOUT, "an empty ring, 60 ms");
	ok(took_ms >= 60 && took_ms < 1000, "takes that: %d ms", (int)took_ms);
	ring_writer_write(&w, 2, 1);
	eq_int(wait_for(1, 0), 0, "one event");
	eq_int(wait_for(0, 0), 0, "a batch of 0 is one of 1");
	eq_int(wait_for(1, -1), 0, "without a limit");
	eq_int(wait_for(2, 60 * MS), 0, "one in place of two");
	ok(took_ms >= 60, "is waited for the other: %d ms", (int)took_ms);
	ring_writer_write(&w, 2, 2);
	eq_int(wait_for(2, 10000 * MS), 0, "two");
	ok(took_ms < 200, "at once");
	monad_event_iterator_set_seqno(&iter, 3);
	eq_int(wait_for(1, 20 * MS), ETIMEDOUT, "both were read");
	eq_int(wait_for(512, 0), ETIMEDOUT, "half of the ring");
	eq_int(wait_for(513, 0), EINVAL, "more than that");
	ok(strstr(monad_event_ring_get_last_error(), "batch of 513"), "is refused");
	teardown();
}

static void test_args(void)
{
	struct monad_event_waiter none = {0};
	int fds[2];

	setup();
	eq_int(monad_event_waiter_wait(NULL, &iter, 1, 0), EFAULT, "no waiter");
	eq_int(monad_event_waiter_wait(&waiter, NULL, 1, 0), EFAULT, "no iterator");
	eq_int(monad_event_waiter_wait(&none, &iter, 1, 0), EINVAL, "a zeroed waiter");
	eq_int(monad_event_waiter_arm(&none, &iter, 1), EINVAL, "nor armed");
	eq_int(monad_event_waiter_fd(&none), -1, "nor polled");
	monad_event_waiter_destroy(&none);
	monad_event_waiter_destroy(NULL);
	eq_int(monad_event_waiter_init(NULL, w.image.fd), EFAULT, "init: NULL");
	eq_int(monad_event_waiter_init(&none, -1), EBADF, "init: no descriptor");
	monad_event_waiter_destroy(&none);
	if (pipe(fds))
		bail_out("pipe");
	eq_int(monad_event_waiter_init(&none, fds[0]), EINVAL, "init: a pipe");
	close(fds[0]);
	close(fds[1]);
	teardown();
	monad_event_waiter_destroy(&waiter);
	eq_int(wait_for(1, 0), EINVAL, "after destroy, which may be done twice");
}

static int count_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void test_fds(void)
{
	int before;

	setup();
	monad_event_waiter_destroy(&waiter);
	before = count_fds();
	eq_int(monad_event_waiter_init(&waiter, w.image.fd), 0, "init");
	ok(monad_event_waiter_fd(&waiter) >= 0, "something to poll");
	eq_int(monad_event_waiter_fd(&waiter), monad_event_waiter_fd(&waiter), "the same again");
	eq_int(wait_for(1, MS), ETIMEDOUT, "wait");
	eq_int(count_fds(), before + 2, "two descriptors");
	monad_event_waiter_destroy(&waiter);
	eq_int(count_fds(), before, "which are closed");
	teardown();
}

static void *write_later(void *arg)
{
	int *ms = arg;

	for (int i = 0; ms[i]; i++) {
		usleep((useconds_t)ms[i] * 1000);
		ring_writer_write(&w, 2, 1);
	}
	return NULL;
}

static void test_wakeup(void)
{
	int one[] = {200, 0}, three[] = {50, 50, 50, 0};
	pthread_t thread;

	setup();
	pthread_create(&thread, NULL, write_later, one);
	eq_int(wait_for(1, -1), 0, "an event that comes");
	ok(took_ms >= 190 && took_ms < 1000, "is seen when it does: %d ms", (int)took_ms);
	pthread_join(thread, NULL);
	eq_int(monad_event_iterator_try_next(&iter, &event), MONAD_EVENT_SUCCESS, "and read");
	pthread_create(&thread, NULL, write_later, three);
	eq_int(wait_for(3, 5000 * MS), 0, "a batch that comes one by one");
	ok(took_ms >= 140 && took_ms < 1500, "is seen when it is complete: %d ms", (int)took_ms);
	pthread_join(thread, NULL);
	teardown();
}

static volatile sig_atomic_t signals;

static void on_alarm(int signal)
{
	(void)signal;
	signals++;
}

static void test_signal(void)
{
	struct sigaction action = {.sa_handler = on_alarm};
	/* Again and again, since one may come just when it does not sleep. */
	struct itimerval timer = {.it_value.tv_usec = 100000, .it_interval.tv_usec = 70000};

	setup();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	eq_int(wait_for(1, 10000 * MS), EINTR, "a signal");
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
	ok(took_ms >= 90 && took_ms < 2000, "ends it: %d ms", (int)took_ms);
	teardown();
}

/* Nobody has the ring open for writing, or it says that it is closed. */
static void test_gone(void)
{
	setup();
	ring_writer_write(&w, 2, 1);
	ring_writer_write(&w, 2, 2);
	ring_writer_unlock(&w);
	eq_int(wait_for(2, -1), 0, "what a dead writer left");
	eq_int(wait_for(3, -1), 0, "less than a batch of it");
	ok(took_ms < 1000, "is not waited for: %d ms", (int)took_ms);
	monad_event_iterator_set_seqno(&iter, 3);
	eq_int(wait_for(1, -1), EOWNERDEAD, "then there is nothing");
	ok(took_ms < 200, "said at once");
	eq_int(wait_for(1, 0), EOWNERDEAD, "each time");
	eq_int(monad_event_waiter_arm(&waiter, &iter, 1), EOWNERDEAD, "also when it is armed");
	ring_writer_lock(&w);
	usleep(300000);
	eq_int(wait_for(1, 0), ETIMEDOUT, "until there is a writer again");
	__atomic_store_n(&w.ext->state, MONAD_RING_STATE_GONE, __ATOMIC_RELEASE);
	eq_int(wait_for(1, -1), ENODEV, "a ring that was closed");
	eq_int(monad_event_waiter_arm(&waiter, &iter, 1), ENODEV, "also when it is armed");
	monad_event_iterator_set_seqno(&iter, 1);
	eq_int(wait_for(1, -1), 0, "but what is in it");
	eq_int(monad_event_waiter_arm(&waiter, &iter, 1), 0, "can be read");
	teardown();

	/* A plain ring, and a waiter that finds nobody from the start. */
	setup();
	memset(w.ext, 0, sizeof(*w.ext));
	ring_writer_unlock(&w);
	eq_int(wait_for(1, -1), EOWNERDEAD, "a plain ring without a writer");
	ok(took_ms < 200, "at once");
	teardown();
}

static void test_killed(void)
{
	int ready[2];
	pid_t pid;
	char c;

	setup();
	ring_writer_unlock(&w);
	if (pipe(ready))
		bail_out("pipe");
	pid = fork();
	if (pid == 0) {
		ring_writer_lock(&w);
		ring_writer_write(&w, 2, 1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	if (read(ready[0], &c, 1) != 1)
		bail_out("no writer");
	monad_event_iterator_set_seqno(&iter, 2);
	eq_int(wait_for(1, 300 * MS), ETIMEDOUT, "a writer that lives");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	eq_int(wait_for(1, 5000 * MS), EOWNERDEAD, "a writer that was killed");
	ok(took_ms < 2000, "is noticed in %d ms", (int)took_ms);
	teardown();
	close(ready[0]);
	close(ready[1]);
}

/* In another PID namespace /proc/locks does not have the writer's lock. */
static void test_namespace(void)
{
	int status;
	pid_t pid;

	setup();
	pid = fork();
	if (pid == 0) {
		pid_t other;

		if (unshare(CLONE_NEWPID | CLONE_NEWNS) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(77);
		pid = fork();
		if (pid) {
			waitpid(pid, &status, 0);
			_exit(WEXITSTATUS(status));
		}
		if (mount("proc", "/proc", "proc", 0, NULL))
			_exit(77);
		if (monad_event_ring_query_excl_writer_pid(w.image.fd, &other) != EOWNERDEAD)
			_exit(77);
		_exit(wait_for(1, 20 * MS) == ETIMEDOUT ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	if (WEXITSTATUS(status) == 77)
		skip("no PID namespace in which locks are not seen");
	else
		eq_int(WEXITSTATUS(status), 0, "a writer in another PID namespace is alive");
	teardown();
}

/* Who has no descriptor left to find out with does not take the writer for dead. */
static void test_no_descriptors(void)
{
	struct rlimit before, none;
	int fd;

	setup();
	fd = dup(0);
	close(fd);
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = (rlim_t)fd;
	setrlimit(RLIMIT_NOFILE, &none);
	ok(dup(0) < 0 && errno == EMFILE, "no descriptor is left");
	eq_int(wait_for(1, 20 * MS), ETIMEDOUT, "the writer is taken for alive");
	setrlimit(RLIMIT_NOFILE, &before);
	usleep(300000);
	eq_int(wait_for(1, 20 * MS), ETIMEDOUT, "which it is");
	teardown();
}

static int poll_ms(int timeout)
{
	struct pollfd pollfd = {.fd = monad_event_waiter_fd(&waiter), .events = POLLIN};
	uint64_t began = clock_ms(CLOCK_MONOTONIC);
	int ret = poll(&pollfd, 1, timeout);

	took_ms = clock_ms(CLOCK_MONOTONIC) - began;
	return ret;
}

static void test_poll(void)
{
	int one[] = {300, 0};
	unsigned int rounds = 0;
	pthread_t thread;
	uint64_t began;

	setup();
	eq_int(poll_ms(30), 0, "poll: not armed, never readable");
	ring_writer_write(&w, 2, 1);
	eq_int(monad_event_waiter_arm(&waiter, &iter, 1), 0, "poll: armed");
	eq_int(poll_ms(1000), 1, "poll: an event that is there");
	ok(took_ms < 200, "poll: at once");
	eq_int(poll_ms(0), 1, "poll: and stays so");
	eq_int(monad_event_iterator_try_next(&iter, &event), MONAD_EVENT_SUCCESS, "poll: read");
	pthread_create(&thread, NULL, write_later, one);
	began = clock_ms(CLOCK_MONOTONIC);
	do {
		if (monad_event_waiter_arm(&waiter, &iter, 1) || poll_ms(5000) != 1)
			break;
		rounds++;
	} while (monad_event_iterator_try_next(&iter, &event) != MONAD_EVENT_SUCCESS);
	eq_u64(event.seqno, 2, "poll: an event that comes");
	began = clock_ms(CLOCK_MONOTONIC) - began;
	ok(began >= 290 && began < 1500, "poll: is seen when it does: %d ms", (int)began);
	ok(rounds > 2 && rounds < 200, "poll: after %u rounds", rounds);
	pthread_join(thread, NULL);
	eq_int(monad_event_waiter_arm(&waiter, &iter, 512), 0, "poll: a watermark of half");
	eq_int(monad_event_waiter_arm(&waiter, &iter, 513), EINVAL, "poll: more is refused");
	teardown();
}

/* The slot of the event waited for is the newer event's that is being written there. */
static void test_lapped(void)
{
	setup();
	put_events_up_to(&w.image, 1024);
	put(&w.image, slot_offset(&w.image, 1), 0, 8);
	put_last_seqno(&w.image, 1025);
	monad_event_iterator_set_seqno(&iter, 1);
	eq_int(monad_event_iterator_try_next(&iter, &event), MONAD_EVENT_NOT_READY, "lapped");
	eq_int(wait_for(1, 1000 * MS), 0, "is not waited for");
	eq_u64(monad_event_iterator_recover_lapped(&iter), 65, "but recovered from");
	eq_u64(iter.next_seqno, 66, "with a margin");
	eq_u64(monad_event_iterator_recover_lapped(&iter), 0, "once");
	teardown();
}

static void test_idle_cpu(void)
{
	struct rusage before, after;
	uint64_t us;

	setup();
	getrusage(RUSAGE_SELF, &before);
	eq_int(wait_for(1, 3000 * MS), ETIMEDOUT, "three idle seconds");
	getrusage(RUSAGE_SELF, &after);
	us = (uint64_t)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
			before.ru_stime.tv_sec) * 1000000 +
	     (uint64_t)(after.ru_utime.tv_usec - before.ru_utime.tv_usec +
			after.ru_stime.tv_usec - before.ru_stime.tv_usec);
	diag("%d us of CPU in 3 s: %d.%02d %%", (int)us, (int)(us / 30000),
	     (int)(us % 30000 / 300));
	ok(us < 30000, "take less than 1 %% of a CPU");
	teardown();
}

int main(void)
{
	test_timeouts();
	test_args();
	test_fds();
	test_wakeup();
	test_signal();
	test_gone();
	test_killed();
	test_namespace();
	test_no_descriptors();
	test_poll();
	test_lapped();
	test_idle_cpu();
	return done_testing();
}
