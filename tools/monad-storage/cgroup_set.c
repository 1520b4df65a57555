// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cgroup_path.h"
#include "cgroup_set.h"
#include "monad_storage.h"
#include "parse.h"

/* Directories that nftw(3) has open at a time. */
#define OPEN_AT_A_TIME 16

static struct cgroup_set *adding; /* nftw(3) has no argument for its function */

static void add(struct cgroup_set *set, uint64_t id)
{
	if (set->nr == set->room) {
		set->room = set->room * 2 + 16;
		set->ids = xrealloc(set->ids, set->room * sizeof(*set->ids));
	}
	set->ids[set->nr++] = id;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	/* The number of its directory is its id. */
	if (type == FTW_D)
		add(adding, st->st_ino);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A controller is a word of that file; the root has all, and no such file. */
static bool has_io_controller(const char *path)
{
	char name[PATH_MAX + 32], line[512] = "";
	FILE *file;

	snprintf(name, sizeof(name), "%s/cgroup.controllers", path);
	file = fopen(name, "re");
	if (!file)
		return true;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	for (char *word = strtok(line, "\n "); word; word = strtok(NULL, "\n ")) {
		if (!strcmp(word, "io"))
			return true;
	}
	return false;
}

int cgroup_set_add(struct cgroup_set *set, const char *name)
{
	const char *mount = cgroup_mount();
	char path[PATH_MAX];
	struct stat st;
	uint64_t id;

	if (parse_u64(name, &id)) {
		add(set, id);
		qsort(set->ids, set->nr, sizeof(*set->ids), compare);
		return 0;
	}
	if (!mount) {
		error("cgroup %s: cgroups v2 are not mounted here, or I/O is charged to those of "
		      "v1", name);
		return -1;
	}
	if (!*name) {
		error("'' is no cgroup: say / for the root, and all that is below it");
		return -1;
	}
	if (!strncmp(name, mount, strlen(mount)) && strchr("/", name[strlen(mount)]))
		name += strlen(mount);
	snprintf(path, sizeof(path), "%s%s%s", mount, *name && *name != '/' ? "/" : "", name);
	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		error("there is no cgroup %s (%s); one that is gone can be asked for by its id",
		      name, path);
		return -1;
	}
	adding = set;
	if (nftw(path, visit, OPEN_AT_A_TIME, FTW_PHYS | FTW_MOUNT)) {
		error("looking at %s: %m", path);
		return -1;
	}
	qsort(set->ids, set->nr, sizeof(*set->ids), compare);
	if (!has_io_controller(path))
		warning("cgroup %s: the io controller is not enabled for it, so that its I/O is "
			"charged to one above it", name);
	return 0;
}

bool cgroup_set_has(const struct cgroup_set *set, uint64_t id)
{
	return !set->nr || bsearch(&id, set->ids, set->nr, sizeof(id), compare);
}

void cgroup_set_free(struct cgroup_set *set)
{
	free(set->ids);
	memset(set, 0, sizeof(*set));
}
