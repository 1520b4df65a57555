// SPDX-License-Identifier: GPL-2.0
/*
 * Bios. Devices that take them and have no requests: dm, md, zram, brd, pmem, nvme
 * multipath heads. On all others a bio has to become a request, or a part of one. When
 * it was queued, and by whom, is noted here for that; then its completion is not traced
 * (BIO_TRACE_COMPLETION is cleared when the request completes). It is when there never
 * was a request: because it was not to wait, or because the disk has gone.
 */
#include <asm-generic/errno-base.h>

#include "storage_bio.bpf.h"
#include "storage_event.bpf.h"
#include "storage_inflight.bpf.h"
#include "storage_metrics.bpf.h"
#include "storage_stack.bpf.h"
#include "storage_unseen.bpf.h"

/* What the device will know as a request. */
static __always_inline void wait_for_request(void *ctx, struct bio *bio, struct gendisk *disk,
					     u32 dev)
{
	struct monad_storage_io *io;
	struct place p;

	io = keep_waiting(bio, &p);
	if (!io)
		return;
	/* It had a request that was known by it: an fsync's, without block_io_start. */
	if (p.found && io->state == MONAD_STORAGE_STATE_QUEUED && is_fsync(io))
		end_unseen(io, address_of(disk), MONAD_STORAGE_RQ_COMPLETE);
	*io = (struct monad_storage_io){};
	io->state = MONAD_STORAGE_STATE_WAITING;
	io->dev = dev;
	io->start_ns = bpf_ktime_get_ns();
	io->op = op_from(bio->bi_opf);
	io->bytes = bio->bi_iter.bi_size;
	io->sector = sector_from(bio->bi_iter.bi_sector, io->op);
	set_actor(io);
	io->cgroup_id = bio_cgroup_id(bio) ?: io->actor_cgroup_id;
	if (record_stacks)
		io->stack = take_stack(ctx, STACK_OF_BIO);
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(storage_bio_queue, struct bio *bio)
{
	struct gendisk *disk = bio->bi_bdev->bd_disk;
	struct monad_storage_io lost, *io;
	u32 opf = bio->bi_opf, dev;
	struct place p;

	dev = disk_dev(disk);
	if (!wanted(dev, disk))
		return 0;
	if (!disk->fops->submit_bio) {
		wait_for_request(ctx, bio, disk, dev);
		return 0;
	}
	io = keep_bio(object_key(bio), &p);
	if (io && p.found)
		end_unseen(io, address_of(disk), MONAD_STORAGE_BIO_COMPLETE);
	if (!io)
		io = &lost;
	barrier_var(io);
	*io = (struct monad_storage_io){};
	io->dev = dev;
	io->start_ns = bpf_ktime_get_ns();
	io->gendisk = (u64)disk;
	io->parts = 1;
	io->op = op_from(opf);
	io->bytes = bio->bi_iter.bi_size;
	/* an fsync: submitted as a write without data */
	if (io->op == MONAD_STORAGE_OP_WRITE && !io->bytes)
		io->op = MONAD_STORAGE_OP_FLUSH;
	io->flags = flags_from(opf, io->op);
	io->sector = sector_from(bio->bi_iter.bi_sector, io->op);
	set_actor(io);
	io->cgroup_id = bio_cgroup_id(bio) ?: io->actor_cgroup_id;
	if (record_stacks)
		io->stack = take_stack(ctx, STACK_OF_BIO);
	count(MONAD_STORAGE_BIO_QUEUED);
	io->start_seqno = write_step(MONAD_STORAGE_BIO_QUEUE, io, io->start_ns, io->sector,
				     io->bytes, io->flags, 0);
	return 0;
}

/*
 * The bio at @address, a part of the one with the key @parent, has ended without a request. Had
 * it one before, it is noted as a part; if not, it is one all the same, if it failed.
 */
__noinline int end_part(u64 address, u64 parent, u32 error)
{
	struct monad_storage_io *io;
	struct place p;

	io = error ? find_bio(parent, &p) : NULL;
	if (io && !io->error)
		io->error = error;
	return end_handed_down(address, error);
}

static __always_inline bool is_waiting(struct bio *bio)
{
	struct place p;

	return find_bio(rq_bio_key(bio), &p);
}

/* It became part of a request that there is already. */
static __always_inline void merge_bio(struct bio *bio)
{
	struct gendisk *disk = bio->bi_bdev->bd_disk;
	u32 dev = disk_dev(disk);

	if (!wanted(dev, disk))
		return;
	if (is_piece(bio))
		note_part(object_key(bio), parent_key(bio));
	forget_waiting(rq_bio_key(bio));
	count(MONAD_STORAGE_BIO_MERGED);
	measure_merge(dev, op_from(bio->bi_opf), disk);
}

SEC("tp_btf/block_bio_backmerge")
int BPF_PROG(storage_bio_backmerge, struct bio *bio)
{
	merge_bio(bio);
	return 0;
}

SEC("tp_btf/block_bio_frontmerge")
int BPF_PROG(storage_bio_frontmerge, struct bio *bio)
{
	merge_bio(bio);
	return 0;
}

/*
 * There never was a request for @bio. One that was not to wait will be tried again by who
 * asked for it, and is no operation; one that failed is an operation that did.
 */
static __always_inline void end_without_request(struct bio *bio, struct gendisk *disk, u32 error,
						u64 now, u32 room)
{
	struct monad_storage_io *io;
	struct io_times t = {};
	struct place p;
	bool known;

	io = find_bio(rq_bio_key(bio), &p);
	known = io;
	if (error == EAGAIN)
		count(MONAD_STORAGE_GIVEN_UP);
	if (error && error != EAGAIN) {
		if (!io) {
			io = new_orphan(room, disk_dev(disk), bio->bi_opf, bio);
			if (!io)
				return;
			io->sector = sector_from(bio->bi_iter.bi_sector, io->op);
		}
		barrier_var(io);
		io->flags |= flags_from(bio->bi_opf, io->op);
		io->error = error;
		t.total_ns = time_between(io->start_ns, now, MONAD_STORAGE_F_TOTAL_NS, &t);
		count(MONAD_STORAGE_COMPLETED);
		count(MONAD_STORAGE_ERRORS);
		measure(io, io->op, &t, disk);
		write_complete(MONAD_STORAGE_RQ_COMPLETE, io, &t, disk);
	}
	if (known)
		release_io(io, &p);
}

/* @room: an enum orphan. */
static __always_inline int complete_bio(struct request_queue *q, struct bio *bio, u32 room)
{
	u64 now = bpf_ktime_get_ns();
	struct gendisk *disk = q->disk;
	struct monad_storage_io *io;
	u32 error = errno_of[bio->bi_status & 31];
	struct io_times t = {};
	struct place p;
	bool known;
	u32 dev;

	/* Handed down, and told of by its driver: it ends with its request. */
	if (disk != bio->bi_bdev->bd_disk)
		return 0;
	io = find_bio(object_key(bio), &p);
	known = io;
	if (io && error == EAGAIN && io->flags & MONAD_STORAGE_F_NOWAIT) {
		count(MONAD_STORAGE_GIVEN_UP);
		release_io(io, &p);
		return 0;
	}
	if (!io) {
		if (is_piece(bio))
			end_part(address_of(bio), parent_key(bio), error);
		dev = disk_dev(disk);
		if (!wanted(dev, disk))
			return 0;
		if (is_piece(bio) && !is_waiting(bio)) {
			count(MONAD_STORAGE_BIO_PARTS);
			return 0;
		}
		if (disk && !disk->fops->submit_bio) {
			end_without_request(bio, disk, error, now, room);
			return 0;
		}
		io = new_orphan(room, dev, bio->bi_opf, bio);
		if (!io)
			return 0;
		io->flags |= MONAD_STORAGE_F_ORPHAN;
		count_orphan(0, now);
	}
	barrier_var(io);
	end_of_bio(io, error, now, &t);
	measure_device(io, &t, find_series(io->dev, io->op, disk));
	if (!is_on_top(disk))
		measure_cgroup(io, &t);
	write_complete(MONAD_STORAGE_BIO_COMPLETE, io, &t, disk);
	if (known)
		release_io(io, &p);
	return 0;
}

SEC("tp_btf/block_bio_complete")
int BPF_PROG(storage_bio_complete, struct request_queue *q, struct bio *bio)
{
	return complete_bio(q, bio, ORPHAN_BIO);
}

/*
 * Attached to the same tracepoint behind the one above, and so called after it: what is still
 * known of @bio was not seen to end, because the kernel has skipped that one, as it does when an
 * interrupt ends a bio while a task on the same CPU is told that another was not to wait. The
 * kernel cannot be asked about a bio, as it can about a request, whether it has ended.
 */
SEC("tp_btf/block_bio_complete")
int BPF_PROG(storage_bio_complete_skipped, struct request_queue *q, struct bio *bio)
{
	u64 key = object_key(bio);
	struct place p;

	if (q->disk != bio->bi_bdev->bd_disk ||
	    (!find_bio(key, &p) && !find_bio(key | 1, &p) &&
	     !(is_piece(bio) && find_bio(PART_KEY(key), &p))))
		return 0;
	count(MONAD_STORAGE_ENDS_CAUGHT);
	return complete_bio(q, bio, ORPHAN_BIO_SKIPPED);
}
