/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small HTTP server for pages that are made when they are asked for. One thread, one
 * request after the other: a page takes a millisecond, and clients that are slow to
 * ask or to read keep nobody waiting.
 */
#ifndef MONAD_STORAGE_HTTP_SERVER_H
#define MONAD_STORAGE_HTTP_SERVER_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

struct http_page {
	const char *path; /* "/metrics" */
	const char *content_type;
	/*
	 * 200 with the page in @text, which free() is for; or another status of HTTP,
	 * @text being what to say.
	 */
	unsigned int (*make)(char **text, size_t *length, void *arg);
	void *arg;
};

/* How long a client may say and take nothing, and how long a connection lasts at most. */
struct http_limits {
	unsigned int idle_seconds;
	unsigned int connection_seconds;
};

#define HTTP_DEFAULT_LIMITS { .idle_seconds = 10, .connection_seconds = 30 }

union http_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* Room for "[ADDRESS]:PORT". */
#define HTTP_ADDRESS_LEN 64

/*
 * "19150", "10.0.0.1:19150", "[::1]:19150", "*:19150"; without an address it is 127.0.0.1.
 * NULL, or what is wrong with it.
 */
const char *http_parse_address(const char *text, union http_address *address);

/* As text; returns @text. */
const char *http_address_text(const union http_address *address, char text[HTTP_ADDRESS_LEN]);

/*
 * A socket that listens on @address, which becomes the one it got: port 0 is any that
 * is free. -errno on failure.
 */
int http_listen(union http_address *address);

/*
 * Serves pages on that socket, which it closes, until "interrupted" (interrupt.h) is
 * set by a signal. 0 or -errno.
 */
int http_serve(int listen_fd, const struct http_page *pages, size_t nr_pages,
	       const struct http_limits *limits);

#endif /* MONAD_STORAGE_HTTP_SERVER_H */
