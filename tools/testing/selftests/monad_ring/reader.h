/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A reader of the format, written from its description only, that checks each event it
 * gets against pattern.h, byte for byte.
 */
#ifndef SELFTEST_READER_H
#define SELFTEST_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

#define READER_WRITERS 16
#define READER_MAX_EVENT (512U << 10)

enum reader_result {
	READER_EVENT,     /* event and payload hold a good copy */
	READER_NOT_READY, /* not written yet */
	READER_GAP,       /* events were missed, and are counted */
};

struct reader {
	const struct ring *ring;
	uint64_t next;       /* the sequence number wanted */
	uint64_t margin;     /* events; how far from the oldest one to go on after a gap */
	uint64_t seen;
	uint64_t missed;
	uint64_t gaps;
	uint64_t discarded;  /* of those seen */
	uint64_t bytes;      /* of payload buffer that those seen take */
	uint64_t wrong;      /* events that differ from what was written */
	bool check_order;    /* counts of each writer must grow, by one where nothing is missed */
	uint64_t gaps_then[READER_WRITERS];
	uint64_t count[READER_WRITERS]; /* next count expected of each writer */
	struct monad_event_descriptor event;
	uint8_t *payload;    /* READER_MAX_EVENT bytes */
};

void reader_init(struct reader *reader, const struct ring *ring, uint64_t first);
void reader_free(struct reader *reader);

enum reader_result reader_next(struct reader *reader);

/*
 * Reads, and checks, all there is up to the ring's last event; stops early at one that is
 * not ready. How many events were seen.
 */
uint64_t reader_drain(struct reader *reader);

/* Whether the event just read is what pattern.h says; prints the first differences. */
bool reader_check(struct reader *reader);

#endif /* SELFTEST_READER_H */
