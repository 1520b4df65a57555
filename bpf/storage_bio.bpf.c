// SPDX-License-Identifier: GPL-2.0
/*
 * Bios. Devices that take them and have no requests: dm, md, zram, brd, pmem, nvme
 * multipath heads. On all others a bio has to become a request, or a part of one. When
 * it was queued, and by whom, is noted here for that; then its completion is not traced
 * (BIO_TRACE_COMPLETION is cleared when the request completes). It is when there never
 * was a request: because it was not to wait, or because the disk has gone.
 */
#include <asm-generic/errno-base.h>

#include "storage.bpf.h"
#include "storage_bio.bpf.h"
#include "storage_metrics.bpf.h"
#include "storage_unseen.bpf.h"

/* What the device will know as a request. */
static __always_inline void wait_for_request(void *ctx, struct bio *bio, u32 dev)
{
	struct monad_storage_io *io;
	struct place p;

	io = keep_waiting(bio, &p);
	if (!io)
		return;
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
		wait_for_request(ctx, bio, dev);
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

/* It became part of a request that there is already. */
SEC("tp_btf/block_bio_backmerge")
int BPF_PROG(storage_bio_backmerge, struct bio *bio)
{
	forget_waiting(rq_bio_key(bio));
	return 0;
}

SEC("tp_btf/block_bio_frontmerge")
int BPF_PROG(storage_bio_frontmerge, struct bio *bio)
{
	forget_waiting(rq_bio_key(bio));
	return 0;
}

/*
 * There never was a request for @bio. One that was not to wait will be tried again by who
 * asked for it, and is no operation; one that failed is an operation that did.
 */
static __always_inline void end_without_request(struct bio *bio, struct gendisk *disk, u32 error,
						u64 now)
{
	struct monad_storage_io unknown = {}, *io;
	struct io_times t = {};
	struct place p;
	bool known;

	io = find_bio(rq_bio_key(bio), &p);
	known = io;
	if (error == EAGAIN)
		count(MONAD_STORAGE_GIVEN_UP);
	if (error && error != EAGAIN) {
		if (!io) {
			unknown.dev = disk_dev(disk);
			unknown.op = op_from(bio->bi_opf);
			unknown.sector = sector_from(bio->bi_iter.bi_sector, unknown.op);
			unknown.cgroup_id = bio_cgroup_id(bio);
			io = &unknown;
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

SEC("tp_btf/block_bio_complete")
int BPF_PROG(storage_bio_complete, struct request_queue *q, struct bio *bio)
{
	u64 now = bpf_ktime_get_ns();
	/* That of the bio is another one when its driver has handed it on. */
	struct gendisk *disk = q->disk;
	struct monad_storage_io orphan = {}, *io;
	u32 error = errno_of[bio->bi_status & 31];
	struct io_times t = {};
	struct place p;
	bool known;

	io = find_bio(object_key(bio), &p);
	known = io;
	if (!io) {
		orphan.dev = disk_dev(disk);
		if (!wanted(orphan.dev, disk))
			return 0;
		if (is_piece(bio)) {
			count(MONAD_STORAGE_BIO_PARTS);
			return 0;
		}
		if (disk && !disk->fops->submit_bio) {
			end_without_request(bio, disk, error, now);
			return 0;
		}
		orphan.op = op_from(bio->bi_opf);
		orphan.flags = flags_from(bio->bi_opf, orphan.op) | MONAD_STORAGE_F_ORPHAN;
		orphan.sector = MONAD_STORAGE_NO_SECTOR;
		orphan.cgroup_id = bio_cgroup_id(bio);
		count_orphan(0, now);
		io = &orphan;
	}
	barrier_var(io);
	end_of_bio(io, error, now, &t);
	measure_device(io, &t, find_series(io->dev, io->op, disk));
	/* One that was handed down its cgroup has paid for there. */
	if (disk == bio->bi_bdev->bd_disk && !is_on_top(disk))
		measure_cgroup(io, &t);
	write_complete(MONAD_STORAGE_BIO_COMPLETE, io, &t, disk);
	if (known)
		release_io(io, &p);
	return 0;
}
