/* SPDX-License-Identifier: GPL-2.0 */
/* Batches as lines of JSON, each in one line, at the end of a file or on stdout. */
#ifndef MONAD_TELEMETRY_JSONL_EXPORTER_H
#define MONAD_TELEMETRY_JSONL_EXPORTER_H

#include "exporter.h"

/*
 * @path: "-" is stdout. A file is made if it is not there, and opened again when it was
 * renamed or removed. NULL with the reason in @why if it cannot be opened.
 */
struct exporter *jsonl_exporter(const char *path, char *why, size_t why_size);

#endif /* MONAD_TELEMETRY_JSONL_EXPORTER_H */
