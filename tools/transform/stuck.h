/* SPDX-License-Identifier: GPL-2.0 */
/*
 * I/O that has been in flight for too long: told once when that is seen, again when it has been
 * there for twice as long, four times, eight times, and when it is over.
 */
#ifndef TRANSFORM_STUCK_H
#define TRANSFORM_STUCK_H

#include "facts.h"

struct stuck_io {
	struct raw_inflight io; /* as it was seen last */
	uint64_t next_ns; /* the age at which it is told again */
	bool ended;       /* an event said how */
};

/* All that was stuck when it was looked for last, in an order of its own. */
struct stuck {
	struct stuck_io *ios;
	size_t nr;
};

enum stuck_news {
	STUCK_STILL, /* for the first time, or again */
	STUCK_GONE,  /* it is not there any more, and no event said why */
};

typedef void stuck_tell(void *arg, const struct raw_inflight *io, enum stuck_news news);

/* Of what is in flight now, or comes next, nothing was there before. */
void stuck_forget(struct stuck *stuck);

/* How something ended: if that was one of them, there is no more to tell of it. */
void stuck_note_end(struct stuck *stuck, const struct facts *facts, uint64_t stuck_ns);

/*
 * Looks for what has been in flight for @stuck_ns or longer among @nr that are, and tells what
 * is new of it; unless these are @whole, there may be more, and nothing is said to be gone.
 * Without memory it is as if it had not been looked at.
 */
void stuck_look(struct stuck *stuck, const struct raw_inflight *ios, size_t nr, bool whole,
		uint64_t stuck_ns, stuck_tell *tell, void *arg);

#endif /* TRANSFORM_STUCK_H */
