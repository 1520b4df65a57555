/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The notable events of a window, by kind (7): same device, operation, reason and errno.
 * Of each kind the first few are kept, and always the one that took longest and one of the
 * highest severity; the others are a number.
 *
 * There is room for as many events as may be sent in a window, and for as many kinds, so
 * that each kind has one that can say how many there were. A kind that comes when all room
 * is taken gets that of a second event of another. The last kind is for all that find no
 * kind any more.
 */
#ifndef TRANSFORM_KINDS_H
#define TRANSFORM_KINDS_H

#include "held_stacks.h"
#include "wire.h"

#define KINDS_MAX 1024

/* An event that is kept. */
struct noted {
	struct noted *next; /* of its kind, in the order of coming */
	struct facts facts;
	struct limits limits;
	enum reason reason;
	uint64_t mount_namespace;
	struct held_stack *stack; /* or NULL */
	struct victim *victims;
	size_t nr_victims;
	uint64_t affected;
};

struct kind_key {
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t op;
	uint32_t reason;
	uint32_t error;
};

struct kind {
	struct kind_key key;
	bool catch_all;
	Monad__Severity severity; /* the worst of those kept, but for how frequent they are */
	uint64_t count;  /* of all of its events */
	struct noted *first;
	struct noted *last;
	struct noted *worst;   /* the one that took longest */
	struct noted *gravest; /* one of the highest severity */
	unsigned int nr; /* kept */
};

struct kinds {
	unsigned int per_kind;
	unsigned int nr_victims;
	struct kind *kinds;
	size_t nr, room;
	uint32_t *index; /* of kinds, counted from 1, by hash */
	size_t index_mask;
	struct noted *pool;
	size_t pool_size;
	struct noted *unused;
	struct victim *victims; /* of all of the pool */
};

static inline bool kind_must_keep(const struct kind *kind, const struct noted *noted)
{
	return noted == kind->worst || noted == kind->gravest;
}

/* 0 or -ENOMEM; then kinds_free() is for it, too. */
int kinds_init(struct kinds *kinds, unsigned int per_kind, unsigned int per_window,
	       unsigned int victims);
void kinds_free(struct kinds *kinds);

/*
 * Counts an event; where it is kept, if it is: facts, limits and reason are filled in, the
 * rest is the caller's to do. Else NULL.
 */
struct noted *kinds_add(struct kinds *kinds, const struct facts *facts,
			const struct limits *limits, enum reason reason);

/* A new window. */
void kinds_clear(struct kinds *kinds);

#endif /* TRANSFORM_KINDS_H */
