// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Taking snapshots: the calls, their options, and files that appear whole. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "ring_place.h"
#include "snapshot.h"

/* Sizes of the first versions of these structures. */
#define OPTIONS_MIN_SIZE offsetof(struct monad_event_snapshot_options, first_seqno)
#define STATS_MIN_SIZE	 offsetof(struct monad_event_snapshot_stats, first_seqno)

/* Bytes of a temporary name, and how many are tried before all are said to be taken. */
#define TEMP_MAX 32
#define TRIES	 64

/* Takes the caller's options, who may know fewer of them, or more that are not set. */
static int take_options(struct monad_event_snapshot_options *to,
			const struct monad_event_snapshot_options *from)
{
	const int min = ZSTD_minCLevel(), max = ZSTD_maxCLevel();

	memset(to, 0, sizeof(*to));
	if (from) {
		if (from->size < OPTIONS_MIN_SIZE)
			return FAIL(EINVAL, "snapshot options have size %u, which was not set",
				    from->size);
		for (size_t i = sizeof(*to); i < from->size; i++) {
			if (((const uint8_t *)from)[i])
				return FAIL_HINT(E2BIG, "run the program with the library it "
						 "was built for",
						 "snapshot options are set that this library does "
						 "not know");
		}
		memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
	}
	if (!to->level)
		to->level = MONAD_EVENT_SNAPSHOT_DEFAULT_LEVEL;
	if (to->level < min || to->level > max)
		return FAIL(EINVAL, "compression level %d is not from %d to %d", to->level, min,
			    max);
	if (to->last_seqno && to->first_seqno > to->last_seqno)
		return FAIL(EINVAL, "first event %llu of the snapshot is after the last one, %llu",
			    (unsigned long long)to->first_seqno,
			    (unsigned long long)to->last_seqno);
	if (to->to_epoch_nanos && to->from_epoch_nanos > to->to_epoch_nanos)
		return FAIL(EINVAL, "the snapshot's time range ends before it begins");
	return 0;
}

static void give_stats(struct monad_event_snapshot_stats *to,
		       const struct monad_event_snapshot_stats *from)
{
	const uint32_t size = to->size;

	memcpy(to, from, size < sizeof(*from) ? size : sizeof(*from));
	to->size = size < sizeof(*from) ? size : sizeof(*from);
}

static int check_args(const struct monad_event_ring *ring,
		      const struct monad_event_snapshot_stats *stats)
{
	if (!ring)
		return FAIL(EFAULT, "event ring is NULL");
	if (!ring->header)
		return FAIL(EINVAL, "the event ring is not mapped");
	if (!(ring->mmap_prot & PROT_READ))
		return FAIL(EACCES, "the event ring is not mapped for reading");
	if (stats && stats->size < STATS_MIN_SIZE)
		return FAIL(EINVAL, "snapshot statistics have size %u, which was not set",
			    stats->size);
	return 0;
}

static int write_snapshot(const struct monad_event_ring *ring, int out_fd, const char *name,
			  const struct monad_event_snapshot_options *options,
			  struct monad_event_snapshot_stats *stats)
{
	struct snapshot_events events;
	int err;

	err = snapshot_events_copy(&events, ring, options);
	if (!err)
		err = snapshot_image_write(&events, out_fd, options->level, name);
	if (stats)
		give_stats(stats, &events.stats);
	snapshot_events_free(&events);
	return err;
}

int monad_event_snapshot_write(const struct monad_event_ring *ring, int out_fd,
			       const struct monad_event_snapshot_options *options,
			       struct monad_event_snapshot_stats *stats)
{
	struct monad_event_snapshot_options opts;
	struct stat st;
	int err;

	err = check_args(ring, stats);
	if (!err)
		err = take_options(&opts, options);
	/* Better said now than when all is copied. */
	if (!err && fstat(out_fd, &st) != 0)
		err = FAIL(errno, "cannot write a snapshot to descriptor %d", out_fd);
	return err ? err : write_snapshot(ring, out_fd, "unnamed", &opts, stats);
}

/* A file in the making: it has no name (O_TMPFILE), or a temporary one, until it is complete. */
struct file {
	const char *path; /* for messages; its last part is the name */
	const char *name;
	int dirfd;
	int fd;
	char temp[TEMP_MAX]; /* "": none */
};

