/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for messages that are built, packed, and thrown away in one piece. */
#ifndef MONAD_TELEMETRY_ARENA_H
#define MONAD_TELEMETRY_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;
	bool failed; /* some of it was not there: what was built is not whole */
};

/*
 * Zeroed, good for any type; NULL, also of a size of 0, and then "failed" is set if there was
 * no memory.
 */
void *arena_alloc(struct arena *arena, size_t size);

/* An array of so many pointers, likewise; each is NULL. */
void *arena_pointers(struct arena *arena, size_t nr);

/* Like snprintf(), into the arena. "" when there is no memory. */
__attribute__((format(printf, 2, 3)))
char *arena_printf(struct arena *arena, const char *format, ...);

void arena_free(struct arena *arena);

#endif /* MONAD_TELEMETRY_ARENA_H */
