/* SPDX-License-Identifier: GPL-2.0 */
/* A file that a command was told to write. */
#ifndef MONAD_STORAGE_WRITE_FILE_H
#define MONAD_STORAGE_WRITE_FILE_H

#include <stdio.h>
#include <sys/types.h>

/* Prints what is to be in it; an exit status, not 0 after a message. Errors of @out are seen to. */
typedef int write_file_fn(FILE *out, void *arg);

/*
 * Has @print write the file @path: all of it is there at once, in place of what was there, or
 * what was there stays. A symbolic link stays, too, and what it leads to is replaced. Into a
 * pipe or terminal it is written as it comes; "-" is standard output. Nothing is written to
 * disks.
 *
 * @mode: of the file; 0: as that of the one before if that is our own, or as umask(2) has it
 *
 * An exit status, not 0 after a message. An interrupt (interrupt.h) is a failure.
 */
int write_file(const char *path, mode_t mode, write_file_fn *print, void *arg);

#endif /* MONAD_STORAGE_WRITE_FILE_H */
