/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A file in the making, which appears in its place when it is complete: until then it has no
 * name (O_TMPFILE), so that nothing is left of it if the process dies, or where that cannot be
 * had a temporary one. Nothing here leaves a message.
 */
#ifndef MONAD_EVENT_SRC_DRAFT_FILE_H
#define MONAD_EVENT_SRC_DRAFT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Hexadecimal digits, at random, which end a temporary name. */
#define DRAFT_FILE_DIGITS 8

/* How many temporary names are tried before all are said to be taken. */
#define DRAFT_FILE_TRIES 64

struct draft_file {
	int dirfd;	    /* its directory, the caller's */
	const char *prefix; /* of temporary names, the caller's; DRAFT_FILE_DIGITS follow */
	int fd;		    /* -1: there is none */
	char name[NAME_MAX + 1]; /* "": it has no name */
};

/*
 * Opens the directory that @path names a file in, with open(2)'s @flags, as @dirfd, and gives
 * that file's @name, which is the end of @path. 0 or an errno; then @dirfd is -1.
 */
int draft_file_open_dir(const char *path, int flags, int *dirfd, const char **name);

/*
 * Makes the file, with open(2)'s @flags and @mode. Set dirfd and prefix before. 0 or an errno. If
 * it has a name, others may see it, and remove it.
 */
int draft_file_create(struct draft_file *draft, int flags, mode_t mode);

/* Gives it a temporary name if it has none, after which fd may be closed. 0 or an errno. */
int draft_file_give_name(struct draft_file *draft);

/*
 * Puts it in the directory as @name; it has no temporary name then. EEXIST: something is there
 * and is not to be replaced. 0 or an errno.
 */
int draft_file_publish(struct draft_file *draft, const char *name, bool replace);

/* Closes the file, and removes it if it has its temporary name still. */
void draft_file_abandon(struct draft_file *draft);

#endif /* MONAD_EVENT_SRC_DRAFT_FILE_H */
