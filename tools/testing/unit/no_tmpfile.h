/* SPDX-License-Identifier: GPL-2.0 */
/* A file system that has no O_TMPFILE: for programs that are linked with --wrap=openat. */
#ifndef MONAD_NO_TMPFILE_H
#define MONAD_NO_TMPFILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>

static bool no_tmpfile;

int __real_openat(int dirfd, const char *path, int flags, ...);
int __wrap_openat(int dirfd, const char *path, int flags, mode_t mode);

int __wrap_openat(int dirfd, const char *path, int flags, mode_t mode)
{
	if (no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_openat(dirfd, path, flags, mode);
}

#endif /* MONAD_NO_TMPFILE_H */
