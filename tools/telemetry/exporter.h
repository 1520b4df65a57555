/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exporters: each takes batches, one after the other, and sends them to where it sends
 * them to. They look at what all batches have (telemetry.proto), never into the payload
 * of one kind of probe.
 */
#ifndef MONAD_TELEMETRY_EXPORTER_H
#define MONAD_TELEMETRY_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monad/telemetry.pb-c.h"

enum export_result {
	EXPORT_SENT,
	EXPORT_AGAIN,   /* the receiver is not there, or busy: the same batch again, later */
	EXPORT_REFUSED, /* it will never take this one */
};

/* What all of them begin with; opened by otlp_exporter(), stream_exporter(), ... */
struct exporter {
	const char *name; /* "otlp", for messages and metrics */
	char target[256]; /* where it sends to, for messages */
	/*
	 * Called in the thread of its queue only. May take as long as a time limit of its
	 * own, and gives up sooner once "interrupted" (interrupt.h) is set. Why it was not
	 * EXPORT_SENT is in @why, for people.
	 */
	enum export_result (*send)(struct exporter *exporter, Monad__TelemetryBatch *batch,
				   char *why, size_t why_size);
	void (*close)(struct exporter *exporter); /* frees it */
};

#endif /* MONAD_TELEMETRY_EXPORTER_H */
