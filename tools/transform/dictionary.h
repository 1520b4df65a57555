/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What identifiers stand for: each text and each stack once. A dictionary begins empty,
 * as monad__dictionary__init() leaves it, and is filled in by these only.
 */
#ifndef TRANSFORM_DICTIONARY_H
#define TRANSFORM_DICTIONARY_H

#include <stdbool.h>
#include <stdint.h>

#include "transform.h"

/* False without memory. @id is 0 for NULL and "". */
bool dictionary_string(Monad__Dictionary *dictionary, const char *text, uint32_t *id);

/* Likewise; with the symbols that the sources know. @id is 0 for a stack without frames. */
bool dictionary_stack(Monad__Dictionary *dictionary, const struct transform_sources *sources,
		      const struct monad_storage_stack *stack, uint32_t *id);

#endif /* TRANSFORM_DICTIONARY_H */
