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

uint64_t metrics_percentile(const struct monad_storage_metrics *m, enum monad_storage_phase phase,
			    double percent)
{
	double want = (double)metrics_samples(m, phase) * percent / 100;
	const uint64_t beyond = 1ULL << MONAD_STORAGE_MAX_SHIFT;
	uint64_t seen = 0;

	for (unsigned int i = 0; i < MONAD_STORAGE_BUCKETS - 1; i++) {
		seen += m->bucket[phase][i];
		if (seen && (double)seen >= want)
			return metrics_bucket_end(i);
	}
	if (!m->bucket[phase][MONAD_STORAGE_BUCKETS - 1])
		return 0;
	/* The last one has no end; but no time is longer than all of them together. */
	return m->sum_ns[phase] > beyond ? m->sum_ns[phase] : beyond;
}
