/* SPDX-License-Identifier: GPL-2.0 */
/* How much room metrics get: kernel memory that cannot be swapped, taken all at once. */
#ifndef MONAD_STORAGE_METRICS_ROOM_H
#define MONAD_STORAGE_METRICS_ROOM_H

#include <stdint.h>

/* So much for metrics, unless more is asked for. */
#define METRICS_ROOM_BYTES (64U << 20)

/* So that a bucket is hardly ever full; see bpf/storage_table.bpf.h. */
#define TABLE_SPARE 4

struct metrics_room {
	unsigned int places;   /* in the table: a power of two, MONAD_STORAGE_WAYS or more */
	unsigned int shards;   /* a power of two */
	unsigned int series;   /* that find room */
	unsigned int left_out; /* series that need not find any */
};

/* The next power of two, MONAD_STORAGE_WAYS or more. */
unsigned int table_round_up(unsigned int n);

/*
 * Room for @asked series, devices times operations, however much that is; if it is 0, for
 * those of @disks disks, as far as METRICS_ROOM_BYTES go. Shards for @cpus, as far as these
 * go.
 */
void metrics_room(struct metrics_room *room, unsigned int asked, unsigned int disks,
		  unsigned int cpus);

/* What that takes. */
uint64_t metrics_room_bytes(const struct metrics_room *room);

#endif /* MONAD_STORAGE_METRICS_ROOM_H */
