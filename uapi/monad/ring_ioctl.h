/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The ioctls of /dev/monad_ring and of the further ring devices.
 *
 * Every structure begins with its own size. A caller sets it to the size it was
 * compiled with; the kernel fills in at most that much and sets size to what it
 * filled in, so that structures can grow at their end: fields past the returned
 * size are not known to that kernel module. A size below the first version's is
 * EINVAL.
 */
#ifndef _UAPI_MONAD_RING_IOCTL_H
#define _UAPI_MONAD_RING_IOCTL_H

#include <linux/ioctl.h>
#include "event_ring.h"

#define MONAD_RING_NAME_MAX 32 /* with the NUL */

/* struct monad_ring_info.flags */
#define MONAD_RING_F_KFUNCS (1U << 0) /* BPF programs can call the kfuncs */

struct monad_ring_info {
	uint32_t size;
	uint32_t abi_version; /* MONAD_RING_ABI_VERSION of the module */
	uint32_t ring_id;     /* what a BPF program passes to the kfuncs */
	uint32_t flags;       /* MONAD_RING_F_* */
	char name[MONAD_RING_NAME_MAX];
	uint8_t uuid[16];
	uint8_t schema_hash[32];
	uint16_t content_type;
	uint16_t reserved16;
	int32_t numa_node; /* of the ring's memory, -1: spread */
	uint64_t descriptor_capacity;
	uint64_t payload_buf_size;
	uint64_t context_area_size;
	/* offsets for mmap, in bytes; map_size is where the last section ends */
	uint64_t descriptor_offset;
	uint64_t payload_offset;
	uint64_t context_offset;
	uint64_t map_size;
	uint64_t last_seqno;
	uint64_t next_payload_byte;
	uint64_t buffer_window_start;
	uint64_t max_event_size; /* largest payload a writer can reserve, bytes */
	uint32_t chunks_total;
	uint32_t chunks_huge;
	int64_t realtime_offset_ns; /* as in struct monad_ring_ext, now */
	uint64_t lost[MONAD_RING_LOST_MAX];
	uint64_t discarded;
};

#define MONAD_RING_INFO_SIZE_V1 sizeof(struct monad_ring_info)

/*
 * Says what the ring holds, once, before the first event is written: EBUSY when
 * it was said already and differently or when there are events, EPERM without CAP_SYS_ADMIN or
 * CAP_PERFMON, EINVAL for content type NONE.
 */
struct monad_ring_content {
	uint32_t size;
	uint16_t content_type;
	uint16_t reserved16;
	uint8_t schema_hash[32];
};

#define MONAD_RING_IOC_MAGIC 0xEA
#define MONAD_RING_IOC_INFO _IOWR(MONAD_RING_IOC_MAGIC, 1, struct monad_ring_info)
#define MONAD_RING_IOC_SET_CONTENT _IOW(MONAD_RING_IOC_MAGIC, 2, struct monad_ring_content)

MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, name, 16);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, uuid, 48);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, schema_hash, 64);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, content_type, 96);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, numa_node, 100);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, descriptor_capacity, 104);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, descriptor_offset, 128);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, last_seqno, 160);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, max_event_size, 184);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, chunks_total, 192);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, realtime_offset_ns, 200);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, lost, 208);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, discarded, 272);
MONAD_EVENT_ASSERT_SIZE(struct monad_ring_info, 280);
MONAD_EVENT_ASSERT_SIZE(struct monad_ring_content, 40);

#endif /* _UAPI_MONAD_RING_IOCTL_H */
