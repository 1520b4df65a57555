/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exporters: each takes batches, one after the other, and sends them to where it sends
 * them to. They look at what all batches have (telemetry.proto), never into the payload
 * of one kind of probe.
 */
#ifndef MONAD_TELEMETRY_EXPORTER_H
#define MONAD_TELEMETRY_EXPORTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monad/telemetry.pb-c.h"

/* Who sends, as all batches of a process have it. The strings stay the caller's. */
struct export_sender {
	const char *agent; /* "monad-storage" */
	const char *version;
	const char *host;
	const char *boot_id; /* of the kernel */
};

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
	 * own, and gives up sooner once give_up_ns has come. Why it was not EXPORT_SENT is
	 * in @why, for people; with EXPORT_SENT that is what is worth a note, or "".
	 */
	enum export_result (*send)(struct exporter *exporter, Monad__TelemetryBatch *batch,
				   char *why, size_t why_size);
	void (*close)(struct exporter *exporter); /* frees it */

	/* CLOCK_MONOTONIC, 0: never. Set by another thread, also while send() runs. */
	atomic_ullong give_up_ns;
	/* With EXPORT_AGAIN, what the receiver wants: not within that time. 0: it did not say. */
	uint64_t retry_after_ns;
	/* With EXPORT_SENT: what of this batch the receiver did not take. */
	uint64_t rejected_metrics;
	uint64_t rejected_events;
};

#endif /* MONAD_TELEMETRY_EXPORTER_H */
