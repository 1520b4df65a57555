/* SPDX-License-Identifier: GPL-2.0 */
/* What summary.c gathers and summary_print.c prints. */
#ifndef MONAD_STORAGE_SUMMARY_DATA_H
#define MONAD_STORAGE_SUMMARY_DATA_H

#include "event_disk.h"
#include "histogram.h"
#include "summary.h"

enum phase { PHASE_QUEUE, PHASE_DEVICE, PHASE_TOTAL, PHASES };

/* Operations of one kind on one device: its number and its name tell which. */
struct summary_row {
	uint32_t dev;
	char disk[MONAD_STORAGE_DISK_LEN];
	uint16_t op;
	bool cache_flush; /* FLUSH_COMPLETE: the device's, not a caller's */
	bool bio_based;
	uint64_t ops;
	uint64_t bytes;
	uint64_t errors;
	uint64_t timeouts;
	uint64_t requeues;
	uint64_t orphans;
	uint64_t counted_ops;     /* that /proc/diskstats counts ... */
	uint64_t counted_sectors; /* ... and how many sectors */
	struct histogram times[PHASES];
};

struct summary_actor {
	uint32_t tgid;
	char comm[MONAD_STORAGE_COMM_LEN];
	bool kthread;
	uint64_t ops;
	uint64_t bytes;
	uint64_t errors;
	uint64_t wait_ns; /* sum of total_ns */
	uint64_t max_ns;
};

struct summary {
	struct summary_row **rows;
	unsigned int nr_rows;
	struct event_disks disks;
	struct summary_actor *actors; /* hash table with open addressing */
	unsigned int nr_actors;
	unsigned int actors_size; /* a power of two */
	uint64_t first_ns, last_ns;
	uint64_t ops;
};

/* Rows and actors in the order in which they are shown; free() the result. */
struct summary_row **summary_sorted_rows(const struct summary *summary);
struct summary_actor *summary_sorted_actors(const struct summary *summary);

/* What /proc/diskstats adds up to for the same operations. */
struct diskstats {
	uint64_t reads, read_sectors;
	uint64_t writes, written_sectors;
	uint64_t discards, discarded_sectors;
	uint64_t flushes;
};

void summary_diskstats(const struct summary *summary, const char *disk, struct diskstats *stats);

#endif /* MONAD_STORAGE_SUMMARY_DATA_H */
