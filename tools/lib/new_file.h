/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that appears complete and on disk, or not at all. Until it is published it has no name,
 * so that nothing is left of it if the program is killed, or, where the file system cannot do
 * that, a temporary one beside its place.
 *
 *	if (!(err = new_file_create(&file, path))) {
 *		...				write to file.fd
 *		err = new_file_sync(&file);
 *		if (!err)
 *			err = new_file_publish(&file, false);
 *		new_file_close(&file);
 *	}
 *
 * or, with a stream,
 *
 *	out = new_file_stream(&file);
 *	if (out) {
 *		...				print to out
 *		err = new_file_stream_end(&file, out);
 *	}
 *
 * in place of writing and new_file_sync(). All return 0 or an errno, if it is not said otherwise.
 */
#ifndef MONAD_TOOLS_NEW_FILE_H
#define MONAD_TOOLS_NEW_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct new_file {
	const char *path; /* the caller's */
	int fd;
	int stream_err; /* why a stream could not write to it: 0, or the first errno */
	char temp[PATH_MAX]; /* path of it while it has a temporary name, or "" */
};

/* Makes it, of mode 0600, for reading and writing. @path has to stay. */
int new_file_create(struct new_file *file, const char *path);

/* Gives it the mode that umask(2) leaves to a new file that is to be read by others. */
int new_file_share(const struct new_file *file);

/* What was written is on disk then, where the file system knows such a thing. */
int new_file_sync(const struct new_file *file);

/* A stream that writes to it; NULL and errno. It ends before the file is closed. */
FILE *new_file_stream(struct new_file *file);

/*
 * Closes the stream: all that was printed to it is on disk then. Otherwise why it is not, from
 * the first write that failed on, whoever made it happen.
 */
int new_file_stream_end(struct new_file *file, FILE *stream);

/*
 * Puts it in its place; that it is there is on disk then. EEXIST: there is something, and it is
 * not to be replaced.
 */
int new_file_publish(struct new_file *file, bool replace);

/* Closes it; it never was, unless it was published. */
int new_file_close(struct new_file *file);

#endif /* MONAD_TOOLS_NEW_FILE_H */
