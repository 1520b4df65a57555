// SPDX-License-Identifier: GPL-2.0
/* A request does not go its straight way: given back, or merged away. */
#include "storage_event.bpf.h"
#include "storage_inflight.bpf.h"
#include "storage_metrics.bpf.h"
#include "storage_unseen.bpf.h"

/*
 * The driver could not take the request, or wants it done again. Comes without
 * an issue in between when the driver is busy, again and again.
 */
SEC("tp_btf/block_rq_requeue")
int BPF_PROG(storage_rq_requeue, struct request *rq)
{
	struct monad_storage_metrics *m;
	struct monad_storage_io *io;
	struct place p;
	bool by_bio;
	u32 op;

	io = find_rq(rq, &p, &by_bio);
	if (!io)
		return 0;
	io->flags |= flags_from_rq(rq->rq_flags);
	/* The device's own flush, as when it ends. */
	op = is_cache_flush(io) ? MONAD_STORAGE_OP_CACHE_FLUSH : io->op;
	m = metrics_of(find_series(io->dev, op, rq->q->disk));
	if (io->state == MONAD_STORAGE_STATE_ISSUED) {
		io->state = MONAD_STORAGE_STATE_QUEUED;
		COUNT_UP(io->requeues_issued);
		if (m)
			add(&m->requeues_issued, 1);
		count(MONAD_STORAGE_REQUEUED_ISSUED);
	} else {
		COUNT_UP(io->requeues_unissued);
		if (m)
			add(&m->requeues_unissued, 1);
		count(MONAD_STORAGE_REQUEUED_UNISSUED);
	}
	write_step(MONAD_STORAGE_RQ_REQUEUE, io, bpf_ktime_get_ns(),
		   sector_from(rq->__sector, io->op), rq->__data_len, io->flags, 0);
	return 0;
}

/* @rq is now part of another request and will never complete. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(storage_rq_merge, struct request *rq)
{
	struct monad_storage_io *io;
	struct place p;
	bool by_bio;

	io = find_rq(rq, &p, &by_bio);
	if (!io)
		return 0;
	count(MONAD_STORAGE_MERGED);
	measure_merge(io->dev, io->op, rq->q->disk);
	write_step(MONAD_STORAGE_RQ_MERGE, io, bpf_ktime_get_ns(),
		   sector_from(rq->__sector, io->op), rq->__data_len, io->flags, 0);
	release_io(io, &p);
	return 0;
}
