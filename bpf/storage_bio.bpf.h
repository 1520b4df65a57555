/* SPDX-License-Identifier: GPL-2.0 */
/* The end of a bio of a device that takes bios. */
#ifndef MONAD_STORAGE_BIO_BPF_H
#define MONAD_STORAGE_BIO_BPF_H

#include "storage.bpf.h"
#include "storage_metrics.bpf.h"

static __always_inline void end_of_bio(struct monad_storage_io *io, u32 error, u64 now,
				       struct io_times *t)
{
	io->bytes_done = io->bytes;
	io->error = error;
	/* the driver takes a bio at once: its time is the device's */
	t->total_ns = time_between(io->start_ns, now, MONAD_STORAGE_F_TOTAL_NS, t);
	t->device_ns = t->total_ns;
	if (t->flags & MONAD_STORAGE_F_TOTAL_NS)
		t->flags |= MONAD_STORAGE_F_DEVICE_NS;
	count(MONAD_STORAGE_BIO_COMPLETED);
	if (error)
		count(MONAD_STORAGE_ERRORS);
}

/*
 * The bio known by @key was handed down as it was, and ends with the request that it is in,
 * whose driver tells of the first bio of a request at the most (nvme multipath), or of none
 * (md raid0 before 6.6, where it keeps no statistics). Its cgroup has paid for the request.
 * Not static: so the verifier looks at it once, and not each time that it is called.
 */
__noinline int end_handed_down(u64 key, u32 error, u64 now)
{
	struct monad_storage_io *io;
	struct io_times t = {};
	struct place p;

	io = find_bio(key, &p);
	if (!io)
		return 0;
	end_of_bio(io, error, now, &t);
	measure_device(io, &t, find_series_at(io->dev, io->op, io->gendisk));
	write_complete_of(MONAD_STORAGE_BIO_COMPLETE, io, &t, NULL, io->gendisk);
	release_io(io, &p);
	return 0;
}

#endif /* MONAD_STORAGE_BIO_BPF_H */
