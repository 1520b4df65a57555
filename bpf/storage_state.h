/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the storage programs keep in maps, shared with the program that loads
 * them and reads the maps. No ABI: both are built from the same sources, and
 * the recording is stopped and started when they change.
 */
#ifndef MONAD_STORAGE_STATE_H
#define MONAD_STORAGE_STATE_H

#include <stdbool.h>

#include <monad/storage_event.h>

/* Where an I/O is. */
enum monad_storage_state {
	MONAD_STORAGE_STATE_QUEUED = 0, /* seen, not with the device */
	MONAD_STORAGE_STATE_ISSUED = 1, /* with the device */
	MONAD_STORAGE_STATE_WAITING = 2, /* a bio that has no request yet */
};

/*
 * A table is two arrays: buckets of keys, and one entry per key at the same place
 * (bucket * MONAD_STORAGE_WAYS + way). A key of 0 is no key. Whoever reads one from
 * outside takes a copy of the entry, and looks at the key again after it.
 */
#define MONAD_STORAGE_WAYS 8

struct monad_storage_bucket {
	uint64_t key[MONAD_STORAGE_WAYS];
};

/*
 * Of a bio that is a part of another one, which a device above handed down: that it is counted in
 * parts. There is nothing else in its entry.
 */
#define PART_KEY(key) ((key) | 2)

/*
 * One I/O in flight: in the table "inflight" by the address of its request; in
 * "inflight_bios" by that of its bio on bio-based devices, and by that plus 1
 * before it has a request, on kernels without block_io_start before the first
 * issue of that. Addresses are used again: a start overwrites all of it.
 */
struct monad_storage_io {
	uint64_t start_ns;       /* when first seen */
	union {
		uint64_t first_issue_ns; /* 0: not yet */
		uint64_t gendisk;        /* of a bio-based device: its address */
	};
	union {
		uint64_t last_issue_ns;
		uint64_t parts;  /* of a bio-based device: of the bio, which have not ended */
	};
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
	uint32_t stack;
	uint16_t op;
	uint16_t error;
	uint16_t issues;
	uint16_t requeues_issued;
	uint16_t requeues_unissued;
	uint16_t partials;
	uint16_t issue_cpu;
	uint8_t state; /* enum monad_storage_state */
	uint8_t handed_down; /* its bios may be those of a device above */
	char comm[MONAD_STORAGE_COMM_LEN];
};

MONAD_EVENT_ASSERT_SIZE(struct monad_storage_io, 128);

/* What the program "check" is asked, and answers. */
struct monad_storage_check {
	uint64_t key;  /* of a request in "inflight_keys" */
	uint32_t idle; /* it is with no device */
	uint32_t unused; /* it is no request of anybody's at all */
};

/* The last flush of a flush request, kept for those who waited for it. */
struct monad_storage_flush {
	uint64_t issue_ns;
	uint64_t end_ns;
};

/* Of the number of a stack, so many bits are its place in the table. */
#define MONAD_STORAGE_STACK_BITS 20

/* The programs' own counters, each per CPU. */
enum monad_storage_counter {
	MONAD_STORAGE_STARTED,   /* requests seen before their first issue */
	MONAD_STORAGE_ISSUED,    /* requests handed to a device, first time */
	MONAD_STORAGE_REISSUED,  /* ... and again */
	MONAD_STORAGE_COMPLETED, /* RQ_COMPLETE: operations ended */
	MONAD_STORAGE_FLUSHED,   /* FLUSH_COMPLETE: caches flushed */
	MONAD_STORAGE_PARTIALS,
	MONAD_STORAGE_MERGED,     /* requests that became part of another one */
	MONAD_STORAGE_BIO_MERGED, /* ... and bios, before they had a request */
	MONAD_STORAGE_REQUEUED_ISSUED,
	MONAD_STORAGE_REQUEUED_UNISSUED,
	MONAD_STORAGE_ERRORS,   /* operations that failed */
	MONAD_STORAGE_TIMEOUTS, /* operations that timed out at least once */
	MONAD_STORAGE_BIO_QUEUED,
	MONAD_STORAGE_BIO_COMPLETED,
	MONAD_STORAGE_BIO_PARTS,   /* pieces of a split bio, ended */
	MONAD_STORAGE_GIVEN_UP,    /* bios that were not to wait (NOWAIT), and would have had to */
	MONAD_STORAGE_BEGUN_BEFORE, /* completions of what began before the recording */
	MONAD_STORAGE_ORPHANS,     /* other completions whose start was not seen */
	MONAD_STORAGE_ENDS_UNSEEN, /* counted when their address was used again */
	MONAD_STORAGE_ENDS_CAUGHT, /* skipped by the kernel, seen by a second program */
	MONAD_STORAGE_CLOCK_BACKWARDS,
	MONAD_STORAGE_TABLE_FULL,  /* starts not kept: no room for them */
	MONAD_STORAGE_EVICTED,     /* bios forgotten in favour of newer ones */
	MONAD_STORAGE_SERIES_FULL, /* ends counted as of an unknown device: no room */
	MONAD_STORAGE_CGROUPS_FULL, /* ends counted as of an unknown cgroup: no room */
	MONAD_STORAGE_NOT_RECORDED, /* the ring refused; it counts why */
	MONAD_STORAGE_STACKS_FULL,  /* starts whose stack has no number: no room */
	MONAD_STORAGE_LEFT_OUT,     /* ends that are no events: not notable */
	MONAD_STORAGE_RATE_LIMITED, /* ends that are no events: too many in a second */
	MONAD_STORAGE_COUNTERS,
};

