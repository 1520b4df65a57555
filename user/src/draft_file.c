// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "draft_file.h"

int draft_file_open_dir(const char *path, int flags, int *dirfd, const char **name)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int len;

	*dirfd = -1;
	*name = slash ? slash + 1 : path;
	if (!slash)
		len = snprintf(dir, sizeof(dir), ".");
	else
		len = snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path),
			       path);
	if (len < 0 || (size_t)len >= sizeof(dir))
		errno = ENAMETOOLONG;
	else
		*dirfd = open(dir, flags | O_DIRECTORY | O_CLOEXEC);
	return *dirfd < 0 ? errno : 0;
}

static int choose_name(struct draft_file *draft)
{
	uint32_t number = 0;
	int len;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint32_t)random() ^ (uint32_t)getpid();
	len = snprintf(draft->name, sizeof(draft->name), "%s%0*x", draft->prefix,
		       DRAFT_FILE_DIGITS, number);
	return len < 0 || (size_t)len >= sizeof(draft->name) ? ENAMETOOLONG : 0;
}

/* Whether open(2) with O_TMPFILE failed with @err because there is no such thing there. */
static bool has_no_tmpfile(int err)
{
	return err == EOPNOTSUPP || err == EISDIR || err == EINVAL || err == ENOENT;
}

static int create_named(struct draft_file *draft, int flags, mode_t mode)
{
	int err = EEXIST;

	for (int tries = 0; err == EEXIST && tries < DRAFT_FILE_TRIES; tries++) {
		err = choose_name(draft);
		if (err)
			break;
		draft->fd = openat(draft->dirfd, draft->name, flags | O_CREAT | O_EXCL | O_CLOEXEC,
				   mode);
		err = draft->fd < 0 ? errno : 0;
	}
	if (err)
		draft->name[0] = '\0';
	return err;
}

int draft_file_create(struct draft_file *draft, int flags, mode_t mode)
{
	draft->name[0] = '\0';
	draft->fd = -1;
	/* Without a /proc it could not get a name later: see link_fd(). */
	if (access("/proc/self/fd", X_OK) != 0)
		return create_named(draft, flags, mode);
	draft->fd = openat(draft->dirfd, ".", O_TMPFILE | flags | O_CLOEXEC, mode);
	if (draft->fd >= 0)
		return 0;
	return has_no_tmpfile(errno) ? create_named(draft, flags, mode) : errno;
}

/* linkat() of an open file by its number would take a capability. */
static int link_fd(int fd, int dirfd, const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, dirfd, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

int draft_file_give_name(struct draft_file *draft)
{
	int err = EEXIST;

	if (draft->name[0])
		return 0;
	for (int tries = 0; err == EEXIST && tries < DRAFT_FILE_TRIES; tries++) {
		err = choose_name(draft);
		if (!err)
			err = link_fd(draft->fd, draft->dirfd, draft->name);
	}
	if (err)
		draft->name[0] = '\0';
	return err;
}

/* RENAME_NOREPLACE in two steps: not all file systems have it. */
static int publish_new(struct draft_file *draft, const char *name)
{
	if (!draft->name[0])
		return link_fd(draft->fd, draft->dirfd, name);
	if (linkat(draft->dirfd, draft->name, draft->dirfd, name, 0) != 0)
		return errno;
	unlinkat(draft->dirfd, draft->name, 0);
	return 0;
}

static int publish_over(struct draft_file *draft, const char *name)
{
	int err = draft_file_give_name(draft);

	if (!err && renameat(draft->dirfd, draft->name, draft->dirfd, name) != 0)
		err = errno;
	return err;
}

int draft_file_publish(struct draft_file *draft, const char *name, bool replace)
{
	const int err = replace ? publish_over(draft, name) : publish_new(draft, name);

	if (!err)
		draft->name[0] = '\0';
	return err;
}

void draft_file_abandon(struct draft_file *draft)
{
	if (draft->name[0])
		unlinkat(draft->dirfd, draft->name, 0);
	draft->name[0] = '\0';
	if (draft->fd >= 0)
		close(draft->fd);
	draft->fd = -1;
}
