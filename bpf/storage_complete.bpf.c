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
#include "storage_bio.bpf.h"
#include "storage_event.bpf.h"
#include "storage_inflight.bpf.h"
#include "storage_metrics.bpf.h"
#include "storage_unseen.bpf.h"

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

/*
 * Whether the request with @key, which has no bytes left and its first bio at @bio, has ended
 * before: dm-multipath ends its requests with their data and then once more, when the clone is
 * given back. What else has neither bytes nor bios has an operation that says so. @gendisk: the
 * address of the disk. Not static, as forget_waiting().
 */
__noinline int was_over(u64 key, u64 bio, u32 opf, u64 gendisk)
{
	struct monad_storage_io *io;
	u32 op = op_from(opf);
	struct place p;

	if (bio || op == MONAD_STORAGE_OP_FLUSH || op == MONAD_STORAGE_OP_DRV_IN ||
	    op == MONAD_STORAGE_OP_DRV_OUT)
		return false;
	table_find(&inflight_keys, inflight_shift, key, &p);
	io = p.index == TABLE_NONE ? NULL : bpf_map_lookup_elem(&inflight, &p.index);
	/* Of others the bios were taken, to go another way (nvme multipath): that is an end. */
	if (!is_on_top_at(gendisk))
		return false;
	if (!io || io->device_end_ns)
		return true;
	/* Nobody saw it end before (recursion misses). */
	io->bytes_done = io->bytes;
	return false;
}

/* What a driver takes in one request, and so how many bios there can be. */
#define MAX_SEGMENTS 256

/* The bios of a request that has ended, from the one at that address on, if they are known. */
__noinline int end_bios(u64 address, u32 error)
{
	int i;

	for (i = 0; i < MAX_SEGMENTS && address; i++) {
		end_handed_down(address, error);
		if (bpf_probe_read_kernel(&address, sizeof(address),
					  &((struct bio *)address)->bi_next))
			break;
	}
	return 0;
}

/*
 * @value, of which the verifier is not to know what it is on each way that leads here: it would
 * follow all that comes after once for each of them. @any: a number that it does not know either.
 */
static __always_inline u64 opaque(u64 value, u64 any)
{
	u64 same = any;

	barrier_var(any);
	barrier_var(same);
	return value + (any - same);
}

/* Likewise, those that wait for a request: merging discards is not traced. */
__noinline int forget_bios(u64 address)
{
	int i;

	for (i = 0; i < MAX_SEGMENTS && address; i++) {
		forget_waiting(key_of_address(address) | 1);
		if (bpf_probe_read_kernel(&address, sizeof(address),
					  &((struct bio *)address)->bi_next))
			break;
	}
	return 0;
}

/* @room: an enum orphan. */
static __always_inline int complete_rq(struct request *rq, u8 status, unsigned int nr_bytes,
				       u32 room)
{
	struct monad_storage_io *io;
	u64 now = bpf_ktime_get_ns();
	u32 rq_flags = rq->rq_flags, left = rq->__data_len;
	u32 error = errno_of[status & 31];
	struct gendisk *disk = rq->q->disk;
	const u64 none = opaque(0, now);
	struct io_times t = { none, none, none, 0, none };
	bool known, by_bio, handed_down;
	struct place p;
	u32 dev, op, type;

	if (!(nr_bytes | left) &&
	    was_over(object_key(rq), address_of(rq->bio), rq->cmd_flags, address_of(disk)))
		return 0;
	io = find_rq(rq, &p, &by_bio);
	known = io;
	if (!io) {
		dev = disk_dev(disk);
		if (!wanted(dev, disk)) {
			/* But what it was handed down from may be. */
			if (nr_bytes >= left)
				end_bios(address_of(rq->bio), error);
			return 0;
		}
		io = new_orphan(room, dev, rq->cmd_flags, rq->bio);
		if (!io)
			return 0;
		io->flags |= MONAD_STORAGE_F_ORPHAN;
		io->sector = sector_from(rq->__sector, io->op);
		io->handed_down = 1; /* perhaps */
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

	type = MONAD_STORAGE_RQ_COMPLETE;
	if (op == MONAD_STORAGE_OP_FLUSH && rq_flags & rqf_flush_seq) {
		type = MONAD_STORAGE_FLUSH_COMPLETE;
		op = MONAD_STORAGE_OP_CACHE_FLUSH;
	} else if (op == MONAD_STORAGE_OP_WRITE && !io->bytes && !io->bytes_done &&
		   !io->issues) {
		/* an fsync; the kernel has it as a write without data */
		op = MONAD_STORAGE_OP_FLUSH;
		io->op = op;
		io->sector = MONAD_STORAGE_NO_SECTOR;
		if (known)
			flush_times(rq, io);
	} else if (op == MONAD_STORAGE_OP_DISCARD) {
		forget_bios(address_of(rq->bio));
	}
	if (!(io->flags & MONAD_STORAGE_F_ORPHAN))
		request_times(io, io->device_end_ns ?: now, now, &t);
	else
		count_orphan(rq->start_time_ns, now);
	if (type == MONAD_STORAGE_FLUSH_COMPLETE) {
		count(MONAD_STORAGE_FLUSHED);
		if (known)
			note_flush(rq, io, now);
	} else {
		count(MONAD_STORAGE_COMPLETED);
		if (io->error)
			count(MONAD_STORAGE_ERRORS);
		if (io->flags & MONAD_STORAGE_F_TIMED_OUT)
			count(MONAD_STORAGE_TIMEOUTS);
	}
	t.flags = opaque(t.flags, now);
	measure(io, op, &t, disk);
	write_complete(type, io, &t, disk);
	handed_down = io->handed_down;
	/* Only now: the place may be another CPU's at once. */
	if (known)
		release_io(io, &p);
	if (handed_down)
		end_bios(address_of(rq->bio), error);
	return 0;
}

/* The program below is at work on this CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} completing SEC(".maps");

SEC("tp_btf/block_rq_complete")
int BPF_PROG(storage_rq_complete, struct request *rq, u8 status, unsigned int nr_bytes)
{
	volatile u32 *busy;
	u32 zero = 0;

	busy = bpf_map_lookup_elem(&completing, &zero);
	if (!busy)
		return 0;
	*busy = 1;
	complete_rq(rq, status, nr_bytes, ORPHAN_RQ);
	*busy = 0;
	return 0;
}

/*
 * Attached to the same tracepoint behind the one above, which the kernel skips when an interrupt
 * ends a request while that CPU is at work on another one's end; this one it does not. (It may
 * come a moment too early or too late to notice: then see storage_unseen.bpf.h.)
 */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(storage_rq_complete_skipped, struct request *rq, u8 status, unsigned int nr_bytes)
{
	volatile u32 *busy;
	u32 zero = 0;

	busy = bpf_map_lookup_elem(&completing, &zero);
	if (!busy || !*busy)
		return 0;
	count(MONAD_STORAGE_ENDS_CAUGHT);
	return complete_rq(rq, status, nr_bytes, ORPHAN_RQ_SKIPPED);
}
