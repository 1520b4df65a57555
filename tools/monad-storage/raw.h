/* SPDX-License-Identifier: GPL-2.0 */
/* What the transformer takes, out of the ring and out of the tables of the programs. */
#ifndef MONAD_STORAGE_RAW_H
#define MONAD_STORAGE_RAW_H

#include "event.h"
#include "transform.h"

/* Copies the event that @desc describes, of any type there is. */
enum event_result raw_event_read(struct monad_event_iterator *iter,
				 const struct monad_event_descriptor *desc,
				 struct raw_event *event);

/* All that is in flight now, to be given to free(). 0 or -errno: nothing is recorded, ... */
int raw_inflight_read(struct raw_inflight **ios, size_t *nr);

#endif /* MONAD_STORAGE_RAW_H */
