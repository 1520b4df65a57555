/* SPDX-License-Identifier: GPL-2.0 */
/* A client of the server: one connection, what comes from it and what is to be sent to it. */
#ifndef MONAD_STORAGE_SERVER_CLIENT_H
#define MONAD_STORAGE_SERVER_CLIENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "framing.h"

/* The longest message of a client; what may be asked has about 10 KiB. */
#define CLIENT_MESSAGE_MAX 65536
#define CLIENT_MESSAGE_MAX_TEXT "65536"

struct client {
	int fd; /* -1: there is none */
	unsigned int number; /* for messages */
	pid_t pid;
	uid_t uid;
	struct framing_reader reader;
	uint8_t *out; /* what is to be sent: from sent to used */
	size_t sent;
	size_t used;
	size_t room;
	bool closing;     /* nothing is read any more; closed when all is sent */
	bool half_closed; /* it will say no more, and may still read */
	/* CLOCK_MONOTONIC: */
	uint64_t active_ns; /* when it last said something, or had a task */
	uint64_t half_ns;   /* since when there is a part of a message; 0: there is none */
	uint64_t stuck_ns;  /* since when it takes nothing; 0: it does */
};

/* Takes over @fd. */
void client_open(struct client *client, int fd, unsigned int number);
void client_close(struct client *client);

/* How much is waiting to be sent. */
static inline size_t client_waiting(const struct client *client)
{
	return client->used - client->sent;
}

/* Without memory, the client is lost: false, and it is to be closed. */
bool client_add(struct client *client, const void *frame, size_t size);

/* Sends a response that says no more than that. */
bool client_answer(struct client *client, Monad__TaskResponse *response);

/* The last word about what might have been a task: @id may be "". */
bool __attribute__((format(printf, 3, 4))) client_refuse(struct client *client, const char *id,
							 const char *format, ...);

/* Sends as much as the other side takes. 0, also if that is not all; or -errno: it is gone. */
int client_flush(struct client *client);

#endif /* MONAD_STORAGE_SERVER_CLIENT_H */