static int open_dir(struct file *file)
{
	const char *path = file->path, *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int len;

	file->name = slash ? slash + 1 : path;
	if (!*file->name)
		return FAIL(EINVAL, "`%s` is not the name of a file for a snapshot", path);
	if (!slash)
		len = snprintf(dir, sizeof(dir), ".");
	else
		len = snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path),
			       path);
	if (len < 0 || (size_t)len >= sizeof(dir))
		return FAIL(ENAMETOOLONG, "cannot make snapshot `%s`", path);
	/* To read, as it is to be synced. */
	file->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file->dirfd < 0)
		return FAIL(errno, "cannot open directory `%s`", dir);
	return 0;
}

static void choose_temp(struct file *file)
{
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint32_t)random() ^ (uint32_t)getpid();
	snprintf(file->temp, sizeof(file->temp), ".snapshot-%08x", number);
}

static int create_file(struct file *file)
{
	/* Without a /proc it could not get a name later. */
	bool named = access("/proc/self/fd", X_OK) != 0;

	if (!named) {
		file->fd = openat(file->dirfd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
		named = file->fd < 0 && ring_place_needs_name(errno);
	}
	if (named) {
		for (int tries = 0; file->fd < 0 && tries < TRIES; tries++) {
			choose_temp(file);
			file->fd = openat(file->dirfd, file->temp,
					  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
			if (file->fd < 0 && errno != EEXIST)
				break;
		}
	}
	if (file->fd >= 0)
		return 0;
	file->temp[0] = '\0';
	return FAIL(errno, "cannot make a file for snapshot `%s` in its directory", file->path);
}

/* Only now, so that nothing is left behind if this process is killed while it writes. */
static int give_temp(struct file *file)
{
	int err = EEXIST;

	if (file->temp[0])
		return 0;
	for (int tries = 0; err == EEXIST && tries < TRIES; tries++) {
		choose_temp(file);
		err = ring_place_link_fd(file->fd, file->dirfd, file->temp);
	}
	if (!err)
		return 0;
	file->temp[0] = '\0';
	return FAIL(err, "cannot give snapshot `%s` a temporary name", file->path);
}

/* The file is complete: to the disk with it, and then to its place. */
static int publish(struct file *file)
{
	int err = 0;

	/* EINVAL: the file system cannot. */
	if (fsync(file->fd) != 0 && errno != EINVAL)
		return FAIL(errno, "cannot sync snapshot `%s`", file->path);
	err = give_temp(file);
	if (err)
		return err;
	/* Where close() reports what the disk refused. */
	err = close(file->fd) != 0 ? errno : 0;
	file->fd = -1;
	if (err)
		return FAIL(err, "cannot close snapshot `%s`", file->path);
	if (renameat(file->dirfd, file->temp, file->dirfd, file->name) != 0)
		return FAIL(errno, "cannot rename `%s` to `%s`", file->temp, file->path);
	file->temp[0] = '\0';
	/* The name is on disk when its directory is. */
	if (fsync(file->dirfd) != 0 && errno != EINVAL)
		return FAIL(errno, "cannot sync the directory of snapshot `%s`", file->path);
	return 0;
}

static void close_file(struct file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->temp[0])
		unlinkat(file->dirfd, file->temp, 0);
	if (file->dirfd >= 0)
		close(file->dirfd);
}

int monad_event_snapshot_write_file(const struct monad_event_ring *ring, const char *path,
				    const struct monad_event_snapshot_options *options,
				    struct monad_event_snapshot_stats *stats)
{
	struct file file = {.path = path, .dirfd = -1, .fd = -1};
	struct monad_event_snapshot_options opts;
	struct stat st;
	int err;

	if (!path)
		return FAIL(EFAULT, "path of the snapshot is NULL");
	err = check_args(ring, stats);
	if (!err)
		err = take_options(&opts, options);
	if (!err)
		err = open_dir(&file);
	if (!err && fstatat(file.dirfd, file.name, &st, 0) == 0 && !S_ISREG(st.st_mode))
		err = FAIL_HINT(EINVAL, "to write to it, open it",
				"`%s` is there and no regular file that a snapshot can replace",
				path);
	if (!err)
		err = create_file(&file);
	if (!err)
		err = write_snapshot(ring, file.fd, path, &opts, stats);
	if (!err)
		err = publish(&file);
	close_file(&file);
	return err;
}
