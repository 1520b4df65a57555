/* SPDX-License-Identifier: GPL-2.0 */
/* Times as people write them. */
#ifndef MONAD_STORAGE_PARSE_H
#define MONAD_STORAGE_PARSE_H

#include <stdint.h>

/* "10ms", "1.5s", "2h"; a bare number is seconds. 0 or -1. */
int parse_duration(const char *text, uint64_t *ns);

/*
 * A point in time, as nanoseconds since 1970: "60s" (that long ago), "03:12" and
 * "03:12:30" (when it was last that time of day), "2024-05-31 03:12:30", "@EPOCH".
 * 0 or -1.
 */
int parse_time(const char *text, uint64_t now_ns, uint64_t *ns);

#endif /* MONAD_STORAGE_PARSE_H */
