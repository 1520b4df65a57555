// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Who locks a ring file. Writers hold flock(2) LOCK_EX on their ring for as long
 * as they live, and the kernel lets go of it when they die: that is how a reader
 * tells a quiet ring from a dead one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <monad_event/event_ring_util.h>

#include "error.h"
#include "lock_holder.h"

/* Pages of 64 KiB are the largest there are, and a read(2) of /proc/locks gives one at most. */
#define BUF_SIZE (65536 + 1)
/* With less than that in it, the smallest page has room for another line. */
#define CHUNK_FULL (4096 - 256)

/*
 * How often the same has to be seen: shared locks, and none at all; and how many looks there are at
 * the most.
 */
#define SAME_LOOKS	4
#define SAME_LOOKS_NONE 16
#define MAX_LOOKS	64

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

/* What one look at /proc/locks found. */
struct look {
	size_t count;	/* may be more than there was room for */
	uint64_t digest; /* of all of them, in their order */
	bool exclusive;	/* one is, so it is the only one */
	bool at_once;	/* one read(2) gave all there is */
};

static void look_at_line(struct look *look, const char *line, const struct file_id *id,
			 struct monad_event_flock_info *flocks, size_t room)
{
	struct monad_event_flock_info found;

	/* What is listed beside an exclusive one was before or after it, or is it once more. */
	if (look->exclusive || !parse_flock(line, id, &found))
		return;
	look->exclusive = found.lock == LOCK_EX;
	if (look->exclusive)
		look->count = 0;
	if (look->count < room)
		flocks[look->count] = found;
	look->count++;
	look->digest = (look->digest ^ (uint64_t)found.pid << 8 ^ (uint64_t)found.lock) *
		       UINT64_C(0x100000001b3);
}

/* @buf: BUF_SIZE bytes. A positive errno, without a message, if it cannot be read. */
static int look_at_locks(struct look *look, char *buf, const struct file_id *id,
			 struct monad_event_flock_info *flocks, size_t room)
{
	int fd = open("/proc/locks", O_RDONLY | O_CLOEXEC), err = 0;
	char *line, *rest;
	ssize_t n;

	*look = (struct look){0};
	if (fd < 0)
		return errno;
	/* Whole lines, as the buffer is larger than what the kernel gives at a time. */
	for (bool first = true; (n = read(fd, buf, BUF_SIZE - 1)) != 0; first = false) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err = errno;
			break;
		}
		buf[n] = '\0';
		for (rest = buf; (line = strsep(&rest, "\n"));)
			look_at_line(look, line, id, flocks, room);
		/* Room was left for more lines, so that is all. */
		look->at_once = first && n < CHUNK_FULL;
		if (look->at_once)
			break;
	}
	close(fd);
	return err;
}

/*
 * The kernel gives /proc/locks a page at a time, and in between finds its place again by
 * counting lines: locks that come and go meanwhile make it pass over some, or give them twice.
 * So where it takes more than one read, this looks until it has seen an exclusive lock, which
 * nothing else looks like, or the same several times; more often before it says that there is
 * nothing, and more often still where nobody can get a lock, so that there is one.
 */
static int look_until_sure(struct look *look, char *buf, int ring_fd, const struct file_id *id,
			   struct monad_event_flock_info *flocks, size_t room)
{
	unsigned int same = 0;
	struct look before = {0};
	int err;

	for (unsigned int i = 0; i < MAX_LOOKS; i++) {
		err = look_at_locks(look, buf, id, flocks, room);
		if (err || look->at_once || look->exclusive)
			return err;
		same = i && look->count == before.count && look->digest == before.digest ? same + 1
											 : 1;
		if (same >= SAME_LOOKS && look->count)
			break;
		if (same == SAME_LOOKS_NONE && try_shared_lock(ring_fd) != 0)
			break;
		before = *look;
	}
	return 0;
}

int monad_event_ring_query_flocks(int ring_fd, struct monad_event_flock_info *flocks, size_t *size)
{
	struct file_id id;
	struct look look;
	struct stat st;
	char *buf;
	int err;

	if (!size || (!flocks && *size))
		return FAIL(EFAULT, "%s is NULL", size ? "array of locks" : "its size");
	if (fstat(ring_fd, &st) != 0)
		return FAIL(errno, "cannot fstat the event ring");
	id.major = major(st.st_dev);
	id.minor = minor(st.st_dev);
	id.ino = st.st_ino;
	find_mount_device(ring_fd, &id);
	buf = malloc(BUF_SIZE);
	if (!buf)
		return FAIL(ENOMEM, "no memory to read /proc/locks");
	err = look_until_sure(&look, buf, ring_fd, &id, flocks, *size);
	free(buf);
	if (err)
		return FAIL(err, "cannot read /proc/locks");
	if (look.count > *size) {
		const size_t room = *size;

		*size = look.count;
		return FAIL(ERANGE, "there are %zu locks on the event ring, room for %zu",
			    look.count, room);
	}
	*size = look.count;
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
