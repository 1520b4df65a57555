/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Room on a file system, or huge pages, for ring files. */
#ifndef MONAD_EVENT_SRC_RING_ROOM_H
#define MONAD_EVENT_SRC_RING_ROOM_H

#include <stddef.h>
#include <stdint.h>

/*
 * What to say of a lack of room for @need bytes on the file system of @fd: a sentence in @buf, or
 * NULL.
 */
const char *ring_room_hint(char *buf, size_t buf_size, int fd, uint64_t need);

/*
 * Allocates what is not allocated yet of the first @size bytes of the file at @fd, if there is
 * room for all of that: some file systems would give all they have and then fail. 0 or an errno,
 * with a message that names @name.
 */
int ring_room_fill(int fd, uint64_t size, const char *name);

#endif /* MONAD_EVENT_SRC_RING_ROOM_H */
