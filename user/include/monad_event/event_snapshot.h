/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Snapshots: a ring, or a part of it, in one compressed file that can be kept and
 * sent away. A snapshot is one zstd frame that holds the bytes of a ring file, so
 * `zstd -d` makes a ring file of it. monad_event_ring_open() opens one like any
 * other ring; the calls to decompress one are in event_ring_util.h.
 *
 * Functions that return int return 0 or a positive errno with a message in
 * monad_event_ring_get_last_error(). All are thread-safe.
 */
#ifndef MONAD_EVENT_EVENT_SNAPSHOT_H
#define MONAD_EVENT_EVENT_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include <monad/event_ring.h>
#include <monad_event/event_ring.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MONAD_EVENT_SNAPSHOT_DEFAULT_LEVEL 3

/* What to write, and how. Zero everything, set size; fields that are 0 mean no choice. */
struct monad_event_snapshot_options {
	uint32_t size;		   /* sizeof of this structure */
	int32_t level;		   /* of zstd; 0: MONAD_EVENT_SNAPSHOT_DEFAULT_LEVEL */
	uint64_t first_seqno;	   /* 0: the oldest that is there */
	uint64_t last_seqno;	   /* inclusive; 0: the newest */
	uint64_t from_epoch_nanos; /* 0: no limit; as in record_epoch_nanos */
	uint64_t to_epoch_nanos;   /* inclusive; 0: no limit */
	const char *spool_dir;	   /* for the unlinked temporary file; NULL: in memory */
};

/* What became of it. Set size; the rest is filled in. */
struct monad_event_snapshot_stats {
	uint32_t size; /* sizeof of this structure */
	uint32_t reserved;
	/*
	 * Of the ring's sequence numbers. Each of the range is exactly one of
	 * copied, missed and not_ready.
	 */
	uint64_t first_seqno; /* of the range; 0: nothing was chosen */
	uint64_t last_seqno;
	uint64_t copied;    /* are in the snapshot, complete */
	uint64_t missed;    /* were overwritten before they were copied ... */
	uint64_t expired;   /* ... of these, the payload only */
	uint64_t not_ready; /* were not written yet */
	/* Of the snapshot. */
	uint64_t base_seqno; /* number its event 1 has in the ring; 0: it is empty */
	uint64_t events;     /* in it: copied, and those that stand for what was not */
	uint64_t first_epoch_nanos; /* record times of the first and the last event ... */
	uint64_t last_epoch_nanos;  /* ... that was copied; 0: none */
	uint64_t image_size;	    /* bytes when decompressed */
	uint64_t file_size;	    /* bytes that were written */
	/*
	 * Record time of the oldest event that the ring still had: if that is after
	 * from_epoch_nanos and first_seqno is not 1, the ring did not go back so far.
	 */
	uint64_t oldest_epoch_nanos;
};

/*
 * Writes a snapshot of @ring, which writers may go on writing to, to @out_fd: a
 * file, at its current position, or a pipe. @options and @stats may be NULL.
 *
 * A time range means all events from the first one to the last one in the ring
 * that are within it, also those between them that are not, since stamps may be
 * slightly out of order. It narrows a range of sequence numbers down further.
 *
 * In the snapshot events are numbered from 1 in the order they have in the ring,
 * and flow tags that are sequence numbers (monad_event_flow_tags(), if the ring's
 * schema is known) are renumbered with them, or 0 when they point to what is not in
 * it. From the first event that could be copied, each sequence number of the range has
 * its event there:
 *
 *	copied		the event
 *	missed		RECORD_ERROR of type MISSING_EVENT
 *	expired		RECORD_ERROR of type OVERFLOW_EXPIRE, which names the type and
 *			the payload size of what it stands for, and has its tags and time
 *	not_ready	NONE, if events that were written follow
 *
 * What was missing before the first and not written after the last event is in no
 * event, but is counted in struct monad_event_snapshot_info, which goes with it.
 * No waiting is done for events that are being written. Nothing to copy gives an
 * empty snapshot and no error.
 *
 * First the events are copied from the ring, oldest first, to a compressed spool,
 * so that the speed of @out_fd does not matter to what is missed; then they are
 * written. The spool is memory unless options->spool_dir is set; it takes as much as
 * the events do when compressed fast, a fraction of the ring for common events, and
 * never more than the part of the ring that is in use, but for some percent.
 *
 * EFAULT: @ring is NULL. EINVAL: it is not mapped, or an option is not one. E2BIG:
 * an option is set that this version of the library does not know. EACCES: mapped
 * without PROT_READ. ENOMEM. Otherwise what writing gave: ENOSPC, EPIPE (with
 * SIGPIPE) and EFBIG (with SIGXFSZ), as write(2) does, and what is in @out_fd then is no
 * snapshot.
 */
int monad_event_snapshot_write(const struct monad_event_ring *ring, int out_fd,
			       const struct monad_event_snapshot_options *options,
			       struct monad_event_snapshot_stats *stats);

/*
 * The same to the file @path, mode 0600, which appears complete and on disk, or not
 * at all: it is written in the same directory without a name (or where the file system
 * has no O_TMPFILE, under another one), synced and renamed. Who is killed meanwhile leaves
 * nothing behind. The directory has to be readable.
 * A file that was there is replaced; EINVAL when it is not a regular one. EFBIG: it would be
 * larger than RLIMIT_FSIZE (ulimit -f); there is no SIGXFSZ.
 */
int monad_event_snapshot_write_file(const struct monad_event_ring *ring, const char *path,
				    const struct monad_event_snapshot_options *options,
				    struct monad_event_snapshot_stats *stats);

/*
 * Bytes, decompressed, up to which monad_event_ring_open() opens a snapshot: half of
 * this machine's memory, or 2 GiB if that is more.
 */
size_t monad_event_snapshot_open_limit(void);

/*
 * Where a snapshot comes from. At this offset of the header section of those that
 * monad_event_snapshot_write() wrote; not in those of other programs.
 */
#define MONAD_EVENT_SNAPSHOT_INFO_OFFSET 8192
#define MONAD_EVENT_SNAPSHOT_INFO_MAGIC	 "MONADSNP"

struct monad_event_snapshot_info {
	char magic[8];		     /* MONAD_EVENT_SNAPSHOT_INFO_MAGIC, no NUL */
	uint32_t size;		     /* of this structure as its writer knew it */
	uint32_t reserved;	     /* zero */
	uint64_t taken_epoch_nanos;  /* when it was begun, CLOCK_REALTIME */
	uint64_t base_seqno;	     /* as in struct monad_event_snapshot_stats, all of these */
	uint64_t first_seqno;
	uint64_t last_seqno;
	uint64_t copied;
	uint64_t missed;
	uint64_t expired;
	uint64_t not_ready;
};

MONAD_EVENT_ASSERT_SIZE(struct monad_event_snapshot_info, 80);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_snapshot_info, size, 8);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_snapshot_info, taken_epoch_nanos, 16);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_snapshot_info, base_seqno, 24);
MONAD_EVENT_ASSERT_OFFSET(struct monad_event_snapshot_info, not_ready, 72);

/* The same of a mapped ring, in the mapping; NULL when it has none. */
const struct monad_event_snapshot_info *
monad_event_ring_snapshot_info(const struct monad_event_ring *ring);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MONAD_EVENT_EVENT_SNAPSHOT_H */
