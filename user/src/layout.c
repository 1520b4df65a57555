// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

#include <monad_event/event_ring.h>

#include "error.h"
#include "layout.h"

static uint64_t align_section(uint64_t bytes)
{
	return (bytes + MONAD_EVENT_RING_ALIGN - 1) & ~(uint64_t)(MONAD_EVENT_RING_ALIGN - 1);
}

/* A power of two from 2^min_shift to 2^max_shift. */
static bool is_size(uint64_t value, unsigned int min_shift, unsigned int max_shift)
{
	return value >= UINT64_C(1) << min_shift && value <= UINT64_C(1) << max_shift &&
	       (value & (value - 1)) == 0;
}

int ring_layout_init(struct ring_layout *layout, const struct monad_event_ring_size *size,
		     const char *name)
{
	if (!is_size(size->descriptor_capacity, MONAD_RING_MIN_DESCRIPTORS_SHIFT,
		     MONAD_EVENT_MAX_DESCRIPTORS_SHIFT))
		return FAIL(EINVAL,
			    "event ring `%s` has %" PRIu64
			    " descriptors, not a power of two from 2^%d to 2^%d",
			    name, size->descriptor_capacity, MONAD_RING_MIN_DESCRIPTORS_SHIFT,
			    MONAD_EVENT_MAX_DESCRIPTORS_SHIFT);
	if (!is_size(size->payload_buf_size, MONAD_RING_MIN_PAYLOAD_BUF_SHIFT,
		     MONAD_EVENT_MAX_PAYLOAD_BUF_SHIFT))
		return FAIL(EINVAL,
			    "event ring `%s` has a payload buffer of %" PRIu64
			    " bytes, not a power of two from 2^%d to 2^%d",
			    name, size->payload_buf_size, MONAD_RING_MIN_PAYLOAD_BUF_SHIFT,
			    MONAD_EVENT_MAX_PAYLOAD_BUF_SHIFT);
	/* Nothing in the format limits it; the largest payload buffer does here. */
	if (size->context_area_size != 0 &&
	    !is_size(size->context_area_size, 0, MONAD_EVENT_MAX_PAYLOAD_BUF_SHIFT))
		return FAIL(EINVAL,
			    "event ring `%s` has a context area of %" PRIu64
			    " bytes, neither 0 nor a power of two up to 2^%d",
			    name, size->context_area_size, MONAD_EVENT_MAX_PAYLOAD_BUF_SHIFT);

	layout->descriptor_offset = MONAD_EVENT_RING_HEADER_SIZE;
	layout->payload_offset =
		layout->descriptor_offset +
		align_section(size->descriptor_capacity * sizeof(struct monad_event_descriptor));
	layout->payload_len = size->payload_buf_size;
	layout->context_offset = layout->payload_offset + layout->payload_len;
	layout->context_len = align_section(size->context_area_size);
	layout->total = layout->context_offset + layout->context_len;
	return 0;
}

int monad_event_ring_init_size(uint8_t descriptors_shift, uint8_t payload_buf_shift,
			       uint16_t context_large_pages, struct monad_event_ring_size *size)
{
	if (!size)
		return FAIL(EFAULT, "size is NULL");
	if (descriptors_shift < MONAD_RING_MIN_DESCRIPTORS_SHIFT ||
	    descriptors_shift > MONAD_EVENT_MAX_DESCRIPTORS_SHIFT)
		return FAIL(ERANGE, "descriptors shift %d is not from %d to %d", descriptors_shift,
			    MONAD_RING_MIN_DESCRIPTORS_SHIFT, MONAD_EVENT_MAX_DESCRIPTORS_SHIFT);
	if (payload_buf_shift < MONAD_RING_MIN_PAYLOAD_BUF_SHIFT ||
	    payload_buf_shift > MONAD_EVENT_MAX_PAYLOAD_BUF_SHIFT)
		return FAIL(ERANGE, "payload buffer shift %d is not from %d to %d",
			    payload_buf_shift, MONAD_RING_MIN_PAYLOAD_BUF_SHIFT,
			    MONAD_EVENT_MAX_PAYLOAD_BUF_SHIFT);
	if (context_large_pages & (context_large_pages - 1))
		return FAIL(ERANGE, "context area of %d large pages is not a power of two",
			    context_large_pages);
	size->descriptor_capacity = UINT64_C(1) << descriptors_shift;
	size->payload_buf_size = UINT64_C(1) << payload_buf_shift;
	size->context_area_size = (uint64_t)context_large_pages * MONAD_EVENT_RING_ALIGN;
	return 0;
}

size_t monad_event_ring_calc_storage(const struct monad_event_ring_size *size)
{
	return MONAD_EVENT_RING_HEADER_SIZE +
	       align_section(size->descriptor_capacity * sizeof(struct monad_event_descriptor)) +
	       align_section(size->payload_buf_size) + align_section(size->context_area_size);
}
