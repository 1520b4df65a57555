/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the storage programs share: their maps, the settings the loader makes,
 * and how an I/O is found, filled in and written to the ring.
 *
 * Each program is attached to one tracepoint as tp_btf: unlike tracepoint and
 * kprobe programs, those are not skipped because some other program happens to
 * run on the same CPU. A program is skipped when it interrupted itself; the
 * kernel counts that (recursion_misses), "monad-storage status" shows it.
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
#include "storage_table.bpf.h"

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
/*
 * What ends a piece that was split off a bio, whose bi_private is that bio; its address, or 0.
 * The piece was never queued and ends before the bio does.
 */
const volatile uint64_t bio_chain_endio;

/* log2 of the number of buckets, taken from 64 */
const volatile uint32_t inflight_shift;
const volatile uint32_t flush_shift;

/*
 * What a kernel object is called in the tables. The verifier lets nobody multiply
 * an address, as a hash has to, but the difference of two addresses is a number
 * like any other: so it is where the object is as seen from here. The lowest three
 * bits are 0.
 */
static const volatile uint64_t here = 1;

#define object_key(pointer) ((u64)(pointer) - (u64)&here)

/* A key less its object's address, which are mere numbers: of the current task both are known. */
static __always_inline u64 key_offset(void)
{
	u64 key = object_key(bpf_get_current_task_btf());

	barrier_var(key);
	return key - bpf_get_current_task();
}

/* The key of the object at @address, which is a mere number. */
static __always_inline u64 key_of_address(u64 address)
{
	return address + key_offset();
}

/* The address of the object with @key. */
static __always_inline u64 address_of_key(u64 key)
{
	barrier_var(key);
	return key - key_offset();
}

/* That of a pointer that the verifier knows, and would not let pass as a number. */
#define address_of(pointer) address_of_key(object_key(pointer))

#define TABLE_MAP(name, value_type)                  \
	struct {                                     \
		__uint(type, BPF_MAP_TYPE_ARRAY);    \
		__uint(map_flags, BPF_F_MMAPABLE);   \
		__uint(max_entries, 1); /* loader */ \
		__type(key, u32);                    \
		__type(value, value_type);           \
	} name SEC(".maps")

/* Requests. A tag set uses the same ones again and again: it cannot silt up. */
TABLE_MAP(inflight_keys, struct monad_storage_bucket);
TABLE_MAP(inflight, struct monad_storage_io);

/*
 * Bios of bio-based devices, and those that wait to become requests. Some drivers pass
 * a bio on to the device below, where its end is not always traced: should such entries
 * stay, the oldest of a bucket has to make room when there is none.
 */
TABLE_MAP(bio_keys, struct monad_storage_bucket);
TABLE_MAP(inflight_bios, struct monad_storage_io);

/* By flush request, of which there is one per hardware queue. */
TABLE_MAP(flush_keys, struct monad_storage_bucket);
TABLE_MAP(flushes, struct monad_storage_flush);

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

#include "storage_stack.bpf.h"

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

/* Room in a table for what has @key, to be filled in entirely; NULL when there is none. */
static __always_inline struct monad_storage_io *keep(void *keys, void *entries, u64 key,
						     struct place *p)
{
	struct monad_storage_io *io = NULL;

	table_claim(keys, inflight_shift, key, p);
	if (p->index != TABLE_NONE)
		io = bpf_map_lookup_elem(entries, &p->index);
	if (!io)
		count(MONAD_STORAGE_TABLE_FULL);
	return io;
}

static __always_inline struct monad_storage_io *keep_rq(struct request *rq, struct place *p)
{
	return keep(&inflight_keys, &inflight, object_key(rq), p);
}

/* The oldest of the full bucket @p->bucket makes room. */
static __always_inline void evict_bio(u64 key, struct place *p)
{
	u32 first = table_hash(key, inflight_shift) * MONAD_STORAGE_WAYS;
	u64 oldest = ~0ULL;
	int way;

	for (way = 0; way < MONAD_STORAGE_WAYS; way++) {
		u32 index = first + way;
		struct monad_storage_io *io = bpf_map_lookup_elem(&inflight_bios, &index);

		if (io && io->start_ns < oldest) {
			oldest = io->start_ns;
			p->way = way;
			p->index = index;
		}
	}
	if (p->index != TABLE_NONE)
		__sync_lock_test_and_set(&p->bucket->key[p->way & (MONAD_STORAGE_WAYS - 1)], key);
	count(MONAD_STORAGE_EVICTED);
}

