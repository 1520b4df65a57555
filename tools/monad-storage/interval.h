/* SPDX-License-Identifier: GPL-2.0 */
/* "[INTERVAL [COUNT]]", as vmstat and iostat have it. */
#ifndef MONAD_STORAGE_INTERVAL_H
#define MONAD_STORAGE_INTERVAL_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#define INTERVAL_ARGS "[INTERVAL [COUNT]]"

struct interval {
	uint64_t ns;    /* 0: none was given */
	uint64_t count; /* 0: until interrupted */
	uint64_t next_ns;
};

/* Takes an argument, by its number (state->arg_num); ends the program for a wrong one. */
error_t interval_parse(struct interval *interval, const char *arg, struct argp_state *state);

/*
 * When the interval ends that follows one that ended at @before_ns: those that were missed, as
 * when nobody read what was printed, or the program was stopped, are not made up for.
 */
uint64_t interval_end(uint64_t before_ns, uint64_t ns);

/*
 * Sleeps until the next interval is over, as counted from the first call; false when
 * there are no more, or somebody interrupted.
 */
bool interval_next(struct interval *interval);

#endif /* MONAD_STORAGE_INTERVAL_H */
