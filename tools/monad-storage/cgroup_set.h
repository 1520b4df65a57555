/* SPDX-License-Identifier: GPL-2.0 */
/* Cgroups that somebody asks for, with all that are below them. */
#ifndef MONAD_STORAGE_CGROUP_SET_H
#define MONAD_STORAGE_CGROUP_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup_set {
	uint64_t *ids; /* in order */
	size_t nr, room;
};

/* For a struct argp_option. */
#define CGROUP_OPTION(group) \
	{ "cgroup", 'c', "CGROUP", 0, \
	  "Only what is charged to this cgroup or one below it: a path as /proc/PID/cgroup has " \
	  "it, or an id; may be given again", group }

/*
 * Adds the cgroup (v2) @name, and those that are below it now: a path as /proc/PID/cgroup has it,
 * one in the file system, or an id, which may be that of one that is gone. 0, or -1 after a
 * message. I/O that cannot be charged to it is warned of.
 */
int cgroup_set_add(struct cgroup_set *set, const char *name);

/* True for all if nothing was added. */
bool cgroup_set_has(const struct cgroup_set *set, uint64_t id);

void cgroup_set_free(struct cgroup_set *set);

#endif /* MONAD_STORAGE_CGROUP_SET_H */
