/* SPDX-License-Identifier: GPL-2.0 */
/* Round numbers for the axes of pictures. */
#ifndef MONAD_STORAGE_AXIS_H
#define MONAD_STORAGE_AXIS_H

#include <stdint.h>

#include "human.h"

/* The least of 1, 2, 5, 10, 20, ... that is @least or more. @least is up to 5e18. */
uint64_t axis_step(uint64_t least);

/* The same for times, which become minutes, hours and days: nanoseconds. */
uint64_t axis_time_step(uint64_t least_ns);

/* "50us", "1.5ms", "2m", "12h": nothing of a round time is lost. Returns @buf. */
const char *axis_duration(uint64_t ns, char buf[HUMAN_LEN]);

/* "500", "20k", "1M". Returns @buf. */
const char *axis_number(uint64_t n, char buf[HUMAN_LEN]);

#endif /* MONAD_STORAGE_AXIS_H */
