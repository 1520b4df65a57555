/* SPDX-License-Identifier: GPL-2.0 */
/* Names and numbers of block devices, from /sys and /dev. */
#ifndef MONAD_STORAGE_DISK_H
#define MONAD_STORAGE_DISK_H

#include <stddef.h>
#include <stdint.h>

/* As in flow tags and maps: major << 20 | minor. */
#define DISK_DEV(major, minor) ((uint32_t)(major) << 20 | (uint32_t)(minor))

/*
 * The whole disk that @name means: "sda", "/dev/sda", "/dev/mapper/x", "8:0", or
 * a partition of it. 0, or -1 after a message.
 */
int disk_find(const char *name, uint32_t *dev);

/* Writes the name of a disk, or "major:minor" when there is none (any more). */
void disk_name(uint32_t dev, char *name, size_t size);

#endif /* MONAD_STORAGE_DISK_H */
