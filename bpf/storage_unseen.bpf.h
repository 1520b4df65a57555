/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ends that were not seen.
 *
 * The kernel skips a program that would interrupt itself: while one CPU runs the
 * program of an end in a task (a device that is done at once, a kworker), the ends
 * that an interrupt brings to that CPU are not seen. A second program at the same
 * tracepoint catches them, unless it is as busy, or the first one is just about to
 * begin or to end. Such an I/O is found when its address comes up for the next one,
 * soon where a device is busy, and is counted then: totals are right again, its time
 * stays unknown.
 */
#ifndef MONAD_STORAGE_UNSEEN_BPF_H
#define MONAD_STORAGE_UNSEEN_BPF_H

#include "storage_event.bpf.h"
#include "storage_inflight.bpf.h"
#include "storage_metrics.bpf.h"

/* The caller's side of an fsync: never with the device. */
static __always_inline bool is_fsync(const struct monad_storage_io *io)
{
	return io->op == MONAD_STORAGE_OP_WRITE && !io->bytes && !io->issues;
}

/*
 * A request has ended when it was with the device, or waited for the flush after its data,
 * or for nothing else: others were given up before their first issue, as clones of
 * dm-multipath are.
 */
static __always_inline bool rq_must_have_ended(const struct monad_storage_io *io)
{
	return io->state == MONAD_STORAGE_STATE_ISSUED || io->device_end_ns || is_fsync(io);
}

/* The kernel's own flush of a device's cache, which is none of block_io_start's. */
static __always_inline bool is_cache_flush(const struct monad_storage_io *io)
{
	return io->op == MONAD_STORAGE_OP_FLUSH && io->flags & MONAD_STORAGE_F_FLUSH_SEQ;
}

static __always_inline bool is_disk(u64 gendisk, u32 dev)
{
	struct gendisk *disk = (struct gendisk *)gendisk;

	return gendisk && dev == ((u32)BPF_CORE_READ(disk, major) << 20 |
				  BPF_CORE_READ(disk, first_minor));
}

/* As is_on_top(). */
static __always_inline bool is_on_top_at(u64 gendisk)
{
	struct gendisk *disk = (struct gendisk *)gendisk;

	return gendisk && bpf_core_field_exists(disk->slave_bdevs) &&
	       BPF_CORE_READ(disk, slave_bdevs.next) != &disk->slave_bdevs;
}

/*
 * @io's address is used again, by an I/O of the disk at the address @gendisk; @type is what its
 * end would have been.
 */
__noinline int end_unseen(struct monad_storage_io *io, u64 gendisk, u32 type)
{
	struct io_times t = { .flags = MONAD_STORAGE_F_END_UNSEEN };
	u32 op;

	if (!io)
		return 0;
	op = io->op;
	count(MONAD_STORAGE_ENDS_UNSEEN);
	if (!is_disk(gendisk, io->dev))
		gendisk = 0;
	io->bytes_done = io->bytes;
	if (type != MONAD_STORAGE_BIO_COMPLETE && is_fsync(io)) {
		op = MONAD_STORAGE_OP_FLUSH;
		io->op = op;
		io->sector = MONAD_STORAGE_NO_SECTOR;
		/* Seen neither issued nor ended: that it counts is not known, but usual. */
		io->flags |= MONAD_STORAGE_F_IO_STAT;
	}
	if (type == MONAD_STORAGE_BIO_COMPLETE) {
		count(MONAD_STORAGE_BIO_COMPLETED);
	} else {
		t.queue_ns = queue_time(io, bpf_ktime_get_ns(), &t);
		if (is_cache_flush(io)) {
			type = MONAD_STORAGE_FLUSH_COMPLETE;
			op = MONAD_STORAGE_OP_CACHE_FLUSH;
			count(MONAD_STORAGE_FLUSHED);
		} else {
			count(MONAD_STORAGE_COMPLETED);
		}
	}
	measure_device(io, &t, find_series_at(io->dev, op, gendisk));
	if (op != MONAD_STORAGE_OP_CACHE_FLUSH && !is_on_top_at(gendisk))
		measure_cgroup(io, &t);
	write_complete_of(type, io, &t, NULL, gendisk);
	return 0;
}

#endif /* MONAD_STORAGE_UNSEEN_BPF_H */
