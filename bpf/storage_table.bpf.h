/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table from 64-bit keys to entries, in two arrays: keys in buckets of eight,
 * one cache line each, and the entries in the same order. It is there instead of
 * a hash map because
 *
 * - an array lookup is a few instructions in the program itself, while a hash
 *   map's lookup, update and delete are calls with a hash, a lock around each
 *   change and a copy of the whole entry;
 * - a hash map's update can fail in an interrupt, because what was interrupted
 *   holds the lock of the bucket. Here nothing is locked: whoever swaps a 0 for
 *   his key has the place;
 * - user space can map it and look.
 *
 * The price: a key has eight places. With a table four times as large as what is
 * in it, one bucket in 10,000 is full. What then is for the caller to decide.
 *
 * Two CPUs that claim the same key at a time get the same place, unless places of
 * that bucket are given back meanwhile. Keys that are addresses of requests and bios
 * are claimed by one at a time, the block layer sees to that.
 */
#ifndef MONAD_STORAGE_TABLE_BPF_H
#define MONAD_STORAGE_TABLE_BPF_H

#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include "storage_state.h"

/* One of the two arrays of a table, of which the loader says how large they are. */
#define TABLE_MAP(name, value_type)                  \
	struct {                                     \
		__uint(type, BPF_MAP_TYPE_ARRAY);    \
		__uint(map_flags, BPF_F_MMAPABLE);   \
		__uint(max_entries, 1); /* loader */ \
		__type(key, u32);                    \
		__type(value, value_type);           \
	} name SEC(".maps")

/* A place in a table: which bucket, and where in it. */
struct place {
	struct monad_storage_bucket *bucket;
	u32 index; /* of the entry */
	u32 way;
	bool found; /* the key was there */
};

#define TABLE_NONE (~0U)

/* The bucket of @key in a table of 2^(64 - @shift) buckets. */
static __always_inline u32 table_hash(u64 key, u32 shift)
{
	/* 2^64 / golden ratio: neighbours, as addresses are, go far apart */
	return (key * 0x9e3779b97f4a7c15ULL) >> (shift & 63);
}

/* Where @key is; p->index is TABLE_NONE if it is not in the table. */
static __always_inline void table_find(void *keys, u32 shift, u64 key, struct place *p)
{
	u32 nr = table_hash(key, shift);
	int way;

	p->index = TABLE_NONE;
	p->found = false;
	p->bucket = bpf_map_lookup_elem(keys, &nr);
	if (!p->bucket)
		return;
#pragma clang loop unroll(full)
	for (way = 0; way < MONAD_STORAGE_WAYS; way++) {
		if (*(volatile u64 *)&p->bucket->key[way] == key) {
			p->way = way;
			p->index = nr * MONAD_STORAGE_WAYS + way;
			p->found = true;
			return;
		}
	}
}

/* A place for @key: the one it has, or a new one; TABLE_NONE when there is none. */
static __always_inline void table_claim(void *keys, u32 shift, u64 key, struct place *p)
{
	u32 nr = table_hash(key, shift);
	int way;

	table_find(keys, shift, key, p);
	if (p->index != TABLE_NONE || !p->bucket)
		return;
#pragma clang loop unroll(full)
	for (way = 0; way < MONAD_STORAGE_WAYS; way++) {
		volatile uint64_t *slot = &p->bucket->key[way];
		u64 old = *slot;

		if (!old)
			old = __sync_val_compare_and_swap((uint64_t *)slot, 0, key);
		/* The same key: another CPU was quicker, since table_find(). */
		if (!old || old == key) {
			p->way = way;
			p->index = nr * MONAD_STORAGE_WAYS + way;
			p->found = old;
			return;
		}
	}
}

/*
 * Gives the place back: what was written to the entry is there before the next
 * one can have it.
 */
static __always_inline void table_release(struct place *p)
{
	if (p->bucket)
		__sync_lock_test_and_set(&p->bucket->key[p->way & (MONAD_STORAGE_WAYS - 1)], 0);
}

#endif /* MONAD_STORAGE_TABLE_BPF_H */
