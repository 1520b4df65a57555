/* SPDX-License-Identifier: GPL-2.0 */
/* Runs one task, for whoever wants what comes of it. */
#ifndef MONAD_STORAGE_TASK_RUN_H
#define MONAD_STORAGE_TASK_RUN_H

#include "task.h"

/* Where it goes to. None of these may wait for anybody: the ring is overwritten meanwhile. */
struct task_output {
	/* Everything is attached, and seen from here on; @id: in the ring, 0 for TASK_BLOCK. */
	void (*begin)(struct task_output *output, uint32_t id);
	void (*event)(struct task_output *output, const struct task_event *event);
	/* There is no event now. Wants to be called again after so many nanoseconds. */
	uint64_t (*idle)(struct task_output *output);
	/*
	 * Asked often: why there is nobody any more who wants the rest, as
	 * task_results.ended_by has it; NULL to go on.
	 */
	const char *(*gone)(struct task_output *output);
	/* Everything is detached. The last call; not made if task_run() fails. */
	void (*end)(struct task_output *output, const struct task_results *results);
};

/*
 * From loading its programs to detaching them. 0, or an exit status after a message: it has
 * not begun then, or has no results.
 */
int task_run(const struct task_options *options, struct task_output *output);

#endif /* MONAD_STORAGE_TASK_RUN_H */
