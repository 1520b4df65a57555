/* SPDX-License-Identifier: GPL-2.0 */
/* A ring of one's own for the examples. */
#ifndef OWN_RING_H
#define OWN_RING_H

#include <stdint.h>

#include <monad/ring_ioctl.h>
#include <monad_event/event_iterator.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_wait.h>

struct own_ring {
	int fd;
	uint32_t id; /* for the BPF program */
	struct monad_event_ring ring;
	struct monad_event_waiter waiter;
};

/* What is asked for; a shift of 0 is the module's default. */
struct own_ring_config {
	const char *name;
	uint16_t content_type;
	const uint8_t *schema_hash; /* 32 bytes, or NULL */
	uint32_t descriptors_shift;
	uint32_t payload_shift;
};

/*
 * Opens and maps the ring of that name, and makes it when there is none. False, and a message on
 * stderr, when that cannot be or when the ring holds events of another kind.
 */
bool own_ring_open(struct own_ring *own, const struct own_ring_config *config);
void own_ring_close(struct own_ring *own);

/*
 * Sleeps until the next @batch events of @it are there, and at most for @timeout_ms. False when
 * they never will be: the ring was destroyed, and a message says so.
 */
bool own_ring_wait(struct own_ring *own, const struct monad_event_iterator *it, uint64_t batch,
		   unsigned int timeout_ms);

#endif /* OWN_RING_H */
