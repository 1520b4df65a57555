// SPDX-License-Identifier: GPL-2.0
/*
 * Prints how many thousand times a second this machine's time stamp counter counts.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct point {
	int64_t ns;
	uint64_t ticks;
};

/* Both clocks at the same time: of some tries the one that took the least time. */
static struct point look(void)
{
	struct point best = { 0, 0 };
	uint64_t took = UINT64_MAX;
	int i;

	for (i = 0; i < 100; i++) {
		uint64_t before = __rdtsc(), after;
		struct timespec ts;

		clock_gettime(CLOCK_MONOTONIC, &ts);
		after = __rdtsc();
		if (after - before >= took)
			continue;
		took = after - before;
		best.ticks = before + took / 2;
		best.ns = ts.tv_sec * 1000000000LL + ts.tv_nsec;
	}
	return best;
}

int main(void)
{
	const struct timespec while_ = { 0, 100000000 };
	struct point from = look(), to;

	nanosleep(&while_, NULL);
	to = look();
	printf("%.0f\n", (to.ticks - from.ticks) * 1e6 / (to.ns - from.ns));
	return 0;
}
