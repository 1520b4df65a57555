/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes an event. Metrics have everything, whatever is said here; the settings
 * are the loader's, and what they leave out costs nothing: the kernel removes branches
 * that cannot be taken.
 */
#ifndef MONAD_STORAGE_POLICY_BPF_H
#define MONAD_STORAGE_POLICY_BPF_H

#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include "storage_state.h"

/* enum monad_storage_events */
const volatile uint32_t events_kept;
/* MONAD_STORAGE_EVENTS_NOTABLE: what takes longer than this is slow; 0: nothing is */
const volatile uint64_t slow_ns;
/* some devices have a limit of their own */
const volatile bool slow_by_device;
/* ... of the others, one in so many; 0: none */
const volatile uint32_t sample_every;
/* ends per second, 0: any number */
const volatile uint32_t max_rate;
/* who asked for it, and from which cgroup */
const volatile bool attribution = true;

/* nanoseconds by device, major << 20 | minor */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} slow_limits SEC(".maps");

/* The second that runs, and how many events it had: both in one word. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} rate SEC(".maps");

#define RATE_COUNT_BITS 32
#define NSEC_PER_SEC 1000000000ULL

static __always_inline bool is_slow(u32 dev, u64 total_ns)
{
	u64 limit = slow_ns, *own;

	if (slow_by_device) {
		own = bpf_map_lookup_elem(&slow_limits, &dev);
		if (own)
			limit = *own;
	}
	return limit && total_ns >= limit;
}

/* One more event in this second: is there room for it? */
static __always_inline bool within_rate(void)
{
	u64 second = (bpf_ktime_get_ns() / NSEC_PER_SEC) << RATE_COUNT_BITS, seen, *word;
	u32 zero = 0;

	word = bpf_map_lookup_elem(&rate, &zero);
	if (!word)
		return true;
	seen = *(volatile u64 *)word;
	/* Whoever is first in a second begins it; a clock that is behind joins it. */
	if (seen < second && __sync_val_compare_and_swap(word, seen, second | 1) == seen)
		return true;
	seen = __sync_fetch_and_add(word, 1);
	return (u32)seen < max_rate;
}

/* Steps between start and end are events. */
static __always_inline bool keep_steps(void)
{
	return events_kept == MONAD_STORAGE_EVENTS_ALL;
}

/*
 * The end of an operation is an event; adds to @flags why. @retries: times the driver
 * gave it back after it had taken it.
 */
static __always_inline bool keep_end(u32 dev, u64 total_ns, u32 error, u32 retries, u32 *flags)
{
	if (events_kept != MONAD_STORAGE_EVENTS_NOTABLE)
		return true;
	if (is_slow(dev, total_ns)) {
		*flags |= MONAD_STORAGE_F_SLOW;
		return true;
	}
	if (error || retries || *flags & MONAD_STORAGE_F_TIMED_OUT)
		return true;
	if (sample_every && bpf_get_prandom_u32() % sample_every == 0) {
		*flags |= MONAD_STORAGE_F_SAMPLE;
		return true;
	}
	return false;
}

#endif /* MONAD_STORAGE_POLICY_BPF_H */
