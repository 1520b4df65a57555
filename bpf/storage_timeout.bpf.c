// SPDX-License-Identifier: GPL-2.0
/*
 * A request has timed out. The kernel marks it (RQF_TIMED_OUT), and asks the driver what to
 * do. Some give it more time, or have nothing to say (nvme at first, virtio_blk, nbd, ublk):
 * then the mark goes again, and nobody who looks at the request later sees it.
 */
#include "storage_inflight.bpf.h"

/* block/blk-mq.c, called for each request of a disk when one of them may have timed out */
SEC("fentry/blk_mq_handle_expired")
int BPF_PROG(storage_timeout, struct request *rq, void *priv)
{
	struct blk_expired_data *expired = priv;
	struct monad_storage_io *io;
	unsigned long start;
	struct place p;
	bool by_bio;

	if (rq->state != MQ_RQ_IN_FLIGHT || rq->rq_flags & rqf_timed_out)
		return 0;
	/* The same as time_before(): those of a timer that runs are not to be counted from now. */
	if (bpf_core_read(&start, sizeof(start), &expired->timeout_start) ||
	    (long)(start - rq->deadline) < 0)
		return 0;
	io = find_rq(rq, &p, &by_bio);
	if (io)
		io->flags |= MONAD_STORAGE_F_TIMED_OUT;
	return 0;
}
