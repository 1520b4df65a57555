/* SPDX-License-Identifier: GPL-2.0 */
/* The end of a bio of a device that takes bios. */
#ifndef MONAD_STORAGE_BIO_BPF_H
#define MONAD_STORAGE_BIO_BPF_H

#include "storage_event.bpf.h"
#include "storage_inflight.bpf.h"
#include "storage_metrics.bpf.h"

static __always_inline void end_of_bio(struct monad_storage_io *io, u32 error, u64 now,
				       struct io_times *t)
{
	io->bytes_done = io->bytes;
	if (!io->error)
		io->error = error;
	/* the driver takes a bio at once: its time is the device's */
	t->total_ns = time_between(io->start_ns, now, MONAD_STORAGE_F_TOTAL_NS, t);
	t->device_ns = t->total_ns;
	if (t->flags & MONAD_STORAGE_F_TOTAL_NS)
		t->flags |= MONAD_STORAGE_F_DEVICE_NS;
	count(MONAD_STORAGE_BIO_COMPLETED);
	if (io->error)
		count(MONAD_STORAGE_ERRORS);
}

/*
 * The key of what ends with the bio at @address: it itself, or, if it is noted as one of the
 * parts of another, that; then it is none any more. 0 if nothing is known. Not static: so the
 * verifier looks at it once.
 */
__noinline u64 known_key(u64 address)
{
	struct bio *bio = (struct bio *)address;
	u64 parent, key = key_of_address(address);
	struct monad_storage_io *part;
	struct place p;

	if (find_bio(key, &p))
		return key;
	part = find_bio(PART_KEY(key), &p);
	if (!part)
		return 0;
	release_io(part, &p);
	if (bpf_probe_read_kernel(&parent, sizeof(parent), &bio->bi_private))
		return 0;
	return key_of_address(parent);
}

/*
 * The bio at @address may have been handed down as it was, or be a part of one that was, and ends
 * here, as a rule with its request. The driver above tells of the first bio of a request at the
 * most, and before it is known whether that has failed (nvme multipath), or of none (md linear and
 * raid0 before 6.6, the latter where it keeps no statistics). Its cgroup has paid for the request.
 * Not static, as known_key().
 */
__noinline int end_handed_down(u64 address, u32 error)
{
	struct monad_storage_io *io;
	struct io_times t = {};
	struct place p;
	u64 key;

	key = known_key(address);
	io = key ? find_bio(key, &p) : NULL;
	if (!io)
		return 0;
	/* (Whichever of those that fail at the same time is the first.) */
	if (error && !io->error)
		io->error = error;
	if (__sync_fetch_and_add(&io->parts, -1) > 1)
		return 0;
	end_of_bio(io, error, bpf_ktime_get_ns(), &t);
	measure_device(io, &t, find_series_at(io->dev, io->op, io->gendisk));
	write_complete_of(MONAD_STORAGE_BIO_COMPLETE, io, &t, NULL, io->gendisk);
	release_io(io, &p);
	return 0;
}

#endif /* MONAD_STORAGE_BIO_BPF_H */
