/* SPDX-License-Identifier: GPL-2.0 */
/* Processes and threads that somebody asks for. */
#ifndef MONAD_STORAGE_PID_SET_H
#define MONAD_STORAGE_PID_SET_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "storage_task.h"

struct pid_set {
	uint32_t pids[MONAD_TASK_PIDS];
	unsigned int nr;
};

/* For a struct argp_option. */
#define PID_OPTION(group) \
	{ "pid", 'p', "PID", 0, "Only this process or thread; may be given again", group }

/* Adds the number that @arg is, or ends the program with a message. */
void pid_set_add(struct pid_set *set, const char *arg, const struct argp_state *state);

/* Whether that thread or its process (@tgid) is asked for; true for all if none was added. */
bool pid_set_has(const struct pid_set *set, uint32_t pid, uint32_t tgid);

#endif /* MONAD_STORAGE_PID_SET_H */
