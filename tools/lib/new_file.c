// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "new_file.h"

/* How many temporary names are tried before all are said to be taken. */
#define TRIES 64

/* The path by which link(2) finds a file that has no name. */
#define FD_PATH "/proc/self/fd"

/* Bytes of the directory in the path, with the slash behind it; 0: the current one. */
static int dir_len(const struct new_file *file)
{
	const char *slash = strrchr(file->path, '/');

	return slash ? (int)(slash - file->path) + 1 : 0;
}

static int open_dir(const struct new_file *file, int flags, mode_t mode)
{
	const int len = dir_len(file);
	char dir[PATH_MAX];

	if (snprintf(dir, sizeof(dir), "%.*s", len ? len : 1, len ? file->path : ".") >=
	    (int)sizeof(dir)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(dir, flags | O_CLOEXEC, mode);
}

static int link_to(const struct new_file *file, const char *path)
{
	char fd_path[32];

	snprintf(fd_path, sizeof(fd_path), FD_PATH "/%d", file->fd);
	return linkat(AT_FDCWD, fd_path, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

static int link_temp(struct new_file *file)
{
	return link_to(file, file->temp);
}

static int create_temp(struct new_file *file)
{
	file->fd = open(file->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return file->fd >= 0 ? 0 : errno;
}

/* Takes a temporary name that is free, by link_temp() or create_temp(). */
static int take_temp(struct new_file *file, int (*take)(struct new_file *file))
{
	int err = EEXIST;

	for (int tries = 0; err == EEXIST && tries < TRIES; tries++) {
		unsigned int number;

		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			err = errno;
		else if (snprintf(file->temp, sizeof(file->temp), "%.*s.copy-%06x", dir_len(file),
				  file->path, number & 0xffffff) >= (int)sizeof(file->temp))
			err = ENAMETOOLONG;
		else
			err = take(file);
	}
	if (err)
		file->temp[0] = '\0';
	return err;
}

int new_file_create(struct new_file *file, const char *path)
{
	file->path = path;
	file->fd = -1;
	file->stream_err = 0;
	file->temp[0] = '\0';
	if (access(FD_PATH, X_OK) == 0)
		file->fd = open_dir(file, O_TMPFILE | O_RDWR, 0600);
	return file->fd >= 0 ? 0 : take_temp(file, create_temp);
}

int new_file_share(const struct new_file *file)
{
	const mode_t mask = umask(0);

	umask(mask);
	return fchmod(file->fd, 0666 & ~mask) == 0 ? 0 : errno;
}

int new_file_sync(const struct new_file *file)
{
	/* EINVAL: the file system cannot. */
	return fsync(file->fd) == 0 || errno == EINVAL ? 0 : errno;
}

/* stdio forgets why it could not write: this does not. */
static ssize_t stream_write(void *cookie, const char *buf, size_t size)
{
	struct new_file *file = cookie;
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = write(file->fd, buf + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			if (!file->stream_err)
				file->stream_err = errno;
			break;
		}
		done += (size_t)n;
	}
	return (ssize_t)done;
}

FILE *new_file_stream(struct new_file *file)
{
	const cookie_io_functions_t functions = { .write = stream_write };

	file->stream_err = 0;
	return fopencookie(file, "w", functions);
}

int new_file_stream_end(struct new_file *file, FILE *stream)
{
	/* What failed without a write is printing: memory it did not get. */
	int err = ferror(stream) ? ENOMEM : 0;

	if (fclose(stream) != 0 && !err)
		err = errno;
	if (file->stream_err)
		err = file->stream_err;
	return err ? err : new_file_sync(file);
}

/* As rename(2), but to a name that is free; where the file system cannot do that, link(2) can. */
static int rename_new(const struct new_file *file)
{
	if (renameat2(AT_FDCWD, file->temp, AT_FDCWD, file->path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (link(file->temp, file->path) != 0)
		return errno;
	unlink(file->temp);
	return 0;
}

static int publish_over(struct new_file *file)
{
	int err = file->temp[0] ? 0 : take_temp(file, link_temp);

	if (!err && rename(file->temp, file->path) != 0)
		err = errno;
	return err;
}

static int sync_dir(const struct new_file *file)
{
	int err = 0, fd = open_dir(file, O_RDONLY | O_DIRECTORY, 0);

	/* In one that may be written to but not read, all of its file system has to do. */
	if (fd < 0)
		return errno == EACCES && syncfs(file->fd) == 0 ? 0 : errno;
	if (fsync(fd) != 0 && errno != EINVAL)
		err = errno;
	close(fd);
	return err;
}

int new_file_publish(struct new_file *file, bool replace)
{
	int err;

	if (replace)
		err = publish_over(file);
	else
		err = file->temp[0] ? rename_new(file) : link_to(file, file->path);
	if (err)
		return err;
	file->temp[0] = '\0';
	return sync_dir(file);
}

int new_file_close(struct new_file *file)
{
	int err = close(file->fd) == 0 ? 0 : errno;

	if (file->temp[0])
		unlink(file->temp);
	file->temp[0] = '\0';
	file->fd = -1;
	return err;
}
