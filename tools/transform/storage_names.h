/* SPDX-License-Identifier: GPL-2.0 */
/* What the numbers of <monad/storage_event.h> are called. */
#ifndef MONAD_STORAGE_NAMES_H
#define MONAD_STORAGE_NAMES_H

#include <stdbool.h>

#include <monad/storage_event.h>

/* "read", "write_zeroes", ... */
const char *op_name(unsigned int op);
/* -1 when there is no such operation. */
int op_by_name(const char *name);

/* Of enum monad_storage_call_op: "fsync", "throttle", ...; "unknown". */
const char *call_name(unsigned int op);

/* "rq_complete", ... */
const char *event_type_name(unsigned int type);

/* "sync", ...; NULL where @bit has no name. */
const char *flag_name(unsigned int bit);

/*
 * How many of the kernel's @nr frames are of what recorded the stack, before the way begins by
 * which the I/O came: of no interest, and the same in all. @name: of the function that frame @i
 * is in, innermost first; NULL if it is not known.
 */
unsigned int tracing_frames(unsigned int nr, const char *(*name)(void *arg, unsigned int i),
			    void *arg);

/* "ENODATA", ...; "E123" for what has no name, until the next one that has none. */
const char *errno_name(unsigned int err);

#endif /* MONAD_STORAGE_NAMES_H */
