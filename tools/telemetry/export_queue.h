/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The batches that wait for an exporter, which has a thread of its own. There is room for
 * so many and no more: when it is full the oldest goes, and that is counted. A receiver
 * that is down therefore costs nothing but what is said to be dropped, and nobody waits.
 */
#ifndef MONAD_TELEMETRY_EXPORT_QUEUE_H
#define MONAD_TELEMETRY_EXPORT_QUEUE_H

#include "exporter.h"

struct export_queue;

struct export_queue_limits {
	size_t batches;
	size_t bytes; /* of batches as they are sent */
	uint64_t retry_min_ns; /* doubled at each failure in a row ... */
	uint64_t retry_max_ns; /* ... up to this; a quarter more or less, by chance */
};

#define EXPORT_QUEUE_DEFAULT_LIMITS { \
	.batches = 1024, .bytes = 16 << 20, \
	.retry_min_ns = 1000000000, .retry_max_ns = 30000000000 }

/* Always: what was added is what was sent, dropped, and is waiting. */
struct export_queue_counters {
	uint64_t added_batches;
	uint64_t sent_batches;
	uint64_t sent_metrics;    /* what was in them, and was not refused ... */
	uint64_t sent_events;     /* ... by the receiver */
	uint64_t dropped_batches; /* there was no room, or they were refused ... */
	uint64_t dropped_metrics; /* ... and what was in those, or refused of others */
	uint64_t dropped_events;
	uint64_t failures;        /* attempts that did not send */
	uint64_t waiting_batches; /* with the one that is being sent */
	uint64_t waiting_bytes;
	bool up;                  /* the last attempt did; true before the first */
};

/* Takes over @exporter, also on failure. 0 or -errno. */
int export_queue_start(struct export_queue **queue, struct exporter *exporter,
		       const struct export_queue_limits *limits);

/*
 * Copies @batch. To its losses the queue's own are added when it is sent. Never waits. 0;
 * -ENOMEM, which counts as dropped.
 */
int export_queue_add(struct export_queue *queue, const Monad__TelemetryBatch *batch);

void export_queue_counters(struct export_queue *queue, struct export_queue_counters *counters);

/* What it was started with; not to be called but for its name and target. */
const struct exporter *export_queue_exporter(const struct export_queue *queue);

/* How full it is: 0 to 1000. What is to be degraded depends on it (transform.h). */
unsigned int export_queue_pressure(struct export_queue *queue);

/*
 * Ends after what is waiting was sent, or @wait_ns have passed; what is left is counted as
 * dropped. @counters may be NULL.
 */
void export_queue_stop(struct export_queue *queue, uint64_t wait_ns,
		       struct export_queue_counters *counters);

#endif /* MONAD_TELEMETRY_EXPORT_QUEUE_H */
