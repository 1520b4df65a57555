// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Who locks a ring file. Writers hold flock(2) LOCK_EX on their ring for as long
 * as they live, and the kernel lets go of it when they die: that is how a reader
 * tells a quiet ring from a dead one.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <monad_event/event_ring_util.h>

#include "error.h"

/* A file as /proc/locks names it. */
struct file_id {
	unsigned int major, minor; /* of the file system */
	unsigned long long ino;
};

/*
 * st_dev is what /proc/locks says on most file systems. Where it is not (btrfs
 * subvolumes), the mount table has the right number; @id stays as it is when the
 * file is on no mount that is listed there, as memfds are.
 */
static void find_mount_device(int fd, struct file_id *id)
{
	char path[64], line[8192];
	int wanted = -1, mount;
	unsigned int dev_major, dev_minor;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "mnt_id: %d", &wanted) == 1)
			break;
	}
	fclose(file);
	file = fopen("/proc/self/mountinfo", "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%d %*d %u:%u", &mount, &dev_major, &dev_minor) == 3 &&
		    mount == wanted) {
			id->major = dev_major;
			id->minor = dev_minor;
			break;
		}
	}
	fclose(file);
}

/* Parses "1: FLOCK  ADVISORY  WRITE 4711 fe:01:12345 0 EOF"; false for others. */
static bool parse_flock(const char *line, const struct file_id *id,
			struct monad_event_flock_info *flock_info)
{
	unsigned int dev_major, dev_minor;
	unsigned long long ino;
	char mode[8];
	int pid;

	/* A lock somebody waits for has "->" in front of FLOCK and does not match. */
	if (sscanf(line, "%*d: FLOCK ADVISORY %7s %d %x:%x:%llu", mode, &pid, &dev_major,
		   &dev_minor, &ino) != 5)
		return false;
	if (dev_major != id->major || dev_minor != id->minor || ino != id->ino)
		return false;
	flock_info->lock = strcmp(mode, "WRITE") == 0 ? LOCK_EX : LOCK_SH;
	flock_info->pid = pid;
	return true;
}

int monad_event_ring_query_flocks(int ring_fd, struct monad_event_flock_info *flocks, size_t *size)
{
	struct monad_event_flock_info found;
	struct file_id id;
	size_t count = 0;
	char line[512];
	struct stat st;
	FILE *locks;

	if (!size || (!flocks && *size))
		return FAIL(EFAULT, "%s is NULL", size ? "array of locks" : "its size");
	if (fstat(ring_fd, &st) != 0)
		return FAIL(errno, "cannot fstat the event ring");
	id.major = major(st.st_dev);
	id.minor = minor(st.st_dev);
	id.ino = st.st_ino;
	find_mount_device(ring_fd, &id);
	locks = fopen("/proc/locks", "re");
	if (!locks)
		return FAIL(errno, "cannot read /proc/locks");
	while (fgets(line, sizeof(line), locks)) {
		if (!parse_flock(line, &id, &found))
			continue;
		if (count < *size)
			flocks[count] = found;
		count++;
	}
	fclose(locks);
	if (count > *size) {
		const size_t room = *size;

		*size = count;
		return FAIL(ERANGE, "there are %zu locks on the event ring, room for %zu", count,
			    room);
	}
	*size = count;
	return 0;
}

int monad_event_ring_query_excl_writer_pid(int ring_fd, pid_t *pid)
{
	struct monad_event_flock_info flocks[64];
	size_t count = sizeof(flocks) / sizeof(flocks[0]);
	int err;

	if (!pid)
		return FAIL(EFAULT, "pid is NULL");
	*pid = 0;
	/* More than fit are all shared: an exclusive lock is the only one. */
	err = monad_event_ring_query_flocks(ring_fd, flocks, &count);
	if (err && err != ERANGE)
		return err;
	if (!err && count == 1 && flocks[0].lock == LOCK_EX) {
		*pid = flocks[0].pid;
		return 0;
	}
	return FAIL(EOWNERDEAD, "no process writes to this event ring");
}
