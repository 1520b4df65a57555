/* SPDX-License-Identifier: GPL-2.0 */
/* Which bucket a latency goes into; for BPF programs, and for tests of it. */
#ifndef MONAD_LATENCY_BUCKET_H
#define MONAD_LATENCY_BUCKET_H

#include "storage_state.h"

/* Places of the highest bit that is set, and 0 for 0. */
static inline __attribute__((always_inline)) uint32_t latency_log2(uint64_t v)
{
	uint32_t n = 0;

	if (v >> 32) {
		v >>= 32;
		n += 32;
	}
	if (v >> 16) {
		v >>= 16;
		n += 16;
	}
	if (v >> 8) {
		v >>= 8;
		n += 8;
	}
	if (v >> 4) {
		v >>= 4;
		n += 4;
	}
	if (v >> 2) {
		v >>= 2;
		n += 2;
	}
	return n + (v >> 1);
}

/* The bucket of a time: struct monad_storage_metrics says what is in which. */
static inline __attribute__((always_inline)) uint32_t latency_bucket(uint64_t ns)
{
	uint32_t power;

	/* A bucket includes its end, not its beginning. */
	if (ns)
		ns--;
	if (ns < 1 << MONAD_STORAGE_FINE_SHIFT)
		return ns;
	if (ns >> MONAD_STORAGE_MAX_SHIFT)
		return MONAD_STORAGE_BUCKETS - 1;
	power = latency_log2(ns) - MONAD_STORAGE_FINE_SHIFT;
	return (power << MONAD_STORAGE_FINE_SHIFT) + (ns >> power);
}

#endif /* MONAD_LATENCY_BUCKET_H */
