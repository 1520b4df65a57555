/* SPDX-License-Identifier: GPL-2.0 */
/* A reader of a ring with storage events, which knows what it missed. */
#ifndef MONAD_STORAGE_READER_H
#define MONAD_STORAGE_READER_H

#include "event.h"
#include "ring_walk.h"

struct reader {
	struct monad_event_ring ring;
	struct monad_event_iterator iter;
	uint64_t missed;  /* events overwritten before they were read, or never written */
	uint64_t expired; /* events whose payload was overwritten */
	uint64_t unknown; /* events of types this program does not know */
	uint64_t printed;
	uint64_t latest_ns;  /* the latest time of any event that was read ... */
	bool clock_set_back; /* ... and whether later ones were much earlier */
	bool recorded_to;    /* it is what is recorded to now, and no snapshot */
	bool notable_only;   /* ... with --events=notable */
};

/*
 * 0, or an exit status after a message. With @unused, a ring in which nothing was
 * ever recorded sets it, and there is no message.
 */
int reader_open(struct reader *reader, const char *ring, bool *unused);
void reader_close(struct reader *reader);

/* The next event of a walk; false: that was the last. What it passes over is added to missed. */
bool reader_next(struct reader *reader, struct ring_walk *walk,
		 struct monad_event_descriptor *desc);

/* Keeps latest_ns and clock_set_back. */
void reader_note_time(struct reader *reader, uint64_t epoch_ns);

struct reader_span {
	uint64_t first_seqno; /* the oldest event that can be read in full */
	uint64_t oldest_ns;   /* its time, and that of the last one; see ... */
	uint64_t newest_ns;
	bool clock_set_back;  /* ... whether the clock was, in between */
};

/* How far the ring reaches; false when it is empty. */
bool reader_span(struct reader *reader, struct reader_span *span);

#endif /* MONAD_STORAGE_READER_H */
