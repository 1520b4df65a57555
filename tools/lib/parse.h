/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers and times as people write them. */
#ifndef MONAD_TOOLS_PARSE_H
#define MONAD_TOOLS_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* Decimal, or hexadecimal with 0x, and nothing else. */
bool parse_u64(const char *text, uint64_t *value);

/* "10ms", "1.5s", "2h"; a bare number is seconds. 0 or -1. */
int parse_duration(const char *text, uint64_t *ns);

/* Likewise, but a number other than 0 has to have its unit: 5 of what? */
int parse_latency(const char *text, uint64_t *ns);

/*
 * A point in time, as nanoseconds since 1970: "60s" (that long ago), "03:12" and
 * "03:12:30" (when it was last that time of day), "2024-05-31 03:12:30", "@EPOCH".
 * 0 or -1.
 */
int parse_time(const char *text, uint64_t now_ns, uint64_t *ns);

#endif /* MONAD_TOOLS_PARSE_H */
