/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef MONAD_EVENT_SRC_STORAGE_METADATA_H
#define MONAD_EVENT_SRC_STORAGE_METADATA_H

#include <stddef.h>

#include <monad_event/event_metadata.h>

/* As monad_event_metadata_table() for content type STORAGE. */
const struct monad_event_metadata *storage_metadata_table(size_t *count);

#endif /* MONAD_EVENT_SRC_STORAGE_METADATA_H */
