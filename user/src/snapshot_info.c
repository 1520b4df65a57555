// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* What is known of snapshots without reading their events. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_snapshot.h>

#define MIN_OPEN_LIMIT (UINT64_C(2) << 30)

size_t monad_event_snapshot_open_limit(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
	uint64_t half = pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size / 2 : 0;

	if (half < MIN_OPEN_LIMIT)
		half = MIN_OPEN_LIMIT;
	return half < SIZE_MAX ? (size_t)half : SIZE_MAX;
}

const struct monad_event_snapshot_info *
monad_event_ring_snapshot_info(const struct monad_event_ring *ring)
{
	const struct monad_event_snapshot_info *info;

	if (!ring || !ring->header || !(ring->mmap_prot & PROT_READ))
		return NULL;
	info = (const struct monad_event_snapshot_info *)((const uint8_t *)ring->header +
							  MONAD_EVENT_SNAPSHOT_INFO_OFFSET);
	if (memcmp(info->magic, MONAD_EVENT_SNAPSHOT_INFO_MAGIC, sizeof(info->magic)) != 0 ||
	    info->size < sizeof(*info))
		return NULL;
	return info;
}
