// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting through io_uring, which believes what a wakeup says, where it says something, and asks
 * poll only if it does not.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "writers.h"

#define ENTRIES 8
/* Longer than any wakeup takes here, or the module looks again for. */
#define LONG_MS 200

struct uring {
	int fd;
	uint8_t *sq, *cq;
	struct io_uring_sqe *sqes;
	struct io_uring_params params;
};

FIXTURE(uring)
{
	struct writers w;
	struct uring u;
};

static int uring_open(struct uring *u)
{
	const struct io_uring_params *p = &u->params;

	u->fd = syscall(SYS_io_uring_setup, ENTRIES, &u->params);
	if (u->fd < 0)
		return -errno;
	u->sq = mmap(NULL, p->sq_off.array + p->sq_entries * sizeof(uint32_t),
		     PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, IORING_OFF_SQ_RING);
	u->cq = mmap(NULL, p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe),
		     PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, IORING_OFF_CQ_RING);
	u->sqes = mmap(NULL, p->sq_entries * sizeof(*u->sqes), PROT_READ | PROT_WRITE, MAP_SHARED,
		       u->fd, IORING_OFF_SQES);
	return u->sq == MAP_FAILED || u->cq == MAP_FAILED || u->sqes == MAP_FAILED ? -ENOMEM : 0;
}

FIXTURE_SETUP(uring)
{
	int err;

	SETUP_WRITERS(&self->w, SMALL);
	for (unsigned int i = 0; i < WRITERS; i++)
		self->w.writer[i].max_len = 64;
	err = uring_open(&self->u);
	if (err == -ENOSYS || err == -EPERM)
		SKIP(return, "no io_uring in this kernel");
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(uring)
{
	close(self->u.fd);
	writers_teardown(&self->w);
}

static uint32_t *at(uint8_t *base, uint32_t offset)
{
	return (uint32_t *)(base + offset);
}

/* Asks to be told when @fd can be read; with IORING_POLL_ADD_MULTI each time. */
static int poll_add(struct uring *u, int fd, uint32_t flags)
{
	const struct io_sqring_offsets *off = &u->params.sq_off;
	uint32_t tail = *at(u->sq, off->tail), slot = tail & *at(u->sq, off->ring_mask);

	u->sqes[slot] = (struct io_uring_sqe){
		.opcode = IORING_OP_POLL_ADD, .fd = fd, .len = flags, .poll32_events = POLLIN,
	};
	at(u->sq, off->array)[slot] = slot;
	__atomic_store_n(at(u->sq, off->tail), tail + 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, u->fd, 1, 0, 0, NULL, 0) == 1 ? 0 : -errno;
}

/* What the next completion says; 0 if none comes within @ms. */
static int completion(struct uring *u, int ms)
{
	const struct io_cqring_offsets *off = &u->params.cq_off;
	uint32_t head = *at(u->cq, off->head);

	for (; ms >= 0; ms--) {
		syscall(SYS_io_uring_enter, u->fd, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
		if (__atomic_load_n(at(u->cq, off->tail), __ATOMIC_ACQUIRE) != head) {
			const struct io_uring_cqe *cqe = (void *)(u->cq + off->cqes);
			int res = cqe[head & *at(u->cq, off->ring_mask)].res;

			__atomic_store_n(at(u->cq, off->head), head + 1, __ATOMIC_RELEASE);
			return res;
		}
		usleep(1000);
	}
	return 0;
}

static int set_poll(int fd, uint64_t seqno, uint64_t watermark)
{
	struct monad_ring_poll poll = {
		.size = sizeof(poll), .seqno = seqno, .watermark = watermark,
	};

	return ioctl(fd, MONAD_RING_IOC_SET_POLL, &poll) ? errno : 0;
}

static int commit(FIXTURE_DATA(uring) *self, unsigned int events)
{
	return writers_burst(&self->w, 0, events);
}

TEST_F(uring, once)
{
	ASSERT_EQ(0, poll_add(&self->u, self->w.ring.fd, 0));
	EXPECT_EQ(0, completion(&self->u, LONG_MS));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(POLLIN, completion(&self->u, 10 * LONG_MS));
	ASSERT_EQ(0, poll_add(&self->u, self->w.ring.fd, 0));
	EXPECT_EQ(POLLIN, completion(&self->u, 10 * LONG_MS));
}

/* One request, and a completion each time that there is more. */
TEST_F(uring, again_and_again)
{
	unsigned int i;

	ASSERT_EQ(0, poll_add(&self->u, self->w.ring.fd, IORING_POLL_ADD_MULTI));
	EXPECT_EQ(0, completion(&self->u, LONG_MS));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, commit(self, 1));
		ASSERT_EQ(POLLIN, completion(&self->u, 10 * LONG_MS)) {
			TH_LOG("no completion of event %u", i + 1);
		}
	}
	EXPECT_EQ(0, completion(&self->u, LONG_MS));
}

static void *wait_for_next(void *arg)
{
	struct monad_ring_wait wait = {
		.size = sizeof(wait), .seqno = 1, .batch = 1, .timeout_ns = -1,
	};

	return (void *)(intptr_t)ioctl(*(int *)arg, MONAD_RING_IOC_WAIT, &wait);
}

/* What wakes another reader is not what this one waits for. */
TEST_F(uring, watermark)
{
	pthread_t other;

	ASSERT_EQ(0, set_poll(self->w.ring.fd, 1, 10));
	ASSERT_EQ(0, poll_add(&self->u, self->w.ring.fd, 0));
	ASSERT_EQ(0, pthread_create(&other, NULL, wait_for_next, &self->w.ring.fd));
	EXPECT_EQ(0, completion(&self->u, LONG_MS));
	ASSERT_EQ(0, commit(self, 1));
	pthread_join(other, NULL);
	EXPECT_EQ(0, completion(&self->u, LONG_MS));
	ASSERT_EQ(0, commit(self, 8));
	EXPECT_EQ(0, completion(&self->u, LONG_MS));
	ASSERT_EQ(0, commit(self, 1));
	EXPECT_EQ(POLLIN, completion(&self->u, 10 * LONG_MS));
}

TEST_HARNESS_MAIN
