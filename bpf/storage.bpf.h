/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all storage programs share: the settings the loader makes, counters, and what the
 * kernel's numbers are in ours.
 *
 * Each program is attached to one tracepoint as tp_btf: unlike tracepoint and
 * kprobe programs, those are not skipped because some other program happens to
 * run on the same CPU. A program is skipped when it interrupted itself; the
 * kernel counts that (recursion_misses), "monad-storage status" shows it. Where I/O
 * ends, a second program is attached for that.
 *
 * Counters are added to atomically although they are per CPU: an interrupt may
 * come between the load and the store of a plain addition, and the block layer
 * completes in interrupts.
 */
#ifndef MONAD_STORAGE_BPF_H
#define MONAD_STORAGE_BPF_H

#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "monad_ring.bpf.h"
#include "storage_policy.bpf.h"
#include "storage_state.h"

/*
 * Settings, filled in by the loader from the kernel's BTF; see
 * tools/monad-storage/kernel_compat.c.
 */
const volatile uint32_t ring_id;
const volatile bool filter_devices;
/* block_io_start exists and is attached: requests are known from their start */
const volatile bool have_io_start;
const volatile uint32_t rqf_flush_seq;
const volatile uint32_t rqf_timed_out;
const volatile uint32_t rqf_io_stat;
/* REQ_OP_* to enum monad_storage_op */
const volatile uint8_t op_of[256];
/* bytes 1, 2 and 3 of cmd_flags to MONAD_STORAGE_F_* */
const volatile uint32_t flags_of[3][256];
/* blk_status_t to errno */
const volatile uint16_t errno_of[32];

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct monad_storage_counters);
} counters SEC(".maps");

/* Devices to record, major << 20 | minor, when only some are, and what they are called. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, struct monad_storage_disk_name);
} devices SEC(".maps");

/* Read by "monad-storage status", written before the programs are attached. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct monad_storage_session);
} session SEC(".maps");

static __always_inline void count(u32 which)
{
	struct monad_storage_counters *c;
	u32 zero = 0;

	c = bpf_map_lookup_elem(&counters, &zero);
	if (c)
		__sync_fetch_and_add(&c->value[which], 1);
}

static __always_inline u32 disk_dev(struct gendisk *disk)
{
	return disk ? (u32)disk->major << 20 | disk->first_minor : 0;
}

static __always_inline void copy_name(struct monad_storage_disk_name *to, struct gendisk *disk)
{
	const u64 *word = (const u64 *)disk->disk_name;

	bool ended = false;
	int i;

#pragma clang loop unroll(full)
	for (i = 0; i < 4; i++)
		to->word[i] = ended ? 0 : monad_storage_name_word(word[i], &ended);
}

/*
 * Another disk that has the number now is not the one that was asked for. @name: NULL where
 * it is not known.
 */
static __always_inline bool is_asked_for(u32 dev, const struct monad_storage_disk_name *name)
{
	const struct monad_storage_disk_name *asked = bpf_map_lookup_elem(&devices, &dev);

	if (!asked)
		return false;
	return !name || !asked->word[0] ||
	       (name->word[0] == asked->word[0] && name->word[1] == asked->word[1] &&
		name->word[2] == asked->word[2] && name->word[3] == asked->word[3]);
}

static __always_inline bool wanted(u32 dev, struct gendisk *disk)
{
	struct monad_storage_disk_name name;

	if (!filter_devices)
		return true;
	if (!disk)
		return is_asked_for(dev, NULL);
	copy_name(&name, disk);
	return is_asked_for(dev, &name);
}

static __always_inline u32 op_from(u32 opf)
{
	return op_of[opf & 0xff];
}

static __always_inline u32 flags_from(u32 opf, u32 op)
{
	u32 flags = flags_of[0][opf >> 8 & 0xff] | flags_of[1][opf >> 16 & 0xff] |
		    flags_of[2][opf >> 24];

	if (op == MONAD_STORAGE_OP_DRV_IN || op == MONAD_STORAGE_OP_DRV_OUT)
		flags |= MONAD_STORAGE_F_PASSTHROUGH;
	return flags;
}

static __always_inline u32 flags_from_rq(u32 rq_flags)
{
	u32 flags = 0;

	if (rq_flags & rqf_flush_seq)
		flags |= MONAD_STORAGE_F_FLUSH_SEQ;
	if (rq_flags & rqf_timed_out)
		flags |= MONAD_STORAGE_F_TIMED_OUT;
	if (rq_flags & rqf_io_stat)
		flags |= MONAD_STORAGE_F_IO_STAT;
	return flags;
}

static __always_inline u64 sector_from(u64 sector, u32 op)
{
	switch (op) {
	case MONAD_STORAGE_OP_FLUSH:
	case MONAD_STORAGE_OP_DRV_IN:
	case MONAD_STORAGE_OP_DRV_OUT:
	case MONAD_STORAGE_OP_ZONE_RESET_ALL:
		return MONAD_STORAGE_NO_SECTOR;
	}
	return sector;
}

/* The id of the cgroup that pays for a bio, which need not be its submitter's. */
static __always_inline u64 bio_cgroup_id(struct bio *bio)
{
	struct blkcg_gq *blkg;

	if (!bio || !bpf_core_field_exists(bio->bi_blkg))
		return 0;
	blkg = bio->bi_blkg;
	return blkg ? blkg->blkcg->css.cgroup->kn->id : 0;
}

/* The current task is the one to name for @io. */
static __always_inline void set_actor(struct monad_storage_io *io)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const u64 *comm;

	if (!attribution)
		return;
	comm = task_name(task);
	io->pid = task->pid;
	io->tgid = task->tgid;
	((u64 *)io->comm)[0] = comm[0];
	((u64 *)io->comm)[1] = comm[1];
	if (task->flags & PF_KTHREAD)
		io->flags |= MONAD_STORAGE_F_KTHREAD;
	io->actor_cgroup_id = bpf_get_current_cgroup_id();
}

/* More than there is room for are as many as there is. */
#define COUNT_UP(counter) \
	do { \
		if ((counter) != (typeof(counter))~0) \
			(counter)++; \
	} while (0)

#endif /* MONAD_STORAGE_BPF_H */
