/* SPDX-License-Identifier: GPL-2.0 */
/* Events and results of tasks as they are in messages, in both directions. */
#ifndef MONAD_STORAGE_TASK_MESSAGE_H
#define MONAD_STORAGE_TASK_MESSAGE_H

#include "monad/telemetry.pb-c.h"
#include "task.h"
#include "transform.h"

/*
 * An event, with what @sources know of it; strings go to @dictionary. NULL if there is no
 * memory; monad__event_wrapper__free_unpacked(event, NULL).
 */
Monad__EventWrapper *task_event_encode(const struct transform_sources *sources,
				       const struct task_options *options,
				       const struct task_event *event, const char *task_id,
				       Monad__Dictionary *dictionary);

/* False if it is none of that kind of task. */
bool task_event_decode(const struct task_options *options, const Monad__EventWrapper *wrapper,
		       struct task_event *event);

/* How many events matched and are in no response. */
uint64_t task_truncated(const struct task_options *options, const struct task_results *results);

/* The results, as metrics of @response: the first of them has the summary. */
void task_results_encode(const struct task_options *options, const struct task_results *results,
			 Monad__TaskResponse *response);

/*
 * The summary, and all the other numbers that there are; not the slowest events. Texts stay
 * those of @response. False if there is no summary. free(results->devices).
 */
bool task_results_decode(const struct task_options *options, const Monad__TaskResponse *response,
			 struct task_results *results);

#endif /* MONAD_STORAGE_TASK_MESSAGE_H */
