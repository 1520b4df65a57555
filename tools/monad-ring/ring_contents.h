/* SPDX-License-Identifier: GPL-2.0 */
/* What a ring holds at one moment. */
#ifndef MONAD_RING_TOOL_RING_CONTENTS_H
#define MONAD_RING_TOOL_RING_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ring_handle.h"

struct ring_contents {
	uint64_t last_seqno;
	uint64_t next_payload_byte;
	uint64_t window_start;
	uint64_t age_ns; /* of oldest: how far back the ring goes */
	bool has_oldest, has_newest;
	struct monad_event_descriptor oldest, newest; /* that can be read */
};

void ring_contents_get(struct ring_contents *contents, const struct ring_handle *handle);

#endif /* MONAD_RING_TOOL_RING_CONTENTS_H */
