/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ends that were not seen.
 *
 * The kernel skips a program that would interrupt itself: while one CPU runs the
 * program of an end in a task (a device that is done at once, a kworker), the ends
 * that an interrupt brings to that CPU are not seen. Such an I/O is found when its
 * address comes up for the next one, soon where a device is busy, and is counted
 * then: totals are right again, its time stays unknown.
 */
#ifndef MONAD_STORAGE_UNSEEN_BPF_H
#define MONAD_STORAGE_UNSEEN_BPF_H

#include "storage.bpf.h"
#include "storage_metrics.bpf.h"

/*
 * A request has ended when it was with the device, or waited for the flush after its
 * data: others were given up before their first issue, as clones of dm-multipath are.
 */
static __always_inline bool rq_must_have_ended(const struct monad_storage_io *io)
{
	return io->state == MONAD_STORAGE_STATE_ISSUED || io->device_end_ns;
}

/* @io's address is used again, by an I/O of @disk; @type is what its end would have been. */
static __noinline void end_unseen(struct monad_storage_io *io, struct gendisk *disk, u32 type)
{
	struct io_times t = { .flags = MONAD_STORAGE_F_END_UNSEEN };
	u32 op = io->op;

	count(MONAD_STORAGE_ENDS_UNSEEN);
	if (disk && disk_dev(disk) != io->dev)
		disk = NULL;
	io->bytes_done = io->bytes;
	if (type == MONAD_STORAGE_BIO_COMPLETE) {
		count(MONAD_STORAGE_BIO_COMPLETED);
	} else {
		t.queue_ns = queue_time(io, bpf_ktime_get_ns(), &t);
		if (op == MONAD_STORAGE_OP_FLUSH && io->flags & MONAD_STORAGE_F_FLUSH_SEQ) {
			type = MONAD_STORAGE_FLUSH_COMPLETE;
			op = MONAD_STORAGE_OP_CACHE_FLUSH;
			count(MONAD_STORAGE_FLUSHED);
		} else {
			count(MONAD_STORAGE_COMPLETED);
		}
	}
	measure(io, op, &t, disk);
	write_complete(type, io, &t, disk);
}

#endif /* MONAD_STORAGE_UNSEEN_BPF_H */
