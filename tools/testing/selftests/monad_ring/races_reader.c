// SPDX-License-Identifier: GPL-2.0
/* Of races.c, those who read: what they are told is so, and all that they read is right. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "races.h"
#include "reader.h"

#define LATE_NS (2500 * MS * slowness()) /* an event that is this old when its reader wakes */
#define READ_AT_ONCE 500

/* Reads up to the ring's last event. False if one was not ready. */
static bool read_all(struct reader *reader, uint64_t last)
{
	const struct monad_event_descriptor *e = &reader->event;
	uint32_t id = reader->ring->info.ring_id;
	unsigned int n = 0;

	while (reader->next <= last && n++ < READ_AT_ONCE) {
		switch (reader_next(reader)) {
		case READER_NOT_READY:
			return false;
		case READER_GAP:
			break;
		default:
			if (!reader_check(reader))
				complain("ring %u, event %" PRIu64 " is wrong", id, e->seqno);
			else if (e->event_type && e->content_ext[0] != id)
				complain("event %" PRIu64 " of ring %u is ring %" PRIu64 "'s",
					 e->seqno, id, e->content_ext[0]);
			COUNT(read);
		}
	}
	return true;
}

static bool is_gone(const struct ring *ring)
{
	return __atomic_load_n(&ring->ext->state, __ATOMIC_ACQUIRE) == MONAD_RING_STATE_GONE;
}

static uint64_t last_of(const struct ring *ring)
{
	return __atomic_load_n(&ring->header->control.last_seqno, __ATOMIC_ACQUIRE);
}

/* All there is; of a ring that is gone, that is all there ever was. */
static void read_ring(struct reader *reader)
{
	const struct ring *ring = reader->ring;
	bool gone = is_gone(ring);
	uint64_t last = last_of(ring);

	if (!read_all(reader, last) && gone)
		complain("ring %u is gone, and its event %" PRIu64 " of %" PRIu64 " is not there",
			 ring->info.ring_id, reader->next, last);
	if (!gone)
		return;
	COUNT(complete);
	if (last_of(ring) != last)
		complain("ring %u is gone, and goes on from %" PRIu64 " to %" PRIu64,
			 ring->info.ring_id, last, last_of(ring));
}

/* Whoever is told that event @seqno is there finds it, or one after it; and is told in time. */
static void expect_there(const struct ring *ring, uint64_t seqno, uint64_t slept_ns)
{
	const volatile struct monad_event_descriptor *desc;
	uint64_t found, written, now = now_ns(CLOCK_REALTIME);

	desc = &ring->descs[(seqno - 1) & (ring->info.descriptor_capacity - 1)];
	found = __atomic_load_n(&desc->seqno, __ATOMIC_ACQUIRE);
	written = desc->record_epoch_nanos;
	/* 0: it is being overwritten. */
	if (found && found < seqno)
		complain("ring %u: told of event %" PRIu64 ", found %" PRIu64,
			 ring->info.ring_id, seqno, found);
	if (found == seqno && slept_ns > LATE_NS && now > written + LATE_NS)
		complain("ring %u: woken for event %" PRIu64 " when it was %" PRIu64 " ms old",
			 ring->info.ring_id, seqno, (uint64_t)((now - written) / MS));
}

/* @max: of the timeouts */
static void wait_for(const struct ring *ring, uint64_t seqno, unsigned int max)
{
	const int64_t timeouts[] = { 0, 1 * MS, 20 * MS, LATE_NS + 500 * MS };
	struct monad_ring_wait wait = {
		.size = sizeof(wait), .seqno = seqno, .batch = 1 + any(3) * any(100),
		.timeout_ns = timeouts[any(max)],
	};
	uint64_t began = now_ns(CLOCK_MONOTONIC);

	if (!ioctl(ring->fd, MONAD_RING_IOC_WAIT, &wait)) {
		COUNT(waited);
		/* A larger batch takes as long as it takes. */
		expect_there(ring, seqno,
			     wait.batch > 1 ? 0 : now_ns(CLOCK_MONOTONIC) - began);
	} else if (errno == ETIMEDOUT) {
		COUNT(timed_out);
	} else if (errno == ENODEV) {
		COUNT(hung_up);
		if (!is_gone(ring) || last_of(ring) >= seqno)
			complain("ring %u, event %" PRIu64 " of %" PRIu64
				 ": told that it will never be there", ring->info.ring_id, seqno,
				 last_of(ring));
	} else if (errno != EINTR) {
		complain("waiting: %s", strerror(errno));
	}
}

static void expect_events(const struct ring *ring, uint64_t seqno, uint32_t events)
{
	if (events & ~(POLLIN | POLLHUP))
		complain("polled %#x", events);
	if (events & POLLIN)
		expect_there(ring, seqno, 0);
	if (events & POLLHUP && !is_gone(ring))
		complain("ring %u hung up, and is not gone", ring->info.ring_id);
}

static void poll_for(const struct ring *ring, uint64_t seqno)
{
	struct monad_ring_poll position = { .size = sizeof(position), .seqno = seqno };
	struct pollfd pfd = { .fd = ring->fd, .events = POLLIN };
	struct epoll_event event = { .events = EPOLLIN };
	int epoll;

	if (ioctl(ring->fd, MONAD_RING_IOC_SET_POLL, &position))
		complain("SET_POLL: %s", strerror(errno));
	if (any(2)) {
		if (poll(&pfd, 1, any(20)) == 1)
			expect_events(ring, seqno, pfd.revents);
		return;
	}
	event.events |= any(2) ? EPOLLET : any(2) ? EPOLLEXCLUSIVE : 0;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, ring->fd, &event))
		complain("epoll: %s", strerror(errno));
	else if (epoll_wait(epoll, &event, 1, any(20)) == 1)
		expect_events(ring, seqno, event.events);
	/* It goes either with this or with the ring's file, which may be later or sooner. */
	if (any(2))
		close(epoll);
	else
		dup2(epoll, 100 + any(10));
	if (epoll >= 0 && epoll < 100 && any(8))
		close(epoll);
}

/* A child that has the mapping too, until it exits. */
static void share(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

void reader(struct writers *w)
{
	struct reader reader;
	struct ring ring;
	int err, i;

	err = ring_open(&ring, any(8) ? names[any(NAMES)] : NULL);
	if (err) {
		if (!may_be_gone(err))
			complain("opening: %s", strerror(-err));
		if (!any(4))
			usleep(1000);
		return;
	}
	COUNT(opened);
	reader_init(&reader, &ring, 1);
	reader.check_order = false;
	if (any(2))
		reader.next = last_of(&ring) + 1;
	/* Without writers there is not much to read, and the module to be let go. */
	for (i = any(w ? 8 : 2); i >= 0; i--) {
		read_ring(&reader);
		if (any(2))
			wait_for(&ring, reader.next, w ? 4 : 3);
		else
			poll_for(&ring, reader.next);
		if (!any(16))
			share();
	}
	if (any(2)) {
		close(ring.fd);
		ring.fd = -1;
		read_ring(&reader);
	}
	reader_free(&reader);
	ring_close(&ring);
}
