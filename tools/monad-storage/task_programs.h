/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The programs of a task: loaded and attached while it runs, pinned nowhere. The kernel
 * takes them away with the process, however that ends.
 */
#ifndef MONAD_STORAGE_TASK_PROGRAMS_H
#define MONAD_STORAGE_TASK_PROGRAMS_H

#include "task.h"

struct task_programs;

/*
 * Loads and attaches what the kind takes, to write to that ring, as task @task_id. Nothing
 * is counted before task_programs_begin(). NULL after a message, also if there is nothing
 * to attach to.
 */
struct task_programs *task_programs_new(const struct task_options *options, uint32_t ring_id,
					uint32_t task_id);

/* Opens the window: until then, CLOCK_MONOTONIC, or task_programs_end(). */
void task_programs_begin(struct task_programs *programs, uint64_t deadline_ns);

/* As many events were wanted as --max-events says, or more. */
bool task_programs_full(const struct task_programs *programs);

/* Closes the window, detaches everything, and adds up what was counted. */
int task_programs_end(struct task_programs *programs, struct task_results *results);

void task_programs_free(struct task_programs *programs);

#endif /* MONAD_STORAGE_TASK_PROGRAMS_H */
