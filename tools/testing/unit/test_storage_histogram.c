// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF programs' histogram, and what monad-storage reads out of it: each time is in the
 * bucket whose end is the smallest that is not below it, exactly, and buckets are as narrow as
 * they are said to be.
 */
#include "latency_bucket.h"
#include "metrics.h"
#include "tap.h"

/* By counting, not by calculating. */
static unsigned int bucket_by_search(uint64_t ns)
{
	unsigned int i = 0;

	while (metrics_bucket_end(i) < ns)
		i++;
	return i;
}

static bool ends_rise(void)
{
	for (unsigned int i = 1; i < MONAD_STORAGE_BUCKETS; i++) {
		uint64_t from = metrics_bucket_end(i - 1), to = metrics_bucket_end(i);

		if (to <= from)
			return false;
		/* One eighth of where it begins, at most: whole numbers below 8. */
		if (i < MONAD_STORAGE_BUCKETS - 1 && from >= 8 && (to - from) * 8 > from)
			return false;
	}
	return true;
}

static bool around(uint64_t ns)
{
	for (int d = -3; d <= 3; d++) {
		uint64_t t = ns + d;

		if (d < 0 && ns < (uint64_t)-d)
			continue;
		if (latency_bucket(t) != bucket_by_search(t)) {
			diag("%llu ns: bucket %u, not %u", (unsigned long long)t,
			     latency_bucket(t), bucket_by_search(t));
			return false;
		}
	}
	return true;
}

static void test_buckets(void)
{
	bool powers = true, ends = true, random = true, low = true;
	uint64_t r = 88172645463325252ULL;

	eq_u64(MONAD_STORAGE_BUCKETS, 305, "305 buckets");
	ok(ends_rise(), "buckets are at most an eighth wide");
	for (unsigned int power = 0; power <= 43; power++)
		powers &= around(1ULL << power);
	ok(powers, "every power of two, and what is next to it");
	for (unsigned int i = 0; i + 1 < MONAD_STORAGE_BUCKETS; i++)
		ends &= around(metrics_bucket_end(i));
	ok(ends, "every end of a bucket, and what is next to it");
	for (uint64_t ns = 0; ns < 100000; ns++)
		low &= latency_bucket(ns) == bucket_by_search(ns);
	ok(low, "every time up to 100 us");
	for (unsigned int i = 0; i < 100000; i++) {
		r ^= r << 13;
		r ^= r >> 7;
		r ^= r << 17;
		random &= around(r >> (20 + i % 44));
	}
	ok(random, "any time");
	for (unsigned int power = 3; power <= 40; power++) {
		if (metrics_bucket_end(latency_bucket(1ULL << power)) != 1ULL << power) {
			ok(false, "2^%u is the end of a bucket", power);
			return;
		}
	}
	ok(true, "powers of two are ends of buckets");
	eq_u64(metrics_bucket_end(latency_bucket((1ULL << 40) + 1)), UINT64_MAX,
	       "what is longer than 2^40 ns is in the last");
	eq_u64(latency_bucket(UINT64_MAX), MONAD_STORAGE_BUCKETS - 1, "so is the longest of all");
}

/* What a sum says beyond the buckets. */
static void test_bounds(void)
{
	static struct monad_storage_metrics m;
	const unsigned int bucket = latency_bucket(6000000000ULL);
	const uint64_t begin = metrics_bucket_end(bucket - 1), end = metrics_bucket_end(bucket);

	m.bucket[0][bucket] = 1;
	m.sum_ns[0] = 6000000000ULL;
	eq_u64(metrics_percentile(&m, 0, 50), 6000000000ULL, "the only one is the sum");
	m.bucket[0][bucket] = 2;
	m.sum_ns[0] = 2 * begin + 10;
	eq_u64(metrics_percentile(&m, 0, 99), begin + 10, "what the other one leaves");
	m.bucket[0][latency_bucket(1000)] = 1;
	m.sum_ns[0] = 2 * end + 1000;
	eq_u64(metrics_percentile(&m, 0, 99), end, "the end of the bucket at most");
	eq_u64(metrics_percentile(&m, 0, 1), metrics_bucket_end(latency_bucket(1000)),
	       "the others are longer");
	m.sum_ns[0] = 1000;
	eq_u64(metrics_percentile(&m, 0, 99), end, "a sum that is behind says nothing");
}

static void test_percentiles(void)
{
	static struct monad_storage_metrics m;
	uint64_t p;

	eq_u64(metrics_percentile(&m, 0, 99), 0, "nothing: no percentile");
	for (uint64_t us = 1; us <= 1000; us++)
		m.bucket[MONAD_STORAGE_PHASE_TOTAL][latency_bucket(us * 1000)]++;
	eq_u64(metrics_samples(&m, MONAD_STORAGE_PHASE_TOTAL), 1000, "1000 samples");
	eq_u64(metrics_samples(&m, MONAD_STORAGE_PHASE_QUEUE), 0, "of that phase only");
	p = metrics_percentile(&m, MONAD_STORAGE_PHASE_TOTAL, 50);
	ok(p >= 500000 && p <= 562500, "p50 of 1 to 1000 us is 500 us, or 12.5 %% more: %llu",
	   (unsigned long long)p);
	p = metrics_percentile(&m, MONAD_STORAGE_PHASE_TOTAL, 99);
	ok(p >= 990000 && p <= 990000 * 9 / 8, "p99: %llu", (unsigned long long)p);
	p = metrics_percentile(&m, MONAD_STORAGE_PHASE_TOTAL, 0);
	ok(p >= 1000 && p <= 1125, "p0: %llu", (unsigned long long)p);
	p = metrics_percentile(&m, MONAD_STORAGE_PHASE_TOTAL, 100);
	ok(p >= 1000000 && p <= 1125000, "p100: %llu", (unsigned long long)p);

	/* One of an hour, which is beyond the last bucket that has an end. */
	m.bucket[MONAD_STORAGE_PHASE_QUEUE][latency_bucket(3600 * 1000000000ULL)]++;
	m.sum_ns[MONAD_STORAGE_PHASE_QUEUE] = 3600 * 1000000000ULL;
	eq_u64(metrics_percentile(&m, MONAD_STORAGE_PHASE_QUEUE, 99), 3600 * 1000000000ULL,
	       "an hour is an hour");
	/* Its bucket was read, its time was not added yet. */
	m.sum_ns[MONAD_STORAGE_PHASE_QUEUE] = 0;
	eq_u64(metrics_percentile(&m, MONAD_STORAGE_PHASE_QUEUE, 99), 1ULL << 40,
	       "or 2^40 ns at least");
}

int main(void)
{
	test_buckets();
	test_percentiles();
	test_bounds();
	return done_testing();
}
