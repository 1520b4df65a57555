/* SPDX-License-Identifier: GPL-2.0 */
/* What the server has: its clients, and their tasks. */
#ifndef MONAD_STORAGE_SERVER_STATE_H
#define MONAD_STORAGE_SERVER_STATE_H

#include <poll.h>

#include "server.h"
#include "server_client.h"
#include "server_task.h"

/*
 * What may wait to be sent to one client. Above the first, no new task is begun for it;
 * above the second, nothing is taken from its tasks, which then drop events and count them,
 * nor from itself.
 */
#define WAITING_REFUSE (256 << 10)
#define WAITING_MOST (1 << 20)

struct server {
	const struct server_options *options;
	struct client *clients;
	struct server_task tasks[SERVER_MAX_TASKS];
	uint64_t accept_ns; /* no new clients before; CLOCK_MONOTONIC, as end_ns */
	unsigned int connections; /* since it began: their numbers */
	struct pollfd *polls;
	uint64_t end_ns; /* it ends, at that time at the latest; 0: it does not */
};

/* How many it has, or @client has unless that is NULL. */
unsigned int server_tasks_of(const struct server *server, const struct client *client);

/* A message of a client, which is answered. False without memory: the client is lost. */
bool server_on_message(struct server *server, struct client *client,
		       const Monad__Message *message);

#endif /* MONAD_STORAGE_SERVER_STATE_H */
