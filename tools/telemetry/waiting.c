// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "waiting.h"

/* Results of tasks are made of the same. */
struct waiting_contents waiting_contents(const Monad__TelemetryBatch *batch)
{
	struct waiting_contents contents = {
		.metrics = batch->n_metrics, .events = batch->n_spontaneous_events,
	};

	for (size_t i = 0; i < batch->n_task_results; i++) {
		contents.metrics += batch->task_results[i]->n_metric_results;
		contents.events += batch->task_results[i]->n_trace_results;
	}
	return contents;
}

struct waiting *waiting_new(const Monad__TelemetryBatch *batch)
{
	const struct waiting_contents contents = waiting_contents(batch);
	size_t bytes = monad__telemetry_batch__get_packed_size(batch);
	struct waiting *waiting = malloc(sizeof(*waiting) + bytes);

	if (!waiting)
		return NULL;
	waiting->next = NULL;
	waiting->bytes = bytes;
	waiting->metrics = contents.metrics;
	waiting->events = contents.events;
	monad__telemetry_batch__pack(batch, waiting->packed);
	return waiting;
}

size_t waiting_room(const struct waiting *waiting)
{
	return sizeof(*waiting) + waiting->bytes;
}

void waiting_list_init(struct waiting_list *list)
{
	list->first = NULL;
	list->last = &list->first;
}

void waiting_put_first(struct waiting_list *list, struct waiting *waiting)
{
	waiting->next = list->first;
	list->first = waiting;
	if (!waiting->next)
		list->last = &waiting->next;
}

void waiting_put_last(struct waiting_list *list, struct waiting *waiting)
{
	*list->last = waiting;
	list->last = &waiting->next;
}

struct waiting *waiting_take_first(struct waiting_list *list)
{
	struct waiting *waiting = list->first;

	list->first = waiting->next;
	if (!list->first)
		list->last = &list->first;
	waiting->next = NULL;
	return waiting;
}
