/* SPDX-License-Identifier: GPL-2.0 */
/* The receiving side of telemetry: connections, and what is said on them. */
#ifndef MONAD_TELEMETRY_RECEIVER_H
#define MONAD_TELEMETRY_RECEIVER_H

#include <poll.h>

#include "exporter.h"
#include "framing.h"
#include "sessions.h"

#define CONNECTIONS_MAX 256

/* What it does wrong on purpose, for those who test senders. 0: never. */
struct misbehaviour {
	const char *refuse_all;      /* registrations, with that reason */
	uint64_t refuse_every;       /* each so-manieth batch is refused */
	uint64_t lose_answer_every;  /* ... is taken, and the connection ends without an answer */
	uint64_t stall_every;        /* ... is neither taken nor answered */
};

struct counts {
	uint64_t batches, duplicates, missing, refused, failed_connections;
};

struct connection {
	int fd; /* -1: a free slot */
	char peer[80];
	struct framing_reader reader;
	struct session *session; /* NULL: not registered */
	uint64_t until_ns; /* when it has been silent for too long, CLOCK_MONOTONIC */
	bool stalled;
};

struct receiver {
	struct exporter *output; /* batches go there, as lines */
	struct sessions sessions;
	struct misbehaviour wrong;
	uint64_t nr_batch; /* of all, for those */
	uint64_t idle_ns;
	uint32_t max_batch_bytes;
	struct counts counts;
	struct connection connections[CONNECTIONS_MAX];
};

/* "monad-telemetry-receive: ..." on stderr. */
void __attribute__((format(printf, 1, 2))) say(const char *format, ...);

void receiver_init(struct receiver *receiver);

/* A client that connected; takes @fd. */
void receiver_accept(struct receiver *receiver, int fd);

/* There is something to read from it, or it has gone. */
void receiver_read(struct receiver *receiver, struct connection *connection);

/* Ends the connections that were silent for too long. */
void receiver_look_at_time(struct receiver *receiver);

void receiver_free(struct receiver *receiver);

#endif /* MONAD_TELEMETRY_RECEIVER_H */