struct monad_storage_counters {
	uint64_t value[MONAD_STORAGE_COUNTERS];
};

/*
 * Times in buckets: those of 8 ns and below have one each; above, every power of
 * two is cut into eight, so a bucket's end is at most 12.5 % above its beginning.
 * A bucket holds what is longer than the end of the one before it and not longer
 * than its own, as "le" of Prometheus has it; the last one what is beyond 2^40 ns
 * (18 minutes).
 */
#define MONAD_STORAGE_FINE_SHIFT 3
#define MONAD_STORAGE_MAX_SHIFT 40
#define MONAD_STORAGE_BUCKETS \
	(((MONAD_STORAGE_MAX_SHIFT - MONAD_STORAGE_FINE_SHIFT + 1) << MONAD_STORAGE_FINE_SHIFT) + 1)

/* queue_ns, device_ns and total_ns of struct monad_storage_complete */
enum monad_storage_phase {
	MONAD_STORAGE_PHASE_QUEUE = 0,
	MONAD_STORAGE_PHASE_DEVICE = 1,
	MONAD_STORAGE_PHASE_TOTAL = 2,
	MONAD_STORAGE_PHASES = 3,
};

/*
 * All I/O of one kind on one device since the start. The map "metrics" has them in
 * the order of the table of "series_keys", each as often as there are shards, to
 * be added up: entry * shards + shard. One more, behind those of the table, is for
 * what found no room in it.
 */
struct monad_storage_metrics {
	uint64_t ops;     /* ended; of FLUSH_COMPLETE with MONAD_STORAGE_OP_CACHE_FLUSH */
	uint64_t bytes;   /* of these */
	uint64_t errors;  /* ended with an error */
	uint64_t timeouts; /* timed out at least once */
	uint64_t partials;
	uint64_t requeues_issued;
	uint64_t requeues_unissued;
	uint64_t merged;  /* requests and bios that became part of another request */
	uint64_t sum_ns[MONAD_STORAGE_PHASES];
	uint64_t bucket[MONAD_STORAGE_PHASES][MONAD_STORAGE_BUCKETS];
};

/* The device's own flushes, which are nobody's operation, are counted as this. */
#define MONAD_STORAGE_OP_CACHE_FLUSH MONAD_STORAGE_OP_COUNT
/*
 * Somebody was put to sleep for having dirtied too much of it, which is no operation at all:
 * ops is how often, bytes what was dirtied since the last time, the total time the sleep.
 */
#define MONAD_STORAGE_OP_THROTTLE (MONAD_STORAGE_OP_COUNT + 1)

/* What the kernel calls a disk, with zeros behind it; none at all: any disk. */
struct monad_storage_disk_name {
	union {
		char text[32];
		uint64_t word[4];
	};
};

/*
 * Numbers of disks are used again, by others: a disk is told by its number and its name.
 * Not by its diskseq, which is another one after each change of the medium, as each
 * losetup is one: a table from which nothing is removed would fill up.
 */
#define MONAD_STORAGE_NAME_BITS 22

/*
 * A word of a name up to the byte 0 that ends it, as it is in memory, and zeros for what is
 * behind that: sd and virtio_blk leave something there. @ended: that byte was found.
 */
