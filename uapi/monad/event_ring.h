/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The event ring's byte format: what stands in a ring file and in the memory
 * behind /dev/monad_ring.
 *
 * A ring is four sections in this order, each starting on a 2 MiB boundary:
 *
 *	header            one whole 2 MiB; the first 192 bytes are the format's,
 *	                  an extension block of ours follows at offset 4096
 *	descriptor array  64 bytes x size.descriptor_capacity
 *	payload buffer    size.payload_buf_size bytes
 *	context area      size.context_area_size bytes, may be empty
 *
 * All integers are little endian. The header names fixed-width types from
 * <stdint.h> in user space (as <linux/fuse.h> does), so that C and C++ callers
 * can use their own uint64_t with it.
 *
 * See Documentation/abi.rst for what a reader may rely on.
 */
#ifndef _UAPI_MONAD_EVENT_RING_H
#define _UAPI_MONAD_EVENT_RING_H

#if defined(__KERNEL__)
#include <linux/stddef.h>
#include <linux/types.h>
#elif defined(__VMLINUX_H__)
/* vmlinux.h brings the types */
#elif defined(__bpf__)
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
#else
#include <stdint.h>
#endif

#if defined(__cplusplus)
#define MONAD_EVENT_ASSERT(cond, msg) static_assert(cond, msg)
#else
#define MONAD_EVENT_ASSERT(cond, msg) _Static_assert(cond, msg)
#endif

