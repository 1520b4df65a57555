// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "partitions.h"

/* More than any disk has: the kernel's own limit. */
#define MAX_PARTITIONS 256

static bool read_number(uint32_t dev, const char *file, uint64_t *number)
{
	char path[64];
	FILE *from;
	int fields;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", dev >> 20, dev & 0xfffff, file);
	from = fopen(path, "re");
	if (!from)
		return false;
	fields = fscanf(from, "%" SCNu64, number);
	fclose(from);
	return fields == 1;
}

static int compare(const void *a, const void *b)
{
	const struct partition *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

void partitions_read(struct partitions *partitions, uint32_t dev)
{
	uint32_t devs[MAX_PARTITIONS];
	unsigned int nr = disk_partitions(dev, devs, MAX_PARTITIONS);

	partitions->nr = 0;
	partitions->partition = nr ? calloc(nr, sizeof(*partitions->partition)) : NULL;
	for (unsigned int i = 0; partitions->partition && i < nr; i++) {
		struct partition *partition = &partitions->partition[partitions->nr];

		if (!read_number(devs[i], "start", &partition->start) ||
		    !read_number(devs[i], "size", &partition->size))
			continue;
		disk_name(devs[i], partition->name, sizeof(partition->name));
		partitions->nr++;
	}
	if (partitions->nr)
		qsort(partitions->partition, partitions->nr, sizeof(*partitions->partition),
		      compare);
}

void partitions_free(struct partitions *partitions)
{
	free(partitions->partition);
	memset(partitions, 0, sizeof(*partitions));
}

const char *partitions_find(const struct partitions *partitions, uint64_t sector)
{
	/* From behind: an extended partition begins before those in it. */
	for (size_t i = partitions->nr; i--;) {
		const struct partition *partition = &partitions->partition[i];

		if (sector >= partition->start && sector - partition->start < partition->size)
			return partition->name;
	}
	return NULL;
}
