/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef MONAD_EVENT_SRC_SCHEMA_H
#define MONAD_EVENT_SRC_SCHEMA_H

#include <stdbool.h>

#include <monad/event_ring.h>

/* As monad_event_ring_schema_known(), for who has the header. */
bool schema_is_known(const struct monad_event_ring_header *header);

#endif /* MONAD_EVENT_SRC_SCHEMA_H */
