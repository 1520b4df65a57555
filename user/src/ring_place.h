/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A name in a directory where a ring file is or is to be, and files on their way there. */
#ifndef MONAD_EVENT_SRC_RING_PLACE_H
#define MONAD_EVENT_SRC_RING_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "draft_file.h"

struct ring_place {
	int dirfd;
	const char *path; /* of the file: for messages, and its last part is the name */
	const char *name;
	char draft_prefix[NAME_MAX + 1]; /* see struct draft_file */
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
 * @place has to stay until it is published or abandoned.
 */
int ring_draft_create(const struct ring_place *place, mode_t mode, struct draft_file *draft);

/*
 * Puts it at @place. Unless @replace it must be free: EEXIST, without a message, if it is not
 * any more.
 */
int ring_draft_publish(const struct ring_place *place, struct draft_file *draft, bool replace);

#endif /* MONAD_EVENT_SRC_RING_PLACE_H */
