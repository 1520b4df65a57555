// SPDX-License-Identifier: GPL-2.0
/* A request is handed to the device. */
#include "storage_event.bpf.h"
#include "storage_inflight.bpf.h"
#include "storage_unseen.bpf.h"

/*
 * Not seen before: a flush the kernel makes itself, a passthrough request on a
 * kernel without block_io_start, or begun before the recording.
 */
static __always_inline void init_unseen(struct monad_storage_io *io, struct request *rq, u32 dev)
{
	u32 opf = rq->cmd_flags;

	*io = (struct monad_storage_io){};
	io->dev = dev;
	io->op = op_from(opf);
	io->flags = flags_from(opf, io->op) | MONAD_STORAGE_F_ACTOR_ISSUER;
	set_actor(io);
	io->cgroup_id = bio_cgroup_id(rq->bio);
	io->handed_down = 1; /* perhaps */
	/* Flush requests are always stamped when they are made (blk_rq_init). */
	if (io->op == MONAD_STORAGE_OP_FLUSH && rq->rq_flags & rqf_flush_seq)
		io->start_ns = rq->start_time_ns;
}

/* Known by its bio until now: from here on by its address. */
static __always_inline struct monad_storage_io *move(struct request *rq,
						     struct monad_storage_io *old,
						     struct place *from)
{
	struct monad_storage_io *io;
	struct place to;

	io = keep_rq(rq, &to);
	if (io)
		*io = *old;
	release_io(old, from);
	return io;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(storage_rq_issue, struct request *rq)
{
	struct monad_storage_io fresh, *io;
	u32 bytes = rq->__data_len;
	u64 now, seqno, sector;
	struct place p;
	bool by_bio;
	u32 dev;

	now = bpf_ktime_get_ns();
	io = find_rq(rq, &p, &by_bio);
	if (io && rq_must_have_ended(io) && (!have_io_start || is_cache_flush(io))) {
		/*
		 * A request is never issued twice without a requeue: this is
		 * the next user of an address whose completion was not seen.
		 * Where the next one begins with block_io_start, it is the same
		 * one, and its requeue was not seen.
		 */
		end_unseen(io, address_of(rq->q->disk), MONAD_STORAGE_RQ_COMPLETE);
		release_io(io, &p);
		io = have_io_start ? NULL : find_rq(rq, &p, &by_bio);
	}
	if (io && by_bio)
		io = move(rq, io, &p);
	if (!io) {
		dev = disk_dev(rq->q->disk);
		if (!wanted(dev, rq->q->disk))
			return 0;
		io = keep_rq(rq, &p);
		if (!io)
			io = &fresh;
		barrier_var(io);
		init_unseen(io, rq, dev);
	}
	barrier_var(io);

	sector = sector_from(rq->__sector, io->op);
	if (!io->issues) {
		io->first_issue_ns = now;
		io->sector = sector;
		io->bytes = bytes;
		count(MONAD_STORAGE_ISSUED);
	} else {
		count(MONAD_STORAGE_REISSUED);
	}
	COUNT_UP(io->issues);
	io->last_issue_ns = now;
	io->state = MONAD_STORAGE_STATE_ISSUED;
	io->issue_cpu = bpf_get_smp_processor_id();
	io->flags |= flags_from_rq(rq->rq_flags);

	seqno = write_step(MONAD_STORAGE_RQ_ISSUE, io, now, sector, bytes, io->flags, 0);
	if (!io->start_seqno)
		io->start_seqno = seqno;
	return 0;
}
