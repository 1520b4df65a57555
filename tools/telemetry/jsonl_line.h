/* SPDX-License-Identifier: GPL-2.0 */
/* A batch as a line of JSON. */
#ifndef MONAD_TELEMETRY_JSONL_LINE_H
#define MONAD_TELEMETRY_JSONL_LINE_H

#include <stddef.h>

#include "monad/telemetry.pb-c.h"

/*
 * With a newline at its end, to be given to free(); NULL without memory. Counters and histograms
 * that have never counted anything are left out, and the help of all but the first series of
 * a name that are one behind the other.
 */
char *jsonl_line(const Monad__TelemetryBatch *batch, size_t *size);

#endif /* MONAD_TELEMETRY_JSONL_LINE_H */