static inline uint64_t monad_storage_name_word(uint64_t word, bool *ended)
{
	const uint64_t ones = 0x0101010101010101ULL;
	uint64_t zero;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	/* The lowest of the bits it sets is the highest one of the first byte that is 0. */
	zero = (word - ones) & ~word & ones << 7;
	*ended = zero;
	if (zero)
		word &= ((zero & -zero) >> 7) - 1;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* So many bits that stand for a name, and are never all 0. */
static inline uint32_t monad_storage_name_bits(const uint64_t *word)
{
	/* odd, and without a pattern: 2^64 / golden ratio, and so on */
	uint64_t hash = word[0] * 0x9e3779b97f4a7c15ULL + word[1] * 0xc2b2ae3d27d4eb4fULL +
			word[2] * 0x165667b19e3779f9ULL + word[3] * 0xd6e8feb86659fd93ULL;

	return (uint32_t)(hash >> (64 - MONAD_STORAGE_NAME_BITS)) | 1;
}

/* Keys of "series_keys": never 0. @name: bits of the name, or 0 where it is not known. */
#define MONAD_STORAGE_SERIES_KEY(dev, name, op) \
	(1ULL << 63 | (uint64_t)(name) << 40 | (uint64_t)(dev) << 8 | (op))
#define MONAD_STORAGE_SERIES_DEV(key) ((uint32_t)((key) >> 8))
#define MONAD_STORAGE_SERIES_OP(key) ((uint32_t)(key) & 0xff)
/* Device and name: the same for all operations of a disk. */
#define MONAD_STORAGE_SERIES_DISK(key) ((key) >> 8)
#define MONAD_STORAGE_SERIES_NAME(key) ((uint32_t)((key) >> 40) & 0x3fffff)

/*
 * Which device a series is of: the entries of "series_keys". One whose first I/O ended
 * without its disk has no name: another of the same MONAD_STORAGE_SERIES_DISK() may.
 */
struct monad_storage_series {
	struct monad_storage_disk_name disk;
	uint64_t diskseq;   /* when its first I/O ended: larger ones are newer; 0: not known */
	uint32_t bio_based; /* takes bios, has no requests */
	uint32_t reserved;
};

/* At most so many shards; there are a power of two. */
#define MONAD_STORAGE_MAX_SHARDS 8

/* What a cgroup's totals are split by. */
enum monad_storage_direction {
	MONAD_STORAGE_READS = 0,
	MONAD_STORAGE_WRITES = 1,
	MONAD_STORAGE_OTHERS = 2, /* flushes, discards, ... */
	MONAD_STORAGE_DIRECTIONS = 3,
};

/* Which one an enum monad_storage_op is. */
static inline enum monad_storage_direction monad_storage_direction(uint32_t op)
{
	if (op == MONAD_STORAGE_OP_READ)
		return MONAD_STORAGE_READS;
	if (op == MONAD_STORAGE_OP_WRITE || op == MONAD_STORAGE_OP_ZONE_APPEND)
		return MONAD_STORAGE_WRITES;
	return MONAD_STORAGE_OTHERS;
}

/*
 * All I/O charged to one cgroup: the entries of "cgroup_keys", whose keys are the
 * ids of cgroups, times shards. Two more, behind those: what found no room,
 * and the sum of cgroups that are gone.
 */
struct monad_storage_cgroup {
	uint64_t ops[MONAD_STORAGE_DIRECTIONS];
	uint64_t bytes[MONAD_STORAGE_DIRECTIONS];
	uint64_t total_ns[MONAD_STORAGE_DIRECTIONS];
	uint64_t errors;
};

#define MONAD_STORAGE_CGROUP_WORDS (sizeof(struct monad_storage_cgroup) / 8)

/* Errors by what they were: keys of "error_keys", whose entries are counts. */
#define MONAD_STORAGE_ERROR_KEY(series, error) \
	(1ULL << 63 | (uint64_t)(series) << 16 | (error))
#define MONAD_STORAGE_ERROR_ERRNO(key) ((uint32_t)(key) & 0xffff)
/* the place in the table of series, which has device and operation */
#define MONAD_STORAGE_ERROR_SERIES(key) ((uint32_t)((key) >> 16))

/* What becomes an event. */
enum monad_storage_events {
	MONAD_STORAGE_EVENTS_ALL = 0,     /* each issue, requeue, merge, part and end */
	MONAD_STORAGE_EVENTS_ENDS = 1,    /* ends, which have all the times */
	MONAD_STORAGE_EVENTS_NOTABLE = 2, /* ends that are slow, failed, timed out, retried */
};

/* What had been counted of the ring when the recording began: it may be older. */
struct monad_storage_ring_start {
	uint64_t last_seqno;
	uint64_t next_byte; /* of payload */
	uint64_t discarded;
	uint64_t lost[8]; /* as in struct monad_ring_info */
};

/* What was started, for those who come later. */
struct monad_storage_session {
	uint64_t started_ns;   /* CLOCK_REALTIME, then */
	uint64_t started_boot_ns; /* CLOCK_BOOTTIME: no two recordings have the same */
	struct monad_storage_ring_start ring_start;
	uint32_t ring_id;
	uint32_t filtered;     /* only the devices in the devices map */
	uint32_t shards;       /* of metrics and cgroups: a power of two */
	uint32_t events;       /* enum monad_storage_events */
	uint64_t slow_ns;      /* 0: nothing is slow by itself */
	uint32_t slow_devices; /* so many have a limit of their own */
	uint32_t sample_every; /* one in so many of those not notable; 0: none */
	uint32_t max_rate;     /* ends per second; 0: any number */
	uint32_t attribution;  /* who asked for an I/O is recorded */
	uint32_t stacks;       /* ... and by which way */
	uint32_t series;       /* room for so many devices times operations ... */
	uint32_t series_left_out; /* ... and for so many less than there seemed to be */
	uint32_t metrics_mib;  /* memory that takes */
	char ring[128];        /* what to open to read it */
	char version[32];
};

#endif /* MONAD_STORAGE_STATE_H */
