/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The extension block of ring files. */
#ifndef MONAD_EVENT_SRC_RING_IDENTITY_H
#define MONAD_EVENT_SRC_RING_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include <monad_event/event_ring.h>

/*
 * Gives a ring mapped for writing that has no extension block (and zeroes there) one, with an
 * identity of its own. False, and nothing is changed, where something else stands there.
 */
bool ring_identity_create(const struct monad_event_ring *ring, uint64_t generation);

/* This boot's, as in the extension block; zero where the kernel does not say. */
void ring_identity_boot_id(uint8_t boot_id[16]);

/* Says, in a ring that has one, that this boot's writer now writes to it. */
void ring_identity_update(const struct monad_event_ring *ring, bool huge, uint64_t size);

/*
 * Of the ring in the open file: its generation, 0 if it has none. And that no more events will
 * come; tries its best.
 */
uint64_t ring_file_generation(int fd);
void ring_file_retire(int fd);

#endif /* MONAD_EVENT_SRC_RING_IDENTITY_H */
