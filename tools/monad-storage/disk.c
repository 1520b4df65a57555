// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "disk.h"
#include "monad_storage.h"
#include "printable.h"

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

/* "8:16", and nothing else. */
static bool parse_dev(const char *text, unsigned int *major, unsigned int *minor)
{
	size_t length = strspn(text, "0123456789");
	int end = 0;

	if (!length || length > 4 || text[length] != ':' || text[length + 1] < '0' ||
	    text[length + 1] > '9' || strlen(text + length + 1) > 7)
		return false;
	return sscanf(text, "%u:%u%n", major, minor, &end) == 2 && !text[end];
}

bool disk_is_number(const char *name)
{
	unsigned int major, minor;

	return parse_dev(name, &major, &minor);
}

/* As stat(). Not of another file system, as /dev/shm is, where anybody can make links. */
static int stat_in_dev(const char *path, struct stat *st)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS,
	};
	int dev, fd, err;

	if (strncmp(path, "/dev/", 5) != 0)
		return -1;
	dev = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dev < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, dev, path + 5, &how, sizeof(how));
	close(dev);
	if (fd < 0)
		return -1;
	err = fstat(fd, st);
	close(fd);
	return err;
}

static enum disk_found find(const char *name, int (*look)(const char *path, struct stat *st),
			    uint32_t *dev)
{
	unsigned int major, minor;
	char path[PATH_MAX];
	struct stat st;

	if (parse_dev(name, &major, &minor)) {
		if (major > 0xfff || minor > 0xfffff) {
			error("there are no devices with the number %s", name);
			return DISK_INVALID;
		}
		*dev = DISK_DEV(major, minor);
		return whole_disk(major, minor, dev) ? DISK_GONE_NUMBER : DISK_FOUND;
	}
	/* No disk's name is made of these only: a number that is wrong. */
	if (strspn(name, "0123456789:-+. ") == strlen(name)) {
		error("'%s' is neither a disk's name nor MAJOR:MINOR", name);
		return DISK_INVALID;
	}
	snprintf(path, sizeof(path), "%s%s", strchr("/.", *name) ? "" : "/dev/", name);
	/* The kernel's name for /dev/cciss/c0d0 is cciss!c0d0. */
	for (char *p = path; *name != '/' && *p; p++) {
		if (*p == '!')
			*p = '/';
	}
	if (look(path, &st))
		return DISK_GONE;
	if (!S_ISBLK(st.st_mode)) {
		error("'%s' is no block device", name);
		return DISK_INVALID;
	}
	*dev = DISK_DEV(major(st.st_rdev), minor(st.st_rdev));
	return whole_disk(major(st.st_rdev), minor(st.st_rdev), dev) ? DISK_GONE_NUMBER :
								       DISK_FOUND;
}

enum disk_found disk_find(const char *name, uint32_t *dev)
{
	return find(name, stat, dev);
}

enum disk_found disk_find_in_dev(const char *name, uint32_t *dev)
{
	return find(name, stat_in_dev, dev);
}

/* Directories with a file "partition" in that of the disk. */
unsigned int disk_partitions(uint32_t dev, uint32_t *partitions, unsigned int max)
{
	unsigned int n = 0, major, minor;
	char path[PATH_MAX];
	glob_t found;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/*/partition", dev >> 20,
		 dev & 0xfffff);
	if (glob(path, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && n < max; i++) {
		snprintf(path, sizeof(path), "%.*s/dev",
			 (int)(strlen(found.gl_pathv[i]) - strlen("/partition")),
			 found.gl_pathv[i]);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fscanf(file, "%u:%u", &major, &minor) == 2)
			partitions[n++] = DISK_DEV(major, minor);
		fclose(file);
	}
	globfree(&found);
	return n;
}

void disk_event_name(const char *name, char *event_name, size_t size)
{
	if (!strncmp(name, "/dev/", 5))
		name += 5;
	snprintf(event_name, size, "%s", name);
	for (char *p = event_name; *p; p++) {
		if (*p == '/')
			*p = '!';
	}
}

bool disk_there(uint32_t dev)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", dev >> 20, dev & 0xfffff);
	return !access(path, F_OK);
}

bool disk_sysfs_name(uint32_t dev, char *name, size_t size)
{
	char path[64], link[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", dev >> 20, dev & 0xfffff);
	length = readlink(path, link, sizeof(link) - 1);
	if (length <= 0)
		return false;
	link[length] = '\0';
	snprintf(name, size, "%s", basename(link));
	return true;
}

bool disk_by_sysfs_name(const char *name, uint32_t *dev)
{
	unsigned int major, minor;
	char path[PATH_MAX];
	FILE *file;
	int fields;

	snprintf(path, sizeof(path), "/sys/block/%s/dev", name);
	file = fopen(path, "re");
	if (!file)
		return false;
	fields = fscanf(file, "%u:%u", &major, &minor);
	fclose(file);
	if (fields != 2)
		return false;
	*dev = DISK_DEV(major, minor);
	return true;
}

void disk_name(uint32_t dev, char *name, size_t size)
{
	char there[NAME_MAX + 1];

	if (disk_sysfs_name(dev, there, sizeof(there)))
		printable(name, size, there);
	else
		snprintf(name, size, "%u:%u", dev >> 20, dev & 0xfffff);
}
