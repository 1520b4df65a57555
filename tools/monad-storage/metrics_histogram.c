// SPDX-License-Identifier: GPL-2.0
#include "metrics.h"

uint64_t metrics_bucket_end(unsigned int bucket)
{
	const unsigned int fine = 1 << MONAD_STORAGE_FINE_SHIFT;
	unsigned int power;

	if (bucket >= MONAD_STORAGE_BUCKETS - 1)
		return UINT64_MAX;
	if (bucket < fine)
		return bucket + 1;
	power = bucket / fine - 1;
	return (uint64_t)(fine + bucket % fine + 1) << power;
}

uint64_t metrics_samples(const struct monad_storage_metrics *m, enum monad_storage_phase phase)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < MONAD_STORAGE_BUCKETS; i++)
		sum += m->bucket[phase][i];
	return sum;
}

/*
 * The end of a bucket; or what one of its times can be at most, if that is less, as where it is
 * the only one: what the sum leaves for it when all others are no longer than where their
 * buckets begin. (A sum that was read at another moment than the buckets leaves anything.)
 */
static uint64_t at_most(const struct monad_storage_metrics *m, enum monad_storage_phase phase,
			unsigned int bucket)
{
	uint64_t end = metrics_bucket_end(bucket), begin = 0, others = 0;

	for (unsigned int i = 1; i < MONAD_STORAGE_BUCKETS; i++) {
		others += m->bucket[phase][i] * metrics_bucket_end(i - 1);
		if (i == bucket)
			begin = metrics_bucket_end(i - 1);
	}
	others -= begin;
	if (m->sum_ns[phase] < others + begin || m->sum_ns[phase] - others > end)
		return end;
	return m->sum_ns[phase] - others;
}

uint64_t metrics_percentile(const struct monad_storage_metrics *m, enum monad_storage_phase phase,
			    double percent)
{
	double want = (double)metrics_samples(m, phase) * percent / 100;
	const uint64_t beyond = 1ULL << MONAD_STORAGE_MAX_SHIFT;
	uint64_t seen = 0;

	for (unsigned int i = 0; i < MONAD_STORAGE_BUCKETS - 1; i++) {
		seen += m->bucket[phase][i];
		if (seen && (double)seen >= want)
			return at_most(m, phase, i);
	}
	if (!m->bucket[phase][MONAD_STORAGE_BUCKETS - 1])
		return 0;
	/* The last one has no end; but no time is longer than all of them together. */
	return m->sum_ns[phase] > beyond ? m->sum_ns[phase] : beyond;
}
