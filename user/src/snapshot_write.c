// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Taking snapshots: the calls, their options, and files that appear whole. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "snapshot.h"

/* Sizes of the first versions of these structures. */
#define OPTIONS_MIN_SIZE offsetof(struct monad_event_snapshot_options, first_seqno)
#define STATS_MIN_SIZE	 offsetof(struct monad_event_snapshot_stats, first_seqno)

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
				return FAIL(EINVAL,
					    "snapshot options are set that this library does not "
					    "know");
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

/* Splits @path; @temp becomes the pattern of a temporary name beside it. */
static int temp_name(const char *path, char *dir, char *temp)
{
	const char *slash = strrchr(path, '/');
	int len;

	if (!*path || (slash && !slash[1]))
		return FAIL(EINVAL, "`%s` is not the name of a file for a snapshot", path);
	if (!slash)
		len = snprintf(dir, PATH_MAX, ".");
	else
		len = snprintf(dir, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path),
			       path);
	if (len < PATH_MAX)
		len = snprintf(temp, PATH_MAX, "%s/.snapshot-XXXXXX", dir);
	if (len >= PATH_MAX)
		return FAIL(ENAMETOOLONG, "cannot make snapshot `%s`", path);
	return 0;
}

/* The name is on disk when its directory is. */
static int sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return FAIL(errno, "cannot open directory `%s`", dir);
	/* EINVAL: the file system cannot. */
	if (fsync(fd) != 0 && errno != EINVAL)
		err = FAIL(errno, "cannot sync directory `%s`", dir);
	close(fd);
	return err;
}

static int write_temp(const struct monad_event_ring *ring, const char *path, const char *temp,
		      int fd, const struct monad_event_snapshot_options *options,
		      struct monad_event_snapshot_stats *stats)
{
	int err = write_snapshot(ring, fd, path, options, stats);

	if (!err && fsync(fd) != 0 && errno != EINVAL)
		err = FAIL(errno, "cannot sync snapshot `%s`", path);
	/* Where close() reports what the disk refused. */
	if (close(fd) != 0 && !err)
		err = FAIL(errno, "cannot close snapshot `%s`", path);
	if (!err && rename(temp, path) != 0)
		err = FAIL(errno, "cannot rename `%s` to `%s`", temp, path);
	return err;
}

int monad_event_snapshot_write_file(const struct monad_event_ring *ring, const char *path,
				    const struct monad_event_snapshot_options *options,
				    struct monad_event_snapshot_stats *stats)
{
	struct monad_event_snapshot_options opts;
	char dir[PATH_MAX], temp[PATH_MAX];
	struct stat st;
	int err, fd;

	if (!path)
		return FAIL(EFAULT, "path of the snapshot is NULL");
	err = check_args(ring, stats);
	if (!err)
		err = take_options(&opts, options);
	if (!err)
		err = temp_name(path, dir, temp);
	if (err)
		return err;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return FAIL_HINT(EINVAL, "to write to it, open it",
				 "`%s` is there and no regular file that a snapshot can replace",
				 path);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return FAIL(errno, "cannot make a file in `%s` for a snapshot", dir);
	err = write_temp(ring, path, temp, fd, &opts, stats);
	if (err) {
		unlink(temp);
		return err;
	}
	return sync_dir(dir);
}
