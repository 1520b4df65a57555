/* SPDX-License-Identifier: GPL-2.0 */
/* Batches that wait, as they are on the wire, which takes least room; and a list of them. */
#ifndef MONAD_TELEMETRY_WAITING_H
#define MONAD_TELEMETRY_WAITING_H

#include <stddef.h>
#include <stdint.h>

#include "monad/telemetry.pb-c.h"

struct waiting {
	struct waiting *next;
	size_t bytes;             /* of what is packed */
	uint64_t metrics, events; /* in it, those of results of tasks as well */
	uint8_t packed[];
};

/* The oldest first. */
struct waiting_list {
	struct waiting *first, **last;
};

/* What is in a batch. */
struct waiting_contents {
	uint64_t metrics, events;
};

struct waiting_contents waiting_contents(const Monad__TelemetryBatch *batch);

/* In no list, to be given to free(); NULL without memory. */
struct waiting *waiting_new(const Monad__TelemetryBatch *batch);

/* Its memory, all of it. */
size_t waiting_room(const struct waiting *waiting);

void waiting_list_init(struct waiting_list *list);
void waiting_put_first(struct waiting_list *list, struct waiting *waiting);
void waiting_put_last(struct waiting_list *list, struct waiting *waiting);
/* There must be one. */
struct waiting *waiting_take_first(struct waiting_list *list);

#endif /* MONAD_TELEMETRY_WAITING_H */
