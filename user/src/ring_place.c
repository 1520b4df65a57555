// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * How a ring file gets its name.
 *
 * It is made as a draft (draft_file.h), whose temporary name, if it needs one, is
 * ".NAME.monad-XXXXXXXX", and locked there. Where there is nothing of its name yet it is linked
 * in, which fails if somebody else was faster. Where there is a ring of a dead writer, whoever
 * wants to replace it has to lock it first, and looks whether it is still there once he has;
 * so there is only one at a time, and he renames over it.
 *
 * A process that dies on the way leaves at most a file with a temporary name, which nobody
 * has locked. The next one to make the same ring removes it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <monad/event_ring.h>

#include "error.h"
#include "lock_holder.h"
#include "ring_place.h"

/* Others may take names, or locks for a moment, between two steps of ours. */
#define TRIES 64

int ring_place_open(struct ring_place *place, const char *path)
{
	int err, len;

	memset(place, 0, sizeof(*place));
	place->path = path;
	err = draft_file_open_dir(path, O_PATH, &place->dirfd, &place->name);
	if (err)
		return FAIL(err, "cannot open the directory of event ring file `%s`", path);
	if (!*place->name || strcmp(place->name, ".") == 0 || strcmp(place->name, "..") == 0)
		return FAIL(EINVAL, "`%s` is a directory, not the name of an event ring file",
			    path);
	len = snprintf(place->draft_prefix, sizeof(place->draft_prefix), ".%s.monad-", place->name);
	if (len < 0 || len + DRAFT_FILE_DIGITS > NAME_MAX)
		return FAIL(ENAMETOOLONG, "the name of event ring file `%s` is too long", path);
	return 0;
}

void ring_place_close(struct ring_place *place)
{
	if (place->dirfd >= 0)
		close(place->dirfd);
	place->dirfd = -1;
}

static int try_lock(int fd)
{
	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EINTR)
			return errno;
	}
	return 0;
}

/* Whether the name still stands for the open file. */
static bool is_still_there(int dirfd, const char *name, const struct stat *st)
{
	struct stat now;

	return fstatat(dirfd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == st->st_dev &&
	       now.st_ino == st->st_ino;
}

/* Nothing of anybody's is replaced because of a slip in a path. */
static int check_is_ring(const struct ring_place *place, int fd, const struct stat *st)
{
	char magic[MONAD_EVENT_RING_MAGIC_LEN];

	if (!S_ISREG(st->st_mode))
		return FAIL(EEXIST, "`%s` exists and is not a file", place->path);
	if (st->st_size == 0)
		return 0;
	if (pread(fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, MONAD_EVENT_RING_MAGIC, sizeof(magic)) != 0)
		return FAIL_HINT(EEXIST, "remove it, or choose another name",
				 "`%s` exists and is not an event ring", place->path);
	return 0;
}

static const char *open_hint(int err)
{
	return err == ELOOP ? "name the file itself, not a symbolic link" : NULL;
}

int ring_place_lock(const struct ring_place *place, int *fd_out)
{
	char holder[LOCK_HOLDER_MAX];
	struct stat st;
	int err, fd;

	*fd_out = -1;
	for (int tries = 0; tries < TRIES; tries++) {
		fd = openat(place->dirfd, place->name,
			    O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
		if (fd < 0 && errno == ENOENT)
			return 0;
		if (fd < 0)
			return FAIL_HINT(errno, open_hint(errno),
					 "cannot open the event ring file that is at `%s`",
					 place->path);
		if (fstat(fd, &st) != 0)
			err = FAIL(errno, "cannot fstat event ring file `%s`", place->path);
		else
			err = check_is_ring(place, fd, &st);
		if (!err) {
			err = lock_for_writing(fd);
			if (err == EWOULDBLOCK)
				err = FAIL(EBUSY, "event ring `%s` is in use by %s", place->path,
					   lock_holder(fd, holder));
			else if (err)
				err = FAIL(err, "cannot lock event ring file `%s`", place->path);
		}
		if (err) {
			close(fd);
			return err;
		}
		if (is_still_there(place->dirfd, place->name, &st)) {
			*fd_out = fd;
			return 0;
		}
		close(fd);
	}
	return FAIL(EBUSY, "others replace event ring `%s` again and again", place->path);
}

static bool is_draft_name(const struct ring_place *place, const char *name)
{
	const size_t len = strlen(place->draft_prefix);

	return strncmp(name, place->draft_prefix, len) == 0 &&
	       strspn(name + len, "0123456789abcdef") == DRAFT_FILE_DIGITS &&
	       name[len + DRAFT_FILE_DIGITS] == '\0';
}

static void remove_dead_draft(const struct ring_place *place, const char *name)
{
	struct stat st;
	int fd;

	fd = openat(place->dirfd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && try_lock(fd) == 0 &&
	    is_still_there(place->dirfd, name, &st))
		unlinkat(place->dirfd, name, 0);
	close(fd);
}

/* Where the directory cannot be listed there is nothing lost but room. */
static void remove_dead_drafts(const struct ring_place *place)
{
	int fd = openat(place->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;
	DIR *dir;

	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		if (is_draft_name(place, entry->d_name))
			remove_dead_draft(place, entry->d_name);
	}
	closedir(dir);
}

/* Somebody else may take one that has a name for a dead one before it is locked. */
static bool is_removed(const struct draft_file *draft)
{
	struct stat st;

	return draft->name[0] && (fstat(draft->fd, &st) != 0 || st.st_nlink == 0);
}

int ring_draft_create(const struct ring_place *place, mode_t mode, struct draft_file *draft)
{
	int err = EBUSY;

	remove_dead_drafts(place);
	draft->dirfd = place->dirfd;
	draft->prefix = place->draft_prefix;
	for (int tries = 0; err == EBUSY && tries < TRIES; tries++) {
		err = draft_file_create(draft, O_RDWR, mode ? mode : 0644);
		if (err)
			return FAIL(err,
				    "cannot create a file for event ring `%s` in its directory",
				    place->path);
		err = try_lock(draft->fd);
		if (err == EWOULDBLOCK || (!err && is_removed(draft))) {
			draft_file_abandon(draft);
			err = EBUSY;
		}
	}
	if (err)
		err = FAIL(err, "cannot lock the new file for event ring `%s`", place->path);
	else if (mode && fchmod(draft->fd, mode) != 0)
		err = FAIL(errno, "cannot set mode 0%o of event ring file `%s`", mode, place->path);
	if (err)
		draft_file_abandon(draft);
	return err;
}

int ring_draft_publish(const struct ring_place *place, struct draft_file *draft, bool replace)
{
	const int err = draft_file_publish(draft, place->name, replace);

	if (!err || (err == EEXIST && !replace))
		return err;
	return FAIL(err, "cannot give event ring file `%s` its name", place->path);
}