static __always_inline struct monad_storage_io *keep_bio(u64 key, struct place *p)
{
	table_claim(&bio_keys, inflight_shift, key, p);
	if (p->index == TABLE_NONE && p->bucket)
		evict_bio(key, p);
	return p->index == TABLE_NONE ? NULL : bpf_map_lookup_elem(&inflight_bios, &p->index);
}

static __always_inline struct monad_storage_io *find_bio(u64 key, struct place *p)
{
	table_find(&bio_keys, inflight_shift, key, p);
	return p->index == TABLE_NONE ? NULL : bpf_map_lookup_elem(&inflight_bios, &p->index);
}

/*
 * The key of a request that is known by its bio only. Not the bare address: on
 * a device stacked upon another the same bio can be in flight on both.
 */
static __always_inline u64 rq_bio_key(struct bio *bio)
{
	return object_key(bio) | 1;
}

/* Of a bio that is to become a request. */
static __always_inline struct monad_storage_io *keep_waiting(struct bio *bio, struct place *p)
{
	return keep(&bio_keys, &inflight_bios, rq_bio_key(bio), p);
}

/*
 * @io has ended. Whoever looks at the table finds the next one at its place before that has
 * filled it in: it is not to have the beginning of this one.
 */
static __always_inline void release_io(struct monad_storage_io *io, struct place *p)
{
	*(volatile u64 *)&io->start_ns = 0;
	*(volatile u64 *)&io->first_issue_ns = 0;
	table_release(p);
}

/*
 * The bio with that rq_bio_key() does not wait for a request any more. Not static: so the
 * verifier looks at it once, and not each time that it is called.
 */
__noinline int forget_waiting(u64 key)
{
	struct monad_storage_io *io;
	struct place p;

	io = find_bio(key, &p);
	if (io)
		release_io(io, &p);
	return 0;
}

/* The key of the bio that @piece was split off from: no pointer leads there. */
static __always_inline u64 parent_key(struct bio *piece)
{
	return key_of_address((u64)piece->bi_private);
}

/* When all programs were attached, CLOCK_MONOTONIC; set after that by the loader. */
uint64_t attached_ns;

/* Longer ones are rare, and counted as ends whose beginning should have been seen. */
#define LONG_IO_NS (60 * NSEC_PER_SEC)

/*
 * An end without a beginning: its beginning was before we were there to see it, or should
 * have been seen. @began: when it did, 0 if that is not known.
 */
static __always_inline void count_orphan(u64 began, u64 now)
{
	u64 attached = *(volatile u64 *)&attached_ns;
	bool before = began ? began < attached : now < attached || now - attached < LONG_IO_NS;

	count(before ? MONAD_STORAGE_BEGUN_BEFORE : MONAD_STORAGE_ORPHANS);
}

/*
 * Room for one that is not known, which takes too much of the stack. A program does not interrupt
 * itself: each of those that need it has its own.
 */
enum orphan {
	ORPHAN_RQ,
	ORPHAN_BIO,
	ORPHANS,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ORPHANS);
	__type(key, u32);
	__type(value, struct monad_storage_io);
} orphans SEC(".maps");

static __always_inline struct monad_storage_io *new_orphan(u32 which)
{
	struct monad_storage_io *io = bpf_map_lookup_elem(&orphans, &which);

	if (io)
		*io = (struct monad_storage_io){};
	return io;
}

static __always_inline bool is_piece(struct bio *bio)
{
	return bio_chain_endio && (u64)bio->bi_end_io == bio_chain_endio;
}

/* When @io was first seen, and who asked for it. */
static __always_inline void take_over(struct monad_storage_io *io,
				      const struct monad_storage_io *from)
{
	io->start_ns = from->start_ns;
	io->pid = from->pid;
	io->tgid = from->tgid;
	io->stack = from->stack;
	io->actor_cgroup_id = from->actor_cgroup_id;
	io->flags |= from->flags & MONAD_STORAGE_F_KTHREAD;
	__builtin_memcpy(io->comm, from->comm, sizeof(io->comm));
}

