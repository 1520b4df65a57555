/* SPDX-License-Identifier: GPL-2.0 */
/* Batches as OTLP has them: metrics, and events as logs. */
#ifndef MONAD_TELEMETRY_OTLP_MESSAGE_H
#define MONAD_TELEMETRY_OTLP_MESSAGE_H

#include "exporter.h"

/*
 * A field that is an identifier of the batch's dictionary. Who makes the payloads knows
 * which ones are: as attributes they are what they stand for.
 */
struct otlp_reference {
	const char *message; /* "monad.StorageActor" */
	const char *field;   /* "cgroup" */
	bool stack;          /* it is one of a stack, and not of a text */
};

/* How many metrics there are in it, those of task results as well. */
size_t otlp_count_metrics(const Monad__TelemetryBatch *batch);
size_t otlp_count_events(const Monad__TelemetryBatch *batch);

/*
 * All of them as the body of a request, to be given to free(); NULL without memory. Counters
 * are cumulative and monotonic sums, since their start. The units s, By and 1 are UCUM's.
 */
uint8_t *otlp_metrics(const Monad__TelemetryBatch *batch, const struct export_sender *sender,
		      size_t *size);

/*
 * Likewise. A payload becomes attributes by its descriptor, as "storage.device.name";
 * @references end with one without message.
 */
uint8_t *otlp_logs(const Monad__TelemetryBatch *batch, const struct export_sender *sender,
		   const struct otlp_reference *references, size_t *size);

#endif /* MONAD_TELEMETRY_OTLP_MESSAGE_H */
