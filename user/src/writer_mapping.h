/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The ring files this process has mapped for writing, and which of them it writes to. All
 * functions are thread-safe. A child of a fork starts with none.
 */
#ifndef MONAD_EVENT_SRC_WRITER_MAPPING_H
#define MONAD_EVENT_SRC_WRITER_MAPPING_H

#include <stdint.h>
#include <sys/stat.h>

#include <monad_event/event_ring.h>

/*
 * Remembers that @ring, of the file @st open at @fd, is mapped; keeps a duplicate of @fd.
 * 0, or an errno with a message that names @name.
 */
int writer_mapping_add(const struct monad_event_ring *ring, int fd, const struct stat *st,
		       off_t offset, const char *name);

/* Before @ring is unmapped. Nothing, if it is not one of them. */
void writer_mapping_remove(const struct monad_event_ring *ring);

/* @ring's content is known to be sound; needs no look before it is written to. */
void writer_mapping_set_checked(const struct monad_event_ring *ring);

/* The descriptor that is kept; -1 if @ring is none of these. */
int writer_mapping_fd(const struct monad_event_ring *ring);

/*
 * Publishes what is reserved in @ring and was not committed, if the process writes to it:
 * nobody will. The number of events.
 */
uint64_t writer_mapping_finish(const struct monad_event_ring *ring);

#endif /* MONAD_EVENT_SRC_WRITER_MAPPING_H */
