/* SPDX-License-Identifier: GPL-2.0 */
/* Where streams of messages lead to: a socket in the file system, or a port of a host. */
#ifndef MONAD_TELEMETRY_STREAM_ADDRESS_H
#define MONAD_TELEMETRY_STREAM_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "framing.h"

struct stream_address {
	char path[108];  /* of a Unix socket; "": host and port are it */
	char host[256];  /* "" in one that is to be listened on: all of this machine's */
	char port[8];
};

/*
 * "/run/x" or "./x" (whatever has a slash), "HOST:PORT", "[::1]:PORT", "*:PORT" to listen on
 * all addresses. NULL, or what is wrong with it.
 */
const char *stream_parse_address(const char *text, struct stream_address *address);

/*
 * A socket connected to it, which does not block; or -errno with the reason in @why. Names
 * are looked up within the deadline as well.
 */
int stream_connect(const struct stream_address *address, const struct framing_deadline *deadline,
		   char *why, size_t why_size);

/*
 * A socket that listens there, which does not block; or -errno with the reason in @why. A
 * socket's file that nobody listens on any more is replaced; only its owner can connect to
 * the new one.
 */
int stream_listen(const struct stream_address *address, char *why, size_t why_size);

#endif /* MONAD_TELEMETRY_STREAM_ADDRESS_H */
