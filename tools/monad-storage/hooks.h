/* SPDX-License-Identifier: GPL-2.0 */
/* The tracepoints a recording is attached to, and what the kernel says of each. */
#ifndef MONAD_STORAGE_HOOKS_H
#define MONAD_STORAGE_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NR_HOOKS 13

/*
 * By name of the tracepoint, or function. The first two stand in for each other, the next two
 * are the core.
 */
extern const char *const hook_names[NR_HOOKS];

struct hook {
	bool attached;
	/*
	 * hits that the kernel skipped: the program was running on that CPU already. Where I/O
	 * ends there is another behind it, which sees these: MONAD_STORAGE_ENDS_CAUGHT. Its own
	 * misses are of no account
	 */
	uint64_t recursion_misses;
	/* 0 unless the sysctl kernel.bpf_stats_enabled is 1 */
	uint64_t runs;
	uint64_t run_time_ns;
};

/* Fills in all of them; 0 or -errno, when none is attached. */
int hooks_read(struct hook hooks[NR_HOOKS]);

/* One is missing without which hardly anything is counted: how requests are issued, and end. */
bool hooks_crippled(const struct hook hooks[NR_HOOKS]);

/* Not attached, and none that stands in for it either. */
bool hook_missing(const struct hook hooks[NR_HOOKS], size_t which);

#endif /* MONAD_STORAGE_HOOKS_H */
