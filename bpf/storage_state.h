/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the storage programs keep in maps, shared with the program that loads
 * them and reads the maps. No ABI: both are built from the same sources, and
 * the recording is stopped and started when they change.
 */
#ifndef MONAD_STORAGE_STATE_H
#define MONAD_STORAGE_STATE_H

#include <monad/storage_event.h>

/* Where an I/O is. */
enum monad_storage_state {
	MONAD_STORAGE_STATE_QUEUED = 0, /* seen, not with the device */
	MONAD_STORAGE_STATE_ISSUED = 1, /* with the device */
};

/*
 * One I/O in flight: in the map "inflight" by the address of its request; in
 * "inflight_bios" by that of its bio on bio-based devices, and by that plus 1
 * before the first issue on kernels without block_io_start. Addresses are used
 * again: a start overwrites all of it.
 */
struct monad_storage_io {
	uint64_t start_ns;       /* when first seen */
	uint64_t first_issue_ns; /* 0: not yet */
	uint64_t last_issue_ns;
	uint64_t device_end_ns;  /* end of the data part of a flush sequence, or 0 */
	uint64_t start_seqno;    /* of the event that started it, or 0 */
	uint64_t sector;
	uint64_t cgroup_id;
	uint64_t actor_cgroup_id;
	uint64_t bytes_done; /* sum of all completions so far */
	uint32_t dev;        /* major << 20 | minor */
	uint32_t flags;      /* enum monad_storage_flag */
	uint32_t bytes;      /* as first issued, or as queued */
	uint32_t pid;
	uint32_t tgid;
	uint16_t op;
	uint16_t error;
	uint16_t issues;
	uint16_t requeues_issued;
	uint16_t requeues_unissued;
	uint16_t partials;
	uint16_t issue_cpu;
	uint8_t state; /* enum monad_storage_state */
	uint8_t reserved[5];
	char comm[MONAD_STORAGE_COMM_LEN];
};

MONAD_EVENT_ASSERT_SIZE(struct monad_storage_io, 128);

/* The last flush of a flush request, kept for those who waited for it. */
struct monad_storage_flush {
	uint64_t issue_ns;
	uint64_t end_ns;
};

/* The programs' own counters, each per CPU. */
enum monad_storage_counter {
	MONAD_STORAGE_STARTED,   /* requests seen before their first issue */
	MONAD_STORAGE_ISSUED,    /* requests handed to a device, first time */
	MONAD_STORAGE_REISSUED,  /* ... and again */
	MONAD_STORAGE_COMPLETED, /* RQ_COMPLETE: operations ended */
	MONAD_STORAGE_FLUSHED,   /* FLUSH_COMPLETE: caches flushed */
	MONAD_STORAGE_PARTIALS,
	MONAD_STORAGE_MERGED,
	MONAD_STORAGE_REQUEUED_ISSUED,
	MONAD_STORAGE_REQUEUED_UNISSUED,
	MONAD_STORAGE_ERRORS,   /* operations that failed */
	MONAD_STORAGE_TIMEOUTS, /* operations that timed out at least once */
	MONAD_STORAGE_BIO_QUEUED,
	MONAD_STORAGE_BIO_COMPLETED,
	MONAD_STORAGE_BIO_PARTS,   /* pieces of a split bio, ended */
	MONAD_STORAGE_ORPHANS,     /* completions whose start was not seen */
	MONAD_STORAGE_STALE,       /* issued twice: a completion was not seen */
	MONAD_STORAGE_CLOCK_BACKWARDS,
	MONAD_STORAGE_MAP_FULL,    /* starts not kept: the map had no room */
	MONAD_STORAGE_MAP_BUSY,    /* ... or a bucket of it was locked */
	MONAD_STORAGE_NOT_RECORDED, /* the ring refused; it counts why */
	MONAD_STORAGE_COUNTERS,
};

struct monad_storage_counters {
	uint64_t value[MONAD_STORAGE_COUNTERS];
};

/* What was started, for those who come later. */
struct monad_storage_session {
	uint64_t started_ns;   /* CLOCK_REALTIME */
	uint32_t ring_id;
	uint32_t filtered;     /* only the devices in the devices map */
	char ring[128];        /* what to open to read it */
	char version[32];
};

#endif /* MONAD_STORAGE_STATE_H */
