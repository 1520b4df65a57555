// SPDX-License-Identifier: GPL-2.0
/*
 * Destroying rings at run time: nobody gets at one any more, those who have it keep it, with
 * all that was written, and it goes with the last of them.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "writers.h"

#define RINGS "monad_ring:14:23"
#define NAME "gone"
#define EVENTS 500
#define SECOND 1000000000ULL

/* The module with that ring beside the default one, and events in it. */
struct scene {
	struct writers w; /* its ring is the default one, its writers write to: */
	struct ring ring;
	uint32_t id;
	int fd; /* of the default ring */
	unsigned int maps; /* before that ring was made */
};

static int scene_setup(struct scene *s)
{
	unsigned int i;
	int err;

	s->ring.fd = -1;
	err = writers_setup(&s->w, RINGS, NULL);
	if (err)
		return err;
	s->fd = s->w.ring.fd;
	s->maps = vmap_ranges();
	err = ring_create(s->fd, NAME, 10, 21, &s->id) ?: ring_open(&s->ring, NAME);
	if (err)
		return err;
	for (i = 0; i < WRITERS; i++) {
		s->w.writer[i].ring = s->id;
		s->w.writer[i].max_len = 300;
	}
	return writers_burst(&s->w, 0, EVENTS);
}

static void scene_teardown(struct scene *s)
{
	ring_close(&s->ring);
	writers_teardown(&s->w);
}

#define SETUP_SCENE(s) do { \
	int err_ = scene_setup(s); \
	if (module_missing(err_)) \
		SKIP(return, "the module cannot be loaded: %s", strerror(-err_)); \
	ASSERT_EQ(0, err_); \
} while (0)

FIXTURE(gone)
{
	struct scene s;
};

FIXTURE_SETUP(gone)
{
	SETUP_SCENE(&self->s);
}

FIXTURE_TEARDOWN(gone)
{
	scene_teardown(&self->s);
}

static void expect_intact(struct __test_metadata *_metadata, const struct ring *ring)
{
	struct reader reader;

	reader_init(&reader, ring, 1);
	EXPECT_EQ(EVENTS, reader_drain(&reader));
	EXPECT_EQ(0, reader.wrong);
	EXPECT_EQ(0, reader.missed);
	reader_free(&reader);
}

/* What poll says of a reader that has read up to before @seqno. */
static int poll_at(int fd, uint64_t seqno)
{
	struct monad_ring_poll position = { .size = sizeof(position), .seqno = seqno };
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	if (ioctl(fd, MONAD_RING_IOC_SET_POLL, &position))
		return -errno;
	return poll(&pfd, 1, 0) < 0 ? -errno : pfd.revents;
}

TEST_F(gone, refused)
{
	static const uint32_t sizes[] = { 0, 39, 41, 96 };
	struct monad_ring_destroy destroy = { .size = sizeof(destroy), .name = NAME };
	unsigned int i;

	EXPECT_EQ(-ENOENT, ring_destroy(self->s.fd, "other"));
	EXPECT_EQ(-ENOENT, ring_destroy(self->s.fd, ""));
	EXPECT_EQ(-ENOENT, ring_destroy(self->s.fd, "gon"));
	EXPECT_EQ(-ENOENT, ring_destroy(self->s.fd, "monad_ring-" NAME));
	EXPECT_EQ(-EBUSY, ring_destroy(self->s.fd, "monad_ring"));
	EXPECT_EQ(-EBUSY, ring_destroy(self->s.ring.fd, "monad_ring"));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		destroy.size = sizes[i];
		EXPECT_EQ(-1, ioctl(self->s.fd, MONAD_RING_IOC_DESTROY, &destroy));
		EXPECT_EQ(EINVAL, errno);
	}
	destroy.size = sizeof(destroy);
	destroy.flags = 1;
	EXPECT_EQ(-1, ioctl(self->s.fd, MONAD_RING_IOC_DESTROY, &destroy));
	EXPECT_EQ(EINVAL, errno);
	destroy.flags = 0;
	memset(destroy.name, 'a', sizeof(destroy.name));
	EXPECT_EQ(-1, ioctl(self->s.fd, MONAD_RING_IOC_DESTROY, &destroy));
	EXPECT_EQ(EINVAL, errno);

	EXPECT_EQ(2, ring_entries("/dev"));
	EXPECT_EQ(MONAD_RING_STATE_LIVE, self->s.ring.ext->state);
	ASSERT_EQ(0, writers_burst(&self->s.w, 0, 1));
	EXPECT_EQ(EVENTS + 1, self->s.ring.header->control.last_seqno);
}

