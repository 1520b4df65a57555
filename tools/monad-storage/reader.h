/* SPDX-License-Identifier: GPL-2.0 */
/* A reader of a ring with storage events, which knows what it missed. */
#ifndef MONAD_STORAGE_READER_H
#define MONAD_STORAGE_READER_H

#include "event.h"

struct reader {
	struct monad_event_ring ring;
	struct monad_event_iterator iter;
	uint64_t missed;  /* events overwritten before they were read */
	uint64_t expired; /* events whose payload was overwritten */
	uint64_t unknown; /* events of types this program does not know */
};

/* 0, or an exit status after a message. */
int reader_open(struct reader *reader, const char *ring);
void reader_close(struct reader *reader);

/* To the first event at or after @epoch_ns; false when older ones are gone. */
bool reader_seek_time(struct reader *reader, uint64_t epoch_ns);

/* The time of the oldest and the newest event; false in an empty ring. */
bool reader_span(struct reader *reader, uint64_t *oldest_ns, uint64_t *newest_ns);

#endif /* MONAD_STORAGE_READER_H */
