/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Where the sections of a ring are, in a file and in an address space. */
#ifndef MONAD_EVENT_SRC_LAYOUT_H
#define MONAD_EVENT_SRC_LAYOUT_H

#include <stdint.h>

#include <monad/event_ring.h>

/*
 * All in bytes, all multiples of 2 MiB. The header is at 0. Less than 2^42, so
 * that no sum of a few of them overflows.
 */
struct ring_layout {
	uint64_t descriptor_offset;
	uint64_t payload_offset;
	uint64_t payload_len;
	uint64_t context_offset;
	uint64_t context_len; /* 0: no context area */
	uint64_t total;
};

/*
 * Computes the layout of a ring of this size, which comes from anywhere: EINVAL
 * (with a message that begins with @name) unless it is one that can exist.
 */
int ring_layout_init(struct ring_layout *layout, const struct monad_event_ring_size *size,
		     const char *name);

#endif /* MONAD_EVENT_SRC_LAYOUT_H */
