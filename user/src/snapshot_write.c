// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Taking snapshots: the calls, their options, and files that appear whole. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "draft_file.h"
#include "error.h"
#include "file_limit.h"
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

/* The file is complete: to the disk with it, and then to its place. */
static int publish(struct draft_file *draft, const char *name, const char *path)
{
	int err;

	/* EINVAL: the file system cannot. */
	if (fsync(draft->fd) != 0 && errno != EINVAL)
		return FAIL(errno, "cannot sync snapshot `%s`", path);
	/* Only now, so that nothing is left behind if this process is killed while it writes. */
	err = draft_file_give_name(draft);
	if (err)
		return FAIL(err, "cannot give snapshot `%s` a temporary name", path);
	/* Where close() reports what the disk refused. */
	err = close(draft->fd) != 0 ? errno : 0;
	draft->fd = -1;
	if (err)
		return FAIL(err, "cannot close snapshot `%s`", path);
	err = draft_file_publish(draft, name, true);
	if (err)
		return FAIL(err, "cannot rename `%s` to `%s`", draft->name, path);
	/* The name is on disk when its directory is. */
	if (fsync(draft->dirfd) != 0 && errno != EINVAL)
		return FAIL(errno, "cannot sync the directory of snapshot `%s`", path);
	return 0;
}

static int check_place(int dirfd, const char *name, const char *path)
{
	struct stat st;

	if (!*name)
		return FAIL(EINVAL, "`%s` is not the name of a file for a snapshot", path);
	if (fstatat(dirfd, name, &st, 0) == 0 && !S_ISREG(st.st_mode))
		return FAIL_HINT(EINVAL, "to write to it, open it",
				 "`%s` is there and no regular file that a snapshot can replace",
				 path);
	return 0;
}

int monad_event_snapshot_write_file(const struct monad_event_ring *ring, const char *path,
				    const struct monad_event_snapshot_options *options,
				    struct monad_event_snapshot_stats *stats)
{
	struct draft_file draft = {.dirfd = -1, .prefix = ".snapshot-", .fd = -1};
	struct monad_event_snapshot_options opts;
	struct file_limit limit;
	const char *name;
	int err;

	if (!path)
		return FAIL(EFAULT, "path of the snapshot is NULL");
	err = check_args(ring, stats);
	if (!err)
		err = take_options(&opts, options);
	if (err)
		return err;
	/* To read, as it is to be synced. */
	err = draft_file_open_dir(path, O_RDONLY, &draft.dirfd, &name);
	if (err)
		return FAIL(err, "cannot open the directory of snapshot `%s`", path);
	/* Dead, we could not remove the file that does not become one. */
	file_limit_begin(&limit);
	err = check_place(draft.dirfd, name, path);
	if (!err) {
		err = draft_file_create(&draft, O_WRONLY, 0600);
		if (err)
			err = FAIL(err, "cannot make a file for snapshot `%s` in its directory",
				   path);
	}
	if (!err)
		err = write_snapshot(ring, draft.fd, path, &opts, stats);
	if (!err)
		err = publish(&draft, name, path);
	draft_file_abandon(&draft);
	close(draft.dirfd);
	file_limit_end(&limit);
	return err;
}
