/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stacks that came last, by their numbers. A number may stand for another stack later:
 * an event that is kept holds its own.
 */
#ifndef TRANSFORM_HELD_STACKS_H
#define TRANSFORM_HELD_STACKS_H

#include <monad/storage_event.h>

#define HELD_STACKS 1024
#define HELD_STACKS_ALIKE 4 /* at most so many whose numbers fall together */

struct held_stack {
	unsigned int holders;
	uint64_t age; /* when it came, by the order of coming */
	struct monad_storage_stack what;
};

struct held_stacks {
	struct held_stack *stacks[HELD_STACKS];
	uint64_t came;
};

/* Copies it; without memory it is not known. */
void held_stacks_add(struct held_stacks *stacks, const struct monad_storage_stack *stack);

/* NULL if it is not known; held_stack_put() after use. */
struct held_stack *held_stacks_get(struct held_stacks *stacks, uint32_t id);
void held_stack_put(struct held_stack *stack);

void held_stacks_free(struct held_stacks *stacks);

#endif /* TRANSFORM_HELD_STACKS_H */
