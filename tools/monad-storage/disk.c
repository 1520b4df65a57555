// SPDX-License-Identifier: GPL-2.0
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "disk.h"
#include "monad_storage.h"

/* A partition's directory in /sys is below its disk's. */
static int whole_disk(unsigned int major, unsigned int minor, uint32_t *dev)
{
	char path[PATH_MAX], real[PATH_MAX];
	FILE *file;
	int fields;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major, minor);
	if (!realpath(path, real))
		return -1;
	snprintf(path, sizeof(path), "%.*s/partition", PATH_MAX - 16, real);
	if (!access(path, F_OK))
		dirname(real);
	snprintf(path, sizeof(path), "%.*s/dev", PATH_MAX - 8, real);
	file = fopen(path, "re");
	if (!file)
		return -1;
	fields = fscanf(file, "%u:%u", &major, &minor);
	fclose(file);
	if (fields != 2)
		return -1;
	*dev = DISK_DEV(major, minor);
	return 0;
}

int disk_find(const char *name, uint32_t *dev)
{
	unsigned int major, minor;
	char path[PATH_MAX];
	struct stat st;
	int end = 0;

	if (sscanf(name, "%u:%u%n", &major, &minor, &end) == 2 && !name[end]) {
		if (whole_disk(major, minor, dev))
			*dev = DISK_DEV(major, minor); /* gone, but may be in the ring */
		return 0;
	}
	snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : "/dev/", name);
	if (stat(path, &st)) {
		error("no disk '%s': %s: %m", name, path);
		return -1;
	}
	if (!S_ISBLK(st.st_mode)) {
		error("'%s' is no block device", name);
		return -1;
	}
	if (whole_disk(major(st.st_rdev), minor(st.st_rdev), dev)) {
		error("no disk %u:%u ('%s') in /sys/dev/block", major(st.st_rdev),
		      minor(st.st_rdev), name);
		return -1;
	}
	return 0;
}

void disk_name(uint32_t dev, char *name, size_t size)
{
	char path[64], link[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", dev >> 20, dev & 0xfffff);
	length = readlink(path, link, sizeof(link) - 1);
	if (length <= 0) {
		snprintf(name, size, "%u:%u", dev >> 20, dev & 0xfffff);
		return;
	}
	link[length] = '\0';
	snprintf(name, size, "%s", basename(link));
}
