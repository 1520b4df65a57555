// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <time.h>

#include "interrupt.h"
#include "interval.h"
#include "monad_storage.h"
#include "parse.h"

/* So that a screen can be read, and a sum cannot overflow. */
#define LEAST_NS 10000000ULL
#define MOST_NS (365ULL * 24 * 3600 * NSEC_PER_SEC)

error_t interval_parse(struct interval *interval, const char *arg, struct argp_state *state)
{
	switch (state->arg_num) {
	case 0:
		if (parse_duration(arg, &interval->ns) || interval->ns < LEAST_NS ||
		    interval->ns > MOST_NS)
			argp_error(state, "'%s' is no interval; say 1, 500ms, 10s", arg);
		return 0;
	case 1:
		if (!parse_u64(arg, &interval->count) || !interval->count)
			argp_error(state, "'%s' is no count of intervals", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

uint64_t interval_end(uint64_t before_ns, uint64_t ns)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return before_ns + ns > now ? before_ns + ns : now + ns;
}

bool interval_next(struct interval *interval)
{
	struct timespec ts;

	if (!interval->next_ns) {
		interval->next_ns = clock_ns(CLOCK_MONOTONIC);
		if (!interval->count)
			interval->count = UINT64_MAX;
	}
	if (!interval->count)
		return false;
	interval->count--;
	interval->next_ns = interval_end(interval->next_ns, interval->ns);
	ts.tv_sec = (time_t)(interval->next_ns / NSEC_PER_SEC);
	ts.tv_nsec = (long)(interval->next_ns % NSEC_PER_SEC);
	while (!interrupted && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
	return !interrupted;
}
