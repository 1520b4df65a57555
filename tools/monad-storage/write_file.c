// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"
#include "monad_storage.h"
#include "new_file.h"
#include "write_file.h"

static int failed_to(const char *what, const char *path, int err)
{
	error("%s %s: %s", what, path, strerror(err));
	return EXIT_FAILED;
}

static int not_written(const char *path)
{
	error("interrupted: %s was not written", path);
	return EXIT_FAILED;
}

/* A FIFO is waited for until somebody reads it, or until an interrupt: open() would go on. */
static int open_device(const char *path, bool fifo)
{
	const struct timespec pause = { 0, 100000000 };
	int fd;

	while ((fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) < 0 &&
	       fifo && errno == ENXIO && !interrupted)
		nanosleep(&pause, NULL);
	if (fd >= 0)
		(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

/* A pipe, or a terminal: what was there before cannot be kept. */
static int write_through(const char *path, bool fifo, write_file_fn *print, void *arg)
{
	struct new_file file = { .path = path };
	int status = EXIT_FAILED, err;
	FILE *out;

	file.fd = open_device(path, fifo);
	if (file.fd < 0)
		return interrupted ? not_written(path) : failed_to("opening", path, errno);
	out = new_file_stream(&file);
	err = out ? 0 : errno;
	if (out) {
		status = print(out, arg);
		err = new_file_stream_end(&file, out);
	}
	new_file_close(&file);
	return err ? failed_to("writing", path, err) : status;
}

/* @path is that of a file, or of none. @mode: 0 for that of any new file */
static int replace(const char *path, mode_t mode, write_file_fn *print, void *arg)
{
	int err, status = EXIT_FAILED;
	struct new_file file;
	FILE *out = NULL;

	err = new_file_create(&file, path);
	if (err)
		return failed_to("creating", path, err);
	if (!mode)
		err = new_file_share(&file);
	else if (fchmod(file.fd, mode))
		err = errno;
	if (!err) {
		out = new_file_stream(&file);
		err = out ? 0 : errno;
	}
	if (out) {
		status = print(out, arg);
		err = new_file_stream_end(&file, out);
	}
	if (!err && status == EXIT_OK && !interrupted)
		err = new_file_publish(&file, true);
	if (err)
		status = failed_to("writing", path, err);
	else if (interrupted)
		status = not_written(path);
	new_file_close(&file);
	return status;
}

int write_file(const char *path, mode_t mode, write_file_fn *print, void *arg)
{
	char *target = NULL;
	struct stat st;
	int status;

	/* Of what was gathered until then there is to be no page: it would look like all. */
	if (interrupted)
		return not_written(strcmp(path, "-") ? path : "standard output");
	if (!strcmp(path, "-"))
		return print(stdout, arg);
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return failed_to("writing", path, EISDIR);
		if (S_ISBLK(st.st_mode)) {
			error("%s is a disk, or a part of one: say a file to be written", path);
			return EXIT_FAILED;
		}
		if (!S_ISREG(st.st_mode))
			return write_through(path, S_ISFIFO(st.st_mode), print, arg);
		/* That of somebody else's file is not what ours is to have. */
		if (!mode && st.st_uid == geteuid())
			mode = st.st_mode & 0777;
		if (!lstat(path, &st) && S_ISLNK(st.st_mode))
			target = realpath(path, NULL);
	}
	status = replace(target ?: path, mode, print, arg);
	free(target);
	return status;
}
