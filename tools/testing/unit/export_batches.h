/* SPDX-License-Identifier: GPL-2.0 */
/* Batches that are made up, for tests of exporters. */
#ifndef MONAD_TEST_EXPORT_BATCHES_H
#define MONAD_TEST_EXPORT_BATCHES_H

#include <time.h>

#include "monad/telemetry.pb-c.h"
#include "tap.h"

#define BATCH_NOW 1700000000000000000ULL

__attribute__((unused)) static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void *must(void *p)
{
	if (!p)
		bail_out("no memory");
	return p;
}

static Monad__MetricWrapper *add_metric(Monad__TelemetryBatch *batch, const char *name,
					const char *unit, Monad__MetricType type, double value)
{
	Monad__MetricWrapper *metric = must(malloc(sizeof(*metric)));

	monad__metric_wrapper__init(metric);
	metric->name = must(strdup(name));
	metric->help = must(strdup("Made up."));
	metric->unit = must(strdup(unit));
	metric->type = type;
	metric->start_ns = BATCH_NOW - 60000000000ULL;
	metric->time_ns = BATCH_NOW;
	metric->value = value;
	batch->metrics = must(realloc(batch->metrics, (batch->n_metrics + 1) * sizeof(void *)));
	batch->metrics[batch->n_metrics++] = metric;
	return metric;
}

__attribute__((unused)) static void add_label(Monad__MetricWrapper *metric, const char *name,
					      const char *value)
{
	Monad__Label *label = must(malloc(sizeof(*label)));

	monad__label__init(label);
	label->name = must(strdup(name));
	label->value = must(strdup(value));
	metric->labels = must(realloc(metric->labels, (metric->n_labels + 1) * sizeof(void *)));
	metric->labels[metric->n_labels++] = label;
}

static Monad__EventWrapper *add_event(Monad__TelemetryBatch *batch, const char *name,
				      Monad__Severity severity, const char *message)
{
	Monad__EventWrapper *event = must(malloc(sizeof(*event)));

	monad__event_wrapper__init(event);
	event->name = must(strdup(name));
	event->severity = severity;
	event->message = must(strdup(message));
	event->time_ns = BATCH_NOW - 5;
	batch->spontaneous_events = must(realloc(batch->spontaneous_events,
						 (batch->n_spontaneous_events + 1) *
						 sizeof(void *)));
	batch->spontaneous_events[batch->n_spontaneous_events++] = event;
	return event;
}

/* So many gauges and events. monad__telemetry_batch__free_unpacked(batch, NULL) */
static Monad__TelemetryBatch *make_batch(uint64_t sequence, unsigned int metrics,
					 unsigned int events)
{
	Monad__TelemetryBatch *batch = must(malloc(sizeof(*batch)));

	monad__telemetry_batch__init(batch);
	batch->sequence = sequence;
	batch->time_ns = BATCH_NOW;
	batch->window_ns = 10000000000ULL;
	for (unsigned int i = 0; i < metrics; i++)
		add_metric(batch, "monad_test_level", "", MONAD__METRIC_TYPE__METRIC_TYPE_GAUGE,
			   sequence);
	for (unsigned int i = 0; i < events; i++)
		add_event(batch, "io_error", MONAD__SEVERITY__SEVERITY_ERROR, "something failed");
	return batch;
}

#endif /* MONAD_TEST_EXPORT_BATCHES_H */
