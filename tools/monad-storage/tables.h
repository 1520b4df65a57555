/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables of the storage programs (bpf/storage_table.bpf.h), looked at from
 * outside while they are in use.
 */
#ifndef MONAD_STORAGE_TABLES_H
#define MONAD_STORAGE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage_state.h"

/* A table, mapped; all its members are for reading. */
struct table {
	const struct monad_storage_bucket *buckets;
	const char *entries;
	size_t entry_size;
	size_t nr;      /* entries for keys */
	size_t behind;  /* entries behind those */
	unsigned int each; /* so many for each key, and for each one behind */
	size_t keys_bytes, entries_bytes; /* as mapped */
};

/*
 * Maps the pinned tables @keys and @entries, of entries of that size, @each for a
 * key. 0, or -errno when there are none, or none for us. table_close() after it,
 * which is also for a table of zeros.
 */
int table_open(struct table *table, const char *keys, const char *entries, size_t entry_size,
	       unsigned int each);
void table_close(struct table *table);

/*
 * The next key that is not 0, from entry @*at on, which is moved behind it; 0 at the
 * end. Its entries are those from table_entry(table, *at - 1) on.
 */
uint64_t table_next(const struct table *table, size_t *at);

/* Where the entries of number @nr begin; those behind the keys' come after table->nr. */
const void *table_entry(const struct table *table, size_t nr);

/*
 * Copies the entry (the first of each) of number @nr; false if it is not that of @key
 * any more, or was not all the time.
 */
bool table_copy(const struct table *table, size_t nr, uint64_t key, void *entry);

/* Adds up the entries of number @nr, all 64-bit counters, into @sum, which is set. */
void table_sum(const struct table *table, size_t nr, void *sum);

#endif /* MONAD_STORAGE_TABLES_H */
