/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A name in a directory where a ring file is or is to be, and files on their way there. */
#ifndef MONAD_EVENT_SRC_RING_PLACE_H
#define MONAD_EVENT_SRC_RING_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct ring_place {
	int dirfd;
	const char *path; /* of the file: for messages, and its last part is the name */
	const char *name;
};

/* A file that has no name yet (O_TMPFILE), or a temporary one. */
struct ring_draft {
	int fd;
	char name[NAME_MAX + 1]; /* "": none */
};

/*
 * All return 0 or an errno, with a message. @path has to stay. The directory is closed by
 * ring_place_close().
 */
int ring_place_open(struct ring_place *place, const char *path);
void ring_place_close(struct ring_place *place);

/*
 * Opens and locks what is at @place. *@fd is -1 if there is nothing. EBUSY: somebody has it
 * locked. ELOOP, EEXIST: it is something else than a ring file, or an empty file.
 */
int ring_place_lock(const struct ring_place *place, int *fd);

/*
 * A new file in the directory of @place, open for reading and writing, locked. @mode as in struct
 * monad_event_ring_writer_options. Removes drafts that dead processes have left for this place.
 */
int ring_draft_create(const struct ring_place *place, mode_t mode, struct ring_draft *draft);

/*
 * Puts it at @place. Unless @replace it must be free: EEXIST, without a message, if it is not
 * any more.
 */
int ring_draft_publish(const struct ring_place *place, struct ring_draft *draft, bool replace);

/* Closes it; it never was. */
void ring_draft_abandon(const struct ring_place *place, struct ring_draft *draft);

/* Whether open(2) with O_TMPFILE failed with @err because there is no such thing there. */
bool ring_place_needs_name(int err);

/* Gives the file open at @fd, which has none (O_TMPFILE), a name. 0 or an errno, no message. */
int ring_place_link_fd(int fd, int dirfd, const char *name);

#endif /* MONAD_EVENT_SRC_RING_PLACE_H */
