// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that take bios and have no requests: dm, md, zram, brd, pmem, nvme
 * multipath heads. For all others, the queueing of a bio is left to the request
 * programs; its completion is never traced there (BIO_TRACE_COMPLETION is
 * cleared when the request completes).
 */
#include "storage.bpf.h"
#include "storage_metrics.bpf.h"
#include "storage_unseen.bpf.h"

/*
 * What ends a piece that was split off a bio. The piece was never queued and
 * ends before the bio does, whose end is the one that counts.
 */
const volatile uint64_t bio_chain_endio; /* its address, or 0 */

SEC("tp_btf/block_bio_queue")
int BPF_PROG(storage_bio_queue, struct bio *bio)
{
	struct gendisk *disk = bio->bi_bdev->bd_disk;
	struct monad_storage_io lost, *io;
	u32 opf = bio->bi_opf, dev;
	struct place p;

	if (!disk->fops->submit_bio)
		return 0;
	dev = disk_dev(disk);
	if (!wanted(dev, disk))
		return 0;
	io = keep_bio(object_key(bio), &p);
	if (io && p.found)
		end_unseen(io, disk, MONAD_STORAGE_BIO_COMPLETE);
	if (!io)
		io = &lost;
	barrier_var(io);
	*io = (struct monad_storage_io){};
	io->dev = dev;
	io->start_ns = bpf_ktime_get_ns();
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

SEC("tp_btf/block_bio_complete")
int BPF_PROG(storage_bio_complete, void *q, struct bio *bio)
{
	u64 now = bpf_ktime_get_ns();
	struct gendisk *disk = bio->bi_bdev->bd_disk;
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
		if (bio_chain_endio && (u64)bio->bi_end_io == bio_chain_endio) {
			count(MONAD_STORAGE_BIO_PARTS);
			return 0;
		}
		orphan.op = op_from(bio->bi_opf);
		orphan.flags = flags_from(bio->bi_opf, orphan.op) | MONAD_STORAGE_F_ORPHAN;
		orphan.sector = MONAD_STORAGE_NO_SECTOR;
		orphan.cgroup_id = bio_cgroup_id(bio);
		count(MONAD_STORAGE_ORPHANS);
		io = &orphan;
	}
	barrier_var(io);
	io->bytes_done = io->bytes;
	io->error = error;
	/* the driver takes a bio at once: its time is the device's */
	t.total_ns = time_between(io->start_ns, now, MONAD_STORAGE_F_TOTAL_NS, &t);
	t.device_ns = t.total_ns;
	if (t.flags & MONAD_STORAGE_F_TOTAL_NS)
		t.flags |= MONAD_STORAGE_F_DEVICE_NS;
	count(MONAD_STORAGE_BIO_COMPLETED);
	if (error)
		count(MONAD_STORAGE_ERRORS);
	measure(io, io->op, &t, disk);
	write_complete(MONAD_STORAGE_BIO_COMPLETE, io, &t, disk);
	if (known)
		table_release(&p);
	return 0;
}
