/* SPDX-License-Identifier: GPL-2.0 */
/* The stacks of the recording, for the events of a task. */
#ifndef MONAD_STORAGE_TASK_STACKS_H
#define MONAD_STORAGE_TASK_STACKS_H

#include "transform.h"

/*
 * Lets @sources find them. Nothing is read before there is an event that has one: few
 * recordings have stacks. One task in a process; task_stacks_close() after it.
 */
void task_stacks_open(struct transform_sources *sources);
void task_stacks_close(void);

#endif /* MONAD_STORAGE_TASK_STACKS_H */
