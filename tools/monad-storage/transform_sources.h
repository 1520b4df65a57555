/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the transformer cannot see in events, from /sys, /proc and the symbol tables. What
 * was found is kept for a while, in as many places as there are.
 */
#ifndef MONAD_STORAGE_TRANSFORM_SOURCES_H
#define MONAD_STORAGE_TRANSFORM_SOURCES_H

#include "transform.h"

/*
 * Fills in @sources, for one thread at a time; but for stacks, which a transformer sees
 * itself. 0 or -ENOMEM. transform_sources_close() after it.
 */
int transform_sources_open(struct transform_sources *sources);
void transform_sources_close(struct transform_sources *sources);

#endif /* MONAD_STORAGE_TRANSFORM_SOURCES_H */