/* Asserts that a field of a structure of the ABI stands where it must. */
#define MONAD_EVENT_ASSERT_OFFSET(type, field, offset) \
	MONAD_EVENT_ASSERT(__builtin_offsetof(type, field) == (offset), #field " moved")
#define MONAD_EVENT_ASSERT_SIZE(type, size) \
	MONAD_EVENT_ASSERT(sizeof(type) == (size), #type " has another size")

/* No NUL: the magic fills the first six bytes of the header. */
#define MONAD_EVENT_RING_MAGIC "RING01"
#define MONAD_EVENT_RING_MAGIC_LEN 6

/* Every section starts on, and is padded to, this boundary. */
#define MONAD_EVENT_RING_ALIGN (2UL << 20)
#define MONAD_EVENT_RING_HEADER_SIZE MONAD_EVENT_RING_ALIGN

/* Payloads start on this boundary of the payload buffer. */
#define MONAD_EVENT_PAYLOAD_ALIGN 16

/*
 * Shifts (log2 of the number of descriptors, and of payload bytes) that other
 * writers of this format keep to.
 */
#define MONAD_EVENT_MIN_DESCRIPTORS_SHIFT 16
#define MONAD_EVENT_MAX_DESCRIPTORS_SHIFT 32
#define MONAD_EVENT_DEFAULT_DESCRIPTORS_SHIFT 21
#define MONAD_EVENT_MIN_PAYLOAD_BUF_SHIFT 27
#define MONAD_EVENT_MAX_PAYLOAD_BUF_SHIFT 40
#define MONAD_EVENT_DEFAULT_PAYLOAD_BUF_SHIFT 29

/* The smallest rings of our own: small enough for tests and tiny machines. */
#define MONAD_RING_MIN_DESCRIPTORS_SHIFT 10
#define MONAD_RING_MIN_PAYLOAD_BUF_SHIFT 21

/* Kind of events in a ring; stored as 16 bits in the header. */
enum monad_event_content_type {
	MONAD_EVENT_CONTENT_TYPE_NONE = 0,
	MONAD_EVENT_CONTENT_TYPE_TEST = 1,
	MONAD_EVENT_CONTENT_TYPE_EXEC = 2,
	MONAD_EVENT_CONTENT_TYPE_PERF = 3,
	MONAD_EVENT_CONTENT_TYPE_COUNT = 4, /* number of the format's own types */
	/* Ours start here, so that they can never collide with the format's. */
	MONAD_EVENT_CONTENT_TYPE_STORAGE = 256,
	/* Yours, for rings of your own, from here to 65535. */
	MONAD_EVENT_CONTENT_TYPE_PRIVATE = 32768,
};

/* Event types 0 and 1 mean the same in every content type. */
#define MONAD_EVENT_NONE_EVENT_TYPE 0
#define MONAD_EVENT_RECORD_ERROR_EVENT_TYPE 1

enum monad_event_record_error_type {
	MONAD_EVENT_RECORD_ERROR_NONE = 0,
	MONAD_EVENT_RECORD_ERROR_OVERFLOW_4GB = 1,
	MONAD_EVENT_RECORD_ERROR_OVERFLOW_EXPIRE = 2,
	MONAD_EVENT_RECORD_ERROR_MISSING_EVENT = 3,
};

/* Payload of a RECORD_ERROR event. */
struct monad_event_record_error {
	uint16_t error_type; /* enum monad_event_record_error_type */
	uint16_t dropped_event_type;
	uint32_t truncated_payload_size;
	uint64_t requested_payload_size;
};

struct monad_event_ring_size {
	uint64_t descriptor_capacity; /* entries, a power of two */
	uint64_t payload_buf_size;    /* bytes, a power of two */
	uint64_t context_area_size;   /* bytes, 0 or a power of two */
};

struct monad_event_ring_control {
	/* last sequence number allocated; the event may not be written yet */
	uint64_t last_seqno __attribute__((aligned(64)));
	/* next unwrapped payload offset to allocate */
	uint64_t next_payload_byte;
	/* payloads below this unwrapped offset have expired */
	uint64_t buffer_window_start __attribute__((aligned(64)));
};

struct monad_event_ring_header {
	char magic[MONAD_EVENT_RING_MAGIC_LEN];
	uint16_t content_type; /* enum monad_event_content_type */
	uint8_t schema_hash[32];
	struct monad_event_ring_size size;
	struct monad_event_ring_control control;
};

struct monad_event_descriptor {
	uint64_t seqno __attribute__((aligned(64))); /* 0: being written */
	uint16_t event_type;
	uint16_t unused; /* zero */
	uint32_t payload_size;
	uint64_t record_epoch_nanos; /* CLOCK_REALTIME, nanoseconds */
	uint64_t payload_buf_offset; /* unwrapped */
	uint64_t content_ext[4];     /* meaning depends on content_type */
};

/*
 * Why an event that was offered was not recorded. Each has a counter in the
 * extension block, in struct monad_ring_info and in sysfs.
 */
enum monad_ring_lost {
	MONAD_RING_LOST_TOO_LARGE = 0, /* larger than the ring takes */
	MONAD_RING_LOST_STALLED = 1,   /* a stalled writer holds the ring back */
	MONAD_RING_LOST_NO_SLOT = 2,   /* too many writers nested on this CPU */
	MONAD_RING_LOST_CONTENDED = 3, /* others took what it found, again and again */
	MONAD_RING_LOST_BAD_ARG = 4,   /* impossible event type or flags, no data */
	MONAD_RING_LOST_RING_GONE = 5, /* no such ring; kept for all rings in one */
	MONAD_RING_LOST_COUNT = 6,
	MONAD_RING_LOST_MAX = 8, /* room in the structures */
};

/* Whether more events may come. */
enum monad_ring_state {
	MONAD_RING_STATE_LIVE = 0,
	MONAD_RING_STATE_GONE = 1, /* destroyed or closed by its writer: none will follow */
};

/*
 * The extension block, at this offset of the header section. Readers of the
 * plain format never look at it. A ring written by others has zeroes there.
 */
#define MONAD_RING_EXT_OFFSET 4096
#define MONAD_RING_EXT_MAGIC "MONADEXT"
#define MONAD_RING_ABI_VERSION 1

struct monad_ring_ext {
	char magic[8]; /* MONAD_RING_EXT_MAGIC, no NUL */
	uint32_t size; /* of this structure as its writer knew it */
	uint32_t abi_version;
	uint8_t uuid[16];    /* of this ring, made when it was created */
	uint8_t boot_id[16]; /* of a file's writer; zero: behind a device, of this boot */
	uint64_t generation; /* grows when a ring of the same name is made anew */
	/*
	 * CLOCK_REALTIME minus CLOCK_MONOTONIC in nanoseconds when last looked
	 * at: subtract it from record_epoch_nanos to get monotonic time.
	 */
	int64_t realtime_offset_ns;
	uint32_t chunks_total; /* 2 MiB chunks of memory in the ring ... */
	uint32_t chunks_huge;  /* ... and how many of them are one huge page */
	uint32_t state;	       /* enum monad_ring_state */
	uint32_t reserved;     /* zero */
	/* counters on a cache line of their own; written by atomic additions */
	uint64_t lost[MONAD_RING_LOST_MAX] __attribute__((aligned(64)));
	uint64_t discarded; /* events reserved and discarded by their writer */
	uint64_t wakeups;   /* times that sleeping readers were woken */
};

MONAD_EVENT_ASSERT_SIZE(struct monad_event_record_error, 16);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_record_error, dropped_event_type, 2);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_record_error, truncated_payload_size, 4);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_record_error, requested_payload_size, 8);

MONAD_EVENT_ASSERT_SIZE(struct monad_event_ring_header, 192);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_ring_header, magic, 0);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_ring_header, content_type, 6);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_ring_header, schema_hash, 8);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_ring_header, size.descriptor_capacity, 40);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_ring_header, size.payload_buf_size, 48);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_ring_header, size.context_area_size, 56);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_ring_header, control.last_seqno, 64);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_ring_header, control.next_payload_byte, 72);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_ring_header, control.buffer_window_start, 128);

MONAD_EVENT_ASSERT_SIZE(struct monad_event_descriptor, 64);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_descriptor, seqno, 0);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_descriptor, event_type, 8);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_descriptor, unused, 10);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_descriptor, payload_size, 12);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_descriptor, record_epoch_nanos, 16);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_descriptor, payload_buf_offset, 24);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_descriptor, content_ext, 32);

MONAD_EVENT_ASSERT_SIZE(struct monad_ring_ext, 256);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, size, 8);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, abi_version, 12);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, uuid, 16);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, boot_id, 32);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, generation, 48);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, realtime_offset_ns, 56);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, chunks_total, 64);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, chunks_huge, 68);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, state, 72);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, lost, 128);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, discarded, 192);
MONAD_EVENT_ASSERT_OFFSET(struct monad_ring_ext, wakeups, 200);

#endif /* _UAPI_MONAD_EVENT_RING_H */
