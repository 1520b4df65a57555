/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts of times, in buckets fine enough for percentiles: each power of two is
 * cut into 32, so that a percentile is at most 3 % too high. Never too low.
 */
#ifndef MONAD_STORAGE_HISTOGRAM_H
#define MONAD_STORAGE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_FINE_SHIFT 5
#define HISTOGRAM_FINE (1 << HISTOGRAM_FINE_SHIFT)
/* 2^48 ns are three days: what is longer counts as that */
#define HISTOGRAM_POWERS 48

struct histogram {
	uint64_t samples;
	uint64_t sum;
	uint64_t max;
	uint64_t bucket[HISTOGRAM_POWERS][HISTOGRAM_FINE];
};

void histogram_add(struct histogram *histogram, uint64_t ns);

/* The time that @percent of the samples did not exceed; 0 without samples. */
uint64_t histogram_percentile(const struct histogram *histogram, double percent);

/* Samples from 2^power up to but not including 2^(power + 1). */
uint64_t histogram_power(const struct histogram *histogram, unsigned int power);

#endif /* MONAD_STORAGE_HISTOGRAM_H */
