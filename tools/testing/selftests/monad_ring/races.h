/* SPDX-License-Identifier: GPL-2.0 */
/* What the processes of races.c have in common. */
#ifndef SELFTEST_RACES_H
#define SELFTEST_RACES_H

#include <stdbool.h>
#include <stdint.h>

#include "writers.h"

#define NAMES 4
#define MS 1000000LL

extern const char *const names[NAMES]; /* of the rings that come and go */

/* Of all processes. */
struct shared {
	uint64_t until;
	uint32_t id[NAMES]; /* of the last one made by that name */
	uint64_t complaints;
	struct counts {
		uint64_t made, destroyed, opened, read, complete, waited, timed_out, hung_up,
			 attributes, content, killed, loaded, unloaded, kept, programs;
	} n;
};

extern struct shared *shared;

#define COUNT(what) __atomic_fetch_add(&shared->n.what, 1, __ATOMIC_RELAXED)

/* On stderr, unless there were many before; and the test has failed. */
void __attribute__((format(printf, 1, 2))) complain(const char *format, ...);

/* A number at random. */
uint32_t any(uint32_t below);

/* What opening may say of a ring, or a module, that comes and goes. */
bool may_be_gone(int err);

/* Opens a ring, reads, and waits for more in every way there is. */
void reader(struct writers *w);

#endif /* SELFTEST_RACES_H */
