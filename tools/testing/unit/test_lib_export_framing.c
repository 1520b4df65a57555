// SPDX-License-Identifier: GPL-2.0
/* Messages on a stream: in pieces, several at once, cut off, and from somebody who means ill. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "framing.h"
#include "tap.h"

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static struct framing_deadline within(unsigned int ms)
{
	return (struct framing_deadline){ .at_ns = now_ns() + ms * 1000000ULL };
}

static int ends[2]; /* we write to the first and read from the second */

static void begin(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends))
		bail_out("socketpair: %s", strerror(errno));
}

static void end(void)
{
	close(ends[0]);
	close(ends[1]);
}

/* A Register whose host is as long as that. */
static uint8_t *make(size_t length, size_t *size)
{
	Monad__Message message = MONAD__MESSAGE__INIT;
	Monad__Register reg = MONAD__REGISTER__INIT;
	char *host = malloc(length + 1);
	uint8_t *frame;

	if (!host)
		bail_out("no memory");
	memset(host, 'h', length);
	host[length] = '\0';
	reg.host = host;
	message.kind_case = MONAD__MESSAGE__KIND_REGISTER;
	message.register_ = &reg;
	frame = framing_pack(&message, size);
	free(host);
	return frame;
}

static size_t host_length(const Monad__Message *message)
{
	if (!message || message->kind_case != MONAD__MESSAGE__KIND_REGISTER)
		return SIZE_MAX;
	return strlen(message->register_->host);
}

static void put(const void *data, size_t size)
{
	if (send(ends[0], data, size, MSG_NOSIGNAL) != (ssize_t)size)
		bail_out("send: %s", strerror(errno));
}

static void test_pieces(void)
{
	struct framing_reader reader;
	Monad__Message *message;
	size_t size, read = 0;
	uint8_t *frame = make(40, &size);
	int err = 0;

	begin();
	framing_reader_init(&reader, 0);
	eq_u64(frame[0] << 24 | frame[1] << 16 | frame[2] << 8 | frame[3], size - 4,
	       "the length is in front, its first byte the highest");
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < size; i++) {
			put(frame + i, 1);
			err = framing_read(&reader, ends[1], &message);
			if (err != -EAGAIN)
				break;
			read++;
		}
		eq_int(err, 0, "a message that comes byte by byte");
		eq_u64(host_length(message), 40, "is the one that was sent");
		monad__message__free_unpacked(message, NULL);
	}
	eq_u64(read, 2 * (size - 1), "and is not there before its last byte");
	ok(!framing_read_begun(&reader), "nothing of the next one is there");
	put(frame, 2);
	eq_int(framing_read(&reader, ends[1], &message), -EAGAIN, "half a length");
	ok(framing_read_begun(&reader), "is a beginning");
	framing_reader_free(&reader);
	free(frame);
	end();
}

static void test_many(void)
{
	static const size_t lengths[] = { 0, 1, 100, 16380, 16384, 16385, 30000 };
	struct framing_reader reader;
	Monad__Message *message;
	const uint8_t empty[4] = {};

	begin();
	framing_reader_init(&reader, 0);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t size;
		uint8_t *frame = make(lengths[i], &size);

		put(frame, size);
		free(frame);
	}
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		eq_int(framing_read(&reader, ends[1], &message), 0, "message %zu of those at once",
		       i);
		eq_u64(host_length(message), lengths[i], "is that of %zu", lengths[i]);
		if (message)
			monad__message__free_unpacked(message, NULL);
	}
	put(empty, 4);
	eq_int(framing_read(&reader, ends[1], &message), 0, "a message of no bytes");
	ok(message && message->kind_case == MONAD__MESSAGE__KIND__NOT_SET, "has no kind");
	monad__message__free_unpacked(message, NULL);
	shutdown(ends[0], SHUT_WR);
	eq_int(framing_read(&reader, ends[1], &message), -EPIPE, "an end between messages");
	framing_reader_free(&reader);
	end();
}

static void test_cut(void)
{
	struct framing_reader reader;
	Monad__Message *message;
	size_t size;
	uint8_t *frame = make(100, &size);

	for (size_t cut = 1; cut < size; cut += 25) {
		begin();
		framing_reader_init(&reader, 0);
		put(frame, cut);
		shutdown(ends[0], SHUT_WR);
		eq_int(framing_read(&reader, ends[1], &message), -ECONNRESET,
		       "an end after %zu of %zu bytes", cut, size);
		framing_reader_free(&reader);
		end();
	}
	free(frame);
}

/* What one frame with that content is read as. */
static int read_as(const void *content, size_t length, size_t max)
{
	uint8_t header[4] = { length >> 24, length >> 16, length >> 8, length };
	struct framing_reader reader;
	Monad__Message *message;
	int err;

	begin();
	framing_reader_init(&reader, max);
	put(header, 4);
	put(content, length);
	err = framing_read(&reader, ends[1], &message);
	if (message)
		monad__message__free_unpacked(message, NULL);
	framing_reader_free(&reader);
	end();
	return err;
}