/* By a file of its own, which goes on being of use. */
TEST_F(gone, those_who_have_it)
{
	struct monad_ring_info info;
	char text[32];
	void *map;

	EXPECT_EQ(0, poll_at(self->s.ring.fd, EVENTS + 1));
	ASSERT_EQ(0, ring_destroy(self->s.ring.fd, NAME));
	EXPECT_EQ(-ENOENT, ring_destroy(self->s.fd, NAME));
	EXPECT_EQ(-ENOENT, ring_open_fd(NAME));
	EXPECT_EQ(1, ring_entries("/dev"));
	EXPECT_EQ(1, ring_entries("/sys/class/misc"));
	EXPECT_EQ(-ENOENT, sysfs_read("monad_ring-" NAME, "ring_id", text, sizeof(text)));

	EXPECT_EQ(MONAD_RING_STATE_GONE, self->s.ring.ext->state);
	expect_intact(_metadata, &self->s.ring);
	ASSERT_EQ(0, ring_info(self->s.ring.fd, &info));
	EXPECT_EQ(MONAD_RING_STATE_GONE, info.state);
	EXPECT_EQ(EVENTS, info.last_seqno);
	EXPECT_STREQ(NAME, info.name);
	EXPECT_EQ(0, memcmp(self->s.ring.info.uuid, info.uuid, 16));

	EXPECT_EQ(0, ring_wait(self->s.ring.fd, 1, -1));
	EXPECT_EQ(0, ring_wait(self->s.ring.fd, EVENTS, -1));
	EXPECT_EQ(-ENODEV, ring_wait(self->s.ring.fd, EVENTS + 1, -1));
	EXPECT_EQ(-ENODEV, ring_wait(self->s.ring.fd, EVENTS + 1, 0));
	EXPECT_EQ(-ENODEV, ring_wait(self->s.ring.fd, EVENTS + 1, SECOND));
	EXPECT_EQ(POLLHUP, poll_at(self->s.ring.fd, EVENTS + 1));
	EXPECT_EQ(POLLIN | POLLHUP, poll_at(self->s.ring.fd, EVENTS));

	/* Mapped once more, and after the file was closed. */
	map = mmap(NULL, info.map_size, PROT_READ, MAP_SHARED, self->s.ring.fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0, memcmp(map, (void *)self->s.ring.base, 4 * MIB));
	EXPECT_EQ(0, munmap(map, info.map_size));
	close(self->s.ring.fd);
	self->s.ring.fd = -1;
	expect_intact(_metadata, &self->s.ring);
}

