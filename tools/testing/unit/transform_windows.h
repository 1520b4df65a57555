/* SPDX-License-Identifier: GPL-2.0 */
/* A transformer with thresholds, and what is in the batches of its windows. */
#ifndef MONAD_TRANSFORM_WINDOWS_H
#define MONAD_TRANSFORM_WINDOWS_H

#include "transform_events.h"

static const struct transform_threshold thresholds[] = {
	{ 8, 16, 100 * MS, 10 },
	{ 0, 0, 10 * MS, 0 },
	{ 253, 0, 0, 3 },
};

static const struct transform_config config = {
	.thresholds = thresholds,
	.nr_thresholds = 3,
	.stuck_ns = 30 * SECOND,
	.per_kind = 5,
	.per_window = 20,
	.victims = 3,
	.cgroups = 2,
	.metrics_every = 1,
	.attribution = true,
};

static inline const Monad__EventWrapper *find(const Monad__TelemetryBatch *batch, const char *name)
{
	for (size_t i = 0; i < batch->n_spontaneous_events; i++) {
		if (!strcmp(batch->spontaneous_events[i]->name, name))
			return batch->spontaneous_events[i];
	}
	return NULL;
}

/* The first one with that operation. */
static inline const Monad__EventWrapper *find_op(const Monad__TelemetryBatch *batch, const char *op)
{
	for (size_t i = 0; i < batch->n_spontaneous_events; i++) {
		if (!strcmp(batch->spontaneous_events[i]->storage->operation, op))
			return batch->spontaneous_events[i];
	}
	return NULL;
}

static inline void add(struct transformer *t, struct raw_event event)
{
	static uint64_t seqno;

	event.seqno = ++seqno;
	event.time_ns = NOW + seqno;
	transform_event(t, &event);
}

static inline void add_slow(struct transformer *t, uint64_t ns)
{
	add(t, slow_read(ns));
}

#endif /* MONAD_TRANSFORM_WINDOWS_H */