/*
 * A bio of a device above was handed down as it was, and with it what was split off: it ends when
 * all of that has. @key is that of a bio which is such a one itself, or a part of the one with the
 * key @parent. Each part is noted once: it may be given a request again, when its path has failed.
 * The key of what is known of the whole, or 0. Not static, as forget_waiting().
 */
__noinline u64 note_part(u64 key, u64 parent)
{
	struct monad_storage_io *whole, *part;
	struct place p;

	if (find_bio(key, &p))
		return key;
	whole = find_bio(parent, &p);
	if (!whole)
		return 0;
	part = keep(&bio_keys, &inflight_bios, PART_KEY(key), &p);
	if (!part || p.found)
		return parent;
	*part = (struct monad_storage_io){};
	part->start_ns = bpf_ktime_get_ns();
	__sync_fetch_and_add(&whole->parts, 1);
	return parent;
}

/* What is known of @bio, which has a request now, by another one than itself. */
static __always_inline bool take_over_other(struct monad_storage_io *io, struct bio *bio)
{
	struct monad_storage_io *from;
	u64 key = object_key(bio);
	struct place p;

	if (is_piece(bio)) {
		from = find_bio(parent_key(bio) | 1, &p);
		if (from) {
			take_over(io, from);
			return true;
		}
		key = note_part(key, parent_key(bio));
	}
	/* The driver of another device has handed it down, as it was (nvme multipath). */
	from = key ? find_bio(key, &p) : NULL;
	if (!from)
		return false;
	take_over(io, from);
	/* Here it begins now. */
	io->start_ns = bpf_ktime_get_ns();
	io->handed_down = 1;
	return true;
}

/*
 * What is known of @bio, which has a request now, since it was queued: it had to wait for
 * that perhaps, and this may be some kworker. False if nothing is.
 */
static __always_inline bool take_over_bio(struct monad_storage_io *io, struct bio *bio)
{
	struct monad_storage_io *from;
	struct place p;

	if (!bio)
		return false;
	from = find_bio(rq_bio_key(bio), &p);
	if (!from)
		return take_over_other(io, bio);
	take_over(io, from);
	release_io(from, &p);
	return true;
}

/* How many bios of a request to look at for one that was seen before. */
#define MAX_BIOS 32

/*
 * The rq_bio_key() of one of the bios after that at @address for which there is an entry; 0 if
 * there is none. Not static, as forget_waiting().
 */
__noinline u64 next_known_bio(u64 address)
{
	struct place p;
	u64 key;
	int i;

	for (i = 0; i < MAX_BIOS; i++) {
		if (bpf_probe_read_kernel(&address, sizeof(address),
					  &((struct bio *)address)->bi_next) || !address)
			break;
		key = key_of_address(address) | 1;
		table_find(&bio_keys, inflight_shift, key, &p);
		if (p.index != TABLE_NONE)
			return key;
	}
	return 0;
}

/*
 * Finds what is known of @rq. Without block_io_start a request that was not
 * issued yet is known by the bio it was made for. That is its first one, unless
 * others were merged in front of it.
 */
static __always_inline struct monad_storage_io *find_rq(struct request *rq, struct place *p,
							bool *by_bio)
{
	struct bio *bio = rq->bio;
	struct monad_storage_io *io;
	u64 key;

	*by_bio = false;
	table_find(&inflight_keys, inflight_shift, object_key(rq), p);
	if (p->index != TABLE_NONE)
		return bpf_map_lookup_elem(&inflight, &p->index);
	if (have_io_start || !bio)
		return NULL;
	io = find_bio(rq_bio_key(bio), p);
	if (!io) {
		key = next_known_bio(address_of(bio));
		if (!key)
			return NULL;
		io = find_bio(key, p);
	}
	*by_bio = io;
	return io;
}

/*
 * Once an I/O is either one from the map or one on the stack, barrier_var(io)
 * keeps the compiler from working out the addresses of its fields before the
 * check for NULL, which the verifier refuses.
 */

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

#endif /* MONAD_STORAGE_BPF_H */
