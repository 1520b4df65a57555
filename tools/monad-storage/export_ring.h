/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ring of the recording there is, from one recording to the next: it may be stopped and
 * started, with the same ring or another one, and no event of it is left out or read twice.
 */
#ifndef MONAD_STORAGE_EXPORT_RING_H
#define MONAD_STORAGE_EXPORT_RING_H

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring.h>
#include <monad_event/event_wait.h>

#include "ring_follow.h"
#include "transform.h"

struct export_ring {
	struct monad_event_ring ring;
	struct monad_event_iterator iter;
	struct ring_follow follow;
	bool open;
	bool was_there;         /* there was another one before */
	uint64_t since_ns;      /* where to begin with the first one; 0: its end */
	uint64_t session_ns;    /* when the recording began that it is the ring of */
	uint8_t uuid[16];
	uint64_t unknown;       /* events that this program does not know */
	char complaint[256];    /* the last one: each is made once */
};

void export_ring_init(struct export_ring *export, uint64_t since_ns);

/* Opens the ring of the recording, if that is another one than before. */
void export_ring_update(struct export_ring *export, struct transformer *transformer);

/* Hands over all the events there are by now. */
void export_ring_read(struct export_ring *export, struct transformer *transformer);

/* Waits for more, for so long at most; or as long, if there is no ring. */
void export_ring_wait(struct export_ring *export, uint64_t timeout_ns);

void export_ring_close(struct export_ring *export);

#endif /* MONAD_STORAGE_EXPORT_RING_H */
