/* SPDX-License-Identifier: GPL-2.0 */
/* What there is to export of the counters, now: for those who ask, and those who are sent it. */
#ifndef MONAD_STORAGE_EXPORT_OBSERVE_H
#define MONAD_STORAGE_EXPORT_OBSERVE_H

#include "families.h"

/*
 * Fills in @families, which need not be initialized; families_free() after it. 0, or -errno as
 * of observation_take() with nothing in them. From any thread, one after the other.
 */
int export_observe(struct families *families);

/* Why nothing can be said of the recording, for users. */
void export_explain(int err, char *text, size_t size);

#endif /* MONAD_STORAGE_EXPORT_OBSERVE_H */
