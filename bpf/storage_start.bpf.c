// SPDX-License-Identifier: GPL-2.0
/*
 * A bio has a request. Since when it is known, and whose it is, was noted when it was
 * queued (storage_bio.bpf.c): it may have waited for a request since, as where a disk has
 * too few of them, or for its turn, and this may be a kworker then.
 */
#include "storage_event.bpf.h"
#include "storage_inflight.bpf.h"
#include "storage_stack.bpf.h"
#include "storage_unseen.bpf.h"

static __always_inline void start(void *ctx, struct monad_storage_io *io, u32 dev,
				  struct bio *bio, u32 opf, u64 sector, u32 bytes)
{
	io->dev = dev;
	io->op = op_from(opf);
	io->flags |= flags_from(opf, io->op);
	io->sector = sector_from(sector, io->op);
	io->bytes = bytes;
	if (!io->start_ns) {
		io->start_ns = bpf_ktime_get_ns();
		set_actor(io);
		if (record_stacks)
			io->stack = take_stack(ctx, STACK_OF_REQUEST);
	}
	io->cgroup_id = bio_cgroup_id(bio) ?: io->actor_cgroup_id;
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
	if (!io) {
		if (rq->bio)
			forget_waiting(rq_bio_key(rq->bio));
		return 0;
	}
	if (p.found && rq_must_have_ended(io))
		end_unseen(io, address_of(disk), MONAD_STORAGE_RQ_COMPLETE);
	*io = (struct monad_storage_io){};
	take_over_bio(io, rq->bio);
	start(ctx, io, dev, rq->bio, rq->cmd_flags, rq->__sector, rq->__data_len);
	return 0;
}

/* Before that: a request was found for @bio, but it is not known which one. */
SEC("tp_btf/block_getrq")
int BPF_PROG(storage_getrq, struct bio *bio)
{
	struct gendisk *disk = bio->bi_bdev->bd_disk;
	u32 dev = disk_dev(disk);
	struct monad_storage_io *io;
	struct place p;

	if (!wanted(dev, disk))
		return 0;
	io = keep_waiting(bio, &p);
	if (!io)
		return 0;
	if (!p.found || io->state != MONAD_STORAGE_STATE_WAITING) {
		*io = (struct monad_storage_io){};
		take_over_other(io, bio);
	}
	io->state = MONAD_STORAGE_STATE_QUEUED;
	start(ctx, io, dev, bio, bio->bi_opf, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
	return 0;
}
