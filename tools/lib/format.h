/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers and times as people read them. */
#ifndef MONAD_TOOLS_FORMAT_H
#define MONAD_TOOLS_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FORMAT_SIZE_LEN 16
#define FORMAT_TIME_LEN 48
#define FORMAT_UUID_LEN 37

/* "512 B", "2 MiB", "1.5 GiB". Returns @buf. */
const char *format_size(char *buf, size_t buf_size, uint64_t bytes);

/* Local time of CLOCK_REALTIME nanoseconds: "2026-01-31 13:59:59.123456789". */
const char *format_time(char *buf, size_t buf_size, uint64_t epoch_ns);

/* The same by RFC 3339: "2026-01-31T13:59:59.123456789+01:00". */
const char *format_time_rfc3339(char *buf, size_t buf_size, uint64_t epoch_ns);

/* "850 ns", "1.25 ms", "3.1 s", "2 h 05 min". */
const char *format_duration(char *buf, size_t buf_size, uint64_t ns);

/* 16 bytes as "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx". */
const char *format_uuid(char *buf, size_t buf_size, const uint8_t *uuid);

/* Lines of 16 bytes each, hexadecimal and as characters, after @indent. */
void print_hex(FILE *out, const char *indent, const void *bytes, size_t len);

#endif /* MONAD_TOOLS_FORMAT_H */
