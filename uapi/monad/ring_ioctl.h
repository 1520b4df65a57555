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
	/* second version from here on */
	uint64_t wakeups;    /* times that sleeping readers were woken */
	uint64_t generation; /* as in struct monad_ring_ext */
	uint32_t state;	     /* enum monad_ring_state */
	uint32_t reserved32;
};

#define MONAD_RING_INFO_SIZE_V1 280

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

/*
 * Sleeps until the events from @seqno to @seqno + @batch - 1 are there or overwritten, or until
 * @timeout_ns nanoseconds are over and @seqno at least is there. A forced wakeup
 * (MONAD_RING_FORCE_WAKEUP) of an event from @seqno on ends it as well.
 *
 * ETIMEDOUT: event @seqno is not there. ENODEV: nor will it ever be, the ring is destroyed.
 * EINTR: a signal came. EINVAL: unknown size or flags, @seqno is 0, or @batch is more than half of
 * the ring's descriptors.
 */
struct monad_ring_wait {
	uint32_t size;
	uint32_t flags; /* 0 */
	uint64_t seqno; /* event to be read next */
	uint64_t batch; /* 0 means 1 */
	int64_t timeout_ns; /* 0: do not sleep, negative: no limit */
	uint64_t last_seqno; /* filled in, also on error: last one allocated */
};

/*
 * For poll, select, epoll and io_uring on this open file: it is readable when the events @seqno
 * and @seqno + @watermark - 1 are there or overwritten, or after a forced wakeup of one of them. It
 * stays readable, for level-triggered users, until a later @seqno is set here. Edge-triggered ones
 * see an edge each time that @watermark more events came since epoll_wait() last returned, or
 * earlier, where other readers of the ring were woken, and need not call this. On a ring that is
 * destroyed EPOLLHUP is set. Not for IOCB_CMD_POLL of aio (EINVAL), which takes no file that has
 * more than one wait queue.
 *
 * A newly opened file stands at the newest event, with a watermark of 1. EINVAL as above.
 */
struct monad_ring_poll {
	uint32_t size;
	uint32_t flags; /* 0 */
	uint64_t seqno; /* event to be read next */
	uint64_t watermark; /* 0 means 1 */
};

/*
 * Makes a ring, /dev/monad_ring-NAME, on any ring's device; it lives until it is destroyed or the
 * module is unloaded. Needs CAP_SYS_ADMIN or CAP_PERFMON (EPERM).
 *
 * EINVAL: unknown size or flags, or a name that is none. ERANGE: a shift out of bounds, or too
 * small for this machine's CPUs. EEXIST: there is a ring of this name. ENOSPC: there are 64 rings.
 * EBUSY: the kernel has no minor number left for a misc device. ENOMEM: no memory of that size.
 * ENODEV: no such NUMA node. The kernel's log has the details, of some of the attempts if there are
 * many.
 */
struct monad_ring_create {
	uint32_t size;
	uint32_t flags; /* 0 */
	char name[MONAD_RING_NAME_MAX]; /* with its NUL */
	uint32_t descriptors_shift;	/* 10 to 32; 0: the default */
	uint32_t payload_shift;		/* 21 to 40; 0: the default */
	int32_t numa_node;		/* -1: any */
	uint16_t content_type;		/* NONE: to be said later */
	uint16_t reserved16;
	uint8_t schema_hash[32];
	uint32_t ring_id; /* filled in: what BPF programs pass to the kfuncs */
	uint32_t reserved32;
};

/*
 * Destroys a ring: nobody can open it or write to it any more; sleeping readers are woken. Its
 * memory goes when its last reader unmaps and closes it. Needs what creating one needs.
 *
 * ENOENT: no such ring. EBUSY: the default ring goes with the module only.
 */
struct monad_ring_destroy {
	uint32_t size;
	uint32_t flags; /* 0 */
	char name[MONAD_RING_NAME_MAX];
};

#define MONAD_RING_IOC_MAGIC 0xEA
#define MONAD_RING_IOC_INFO _IOWR(MONAD_RING_IOC_MAGIC, 1, struct monad_ring_info)
#define MONAD_RING_IOC_SET_CONTENT _IOW(MONAD_RING_IOC_MAGIC, 2, struct monad_ring_content)
#define MONAD_RING_IOC_WAIT _IOWR(MONAD_RING_IOC_MAGIC, 3, struct monad_ring_wait)
#define MONAD_RING_IOC_SET_POLL _IOW(MONAD_RING_IOC_MAGIC, 4, struct monad_ring_poll)
#define MONAD_RING_IOC_CREATE _IOWR(MONAD_RING_IOC_MAGIC, 5, struct monad_ring_create)
#define MONAD_RING_IOC_DESTROY _IOW(MONAD_RING_IOC_MAGIC, 6, struct monad_ring_destroy)

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
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, wakeups, 280);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_info, state, 296);
MONAD_EVENT_ASSERT_SIZE(struct monad_ring_info, 304);
MONAD_EVENT_ASSERT_SIZE(struct monad_ring_content, 40);
MONAD_EVENT_ASSERT_SIZE(struct monad_ring_wait, 40);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_wait, last_seqno, 32);
MONAD_EVENT_ASSERT_SIZE(struct monad_ring_poll, 24);
MONAD_EVENT_ASSERT_SIZE(struct monad_ring_create, 96);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_create, descriptors_shift, 40);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_create, content_type, 52);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_create, ring_id, 88);
MONAD_EVENT_ASSERT_SIZE(struct monad_ring_destroy, 40);

#endif /* _UAPI_MONAD_RING_IOCTL_H */
