// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <monad/event_ring.h>

#include "error.h"
#include "ring_room.h"

/* One number from a file of /sys; -1 if there is none. */
static long long read_number(const char *path)
{
	long long value = -1;
	FILE *file = fopen(path, "re");

	if (!file)
		return -1;
	if (fscanf(file, "%lld", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

static long long free_huge_pages(void)
{
	return read_number("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
}

const char *ring_room_hint(char *buf, size_t buf_size, int fd, uint64_t need)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return NULL;
	if (fs.f_type == HUGETLBFS_MAGIC)
		snprintf(buf, buf_size,
			 "%lld huge pages of 2 MiB are free, %" PRIu64
			 " are needed: raise /proc/sys/vm/nr_hugepages or make the ring smaller",
			 free_huge_pages(), need / MONAD_EVENT_RING_ALIGN);
	else
		snprintf(buf, buf_size,
			 "the file system has %llu bytes free, %" PRIu64 " are needed",
			 (unsigned long long)fs.f_bavail * (unsigned long long)fs.f_bsize, need);
	return buf;
}

/* Whether @need bytes are free; also where that is not to be known. */
static bool has_room(int fd, uint64_t need)
{
	struct statfs fs;
	long long pages;

	if (fstatfs(fd, &fs) != 0)
		return true;
	if (fs.f_type == HUGETLBFS_MAGIC) {
		pages = free_huge_pages();
		return pages < 0 || (uint64_t)pages >= need / MONAD_EVENT_RING_ALIGN;
	}
	/* A tmpfs without a limit has no blocks. */
	return !fs.f_blocks || need / (uint64_t)fs.f_bsize <= fs.f_bavail;
}

int ring_room_fill(int fd, uint64_t size, const char *name)
{
	uint64_t have, need;
	struct stat st;
	char hint[192];
	int err;

	if (fstat(fd, &st) != 0)
		return FAIL(errno, "cannot fstat event ring file `%s`", name);
	have = (uint64_t)st.st_blocks * 512;
	need = have < size ? size - have : 0;
	if (!has_room(fd, need))
		return FAIL_HINT(ENOSPC, ring_room_hint(hint, sizeof(hint), fd, need),
				 "no room to fill the holes of event ring file `%s`", name);
	do {
		err = posix_fallocate(fd, 0, (off_t)size);
	} while (err == EINTR);
	if (err)
		return FAIL_HINT(err, err == ENOSPC ? ring_room_hint(hint, sizeof(hint), fd, need)
						    : NULL,
				 "posix_fallocate failed for event ring file `%s`, size %" PRIu64,
				 name, size);
	return 0;
}
