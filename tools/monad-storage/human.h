/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers as people read them. Each returns @buf. */
#ifndef MONAD_STORAGE_HUMAN_H
#define MONAD_STORAGE_HUMAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HUMAN_LEN 32
#define HUMAN_WINDOW_LEN 64

/* "512", "4K", "1.5M": at most 5 characters. */
const char *human_bytes(uint64_t bytes, char buf[HUMAN_LEN]);
/* "12.3us", "4.56ms", "1.2s": at most 6 characters. */
const char *human_duration(uint64_t ns, char buf[HUMAN_LEN]);
/* Milliseconds with three decimals, "-" when not known. */
const char *human_ms(uint64_t ns, bool known, char buf[HUMAN_LEN]);
/* Local time of day, "03:12:30.123456". */
const char *human_clock(uint64_t epoch_ns, char buf[HUMAN_LEN]);

/* "08:15:00, in 1s": over what was seen in a window that ended at @end_ns, since 1970 */
const char *human_window(uint64_t end_ns, uint64_t window_ns, char buf[HUMAN_WINDOW_LEN]);
/* Local date and time, "2024-05-31 03:12:30". */
const char *human_time(uint64_t epoch_ns, char buf[HUMAN_LEN]);
/* A time span: "41s", "3m12s", "5h07m". */
const char *human_span(uint64_t ns, char buf[HUMAN_LEN]);
/* A number with spaces every three digits. */
const char *human_count(uint64_t n, char buf[HUMAN_LEN]);

#endif /* MONAD_STORAGE_HUMAN_H */
