// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monad_storage.h"
#include "pressure.h"

#define PREFIX "exporter-"
#define MAGIC 0x5250534d /* "MSPR" */

struct pressure_shared {
	uint32_t magic;
	uint32_t refuse_tasks;
	uint64_t refused;
};

static struct pressure_shared *map_shared(int fd)
{
	void *shared = mmap(NULL, sizeof(struct pressure_shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);

	return shared == MAP_FAILED ? NULL : shared;
}

/*
 * It gets its name when it is locked and complete. No name comes twice, so that whoever
 * removes one of a dead exporter does not remove another's.
 */
static int make_file(struct pressure *pressure, const char *directory)
{
	char self[64];

	pressure->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (pressure->fd < 0 || flock(pressure->fd, LOCK_EX | LOCK_NB) ||
	    ftruncate(pressure->fd, sizeof(*pressure->shared)))
		return -errno;
	pressure->shared = map_shared(pressure->fd);
	if (!pressure->shared)
		return -errno;
	pressure->shared->magic = MAGIC;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", pressure->fd);
	snprintf(pressure->path, sizeof(pressure->path), "%s/" PREFIX "%d-%" PRIx64, directory,
		 getpid(), clock_ns(CLOCK_BOOTTIME));
	return linkat(AT_FDCWD, self, AT_FDCWD, pressure->path, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

static void give_up(struct pressure *pressure)
{
	if (pressure->shared)
		munmap(pressure->shared, sizeof(*pressure->shared));
	if (pressure->fd >= 0)
		close(pressure->fd);
	pressure->shared = NULL;
	pressure->fd = -1;
}

int pressure_open(struct pressure *pressure, const char *directory)
{
	int err = 0;

	pressure->shared = NULL;
	pressure->fd = -1;
	if (mkdir(directory, 0700) && errno != EEXIST)
		return -errno;
	err = make_file(pressure, directory);
	if (err)
		give_up(pressure);
	return err;
}

void pressure_set(struct pressure *pressure, bool refuse_tasks)
{
	if (pressure->shared)
		__atomic_store_n(&pressure->shared->refuse_tasks, refuse_tasks, __ATOMIC_RELAXED);
}

uint64_t pressure_refused(const struct pressure *pressure)
{
	return pressure->shared ? __atomic_load_n(&pressure->shared->refused, __ATOMIC_RELAXED) : 0;
}

void pressure_close(struct pressure *pressure)
{
	if (!pressure->shared)
		return;
	unlink(pressure->path);
	give_up(pressure);
}

static bool look(int fd, bool count)
{
	struct pressure_shared *shared;
	struct stat st;
	bool asks;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size != sizeof(*shared))
		return false;
	shared = map_shared(fd);
	if (!shared)
		return false;
	asks = shared->magic == MAGIC &&
	       __atomic_load_n(&shared->refuse_tasks, __ATOMIC_RELAXED);
	if (asks && count)
		__atomic_fetch_add(&shared->refused, 1, __ATOMIC_RELAXED);
	munmap(shared, sizeof(*shared));
	return asks;
}

/* One that can be locked is of an exporter that is dead. */
static bool look_at(int directory, const char *name, bool count)
{
	int fd = openat(directory, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool asks = false;

	if (fd < 0)
		return false;
	if (!flock(fd, LOCK_SH | LOCK_NB))
		unlinkat(directory, name, 0);
	else
		asks = look(fd, count);
	close(fd);
	return asks;
}

static bool look_at_all(const char *path, bool count)
{
	const struct dirent *entry;
	DIR *directory = opendir(path);
	bool asks = false;

	if (!directory)
		return false;
	while ((entry = readdir(directory))) {
		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)) &&
		    look_at(dirfd(directory), entry->d_name, count))
			asks = true;
	}
	closedir(directory);
	return asks;
}

bool pressure_refuses_tasks(const char *directory)
{
	return look_at_all(directory, false);
}

void pressure_count_refused(const char *directory)
{
	look_at_all(directory, true);
}
