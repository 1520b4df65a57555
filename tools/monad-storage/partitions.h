/* SPDX-License-Identifier: GPL-2.0 */
/* Which partition of a disk a sector is on. */
#ifndef MONAD_STORAGE_PARTITIONS_H
#define MONAD_STORAGE_PARTITIONS_H

#include <stddef.h>
#include <stdint.h>

struct partition {
	uint64_t start; /* in 512 bytes, as sectors of events */
	uint64_t size;
	char name[32];
};

struct partitions {
	struct partition *partition; /* by their beginning */
	size_t nr;
};

/* Those that a whole disk has now; none if it has none, or nobody knows. */
void partitions_read(struct partitions *partitions, uint32_t dev);
void partitions_free(struct partitions *partitions);

/* NULL where there is none. */
const char *partitions_find(const struct partitions *partitions, uint64_t sector);

#endif /* MONAD_STORAGE_PARTITIONS_H */
