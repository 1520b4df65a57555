// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF programs' table, run by threads here: two that claim the same key at the same time
 * get the same place, as two CPUs do that see the first I/O of a disk end.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include "tap.h"
#include "storage_state.h"

/* What storage_table.bpf.h takes from BPF: an array of one bucket. */
#define MONAD_KERNEL_TYPES_H
#define __BPF_HELPERS__
typedef uint32_t u32;
typedef uint64_t u64;

static void *bpf_map_lookup_elem(void *map, const u32 *key)
{
	return *key == 0 ? map : NULL;
}

#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "storage_table.bpf.h"

#define ROUNDS 300000
#define ONE_BUCKET 64

static struct monad_storage_bucket bucket;
static _Atomic unsigned int arrived, round_nr;
static u32 got[2];

/* Hashes to bucket 0 with any shift. */
static u64 key_of(unsigned int n)
{
	u64 key = n + 1;

	while (table_hash(key, ONE_BUCKET - 1))
		key += ROUNDS;
	return key;
}

static u32 claim(u64 key)
{
	struct place p;

	table_claim(&bucket, ONE_BUCKET - 1, key, &p);
	return p.index;
}

/* Both go off at the same time, as near as two CPUs can. */
static void meet(unsigned int n)
{
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&round_nr) != n)
		;
}

static void *other(void *arg)
{
	(void)arg;
	for (unsigned int n = 1; n <= ROUNDS; n++) {
		meet(n);
		got[1] = claim(key_of(n));
	}
	atomic_fetch_add(&arrived, 1);
	return NULL;
}

static void test_same_key(void)
{
	unsigned int twice = 0, full = 0;
	pthread_t thread;

	if (!ok(!pthread_create(&thread, NULL, other, NULL), "a second thread"))
		return;
	for (unsigned int n = 1; n <= ROUNDS; n++) {
		u64 key = key_of(n);

		/* It has done the round before, and waits. */
		while (atomic_load(&arrived) != n)
			;
		if (n > 1)
			twice += got[0] != got[1];
		memset(&bucket, 0, sizeof(bucket));
		atomic_store(&round_nr, n);
		got[0] = claim(key);
		full += got[0] == TABLE_NONE;
	}
	pthread_join(thread, NULL);
	eq_u64(twice, 0, "two who claim a key at the same time get the same place");
	eq_u64(full, 0, "and there was room");
}

static void test_alone(void)
{
	struct place p = {};
	u64 keys[MONAD_STORAGE_WAYS + 1];

	memset(&bucket, 0, sizeof(bucket));
	for (unsigned int i = 0; i <= MONAD_STORAGE_WAYS; i++)
		keys[i] = key_of(i);
	for (unsigned int i = 0; i < MONAD_STORAGE_WAYS; i++)
		eq_u64(claim(keys[i]), i, "place %u", i);
	eq_u64(claim(keys[3]), 3, "the same key has the same place");
	eq_u64(claim(keys[MONAD_STORAGE_WAYS]), TABLE_NONE, "no ninth");
	table_find(&bucket, ONE_BUCKET - 1, keys[5], &p);
	ok(p.found && p.index == 5, "found");
	table_release(&p);
	table_find(&bucket, ONE_BUCKET - 1, keys[5], &p);
	ok(!p.found && p.index == TABLE_NONE, "given back");
	eq_u64(claim(keys[MONAD_STORAGE_WAYS]), 5, "the next one has its place");
}

int main(void)
{
	test_alone();
	test_same_key();
	return done_testing();
}
