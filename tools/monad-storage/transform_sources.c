// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup_path.h"
#include "disk.h"
#include "monad_storage.h"
#include "partitions.h"
#include "symbols.h"
#include "transform_sources.h"

/* So long what was found is taken for true. */
#define KEEP_NS (30 * NSEC_PER_SEC)
/* Disks come and go with their numbers: less long. */
#define KEEP_DISKS_NS NSEC_PER_SEC

#define NAMESPACES 1024
#define CGROUPS 1024
#define DISKS 64

struct namespace_place {
	uint64_t until_ns; /* CLOCK_MONOTONIC; and so on */
	uint64_t id;
	uint32_t pid;
};

struct cgroup_place {
	uint64_t until_ns;
	uint64_t id;
	char *path;
};

struct disk_place {
	uint64_t until_ns;
	uint32_t dev;
	bool there;
	char name[32];
	struct partitions partitions;
};

struct places {
	struct namespace_place namespaces[NAMESPACES];
	struct cgroup_place cgroups[CGROUPS];
	struct disk_place disks[DISKS];
	uint64_t processes_until_ns;
};

/*
 * Disks
 */

static struct disk_place *find_disk(struct places *places, uint32_t dev)
{
	struct disk_place *disk = &places->disks[(dev * 0x9e3779b1U >> 16) % DISKS];
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (disk->dev == dev && now < disk->until_ns)
		return disk;
	disk->dev = dev;
	disk->until_ns = now + KEEP_DISKS_NS;
	partitions_free(&disk->partitions);
	disk->there = disk_there(dev);
	if (disk->there) {
		disk_name(dev, disk->name, sizeof(disk->name));
		partitions_read(&disk->partitions, dev);
	}
	return disk;
}

static const char *name_of_disk(void *arg, uint32_t dev_major, uint32_t dev_minor)
{
	const struct disk_place *disk = find_disk(arg, DISK_DEV(dev_major, dev_minor));

	return disk->there ? disk->name : NULL;
}

static const char *name_of_partition(void *arg, uint32_t dev_major, uint32_t dev_minor,
				     uint64_t sector)
{
	return partitions_find(&find_disk(arg, DISK_DEV(dev_major, dev_minor))->partitions, sector);
}

/*
 * Cgroups
 */

static const char *path_of_cgroup(void *arg, uint64_t id)
{
	struct places *places = arg;
	struct cgroup_place *cgroup = &places->cgroups[id % CGROUPS];
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	char path[PATH_MAX];

	if (!id)
		return NULL;
	if (cgroup->path && cgroup->id == id && now < cgroup->until_ns)
		return cgroup->path;
	free(cgroup->path);
	cgroup->path = NULL;
	/* One that is not there (any more) is asked for again. */
	if (cgroup_path(id, path, sizeof(path)))
		return NULL;
	cgroup->id = id;
	cgroup->until_ns = now + KEEP_NS;
	cgroup->path = strdup(path);
	return cgroup->path;
}

/*
 * Processes
 */

/* 0: it is gone, or nobody may know. */
static uint64_t read_namespace(uint32_t pid)
{
	char path[64], link[64];
	uint64_t id;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/ns/mnt", pid);
	length = readlink(path, link, sizeof(link) - 1);
	if (length <= 0)
		return 0;
	link[length] = '\0';
	return sscanf(link, "mnt:[%" SCNu64 "]", &id) == 1 ? id : 0;
}

static uint64_t mount_namespace(void *arg, uint32_t pid)
{
	struct places *places = arg;
	struct namespace_place *place = &places->namespaces[pid % NAMESPACES];
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!pid)
		return 0;
	if (place->id && place->pid == pid && now < place->until_ns)
		return place->id;
	place->id = read_namespace(pid);
	place->pid = pid;
	place->until_ns = now + KEEP_NS;
	return place->id;
}

static const char *find_symbol(void *arg, const struct monad_storage_stack *stack,
			       uint64_t address, bool user, const char **module, uint64_t *offset)
{
	struct places *places = arg;
	struct symbol symbol = {};
	uint64_t now;

	if (user) {
		now = clock_ns(CLOCK_MONOTONIC);
		if (now >= places->processes_until_ns) {
			symbols_forget_processes();
			places->processes_until_ns = now + SYMBOLS_KEEP_NS;
		}
		symbols_find_user(stack->tgid, address, clock_ns(CLOCK_REALTIME), &symbol);
	} else {
		symbols_find_kernel(address, stack->text, &symbol);
	}
	*module = symbol.module;
	*offset = symbol.offset;
	return symbol.function;
}

int transform_sources_open(struct transform_sources *sources)
{
	struct places *places = calloc(1, sizeof(*places));

	*sources = (struct transform_sources){
		.disk_name = name_of_disk,
		.partition = name_of_partition,
		.cgroup_path = path_of_cgroup,
		.mount_namespace = mount_namespace,
		.symbol = find_symbol,
		.arg = places,
	};
	return places ? 0 : -ENOMEM;
}

void transform_sources_close(struct transform_sources *sources)
{
	struct places *places = sources->arg;

	for (size_t i = 0; places && i < CGROUPS; i++)
		free(places->cgroups[i].path);
	for (size_t i = 0; places && i < DISKS; i++)
		partitions_free(&places->disks[i].partitions);
	free(places);
	memset(sources, 0, sizeof(*sources));
	symbols_free();
}
