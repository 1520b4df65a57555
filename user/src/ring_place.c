// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * How a ring file gets its name.
 *
 * It is made under no name (O_TMPFILE), or where the file system has no such thing under
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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <monad/event_ring.h>

#include "error.h"
#include "lock_holder.h"
#include "ring_place.h"

#define DRAFT_SUFFIX ".monad-"
#define DRAFT_DIGITS 8

/* Others may take names, or locks for a moment, between two steps of ours. */
#define TRIES 64

int ring_place_open(struct ring_place *place, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int len;

	memset(place, 0, sizeof(*place));
	place->dirfd = -1;
	place->path = path;
	place->name = slash ? slash + 1 : path;
	if (!*place->name || strcmp(place->name, ".") == 0 || strcmp(place->name, "..") == 0)
		return FAIL(EINVAL, "`%s` is a directory, not the name of an event ring file",
			    path);
	if (strlen(place->name) + strlen(DRAFT_SUFFIX) + DRAFT_DIGITS + 1 > NAME_MAX)
		return FAIL(ENAMETOOLONG, "the name of event ring file `%s` is too long", path);
	if (!slash)
		len = snprintf(dir, sizeof(dir), ".");
	else
		len = snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path),
			       path);
	if (len < 0 || (size_t)len >= sizeof(dir))
		return FAIL(ENAMETOOLONG, "the path of event ring file `%s` is too long", path);
	place->dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (place->dirfd < 0)
		return FAIL(errno, "cannot open directory `%s` for event ring file `%s`", dir,
			    place->name);
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

static void draft_name(const struct ring_place *place, char name[NAME_MAX + 1])
{
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint32_t)random() ^ (uint32_t)getpid();
	snprintf(name, NAME_MAX + 1, ".%s" DRAFT_SUFFIX "%0*x", place->name, DRAFT_DIGITS, number);
}

static bool is_draft_name(const struct ring_place *place, const char *name)
{
	const size_t len = strlen(place->name);

	return name[0] == '.' && strncmp(name + 1, place->name, len) == 0 &&
	       strncmp(name + 1 + len, DRAFT_SUFFIX, strlen(DRAFT_SUFFIX)) == 0 &&
	       strspn(name + 1 + len + strlen(DRAFT_SUFFIX), "0123456789abcdef") == DRAFT_DIGITS &&
	       strlen(name) == 1 + len + strlen(DRAFT_SUFFIX) + DRAFT_DIGITS;
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

/* A file with a temporary name; -1 and errno. */
static int create_named(const struct ring_place *place, mode_t mode, char name[NAME_MAX + 1])
{
	struct stat st;
	int fd;

	for (int tries = 0; tries < TRIES; tries++) {
		draft_name(place, name);
		fd = openat(place->dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd < 0) {
			if (errno == EEXIST)
				continue;
			return -1;
		}
		/* Somebody else may take it for a dead one before it is locked. */
		if (try_lock(fd) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
			return fd;
		unlinkat(place->dirfd, name, 0);
		close(fd);
	}
	errno = EEXIST;
	return -1;
}

bool ring_place_needs_name(int err)
{
	return err == EOPNOTSUPP || err == EISDIR || err == EINVAL || err == ENOENT;
}

int ring_draft_create(const struct ring_place *place, mode_t mode, struct ring_draft *draft)
{
	const mode_t create_mode = mode ? mode : 0644;
	int err = 0;

	draft->name[0] = '\0';
	remove_dead_drafts(place);
	draft->fd = openat(place->dirfd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, create_mode);
	if (draft->fd >= 0)
		err = try_lock(draft->fd);
	else if (ring_place_needs_name(errno))
		draft->fd = create_named(place, create_mode, draft->name);
	if (draft->fd < 0)
		return FAIL(errno, "cannot create a file for event ring `%s` in its directory",
			    place->path);
	if (err)
		err = FAIL(err, "cannot lock the new file for event ring `%s`", place->path);
	else if (mode && fchmod(draft->fd, mode) != 0)
		err = FAIL(errno, "cannot set mode 0%o of event ring file `%s`", mode, place->path);
	if (err)
		ring_draft_abandon(place, draft);
	return err;
}

/* linkat() of an open file by its number would take a capability. */
int ring_place_link_fd(int fd, int dirfd, const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, path, dirfd, name, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno == ENOENT && linkat(fd, "", dirfd, name, AT_EMPTY_PATH) == 0)
		return 0;
	return errno;
}

static int give_temporary_name(const struct ring_place *place, struct ring_draft *draft)
{
	int err = EEXIST;

	for (int tries = 0; err == EEXIST && tries < TRIES; tries++) {
		draft_name(place, draft->name);
		err = ring_place_link_fd(draft->fd, place->dirfd, draft->name);
	}
	if (err)
		draft->name[0] = '\0';
	return err;
}

int ring_draft_publish(const struct ring_place *place, struct ring_draft *draft, bool replace)
{
	int err = 0;

	if (replace) {
		if (!draft->name[0])
			err = give_temporary_name(place, draft);
		if (!err && renameat(place->dirfd, draft->name, place->dirfd, place->name) != 0)
			err = errno;
	} else if (draft->name[0]) {
		/* RENAME_NOREPLACE in two steps: not all file systems have it. */
		if (linkat(place->dirfd, draft->name, place->dirfd, place->name, 0) != 0)
			err = errno;
		else
			unlinkat(place->dirfd, draft->name, 0);
	} else {
		err = ring_place_link_fd(draft->fd, place->dirfd, place->name);
	}
	if (err == EEXIST && !replace)
		return err;
	if (err)
		return FAIL(err, "cannot give event ring file `%s` its name", place->path);
	draft->name[0] = '\0';
	return 0;
}

void ring_draft_abandon(const struct ring_place *place, struct ring_draft *draft)
{
	if (draft->name[0])
		unlinkat(place->dirfd, draft->name, 0);
	draft->name[0] = '\0';
	if (draft->fd >= 0)
		close(draft->fd);
	draft->fd = -1;
}
