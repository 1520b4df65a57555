/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small HTTP server for tests of clients: it answers as it is told, and keeps what it was
 * posted. One connection at a time, in a thread.
 */
#ifndef MONAD_TEST_OTLP_SERVER_H
#define MONAD_TEST_OTLP_SERVER_H

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "tap.h"

struct request {
	char head[4096]; /* the first line and the headers */
	uint8_t *body; /* as it was before it was compressed */
	size_t size;
	size_t sent;   /* as it came */
};

static struct {
	int listener;
	unsigned int port;
	pthread_t thread;
	pthread_mutex_t lock;
	/* What each next request is answered with; the last one stays. */
	const char *answers[16]; /* "STALL", "CLOSE", or all of an answer */
	size_t sizes[16];
	unsigned int nr_answers, answer;
	struct request requests[64];
	unsigned int nr;
	bool stop;
} server = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* So much of a request as there is; its body's end, or -1 for an end of the connection. */
static ssize_t read_request(int fd, char *data, size_t room)
{
	size_t have = 0, want = 0;

	while (have < room - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		char *end, *length;
		ssize_t n;

		if (poll(&p, 1, 100) != 1) {
			if (server.stop)
				return -1;
			continue;
		}
		n = read(fd, data + have, room - 1 - have);
		if (n <= 0)
			return -1;
		have += n;
		data[have] = '\0';
		end = strstr(data, "\r\n\r\n");
		if (!end)
			continue;
		length = strcasestr(data, "\r\nContent-Length:");
		want = end + 4 - data + (length ? strtoul(length + 17, NULL, 10) : 0);
		if (have >= want)
			return (ssize_t)want;
	}
	return -1;
}

/* Ours are small. */
static void uncompress_body(struct request *r)
{
	static uint8_t out[1 << 22];
	z_stream stream = { .next_in = r->body, .avail_in = r->size, .next_out = out,
			    .avail_out = sizeof(out) };

	if (inflateInit2(&stream, 15 + 16) != Z_OK || inflate(&stream, Z_FINISH) != Z_STREAM_END ||
	    stream.avail_in)
		bail_out("a body that is no gzip");
	free(r->body);
	r->size = stream.total_out;
	r->body = malloc(r->size + 1);
	memcpy(r->body, out, r->size);
	inflateEnd(&stream);
}

static void keep_request(const char *data, size_t size)
{
	const char *body = strstr(data, "\r\n\r\n") + 4;
	struct request *r;

	pthread_mutex_lock(&server.lock);
	r = &server.requests[server.nr % 64];
	free(r->body);
	snprintf(r->head, sizeof(r->head), "%.*s", (int)(body - data), data);
	r->size = size - (body - data);
	r->body = malloc(r->size + 1);
	memcpy(r->body, body, r->size);
	r->sent = r->size;
	if (strcasestr(r->head, "\r\nContent-Encoding: gzip\r\n"))
		uncompress_body(r);
	server.nr++;
	pthread_mutex_unlock(&server.lock);
}

/* False when the connection is to end. */
static bool answer_request(int fd)
{
	const char *answer;
	size_t size;
	bool last;

	pthread_mutex_lock(&server.lock);
	answer = server.answers[server.answer];
	size = server.sizes[server.answer];
	if (server.answer + 1 < server.nr_answers)
		server.answer++;
	pthread_mutex_unlock(&server.lock);
	if (!strcmp(answer, "CLOSE"))
		return false;
	if (!strcmp(answer, "STALL")) {
		struct pollfd p = { .fd = fd, .events = POLLRDHUP };

		while (!server.stop && poll(&p, 1, 50) == 0)
			;
		return false;
	}
	/* Who has it goes on, and the answer may be gone. */
	last = strcasestr(answer, "Connection: close");
	return send(fd, answer, size, MSG_NOSIGNAL) == (ssize_t)size && !last;
}

static void *serve(void *arg)
{
	static char data[1 << 20];
	ssize_t size;

	while (!server.stop) {
		struct pollfd p = { .fd = server.listener, .events = POLLIN };
		int fd;

		if (poll(&p, 1, 50) != 1)
			continue;
		fd = accept(server.listener, NULL, NULL);
		while (fd >= 0 && (size = read_request(fd, data, sizeof(data))) > 0) {
			keep_request(data, size);
			if (!answer_request(fd))
				break;
		}
		close(fd);
	}
	return NULL;
}

static void server_start(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(in);

	server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server.listener, (struct sockaddr *)&in, sizeof(in)) ||
	    listen(server.listener, 16) ||
	    getsockname(server.listener, (struct sockaddr *)&in, &length))
		bail_out("listen: %s", strerror(errno));
	server.port = ntohs(in.sin_port);
	if (pthread_create(&server.thread, NULL, serve, NULL))
		bail_out("no thread");
}

static void server_stop(void)
{
	server.stop = true;
	pthread_join(server.thread, NULL);
	close(server.listener);
	for (size_t i = 0; i < 64; i++)
		free(server.requests[i].body);
}

/* Forgets what was, and answers with this from now on. */
static void server_says(const char *answer)
{
	pthread_mutex_lock(&server.lock);
	server.answers[0] = answer;
	server.sizes[0] = strlen(answer);
	server.nr_answers = 1;
	server.answer = 0;
	server.nr = 0;
	pthread_mutex_unlock(&server.lock);
}

/* And then with that. */
static void server_then_n(const char *answer, size_t size)
{
	pthread_mutex_lock(&server.lock);
	server.answers[server.nr_answers] = answer;
	server.sizes[server.nr_answers++] = size;
	pthread_mutex_unlock(&server.lock);
}

static void server_then(const char *answer)
{
	server_then_n(answer, strlen(answer));
}

#endif /* MONAD_TEST_OTLP_SERVER_H */
