// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "interrupt.h"
#include "monad_storage.h"
#include "server_log.h"
#include "server_state.h"

/* One that has said nothing for so long makes room for another. */
#define SPARE_NS (5 * NSEC_PER_SEC)

/* How often it is looked at the time. */
#define LOOK_MS 250

/* Messages taken from one client before others have their turn. */
#define TURN 16

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/*
 * Clients that come and go
 */

static void drop_client(struct server *server, struct client *client, const char *why)
{
	for (unsigned int i = 0; i < SERVER_MAX_TASKS; i++) {
		struct server_task *task = &server->tasks[i];

		if (!task->pid || task->client != client)
			continue;
		task->client = NULL;
		server_task_kill(task);
	}
	server_log("client %u: %s", client->number, why);
	client_close(client);
}

/* The one that has been silent for longest, if that was long. */
static struct client *spare_client(struct server *server)
{
	struct client *spare = NULL;

	for (unsigned int i = 0; i < server->options->max_clients; i++) {
		struct client *client = &server->clients[i];

		if (server_tasks_of(server, client) || client_waiting(client) ||
		    now_ns() - client->active_ns < SPARE_NS)
			continue;
		if (!spare || client->active_ns < spare->active_ns)
			spare = client;
	}
	return spare;
}

static struct client *place_for_client(struct server *server)
{
	struct client *spare;

	for (unsigned int i = 0; i < server->options->max_clients; i++) {
		if (server->clients[i].fd < 0)
			return &server->clients[i];
	}
	spare = spare_client(server);
	if (spare)
		drop_client(server, spare, "was silent, and is closed to make room for another");
	return spare;
}

/* It gets an answer, if it takes one at once. */
static void turn_away(struct server *server, int fd)
{
	struct client client;

	client_open(&client, fd, ++server->connections);
	client_refuse(&client, "", "there are %u connections, as many as there may be: try again",
		      server->options->max_clients);
	client_flush(&client);
	server_log("client %u (process %d, user %u): turned away: there are %u connections",
		   client.number, client.pid, client.uid, server->options->max_clients);
	client_close(&client);
}

