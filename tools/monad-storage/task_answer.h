/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a task in a process of its own says to the server that started it: packets on a
 * socket between the two (SOCK_SEQPACKET), each a header and a TaskResponse as it is sent
 * to the client. It never waits for anybody while the task runs.
 */
#ifndef MONAD_STORAGE_TASK_ANSWER_H
#define MONAD_STORAGE_TASK_ANSWER_H

#include "task_run.h"
#include "transform.h"

struct task_packet {
	uint8_t begun;
	uint8_t final;
	uint16_t reserved;
	uint32_t events; /* in the response */
};

/* The longest packet. */
#define TASK_PACKET_MAX (192 << 10)

/* Why the server wants it to end: one byte on the socket, and SIGTERM. */
enum task_stop {
	TASK_STOP_CANCELLED = 'c',
	TASK_STOP_SERVER = 's', /* the server ends */
};

struct task_answer_options {
	const struct task_options *options;
	const struct transform_sources *sources;
	const char *task_id;
	int fd;         /* the socket */
	int message_fd; /* the file that stderr is */
	/* A client that takes nothing for so long, and events are lost by it: it ends. */
	uint64_t patience_ns;
	uint64_t end_ns; /* at its end, it waits for the client for so long */
};

struct task_answer;

struct task_answer *task_answer_new(const struct task_answer_options *options);
/* For task_run(). */
struct task_output *task_answer_output(struct task_answer *answer);
void task_answer_free(struct task_answer *answer);

/*
 * What error() and warning() wrote to the file @fd: the errors in one line at @errors; and
 * each warning as a string of its own, @warnings and the strings to be given to free().
 */
void task_messages(int fd, char *errors, size_t size, char ***warnings, size_t *nr_warnings);

#endif /* MONAD_STORAGE_TASK_ANSWER_H */
