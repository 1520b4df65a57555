/* SPDX-License-Identifier: GPL-2.0 */
/* Where batches are sent to: the options that say so, and a queue for each. */
#ifndef MONAD_STORAGE_EXPORT_TARGETS_H
#define MONAD_STORAGE_EXPORT_TARGETS_H

#include "export_queue.h"
#include "families.h"

#define EXPORT_TARGETS_MAX 16
#define EXPORT_HEADERS_MAX 32

enum export_kind { EXPORT_OTLP, EXPORT_JSON, EXPORT_TELEMETRY };

struct export_targets {
	struct {
		enum export_kind kind;
		const char *where;
		struct export_queue *queue;
	} target[EXPORT_TARGETS_MAX];
	size_t nr;
	size_t queue_batches; /* kept for each that does not receive; 0: as many as usual */
	const char *headers[EXPORT_HEADERS_MAX + 1]; /* of OTLP; NULL at the end */
	size_t nr_headers;
	bool plain;           /* OTLP without compression */
	char host[65];
	char boot_id[40];
	uint64_t began_ns; /* CLOCK_REALTIME */
};

/* False if there is no room for one more. The text stays the caller's. */
bool export_targets_add(struct export_targets *targets, enum export_kind kind, const char *where);
bool export_targets_add_header(struct export_targets *targets, const char *header);

/* Whether stdout belongs to one of them. */
bool export_targets_use_stdout(const struct export_targets *targets);
/* ... and whether nobody reads from that any more. */
bool export_targets_stdout_gone(const struct export_targets *targets);

/* Opens all of them. 0, or an exit status after a message. */
int export_targets_start(struct export_targets *targets);

/* Says in @batch who sends it. */
void export_targets_sign(const struct export_targets *targets, Monad__TelemetryBatch *batch);

void export_targets_send(struct export_targets *targets, const Monad__TelemetryBatch *batch);

/* The highest of all. */
unsigned int export_targets_pressure(struct export_targets *targets);

/* Adds what there is to say of each: monad_storage_telemetry_export_*. */
void export_targets_families(struct export_targets *targets, struct families *families);

/*
 * Ends all, within that time, and says what was not sent. False if one of them was sent nothing
 * at all of what there was.
 */
bool export_targets_stop(struct export_targets *targets, uint64_t wait_ns);

#endif /* MONAD_STORAGE_EXPORT_TARGETS_H */