/* A program that goes on writing to it is told so, and never writes to the next of that name. */
TEST_F(gone, those_who_write)
{
	struct writer *writer = self->s.w.writer;
	uint64_t gone = ring_lost(&self->s.ring, MONAD_RING_LOST_RING_GONE);
	struct ring next;
	uint32_t id;
	int i;

	ASSERT_EQ(0, ring_destroy(self->s.fd, NAME));
	ASSERT_EQ(0, writers_burst(&self->s.w, 0, 100));
	EXPECT_EQ(100, writer->refused);
	EXPECT_EQ(gone + 100, ring_lost(&self->s.ring, MONAD_RING_LOST_RING_GONE));
	EXPECT_EQ(gone + 100, ring_lost(&self->s.w.ring, MONAD_RING_LOST_RING_GONE));
	EXPECT_EQ(0, ring_lost_all(&self->s.ring));
	EXPECT_EQ(EVENTS, self->s.ring.header->control.last_seqno);

	for (i = 1; i <= 3; i++) {
		ASSERT_EQ(0, ring_create(self->s.fd, NAME, 10, 21, &id));
		ASSERT_EQ(0, ring_open(&next, NAME));
		EXPECT_EQ(self->s.id + 64 * i, id);
		EXPECT_EQ(id, next.info.ring_id);
		EXPECT_NE(0, memcmp(self->s.ring.info.uuid, next.info.uuid, 16));
		EXPECT_LT(self->s.ring.info.generation, next.info.generation);
		EXPECT_EQ(MONAD_RING_STATE_LIVE, next.ext->state);
		writer->ring = self->s.id;
		ASSERT_EQ(0, writers_burst(&self->s.w, 0, 100));
		EXPECT_EQ(0, next.header->control.last_seqno);
		EXPECT_EQ(EVENTS, self->s.ring.header->control.last_seqno);
		EXPECT_EQ(100 + 100 * i, writer->refused);
		writer->ring = id;
		ASSERT_EQ(0, writers_burst(&self->s.w, 0, 50));
		EXPECT_EQ(50, next.header->control.last_seqno);
		ASSERT_EQ(0, ring_destroy(next.fd, NAME));
		ring_close(&next);
	}
	expect_intact(_metadata, &self->s.ring);
}

/* 132 MiB in all */
#define BIG "big"
#define BIG_MIB 132

static bool freed(long before, unsigned int maps)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + 5 * SECOND * slowness();

	while (free_mib() < before - 32 && now_ns(CLOCK_MONOTONIC) < until)
		usleep(10000);
	if (free_mib() >= before - 32 && vmap_ranges() == maps)
		return true;
	fprintf(stderr, "# %ld MiB are free, were %ld; %u mappings, were %u\n", free_mib(), before,
		vmap_ranges(), maps);
	return false;
}

static bool held(long before, unsigned int maps)
{
	return free_mib() < before - BIG_MIB + 32 && vmap_ranges() == maps + 1;
}

/* The memory goes when the last file and the last mapping went, in either order. */
TEST_F_TIMEOUT(gone, memory, 60)
{
	unsigned int maps = vmap_ranges(), i;
	struct ring ring;
	long before;

	if (available_mib() < 400)
		SKIP(return, "less than 400 MiB of memory");
	before = free_mib();
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, ring_create(self->s.fd, BIG, 10, 27, NULL));
		EXPECT_TRUE(held(before, maps));
		/* Without any reader it goes at once. */
		if (i == 2) {
			ASSERT_EQ(0, ring_destroy(self->s.fd, BIG));
			EXPECT_TRUE(freed(before, maps));
			break;
		}
		ASSERT_EQ(0, ring_open(&ring, BIG));
		ASSERT_EQ(0, ring_destroy(self->s.fd, BIG));
		EXPECT_TRUE(held(before, maps));
		if (i) {
			munmap((void *)ring.base, ring.mapped);
			ring.base = NULL;
		} else {
			close(ring.fd);
			ring.fd = -1;
		}
		EXPECT_TRUE(held(before, maps));
		ring_close(&ring);
		EXPECT_TRUE(freed(before, maps));
	}
}

