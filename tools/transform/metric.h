/* SPDX-License-Identifier: GPL-2.0 */
/* A series as a message. */
#ifndef TRANSFORM_METRIC_H
#define TRANSFORM_METRIC_H

#include "series_table.h"

#include "monad/telemetry.pb-c.h"

/* NULL without memory. */
Monad__MetricWrapper *metric_make(const struct series_entry *entry, uint64_t time_ns);

#endif /* TRANSFORM_METRIC_H */
