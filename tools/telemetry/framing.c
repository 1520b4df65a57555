// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "framing.h"

/* What is read at once at first, and how much more room there is each time. */
#define PIECE 16384
#define LARGE (1 << 20)

/*
 * An empty message within a message is two bytes of it and a hundred of memory: so much for
 * each byte, and for what all have, and no more.
 */
#define MEMORY_PER_BYTE 16
#define MEMORY_BASE 65536

/* The longest wait without a look at a deadline that another thread may have set. */
#define LOOK_MS 100

/*
 * Packing
 */

uint8_t *framing_pack(const Monad__Message *message, size_t *size)
{
	size_t length = monad__message__get_packed_size(message);
	uint8_t *frame;

	if (length > FRAMING_MAX) {
		errno = EMSGSIZE;
		return NULL;
	}
	frame = malloc(FRAMING_HEADER + length);
	if (!frame)
		return NULL;
	frame[0] = length >> 24;
	frame[1] = length >> 16;
	frame[2] = length >> 8;
	frame[3] = length;
	monad__message__pack(message, frame + FRAMING_HEADER);
	*size = FRAMING_HEADER + length;
	return frame;
}

/*
 * Unpacking, with a limit to the memory it takes. What it gets is malloc()ed, so that it
 * can be freed without this.
 */

struct budget {
	size_t left;
	bool exhausted;
};

static void *budget_alloc(void *arg, size_t size)
{
	struct budget *budget = arg;

	if (size > budget->left) {
		budget->exhausted = true;
		return NULL;
	}
	budget->left -= size;
	return malloc(size);
}

static void budget_free(void *arg, void *memory)
{
	free(memory);
}

static int unpack(const uint8_t *data, size_t length, Monad__Message **message)
{
	struct budget budget = { .left = MEMORY_BASE + MEMORY_PER_BYTE * length };
	ProtobufCAllocator allocator = {
		.alloc = budget_alloc, .free = budget_free, .allocator_data = &budget,
	};

	*message = monad__message__unpack(&allocator, length, data);
	if (*message)
		return 0;
	return budget.exhausted ? -E2BIG : -EBADMSG;
}

/*
 * Reading
 */

void framing_reader_init(struct framing_reader *reader, size_t max)
{
	memset(reader, 0, sizeof(*reader));
	reader->max = max ? max : FRAMING_MAX;
}

void framing_reader_free(struct framing_reader *reader)
{
	free(reader->data);
	memset(reader, 0, sizeof(*reader));
}

/* Of all of the frame; that of its header alone as long as that is not there. */
static size_t frame_size(const struct framing_reader *reader)
{
	const uint8_t *d = reader->data;

	if (reader->have < FRAMING_HEADER)
		return FRAMING_HEADER;
	return FRAMING_HEADER +
	       ((size_t)d[0] << 24 | (size_t)d[1] << 16 | (size_t)d[2] << 8 | d[3]);
}

/*
 * Room for more: as much as there is of it already, not as much as the sender says there
 * will be.
 */
static int make_room(struct framing_reader *reader, size_t size)
{
	size_t room = reader->room ? 2 * reader->room : PIECE;
	uint8_t *data;

	if (reader->have < reader->room)
		return 0;
	if (room > size && size > PIECE)
		room = size;
	data = realloc(reader->data, room);
	if (!data)
		return -ENOMEM;
	reader->data = data;
	reader->room = room;
	return 0;
}

static int take_message(struct framing_reader *reader, Monad__Message **message)
{
	int err = unpack(reader->data + FRAMING_HEADER, reader->have - FRAMING_HEADER, message);

	reader->have = 0;
	/* One that was large need not stay so for all of a connection. */
	if (reader->room > LARGE) {
		free(reader->data);
		reader->data = NULL;
		reader->room = 0;
	}
	return err;
}

int framing_read(struct framing_reader *reader, int fd, Monad__Message **message)
{
	*message = NULL;
	for (;;) {
		size_t size = frame_size(reader), want;
		ssize_t got;
		int err;

		if (size > FRAMING_HEADER && size - FRAMING_HEADER > reader->max)
			return -EMSGSIZE;
		if (reader->have >= FRAMING_HEADER && reader->have == size)
			return take_message(reader, message);
		err = make_room(reader, size);
		if (err)
			return err;
		want = size - reader->have;
		if (want > reader->room - reader->have)
			want = reader->room - reader->have;
		got = read(fd, reader->data + reader->have, want);
		if (!got)
			return reader->have ? -ECONNRESET : -EPIPE;
		if (got > 0)
			reader->have += got;
		else if (errno != EINTR)
			return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	}
}

const char *framing_error(int err)
{
	switch (err) {
	case -EPIPE:
		return "it has closed the connection";
	case -ECONNRESET:
		return "the connection broke";
	case -EMSGSIZE:
		return "a message of it is longer than allowed";
	case -EBADMSG:
		return "what it sends is no message of this protocol";
	case -E2BIG:
		return "a message of it would take too much memory";
	case -ETIMEDOUT:
		return "it did not answer in time";
	default:
		return strerror(-err);
	}
}

/*
 * Waiting
 */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

int framing_left(const struct framing_deadline *deadline, int most)
{
	uint64_t at = deadline->at_ns, now = now_ns(), ms;
	uint64_t sooner = deadline->sooner ? atomic_load(deadline->sooner) : 0;

	if (sooner && sooner < at)
		at = sooner;
	if (now >= at)
		return 0;
	ms = (at - now + 999999) / 1000000;
	return ms < (uint64_t)most ? (int)ms : most;
}

int framing_wait(int fd, short events, const struct framing_deadline *deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	int left, n;

	for (;;) {
		left = framing_left(deadline, LOOK_MS);
		n = poll(&p, 1, left);
		if (n > 0)
			return p.revents & POLLNVAL ? -EBADF : 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!left)
			return -ETIMEDOUT;
	}
}

int framing_receive(struct framing_reader *reader, int fd,
		    const struct framing_deadline *deadline, Monad__Message **message)
{
	int err;

	for (;;) {
		err = framing_read(reader, fd, message);
		if (err != -EAGAIN)
			return err;
		err = framing_wait(fd, POLLIN, deadline);
		if (err)
			return err;
	}
}

int framing_send(int fd, const uint8_t *frame, size_t size,
		 const struct framing_deadline *deadline)
{
	size_t sent = 0;
	ssize_t n;
	int err;

	while (sent < size) {
		n = send(fd, frame + sent, size - sent, MSG_NOSIGNAL);
		if (n >= 0) {
			sent += n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			err = framing_wait(fd, POLLOUT, deadline);
			if (err)
				return err;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}
