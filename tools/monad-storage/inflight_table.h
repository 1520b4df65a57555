/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs know of that is under way. */
#ifndef MONAD_STORAGE_INFLIGHT_TABLE_H
#define MONAD_STORAGE_INFLIGHT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "storage_state.h"

struct inflight_io {
	struct monad_storage_io io;
	bool bio;           /* of a device that takes bios, whose driver has it */
	uint64_t began_ns;  /* CLOCK_MONOTONIC; 0: not known */
	uint64_t age_ns;    /* 0: not known */
};

/*
 * Calls @each for all of it, in no order. What comes and goes meanwhile is among it or not; what
 * has ended without being seen (a recursion miss) is not, @unseen is how many those are, where
 * it is not NULL. 0, or -errno when nothing is recorded.
 */
int inflight_visit(void (*each)(const struct inflight_io *io, void *arg), void *arg,
		   uint64_t *unseen);

#endif /* MONAD_STORAGE_INFLIGHT_TABLE_H */
