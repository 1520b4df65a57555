/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks over a socket. One process, which looks into nothing itself: each task runs in a
 * process of its own, so that one that dies or hangs is only that. Those go when the server
 * does, and with them their programs.
 */
#ifndef MONAD_STORAGE_SERVER_H
#define MONAD_STORAGE_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "task_request.h"

/* The kernel attaches 38 programs to one function, a task two. */
#define SERVER_MAX_TASKS 19

/* A task, in its process. */
struct server_job {
	const Monad__TaskRequest *request;
	struct task_options options; /* without the devices */
	int fd;         /* to the server; see task_answer.h */
	int message_fd; /* stderr */
	uint64_t patience_ns; /* as below */
	uint64_t stuck_ns;
};

struct server_options {
	int listen_fd; /* does not block */
	unsigned int max_tasks;
	unsigned int max_clients;
	uint64_t idle_ns;     /* a client may be there for so long, without a task */
	uint64_t half_ns;     /* ... with a part of a message */
	uint64_t patience_ns; /* ... and not read what it is sent, before its tasks end ... */
	uint64_t stuck_ns;    /* ... and before it is sent away */
	uint64_t hung_ns;     /* a task may last that much longer than it was to */
	/* What the process of a task does; returns its exit status. */
	int (*run)(const struct server_job *job);
};

#define SERVER_DEFAULT_OPTIONS { \
	.max_tasks = 8, .max_clients = 64, .idle_ns = 300000000000, .half_ns = 10000000000, \
	.patience_ns = 5000000000, .stuck_ns = 30000000000, .hung_ns = 60000000000 }

/* Until a signal sets "interrupted" (interrupt.h). 0 or -errno. The listen_fd stays open. */
int server_run(const struct server_options *options);

/* The other half of server_options: a real task. */
int server_run_task(const struct server_job *job);

#endif /* MONAD_STORAGE_SERVER_H */
