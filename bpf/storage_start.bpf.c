// SPDX-License-Identifier: GPL-2.0
/*
 * The earliest moment a request is known, still in the context of who asked for
 * it: later ones may run in a kworker (flushes and requeues always do, direct
 * writes do on 6.1), or in whatever task an interrupt hit.
 */
#include "storage.bpf.h"
#include "storage_unseen.bpf.h"

static __always_inline void start(void *ctx, struct monad_storage_io *io, u32 dev,
				  struct bio *bio, u32 opf, u64 sector, u32 bytes)
{
	if (!io)
		return;
	*io = (struct monad_storage_io){};
	io->start_ns = bpf_ktime_get_ns();
	io->dev = dev;
	io->op = op_from(opf);
	io->flags = flags_from(opf, io->op);
	io->sector = sector_from(sector, io->op);
	io->bytes = bytes;
	set_actor(io);
	io->cgroup_id = bio_cgroup_id(bio) ?: io->actor_cgroup_id;
	if (record_stacks)
		io->stack = take_stack(ctx, STACK_OF_REQUEST);
	count(MONAD_STORAGE_STARTED);
}

/* 6.5 and later, and where it was backported: the request is complete. */
SEC("tp_btf/block_io_start")
int BPF_PROG(storage_io_start, struct request *rq)
{
	struct gendisk *disk = rq->q->disk;
	u32 dev = disk_dev(disk);
	struct monad_storage_io *io;
	struct place p;

	if (!wanted(dev, disk))
		return 0;
	io = keep_rq(rq, &p);
	if (io && p.found && rq_must_have_ended(io))
		end_unseen(io, disk, MONAD_STORAGE_RQ_COMPLETE);
	start(ctx, io, dev, rq->bio, rq->cmd_flags, rq->__sector, rq->__data_len);
	return 0;
}

/* Before that: a request was found for @bio, but it is not known which one. */
SEC("tp_btf/block_getrq")
int BPF_PROG(storage_getrq, struct bio *bio)
{
	struct gendisk *disk = bio->bi_bdev->bd_disk;
	u32 dev = disk_dev(disk);
	struct place p;

	if (wanted(dev, disk))
		start(ctx, keep_bio(rq_bio_key(bio), &p), dev, bio, bio->bi_opf,
		      bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
	return 0;
}
