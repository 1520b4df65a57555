/* SPDX-License-Identifier: GPL-2.0 */
/* The events of an I/O, and the times in them. */
#ifndef MONAD_STORAGE_EVENT_BPF_H
#define MONAD_STORAGE_EVENT_BPF_H

#include "storage.bpf.h"

static __always_inline u64 device_tag(u32 dev, u32 op, u32 error)
{
	return (u64)dev << MONAD_STORAGE_TAG_DEVICE_SHIFT |
	       (error ? MONAD_STORAGE_TAG_FAILED : 0) | op;
}

/* Writes an event of struct monad_storage_step; returns its seqno, or 0. */
static __always_inline u64 write_step(u32 type, const struct monad_storage_io *io, u64 now,
				      u64 sector, u32 bytes, u32 flags, u32 error)
{
	u64 since = io->start_ns && now > io->start_ns ? now - io->start_ns : 0;
	struct monad_ring_record *rec;
	struct monad_storage_step *e;
	u64 seqno;

	if (!keep_steps())
		return 0;
	rec = bpf_monad_ring_reserve(ring_id, type, sizeof(*e));
	if (!rec) {
		count(MONAD_STORAGE_NOT_RECORDED);
		return 0;
	}
	e = (void *)bpf_monad_ring_payload(rec, sizeof(*e));
	if (!e) {
		bpf_monad_ring_discard(rec, 0);
		count(MONAD_STORAGE_NOT_RECORDED);
		return 0;
	}
	e->dev_major = io->dev >> 20;
	e->dev_minor = io->dev & 0xfffff;
	e->sector = sector;
	e->since_ns = since;
	e->bytes = bytes;
	e->flags = flags;
	e->pid = io->pid;
	e->tgid = io->tgid;
	e->op = io->op;
	e->error = error;
	e->issues = io->issues;
	e->cpu = bpf_get_smp_processor_id();
	__builtin_memcpy(e->comm, io->comm, sizeof(e->comm));
	seqno = bpf_monad_ring_seqno(rec);
	/* in the order of MONAD_STORAGE_TAG_* */
	bpf_monad_ring_tags(rec, io->start_seqno ?: seqno, device_tag(io->dev, io->op, error),
			    io->cgroup_id, since);
	bpf_monad_ring_commit(rec, 0);
	return seqno;
}

/* The times of a struct monad_storage_complete, and which of them are known. */
struct io_times {
	u64 queue_ns;
	u64 device_ns;
	u64 total_ns;
	u32 flags;
	u64 none; /* 0, which the verifier need not know: what a time is that is not known */
};

/* @end - @begin, said to be known in @t->flags; nothing when one is unknown. */
static __always_inline u64 time_between(u64 begin, u64 end, u32 known, struct io_times *t)
{
	if (!begin || !end)
		return t->none;
	if (end < begin) {
		t->flags |= MONAD_STORAGE_F_CLOCK_BACKWARDS;
		return t->none;
	}
	t->flags |= known;
	return end - begin;
}

/* How long a request that has ended by @now waited to be issued. */
static __always_inline u64 queue_time(const struct monad_storage_io *io, u64 now,
				      struct io_times *t)
{
	/* Issued after its end: the time before that is as wrong as the one after it. */
	if (io->first_issue_ns > now) {
		t->flags |= MONAD_STORAGE_F_CLOCK_BACKWARDS;
		return t->none;
	}
	return time_between(io->start_ns, io->first_issue_ns, MONAD_STORAGE_F_QUEUE_NS, t);
}

/* The times of a request that ended at @now, and whose device was done at @device_end. */
static __always_inline void request_times(const struct monad_storage_io *io, u64 device_end,
					  u64 now, struct io_times *t)
{
	t->queue_ns = queue_time(io, now, t);
	t->device_ns = time_between(io->last_issue_ns, device_end, MONAD_STORAGE_F_DEVICE_NS, t);
	t->total_ns = time_between(io->start_ns, now, MONAD_STORAGE_F_TOTAL_NS, t);
}

/*
 * Of @disk, or, where there is no pointer to it that the verifier knows, of @unknown,
 * its address or 0.
 */
static __always_inline void write_complete_of(u32 type, const struct monad_storage_io *io,
					      const struct io_times *t, struct gendisk *disk,
					      u64 unknown)
{
	u32 flags = io->flags | t->flags;
	struct monad_storage_complete *e;
	struct monad_ring_record *rec;

	if (t->flags & MONAD_STORAGE_F_CLOCK_BACKWARDS)
		count(MONAD_STORAGE_CLOCK_BACKWARDS);
	if (!keep_end(io->dev, t->total_ns, io->error, io->requeues_issued, &flags)) {
		count(MONAD_STORAGE_LEFT_OUT);
		return;
	}
	if (max_rate && !within_rate()) {
		count(MONAD_STORAGE_RATE_LIMITED);
		return;
	}
	rec = bpf_monad_ring_reserve(ring_id, type, sizeof(*e));
	if (!rec) {
		count(MONAD_STORAGE_NOT_RECORDED);
		return;
	}
	e = (void *)bpf_monad_ring_payload(rec, sizeof(*e));
	if (!e) {
		bpf_monad_ring_discard(rec, 0);
		count(MONAD_STORAGE_NOT_RECORDED);
		return;
	}
	e->dev_major = io->dev >> 20;
	e->dev_minor = io->dev & 0xfffff;
	e->sector = io->sector;
	e->bytes = io->bytes_done;
	e->queue_ns = t->queue_ns;
	e->device_ns = t->device_ns;
	e->total_ns = t->total_ns;
	e->cgroup_id = io->cgroup_id;
	e->actor_cgroup_id = io->actor_cgroup_id;
	e->pid = io->pid;
	e->tgid = io->tgid;
	e->flags = flags;
	e->op = io->op;
	e->error = io->error;
	e->issues = io->issues;
	e->requeues_issued = io->requeues_issued;
	e->requeues_unissued = io->requeues_unissued;
	e->partials = io->partials;
	e->issue_cpu = io->issue_cpu;
	e->cpu = bpf_get_smp_processor_id();
	e->stack = io->stack;
	__builtin_memcpy(e->comm, io->comm, sizeof(e->comm));
	((u64 *)e->disk)[0] = 0;
	((u64 *)e->disk)[1] = 0;
	if (disk) {
		const u64 *name = (const u64 *)disk->disk_name;

		((u64 *)e->disk)[0] = name[0];
		((u64 *)e->disk)[1] = name[1];
		e->disk[sizeof(e->disk) - 1] = '\0';
	} else if (unknown) {
		bpf_probe_read_kernel_str(e->disk, sizeof(e->disk),
					  ((struct gendisk *)unknown)->disk_name);
	}
	/* in the order of MONAD_STORAGE_TAG_* */
	bpf_monad_ring_tags(rec, io->start_seqno, device_tag(io->dev, io->op, io->error),
			    io->cgroup_id, t->total_ns);
	bpf_monad_ring_commit(rec, 0);
}

static __always_inline void write_complete(u32 type, const struct monad_storage_io *io,
					   const struct io_times *t, struct gendisk *disk)
{
	write_complete_of(type, io, t, disk, 0);
}

#endif /* MONAD_STORAGE_EVENT_BPF_H */