/* A child has what its parent unmapped and closed. */
TEST_F(gone, child)
{
	int pipes[2], status;
	struct reader reader;
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	if (!pid) {
		close(pipes[1]);
		close(self->s.ring.fd);
		status = read(pipes[0], &c, 1);
		reader_init(&reader, &self->s.ring, 1);
		_exit(status || reader_drain(&reader) != EVENTS || reader.wrong ||
		      self->s.ring.ext->state != MONAD_RING_STATE_GONE);
	}
	close(pipes[0]);
	ring_close(&self->s.ring);
	EXPECT_EQ(0, ring_destroy(self->s.fd, NAME));
	EXPECT_EQ(self->s.maps + 1, vmap_ranges());
	close(pipes[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(self->s.maps, vmap_ranges());
}

/* A file that nobody has any more, on its way through a socket. */
TEST_F(gone, in_flight)
{
	union {
		char buffer[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { .iov_base = &control, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	struct monad_ring_info info;
	int sockets[2], fd;
	char c;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets));
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &self->s.ring.fd, sizeof(int));
	ASSERT_EQ(1, sendmsg(sockets[0], &msg, 0));
	close(sockets[0]);
	info = self->s.ring.info;
	ring_close(&self->s.ring);
	EXPECT_EQ(0, ring_destroy(self->s.fd, NAME));
	EXPECT_EQ(self->s.maps + 1, vmap_ranges());

	iov.iov_base = &c;
	ASSERT_EQ(1, recvmsg(sockets[1], &msg, 0));
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(int));
	self->s.ring.fd = fd;
	self->s.ring.info = info;
	self->s.ring.mapped = info.map_size;
	self->s.ring.base = mmap(NULL, info.map_size, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, self->s.ring.base);
	self->s.ring.header = (const void *)self->s.ring.base;
	self->s.ring.descs = (const void *)(self->s.ring.base + info.descriptor_offset);
	self->s.ring.payload = self->s.ring.base + info.payload_offset;
	expect_intact(_metadata, &self->s.ring);
	EXPECT_EQ(-ENODEV, ring_wait(fd, EVENTS + 1, -1));

	/* And one that is never received. */
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets));
	iov.iov_len = 1;
	ASSERT_EQ(1, sendmsg(sockets[0], &msg, 0));
	ring_close(&self->s.ring);
	EXPECT_EQ(self->s.maps + 1, vmap_ranges());
	close(sockets[0]);
	close(sockets[1]);
	EXPECT_EQ(self->s.maps, vmap_ranges());
}

/* The module stays for who has a ring that is none any more. */
TEST_F(gone, keeps_module)
{
	writer_bpf__destroy(self->s.w.bpf);
	self->s.w.bpf = NULL;
	ASSERT_EQ(0, ring_destroy(self->s.fd, NAME));
	ring_close(&self->s.w.ring);
	/* A file, and each of its two mappings. */
	EXPECT_EQ(1, module_wait_refcnt(1));
	EXPECT_GT(0, module_try_unload());
	close(self->s.ring.fd);
	self->s.ring.fd = -1;
	usleep(100000);
	EXPECT_GT(0, module_try_unload());
	expect_intact(_metadata, &self->s.ring);
	ring_close(&self->s.ring);
	EXPECT_EQ(0, module_wait_refcnt(0));
	EXPECT_EQ(0, module_unload());
	EXPECT_EQ(self->s.maps - 1, vmap_ranges());
}

enum how { WAIT, POLL, SELECT, EPOLL, EPOLL_EDGE, EPOLL_EXCLUSIVE, HOWS };
#define EACH 3 /* sleepers in each of these ways, each with a file of its own */

struct sleeper {
	int fd;
	enum how how;
	int epoll;
	int ret; /* what woke it */
	pthread_t thread;
};

static int sleep_epoll(struct sleeper *sleeper, uint32_t flag)
{
	struct epoll_event event = { .events = EPOLLIN | flag };

	sleeper->epoll = epoll_create1(0);
	if (epoll_ctl(sleeper->epoll, EPOLL_CTL_ADD, sleeper->fd, &event))
		return -errno;
	return epoll_wait(sleeper->epoll, &event, 1, -1) == 1 ? (int)event.events : -errno;
}

