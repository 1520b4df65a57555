// SPDX-License-Identifier: GPL-2.0
/*
 * A request, or a part of it, is done.
 *
 * The tracepoint runs before the kernel takes nr_bytes off the request: it is
 * finished when nr_bytes covers all that is left. Less than that is a part, and
 * a part of 0 bytes before an error is common (SCSI medium errors).
 *
 * Writes with flushes around them (blk-flush.c) come here once for their data,
 * with RQF_FLUSH_SEQ set, and once for their end, with 0 bytes and the flag
 * cleared. An fsync without data comes here once, never having been issued. The
 * flushes themselves are done by a request of the kernel's own, one for all who
 * wait at the time, whose address is in the hardware queue.
 */
#include "storage.bpf.h"
#include "storage_bio.bpf.h"
#include "storage_metrics.bpf.h"

/* A caller's request without data is done: when was its flush? */
static __always_inline void flush_times(struct request *rq, struct monad_storage_io *io)
{
	struct monad_storage_flush *flush;
	struct place p;

	if (!bpf_core_field_exists(rq->mq_hctx->fq->flush_rq))
		return;
	table_find(&flush_keys, flush_shift, object_key(rq->mq_hctx->fq->flush_rq), &p);
	if (p.index == TABLE_NONE)
		return;
	flush = bpf_map_lookup_elem(&flushes, &p.index);
	/* One from before this request is not the one it waited for. */
	if (!flush || flush->end_ns < io->start_ns)
		return;
	io->first_issue_ns = flush->issue_ns;
	io->last_issue_ns = flush->issue_ns;
	io->device_end_ns = flush->end_ns;
}

/* The kernel's own flush request is done; those who wait come next. */
static __always_inline void note_flush(struct request *rq, const struct monad_storage_io *io,
				       u64 now)
{
	struct monad_storage_flush *flush = NULL;
	struct place p;

	table_claim(&flush_keys, flush_shift, object_key(rq), &p);
	if (p.index != TABLE_NONE)
		flush = bpf_map_lookup_elem(&flushes, &p.index);
	if (!flush) {
		count(MONAD_STORAGE_TABLE_FULL);
		return;
	}
	flush->issue_ns = io->last_issue_ns;
	flush->end_ns = now;
}

static __always_inline void init_orphan(struct monad_storage_io *io, struct request *rq, u32 op)
{
	u32 opf = rq->cmd_flags;

	io->op = op;
	io->flags = flags_from(opf, op) | MONAD_STORAGE_F_ORPHAN;
	io->sector = sector_from(rq->__sector, op);
	io->cgroup_id = bio_cgroup_id(rq->bio);
}

/* Merging discards is not traced: they are still known as waiting for a request. */
static __always_inline void forget_merged(struct request *rq)
{
	struct bio *bio = rq->bio;
	int i;

	for (i = 0; i < MAX_BIOS && bio; i++) {
		forget_waiting(bio);
		bio = bio->bi_next;
	}
}

/* What a driver takes in one request, and so how many bios there can be. */
#define MAX_SEGMENTS 256

/* Those of its bios that are also of a device above have ended there. */
static __always_inline void end_above(struct request *rq, u32 error, u64 now)
{
	struct bio *bio = rq->bio;
	int i;

	for (i = 0; i < MAX_SEGMENTS && bio; i++) {
		end_handed_down(object_key(bio), error, now);
		bio = bio->bi_next;
	}
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(storage_rq_complete, struct request *rq, u8 status, unsigned int nr_bytes)
{
	struct monad_storage_io orphan = {}, *io;
	u64 now = bpf_ktime_get_ns();
	u32 rq_flags = rq->rq_flags, left = rq->__data_len;
	u32 error = errno_of[status & 31];
	struct gendisk *disk = rq->q->disk;
	struct io_times t = {};
	bool known, by_bio;
	struct place p;
	u32 op;

	io = find_rq(rq, &p, &by_bio);
	known = io;
	if (!io) {
		orphan.dev = disk_dev(disk);
		if (!wanted(orphan.dev, disk))
			return 0;
		op = op_from(rq->cmd_flags);
		init_orphan(&orphan, rq, op);
		io = &orphan;
	}
	barrier_var(io);
	op = io->op;
	io->flags |= flags_from_rq(rq_flags);
	io->bytes_done += nr_bytes;
	if (error && !io->error)
		io->error = error;

	if (nr_bytes < left ||
	    (rq_flags & rqf_flush_seq && op != MONAD_STORAGE_OP_FLUSH)) {
		count(MONAD_STORAGE_PARTIALS);
		write_step(MONAD_STORAGE_RQ_PARTIAL, io, now, sector_from(rq->__sector, op),
			   nr_bytes, io->flags, error);
		COUNT_UP(io->partials);
		if (nr_bytes >= left) {
			/* the data is with the device, a flush may follow */
			io->device_end_ns = now;
			io->state = MONAD_STORAGE_STATE_QUEUED;
		}
		return 0;
	}

	if (op == MONAD_STORAGE_OP_FLUSH && rq_flags & rqf_flush_seq) {
		request_times(io, now, now, &t);
		count(MONAD_STORAGE_FLUSHED);
		if (!known)
			count_orphan(rq->start_time_ns, now);
		measure(io, MONAD_STORAGE_OP_CACHE_FLUSH, &t, disk);
		write_complete(MONAD_STORAGE_FLUSH_COMPLETE, io, &t, disk);
		if (known) {
			note_flush(rq, io, now);
			release_io(io, &p);
		}
		return 0;
	}

	if (op == MONAD_STORAGE_OP_WRITE && !io->bytes_done && !io->issues) {
		/* an fsync; the kernel has it as a write without data */
		io->op = MONAD_STORAGE_OP_FLUSH;
		io->sector = MONAD_STORAGE_NO_SECTOR;
		if (known)
			flush_times(rq, io);
	}
	if (op == MONAD_STORAGE_OP_DISCARD)
		forget_merged(rq);
	if (!(io->flags & MONAD_STORAGE_F_ORPHAN))
		request_times(io, io->device_end_ns ?: now, now, &t);
	else
		count_orphan(rq->start_time_ns, now);
	count(MONAD_STORAGE_COMPLETED);
	if (io->error)
		count(MONAD_STORAGE_ERRORS);
	if (io->flags & MONAD_STORAGE_F_TIMED_OUT)
		count(MONAD_STORAGE_TIMEOUTS);
	measure(io, io->op, &t, disk);
	write_complete(MONAD_STORAGE_RQ_COMPLETE, io, &t, disk);
	by_bio = io->handed_down;
	/* Only now: the place may be another CPU's at once. */
	if (known)
		release_io(io, &p);
	if (by_bio)
		end_above(rq, error, now);
	return 0;
}