static void test_limits(void)
{
	static const uint8_t huge[] = { 0xff, 0xff, 0xff, 0xff };
	static const uint8_t most[] = { 0x01, 0, 0, 0 }, more[] = { 0x01, 0, 0, 1 };
	struct framing_reader reader;
	Monad__Message *message;
	size_t size;
	uint8_t *frame;

	begin();
	framing_reader_init(&reader, 0);
	put(huge, 4);
	eq_int(framing_read(&reader, ends[1], &message), -EMSGSIZE, "four gigabytes");
	framing_reader_free(&reader);
	framing_reader_init(&reader, 0);
	put(more, 4);
	eq_int(framing_read(&reader, ends[1], &message), -EMSGSIZE, "a byte too many");
	framing_reader_free(&reader);
	framing_reader_init(&reader, 0);
	put(most, 4);
	put("xyz", 3);
	eq_int(framing_read(&reader, ends[1], &message), -EAGAIN, "as many as there may be");
	ok(reader.room <= 65536, "takes no memory before it is there (%zu)", reader.room);
	framing_reader_free(&reader);
	end();

	eq_int(read_as("\n\0", 2, 2), 0, "the receiver's own limit");
	eq_int(read_as("\n\0\n", 3, 2), -EMSGSIZE, "and a byte above it");
	frame = make(FRAMING_MAX - 100, &size);
	ok(frame, "a long message is packed");
	free(frame);
	errno = 0;
	frame = make(FRAMING_MAX, &size);
	ok(!frame && errno == EMSGSIZE, "one that is too long is not");
	free(frame);
}

static void test_garbage(void)
{
	static uint8_t many[150000];
	uint8_t random[64];
	unsigned int seed = 1, odd = 0;

	eq_int(read_as("GET / HTTP/1.1\r\n", 16, 0), -EBADMSG, "HTTP within a frame");
	eq_int(read_as("\x0a\x7f", 2, 0), -EBADMSG, "a length beyond the end");
	eq_int(read_as("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11, 0), -EBADMSG,
	       "a tag without an end");
	eq_int(read_as("\xfa\x7f\x01x", 4, 0), 0, "a field from a later version");
	/* A batch (field 3) of metrics (field 5) that are empty: 2 bytes each. */
	many[0] = 0x1a;
	many[1] = 0x80 | ((sizeof(many) - 4) & 0x7f);
	many[2] = 0x80 | ((sizeof(many) - 4) >> 7 & 0x7f);
	many[3] = (sizeof(many) - 4) >> 14;
	for (size_t i = 4; i < sizeof(many); i += 2)
		many[i] = 5 << 3 | 2;
	eq_int(read_as(many, sizeof(many), 0), -E2BIG, "little that takes much memory");
	for (int i = 0; i < 5000; i++) {
		for (size_t k = 0; k < sizeof(random); k++)
			random[k] = rand_r(&seed) >> 7;
		random[0] = (1 + i % 7) << 3 | 2;
		random[1] = sizeof(random) - 2;
		switch (read_as(random, sizeof(random), 0)) {
		case 0:
		case -EBADMSG:
		case -E2BIG:
			break;
		default:
			odd++;
		}
	}
	eq_u64(odd, 0, "five thousand times garbage");
}

static void *set_soon(void *arg)
{
	usleep(200000);
	atomic_store((atomic_ullong *)arg, 1);
	return NULL;
}

static void test_waiting(void)
{
	struct framing_deadline deadline = within(300);
	atomic_ullong sooner = 0;
	struct framing_reader reader;
	Monad__Message *message;
	uint64_t began = now_ns();
	pthread_t thread;
	size_t size;
	uint8_t *frame = make(8000000, &size);

	begin();
	framing_reader_init(&reader, 0);
	eq_int(framing_receive(&reader, ends[1], &deadline, &message), -ETIMEDOUT, "no answer");
	ok(now_ns() - began >= 300000000, "takes as long as it may");
	deadline = within(300);
	began = now_ns();
	eq_int(framing_send(ends[0], frame, size, &deadline), -ETIMEDOUT, "nobody who reads");
	ok(now_ns() - began >= 300000000, "takes as long as it may");
	deadline = within(20000);
	deadline.sooner = &sooner;
	began = now_ns();
	pthread_create(&thread, NULL, set_soon, &sooner);
	eq_int(framing_send(ends[0], frame, size, &deadline), -ETIMEDOUT, "it is called off");
	ok(now_ns() - began < 5000000000, "and that is soon noticed");
	pthread_join(thread, NULL);
	close(ends[1]);
	deadline = within(300);
	eq_int(framing_send(ends[0], frame, size, &deadline), -EPIPE, "who has gone is no signal");
	framing_reader_free(&reader);
	free(frame);
	close(ends[0]);
}

int main(void)
{
	test_pieces();
	test_many();
	test_cut();
	test_limits();
	test_garbage();
	test_waiting();
	return done_testing();
}
