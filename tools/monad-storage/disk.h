/* SPDX-License-Identifier: GPL-2.0 */
/* Names and numbers of block devices, from /sys and /dev. */
#ifndef MONAD_STORAGE_DISK_H
#define MONAD_STORAGE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in flow tags and maps: major << 20 | minor. */
#define DISK_DEV(major, minor) ((uint32_t)(major) << 20 | (uint32_t)(minor))

enum disk_found {
	DISK_FOUND,
	DISK_GONE_NUMBER, /* there is none now, but its number is known */
	DISK_GONE,        /* ... and not even that */
	DISK_INVALID,     /* not a disk; there was a message */
};

/*
 * The whole disk that @name means: "sda", "/dev/sda", "mapper/x", "cciss/c0d0" or
 * "cciss!c0d0", "8:0", or a partition of it.
 */
enum disk_found disk_find(const char *name, uint32_t *dev);

/*
 * The same for somebody else, who may not have us look anywhere: what is no number is looked for
 * below /dev only, wherever links there lead.
 */
enum disk_found disk_find_in_dev(const char *name, uint32_t *dev);

/* Whether @name is "8:0", a number, and no name. */
bool disk_is_number(const char *name);

/* The partitions of a whole disk, at most @max; how many there are. */
unsigned int disk_partitions(uint32_t dev, uint32_t *partitions, unsigned int max);

/* What events call a disk of that name, cut to fit: "cciss!c0d0". */
void disk_event_name(const char *name, char *event_name, size_t size);

/* Is there one of that number? */
bool disk_there(uint32_t dev);

/* What /sys/block calls the disk of that number; false where there is none. */
bool disk_sysfs_name(uint32_t dev, char *name, size_t size);

/* The number of the disk that /sys/block calls so, as disk_sysfs_name() has it. */
bool disk_by_sysfs_name(const char *name, uint32_t *dev);

/* Writes the name of a disk, or "major:minor" when there is none (any more); printable. */
void disk_name(uint32_t dev, char *name, size_t size);

#endif /* MONAD_STORAGE_DISK_H */