static void accept_clients(struct server *server)
{
	for (int i = 0; i < TURN; i++) {
		int fd = accept4(server->options->listen_fd, NULL, NULL,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct client *client;

		if (fd < 0) {
			/* As many files as there may be: those that are open go on. */
			if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
				server->accept_ns = now_ns() + LOOK_MS * 1000000ULL;
			return;
		}
		client = place_for_client(server);
		if (!client) {
			turn_away(server, fd);
			continue;
		}
		client_open(client, fd, ++server->connections);
		server_log("client %u: process %d, user %u", client->number, client->pid,
			   client->uid);
	}
}

/*
 * What they say
 */

static const char *what_is_wrong(int err)
{
	switch (err) {
	case -EMSGSIZE:
		return "a message is longer than " CLIENT_MESSAGE_MAX_TEXT " bytes, or what was "
		       "sent is none";
	case -EBADMSG:
		return "what was sent is no monad.Message";
	case -E2BIG:
		return "a message would take too much memory";
	case -ECONNRESET:
		return "a message ends in its middle";
	default:
		return strerror(-err);
	}
}

/* Nothing more is taken from it: what comes behind cannot make sense. */
static bool last_words(struct client *client, const char *why)
{
	server_log("client %u: %s", client->number, why);
	client->closing = true;
	return client_refuse(client, "", "%s: the connection is closed", why);
}

/* False: it is lost. */
static bool read_client(struct server *server, struct client *client)
{
	Monad__Message *message;
	bool kept = true;
	int err;

	for (int i = 0; kept && i < TURN && client_waiting(client) < WAITING_MOST; i++) {
		err = framing_read(&client->reader, client->fd, &message);
		if (!err) {
			client->active_ns = now_ns();
			client->half_ns = 0;
			kept = server_on_message(server, client, message);
			monad__message__free_unpacked(message, NULL);
			continue;
		}
		if (err == -EAGAIN) {
			if (!framing_read_begun(&client->reader))
				client->half_ns = 0;
			else if (!client->half_ns)
				client->half_ns = now_ns();
			return true;
		}
		if (err == -EPIPE) {
			client->half_closed = true;
			return true;
		}
		return last_words(client, what_is_wrong(err));
	}
	return kept;
}

/*
 * Time
 */

/* Why it is to be closed now, or NULL. */
static const char *is_due(const struct server *server, const struct client *client)
{
	if (client->stuck_ns && now_ns() - client->stuck_ns >= server->options->stuck_ns)
		return "does not read what it is sent";
	if (client_waiting(client))
		return NULL;
	if (client->closing)
		return "closed";
	if (client->half_closed && !server_tasks_of(server, client))
		return "has closed the connection";
	return NULL;
}

/* What it is told before it is closed for waiting for it in vain, or NULL. */
static const char *is_idle(const struct server *server, const struct client *client)
{
	if (client->closing || client_waiting(client) || server_tasks_of(server, client))
		return NULL;
	if (client->half_ns && now_ns() - client->half_ns >= server->options->half_ns)
		return "a message was begun, and did not go on";
	if (now_ns() - client->active_ns >= server->options->idle_ns)
		return "nothing was asked for a long time";
	return NULL;
}

static void look_at_clients(struct server *server)
{
	for (unsigned int i = 0; i < server->options->max_clients; i++) {
		struct client *client = &server->clients[i];
		const char *why;

		if (client->fd < 0)
			continue;
		if (server_tasks_of(server, client))
			client->active_ns = now_ns();
		why = is_idle(server, client);
		if (why && !last_words(client, why))
			why = "is lost";
		else
			why = is_due(server, client);
		if (why)
			drop_client(server, client, why);
	}
}

static void look_at_tasks(struct server *server)
{
	for (unsigned int i = 0; i < SERVER_MAX_TASKS; i++) {
		struct server_task *task = &server->tasks[i];

		if (!task->pid)
			continue;
		if (task->pid_fd >= 0 && now_ns() >= task->kill_at_ns && !task->hung) {
			task->hung = true;
			server_task_kill(task);
		}
		if (!server_task_over(task))
			continue;
		if (!server_task_end(task))
			error("out of memory: a client is not told how its task ended");
	}
}

/*
 * One thing after the other
 */

static short client_events(const struct client *client)
{
	int events = client_waiting(client) ? POLLOUT : 0;

	if (!client->closing && !client->half_closed && client_waiting(client) < WAITING_MOST)
		events |= POLLIN;
	return (short)events;
}

/* The listening socket, clients, what tasks say, their processes: each where it always is. */
static unsigned int fill_polls(struct server *server)
{
	const struct server_options *options = server->options;
	bool accepts = !server->end_ns && now_ns() >= server->accept_ns;
	struct pollfd *p = server->polls;

	*p++ = (struct pollfd){ accepts ? options->listen_fd : -1, POLLIN, 0 };
	for (unsigned int i = 0; i < options->max_clients; i++) {
		struct client *client = &server->clients[i];

		*p++ = (struct pollfd){ client->fd, client_events(client), 0 };
	}
	for (unsigned int i = 0; i < SERVER_MAX_TASKS; i++) {
		struct server_task *task = &server->tasks[i];
		bool there = task->pid;
		bool room = there && task->client && client_waiting(task->client) < WAITING_MOST;

		*p++ = (struct pollfd){ room ? task->fd : -1, POLLIN, 0 };
		*p++ = (struct pollfd){ there ? task->pid_fd : -1, POLLIN, 0 };
	}
	return p - server->polls;
}

static void serve_client(struct server *server, struct client *client, short revents)
{
	if (client->fd < 0 || !revents)
		return;
	/* All of it is closed; POLLIN alone is that it will say no more. */
	if (revents & (POLLHUP | POLLERR) && !(revents & POLLIN)) {
		drop_client(server, client, "closed its connection");
		return;
	}
	if (revents & POLLIN && !read_client(server, client)) {
		drop_client(server, client, "is lost");
		return;
	}
	if (revents & POLLHUP && client->half_closed)
		drop_client(server, client, "closed its connection");
}

static void serve_tasks(struct server *server, const struct pollfd *p)
{
	for (unsigned int i = 0; i < SERVER_MAX_TASKS; i++, p += 2) {
		struct server_task *task = &server->tasks[i];

		if (p[0].revents && task->pid && !server_task_read(task, WAITING_MOST))
			drop_client(server, task->client, "is lost: out of memory");
		if (p[1].revents && task->pid && task->pid_fd >= 0)
			server_task_reap(task);
	}
}

static void flush_clients(struct server *server)
{
	for (unsigned int i = 0; i < server->options->max_clients; i++) {
		struct client *client = &server->clients[i];

		if (client->fd >= 0 && client_waiting(client) && client_flush(client))
			drop_client(server, client, "closed its connection");
	}
}

/* Ends all tasks; what they have to say may take a while. */
static void begin_end(struct server *server)
{
	server->end_ns = now_ns() + server->options->patience_ns;
	for (unsigned int i = 0; i < SERVER_MAX_TASKS; i++) {
		if (server->tasks[i].pid)
			server_task_stop(&server->tasks[i], TASK_STOP_SERVER,
					 server->options->patience_ns);
	}
}

static bool is_over(const struct server *server)
{
	size_t waiting = 0;

	if (!server->end_ns)
		return false;
	for (unsigned int i = 0; i < server->options->max_clients; i++)
		waiting += client_waiting(&server->clients[i]);
	return (!server_tasks_of(server, NULL) && !waiting) || now_ns() >= server->end_ns;
}

static int loop(struct server *server, const sigset_t *signals)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * 1000000L };
	unsigned int clients = server->options->max_clients, n;

	while (!is_over(server)) {
		n = fill_polls(server);
		if (ppoll(server->polls, n, &look, signals) < 0) {
			if (errno != EINTR)
				return -errno;
			memset(server->polls, 0, n * sizeof(*server->polls));
		}
		if (interrupted && !server->end_ns)
			begin_end(server);
		/* Those that came just now are looked at next time. */
		for (unsigned int i = 0; i < clients; i++)
			serve_client(server, &server->clients[i], server->polls[1 + i].revents);
		serve_tasks(server, server->polls + 1 + clients);
		look_at_tasks(server);
		flush_clients(server);
		look_at_clients(server);
		if (server->polls[0].revents)
			accept_clients(server);
	}
	return 0;
}

static void end(struct server *server)
{
	for (unsigned int i = 0; i < server->options->max_clients; i++) {
		if (server->clients[i].fd >= 0)
			drop_client(server, &server->clients[i], "is left by the server that ends");
	}
	free(server->clients);
	free(server->polls);
}

int server_run(const struct server_options *options)
{
	struct server server = { .options = options };
	sigset_t ours, before;
	int err;

	server.clients = xcalloc(options->max_clients, sizeof(*server.clients));
	for (unsigned int i = 0; i < options->max_clients; i++)
		server.clients[i].fd = -1;
	server.polls = xcalloc(1 + options->max_clients + 2 * SERVER_MAX_TASKS,
			       sizeof(*server.polls));
	/* From looking at the flag to sleeping they wait. */
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigprocmask(SIG_BLOCK, &ours, &before);
	err = loop(&server, &before);
	end(&server);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}
