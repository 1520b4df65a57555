/* SPDX-License-Identifier: GPL-2.0 */
/* Which disks and operations a command is about, and the options that say so. */
#ifndef MONAD_STORAGE_SERIES_FILTER_H
#define MONAD_STORAGE_SERIES_FILTER_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#define SERIES_FILTER_MAX 64

struct series_filter {
	uint32_t devs[SERIES_FILTER_MAX]; /* those given by number */
	unsigned int nr_devs;
	/* others: the number may have been another's before */
	char names[SERIES_FILTER_MAX][32];
	unsigned int nr_names;
	uint32_t ops; /* a bit each, that of the device's own flushes too; 0: all */
};

/* -d and -o: a child parser for argp; its input is the struct series_filter. */
extern const struct argp series_filter_argp;

bool series_filter(const struct series_filter *filter, uint32_t dev, const char *disk,
		   uint32_t op);

/* @disk: as struct metrics_series has it. The same for a disk, whatever the operation. */
bool series_filter_disk(const struct series_filter *filter, uint32_t dev, const char *disk);

/* The same for an event, whose name is cut, and "" where it is not known. */
bool series_filter_event(const struct series_filter *filter, uint32_t dev, const char *disk,
			 uint32_t op);

#endif /* MONAD_STORAGE_SERIES_FILTER_H */
