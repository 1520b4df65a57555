/* SPDX-License-Identifier: GPL-2.0 */
/* What became of the calls that a task looked at: counters by name. */
#ifndef MONAD_STORAGE_TASK_OUTCOMES_H
#define MONAD_STORAGE_TASK_OUTCOMES_H

#include "task.h"

/* The counters of the programs, and three others of struct task_results. */
#define TASK_OUTCOMES (MONAD_TASK_COUNTERS + 3)

/* Names of metrics, with the labels "outcome" and "operation". */
#define TASK_OUTCOME_METRIC "monad_storage_task_calls"
#define TASK_LATENCY_METRIC "monad_storage_task_latency_seconds"

/* "begun", "sampled_out", ..., "missed", "unsent", "recursion_misses". */
const char *task_outcome_name(unsigned int outcome);

/* Where the results have it. */
uint64_t *task_outcome(struct task_results *results, unsigned int outcome);

#endif /* MONAD_STORAGE_TASK_OUTCOMES_H */
