/* SPDX-License-Identifier: GPL-2.0 */
/* How long I/O took in all, by the stack it came from. */
#ifndef MONAD_STORAGE_FOLDED_H
#define MONAD_STORAGE_FOLDED_H

#include "stacks.h"

struct folded;

/* Ends the program when there is no memory. */
struct folded *folded_new(void);
void folded_add(struct folded *folded, const struct stacks *stacks,
		const struct storage_event *event);
/* "stack microseconds", a line each, in the order of the stacks. */
void folded_print(const struct folded *folded);
void folded_free(struct folded *folded);

#endif /* MONAD_STORAGE_FOLDED_H */
