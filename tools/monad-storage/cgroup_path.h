/* SPDX-License-Identifier: GPL-2.0 */
/* Names of cgroups. */
#ifndef MONAD_STORAGE_CGROUP_PATH_H
#define MONAD_STORAGE_CGROUP_PATH_H

#include <stddef.h>
#include <stdint.h>

/* Where cgroups (v2) are mounted; NULL if they are not, or I/O is charged to those of v1. */
const char *cgroup_mount(void);

/*
 * The path of the cgroup (v2) with that id below where cgroups are mounted, "/" for
 * the root: as /proc/PID/cgroup has it. 0; -ENOENT when there is none (any more), or
 * another -errno when that cannot be found out: -ENODEV where cgroups v2 are not
 * mounted, or I/O is charged to those of v1. Then "" is at @path.
 */
int cgroup_path(uint64_t id, char *path, size_t size);

#endif /* MONAD_STORAGE_CGROUP_PATH_H */