static void *sleep_in_it(void *arg)
{
	struct sleeper *sleeper = arg;
	struct pollfd pfd = { .fd = sleeper->fd, .events = POLLIN };
	fd_set set;

	switch (sleeper->how) {
	case WAIT:
		sleeper->ret = ring_wait(sleeper->fd, EVENTS + 1, -1);
		break;
	case POLL:
		sleeper->ret = poll(&pfd, 1, -1) == 1 ? pfd.revents : -errno;
		break;
	case SELECT:
		FD_ZERO(&set);
		FD_SET(sleeper->fd, &set);
		sleeper->ret = select(sleeper->fd + 1, &set, NULL, NULL, NULL);
		break;
	case EPOLL:
		sleeper->ret = sleep_epoll(sleeper, 0);
		break;
	case EPOLL_EDGE:
		sleeper->ret = sleep_epoll(sleeper, EPOLLET);
		break;
	default:
		sleeper->ret = sleep_epoll(sleeper, EPOLLEXCLUSIVE);
	}
	return NULL;
}

/* Starts one that has read all there is. */
static int start_sleeper(struct sleeper *sleeper, enum how how)
{
	struct monad_ring_poll position = { .size = sizeof(position), .seqno = EVENTS + 1 };

	sleeper->how = how;
	sleeper->fd = ring_open_fd(NAME);
	if (sleeper->fd < 0)
		return sleeper->fd;
	if (ioctl(sleeper->fd, MONAD_RING_IOC_SET_POLL, &position))
		return -errno;
	return -pthread_create(&sleeper->thread, NULL, sleep_in_it, sleeper);
}

static unsigned int join_all(struct sleeper *sleepers, unsigned int n, uint64_t until_ns)
{
	struct timespec until = { until_ns / SECOND, until_ns % SECOND };
	unsigned int i, joined = 0;

	for (i = 0; i < n; i++)
		joined += !pthread_clockjoin_np(sleepers[i].thread, NULL, CLOCK_MONOTONIC, &until);
	return joined;
}

FIXTURE(sleepers)
{
	struct scene s;
	struct sleeper sleeper[HOWS * EACH];
};

FIXTURE_VARIANT(sleepers)
{
	bool destroy; /* or else one more event */
};

FIXTURE_VARIANT_ADD(sleepers, destroyed) { .destroy = true };
FIXTURE_VARIANT_ADD(sleepers, woken) { .destroy = false };

FIXTURE_SETUP(sleepers)
{
	SETUP_SCENE(&self->s);
}

FIXTURE_TEARDOWN(sleepers)
{
	scene_teardown(&self->s);
}

/* Everybody, however they sleep, and at once. */
TEST_F_TIMEOUT(sleepers, all, 30)
{
	unsigned int i;
	uint64_t then;

	for (i = 0; i < HOWS * EACH; i++)
		ASSERT_EQ(0, start_sleeper(&self->sleeper[i], i % HOWS));
	usleep(500000);
	ASSERT_EQ(0, variant->destroy ? ring_destroy(self->s.fd, NAME) :
					writers_burst(&self->s.w, 0, 1));
	then = now_ns(CLOCK_MONOTONIC);
	ASSERT_EQ(HOWS * EACH, join_all(self->sleeper, HOWS * EACH,
					then + 2 * SECOND * slowness()));
	for (i = 0; i < HOWS * EACH; i++) {
		switch (self->sleeper[i].how) {
		case WAIT:
			EXPECT_EQ(variant->destroy ? -ENODEV : 0, self->sleeper[i].ret);
			break;
		case SELECT:
			EXPECT_EQ(1, self->sleeper[i].ret);
			break;
		default:
			EXPECT_EQ(variant->destroy ? POLLHUP : POLLIN, self->sleeper[i].ret);
		}
		if (self->sleeper[i].how >= EPOLL)
			close(self->sleeper[i].epoll);
		close(self->sleeper[i].fd);
	}
}

FIXTURE(stalled)
{
	struct scene s;
	struct sleeper sleeper;
	pthread_t writer;
	struct bpf_link *link;
	bool atomic;
};

FIXTURE_VARIANT(stalled)
{
	bool atomic; /* in a program that may not sleep */
	bool killed; /* the process that destroys */
};

FIXTURE_VARIANT_ADD(stalled, sleepable) { .atomic = false };
FIXTURE_VARIANT_ADD(stalled, atomic) { .atomic = true };
FIXTURE_VARIANT_ADD(stalled, killed) { .atomic = true, .killed = true };

