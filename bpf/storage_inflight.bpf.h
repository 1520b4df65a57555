/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is under way: the tables, and what is known of an I/O, by its request, by the bio it
 * is to be made for, or by the bio that it was split off or handed down from.
 */
#ifndef MONAD_STORAGE_INFLIGHT_BPF_H
#define MONAD_STORAGE_INFLIGHT_BPF_H

#include "storage.bpf.h"
#include "storage_table.bpf.h"

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
	ORPHAN_RQ_SKIPPED,
	ORPHAN_BIO,
	ORPHAN_BIO_SKIPPED,
	ORPHANS,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ORPHANS);
	__type(key, u32);
	__type(value, struct monad_storage_io);
} orphans SEC(".maps");

/* @opf, @bio: its operation and flags, and who pays for it. NULL if there is no room. */
static __always_inline struct monad_storage_io *new_orphan(u32 which, u32 dev, u32 opf,
							   struct bio *bio)
{
	struct monad_storage_io *io = bpf_map_lookup_elem(&orphans, &which);

	if (!io)
		return NULL;
	*io = (struct monad_storage_io){};
	io->dev = dev;
	io->op = op_from(opf);
	io->flags = flags_from(opf, io->op);
	io->sector = MONAD_STORAGE_NO_SECTOR;
	io->cgroup_id = bio_cgroup_id(bio);
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

#endif /* MONAD_STORAGE_INFLIGHT_BPF_H */
