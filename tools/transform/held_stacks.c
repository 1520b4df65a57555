// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "held_stacks.h"

/* The few places there are for that number. */
static struct held_stack **places(struct held_stacks *stacks, uint32_t id)
{
	size_t hash = id * 0x9e3779b1U >> 16;

	return &stacks->stacks[hash % (HELD_STACKS / HELD_STACKS_ALIKE) * HELD_STACKS_ALIKE];
}

/* Its own place, an empty one, or that of the one that came first. */
static struct held_stack **place_for(struct held_stacks *stacks, uint32_t id)
{
	struct held_stack **place = places(stacks, id), **best = place;

	for (int i = 0; i < HELD_STACKS_ALIKE; i++) {
		if (place[i] && place[i]->what.id == id)
			return &place[i];
		if (*best && (!place[i] || place[i]->age < (*best)->age))
			best = &place[i];
	}
	return best;
}

void held_stack_put(struct held_stack *stack)
{
	if (stack && !--stack->holders)
		free(stack);
}

void held_stacks_add(struct held_stacks *stacks, const struct monad_storage_stack *what)
{
	struct held_stack **place, *stack;

	/* Numbers are from 1 on. */
	if (!what->id)
		return;
	place = place_for(stacks, what->id);
	if (*place && !memcmp(&(*place)->what, what, sizeof(*what))) {
		(*place)->age = ++stacks->came;
		return;
	}
	stack = malloc(sizeof(*stack));
	if (stack) {
		stack->holders = 1;
		stack->age = ++stacks->came;
		stack->what = *what;
	}
	held_stack_put(*place);
	*place = stack;
}

struct held_stack *held_stacks_get(struct held_stacks *stacks, uint32_t id)
{
	struct held_stack **place = places(stacks, id);

	for (int i = 0; id && i < HELD_STACKS_ALIKE; i++) {
		if (place[i] && place[i]->what.id == id) {
			place[i]->holders++;
			return place[i];
		}
	}
	return NULL;
}

void held_stacks_free(struct held_stacks *stacks)
{
	for (size_t i = 0; i < HELD_STACKS; i++)
		held_stack_put(stacks->stacks[i]);
	memset(stacks, 0, sizeof(*stacks));
}
