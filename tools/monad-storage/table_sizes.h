/* SPDX-License-Identifier: GPL-2.0 */
/* How large the tables of the storage programs are: see bpf/storage_table.bpf.h. */
#ifndef MONAD_STORAGE_TABLE_SIZES_H
#define MONAD_STORAGE_TABLE_SIZES_H

struct metrics_room;
struct monad_storage;

/* What is to find room; 0: as many as there seem to be. */
struct table_sizes {
	unsigned int stacks; /* 0: none are recorded */
	unsigned int inflight; /* requests, and as many bios */
	unsigned int series;   /* devices times operations */
	unsigned int cgroups;
};

/* Sizes the maps, and tells the programs and the caller (@room); before they are loaded. */
void tables_size(struct monad_storage *skel, const struct table_sizes *sizes,
		 struct metrics_room *room);

#endif /* MONAD_STORAGE_TABLE_SIZES_H */
