/* SPDX-License-Identifier: GPL-2.0 */
/* What became of a ring's events when they were copied. */
#ifndef MONAD_RING_TOOL_SNAPSHOT_REPORT_H
#define MONAD_RING_TOOL_SNAPSHOT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include <monad_event/event_snapshot.h>

/* A warning when that is not what @options asked for. */
void snapshot_warn(const struct monad_event_snapshot_options *options,
		   const struct monad_event_snapshot_stats *stats);

/* All of it to @out. @path: where they were copied to. */
void snapshot_report(FILE *out, bool json, const char *path,
		     const struct monad_event_snapshot_stats *stats);

#endif /* MONAD_RING_TOOL_SNAPSHOT_REPORT_H */