FIXTURE_SETUP(stalled)
{
	SETUP_SCENE(&self->s);
	self->atomic = variant->atomic;
	if (variant->atomic) {
		self->link = bpf_program__attach(self->s.w.bpf->progs.stall_atomic);
		ASSERT_NE(NULL, self->link);
	}
}

FIXTURE_TEARDOWN(stalled)
{
	bpf_link__destroy(self->link);
	scene_teardown(&self->s);
}

static void *stall(void *arg)
{
	FIXTURE_DATA(stalled) *self = arg;
	struct writer_run run = { .writer = 0 };

	pin_to_cpu(1);
	if (self->atomic)
		run_program(self->s.w.bpf->progs.stall_atomic, NULL, 0);
	else
		run_program(self->s.w.bpf->progs.stall, &run, sizeof(run));
	return NULL;
}

/* Whoever destroys waits for who is in the middle of an event. */
TEST_F_TIMEOUT(stalled, destroyed, 60)
{
	struct ring *ring = &self->s.ring;
	volatile struct monad_event_descriptor *desc = (void *)&ring->descs[EVENTS];
	struct writer_bpf__bss *bss = self->s.w.bpf->bss;
	uint32_t id;
	int status;
	pid_t pid;

	pin_to_cpu(0);
	ASSERT_EQ(0, pthread_create(&self->writer, NULL, stall, self));
	while (!__atomic_load_n(&bss->stall_state, __ATOMIC_ACQUIRE))
		usleep(1000);
	ASSERT_EQ(1, bss->stall_state);
	ASSERT_EQ(EVENTS + 1, bss->stall_seqno);
	self->sleeper.fd = ring->fd;
	ASSERT_EQ(0, pthread_create(&self->sleeper.thread, NULL, sleep_in_it, &self->sleeper));

	pid = fork();
	if (!pid) {
		pin_to_cpu(0);
		_exit(-ring_destroy(self->s.fd, NAME));
	}
	ASSERT_LT(0, pid);
	while (ring_entries("/dev") == 2)
		usleep(1000);
	if (variant->killed)
		kill(pid, SIGKILL);
	usleep(500000);
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
	EXPECT_EQ(MONAD_RING_STATE_LIVE, ring->ext->state);
	EXPECT_EQ(0, poll_at(ring->fd, EVENTS + 1));
	EXPECT_EQ(-ETIMEDOUT, ring_wait(ring->fd, EVENTS + 1, 0));
	/* Others do not get at it meanwhile. Its place is free, for a ring by another id. */
	EXPECT_EQ(0, writers_burst(&self->s.w, 1, 10));
	EXPECT_EQ(10, self->s.w.writer[1].refused);
	EXPECT_EQ(0, ring_create(self->s.fd, NAME, 10, 21, &id));
	EXPECT_EQ(self->s.id + 64, id);
	ASSERT_EQ(1, bss->stall_state);

	__atomic_store_n(&bss->stall_go, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&ring->ext->state, __ATOMIC_ACQUIRE) == MONAD_RING_STATE_LIVE)
		;
	EXPECT_EQ(EVENTS + 1, desc->seqno);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(variant->killed ? SIGKILL : 0, status);
	pthread_join(self->writer, NULL);
	pthread_join(self->sleeper.thread, NULL);
	EXPECT_EQ(2, bss->stall_state);
	EXPECT_EQ(0, self->sleeper.ret);
	EXPECT_EQ(POLLIN | POLLHUP, poll_at(ring->fd, EVENTS + 1));
	EXPECT_EQ(POLLHUP, poll_at(ring->fd, EVENTS + 2));
	EXPECT_EQ(EVENTS + 1, ring->header->control.last_seqno);
	ring_close(ring);
	EXPECT_EQ(0, ring_destroy(self->s.fd, NAME));
	EXPECT_EQ(self->s.maps, vmap_ranges());
}

TEST_HARNESS_MAIN
