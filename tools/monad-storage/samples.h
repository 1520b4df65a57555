/* SPDX-License-Identifier: GPL-2.0 */
/* What was observed of a recording, as families of samples. */
#ifndef MONAD_STORAGE_SAMPLES_H
#define MONAD_STORAGE_SAMPLES_H

#include "families.h"
#include "observation.h"

/*
 * Latencies are exported in buckets that end at powers of two of nanoseconds: 2^13
 * (8.192 us) to 2^36 (69 s). Each is the end of one of ours as well, so that adding
 * those up is exact.
 */
#define SAMPLES_FIRST_SHIFT 13
#define SAMPLES_LAST_SHIFT 36
#define SAMPLES_BOUNDS (SAMPLES_LAST_SHIFT - SAMPLES_FIRST_SHIFT + 1)

/* Fills in @families, which need not be initialized; families_free() after it. */
void samples_make(struct families *families, const struct observation *seen);

#endif /* MONAD_STORAGE_SAMPLES_H */
