/* SPDX-License-Identifier: GPL-2.0 */
/* POST over HTTP, with a time limit that another thread may bring forward. */
#ifndef MONAD_TELEMETRY_HTTP_POST_H
#define MONAD_TELEMETRY_HTTP_POST_H

#include "framing.h"

/* Of an answer so much is kept, and no more. */
#define HTTP_ANSWER_MAX 65536

struct http_answer {
	long status;        /* 200, ... */
	uint64_t retry_after_ns; /* 0: it did not say */
	char type[64];      /* its Content-Type, in lower case and without parameters; "" */
	size_t size;
	uint8_t body[HTTP_ANSWER_MAX + 1]; /* and a zero */
};

struct http_client;

/* NULL without memory. It keeps its connections. One thread. */
struct http_client *http_client_new(const char *user_agent);
void http_client_free(struct http_client *client);

struct curl_slist;

/*
 * NULL, or what is wrong with it. @shown is the same without a password, for messages.
 */
const char *http_check_url(const char *url, char *shown, size_t shown_size);

/* 0 with an @answer; or -errno, with the reason in @why: -ETIMEDOUT, or -EIO. */
int http_post(struct http_client *client, const char *url, const struct curl_slist *headers,
	      const uint8_t *body, size_t size, const struct framing_deadline *deadline,
	      struct http_answer *answer, char *why, size_t why_size);

#endif /* MONAD_TELEMETRY_HTTP_POST_H */
