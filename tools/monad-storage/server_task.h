/* SPDX-License-Identifier: GPL-2.0 */
/* A task of the server: the process that it runs in. */
#ifndef MONAD_STORAGE_SERVER_TASK_H
#define MONAD_STORAGE_SERVER_TASK_H

#include "server.h"
#include "server_client.h"
#include "task_answer.h"

struct server_task {
	pid_t pid; /* 0: there is none */
	int pid_fd; /* -1 once it has exited */
	int fd;     /* what it says; -1 once that is all */
	int message_fd;
	int status; /* as wait(2) has it */
	char id[TASK_ID_MAX + 1];
	struct client *client; /* NULL: it is gone */
	unsigned int client_number;
	bool begun;
	bool final; /* it has said its last word */
	bool hung;
	bool stopped; /* it was asked to end */
	uint64_t events;
	uint64_t kill_at_ns; /* CLOCK_MONOTONIC */
};

/* Starts the process. 0 or -errno. */
int server_task_start(struct server_task *task, const struct server_options *server,
		      const Monad__TaskRequest *request, const struct task_options *options,
		      struct client *client);

/* Asks it to end, with a summary. */
void server_task_stop(struct server_task *task, enum task_stop why, uint64_t hung_ns);

/* Its client is gone, or it hangs: there is no summary. */
void server_task_kill(struct server_task *task);

/*
 * Passes on what it says, as long as less than @most bytes wait to be sent. False without
 * memory: the client is lost.
 */
bool server_task_read(struct server_task *task, size_t most);

/* It may have exited: looks, and does not wait. */
void server_task_reap(struct server_task *task);

static inline bool server_task_over(const struct server_task *task)
{
	return task->pid_fd < 0 && task->fd < 0;
}

/* Once it is over: the last word, if it has not said that itself; and what it was is freed. */
bool server_task_end(struct server_task *task);

#endif /* MONAD_STORAGE_SERVER_TASK_H */
