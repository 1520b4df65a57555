/* SPDX-License-Identifier: GPL-2.0 */
/* Export that does not wait to be asked: what was seen in each interval is sent. */
#ifndef MONAD_STORAGE_EXPORT_PUSH_H
#define MONAD_STORAGE_EXPORT_PUSH_H

#include "export_targets.h"
#include "transform.h"

#define EXPORT_THRESHOLDS_MAX 64

struct push_options {
	struct export_targets targets;
	uint64_t interval_ns;
	uint64_t metrics_ns; /* metrics that often, at most; UINT64_MAX: never */
	bool no_events;
	uint64_t since_ns; /* CLOCK_REALTIME, 0: from now on */
	uint64_t stuck_ns; /* 0: as the transformer has it */
	struct transform_threshold thresholds[EXPORT_THRESHOLDS_MAX];
	size_t nr_thresholds;
};

/*
 * Sends until "interrupted" (interrupt.h) is set, or nobody reads its stdout; then what is
 * left, for some seconds at most. The targets are started. An exit status.
 */
int push_run(struct push_options *options);

#endif /* MONAD_STORAGE_EXPORT_PUSH_H */
