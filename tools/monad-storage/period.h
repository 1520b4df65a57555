/* SPDX-License-Identifier: GPL-2.0 */
/* What replay and report have in common: the time that is looked back at. */
#ifndef MONAD_STORAGE_PERIOD_H
#define MONAD_STORAGE_PERIOD_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "reader.h"
#include "ring_walk.h"
#include "view.h"

struct period {
	uint64_t now_ns;   /* as of which TIMEs are */
	uint64_t since_ns; /* 0: all there is */
	uint64_t until_ns; /* exclusive; UINT64_MAX: all */
};

/* For a command's struct argp_option. Its own keys begin with the last. */
enum { PERIOD_KEY_SINCE = VIEW_KEY_OWN, PERIOD_KEY_UNTIL, PERIOD_KEY_OWN };

#define PERIOD_OPTIONS \
	{ "since", PERIOD_KEY_SINCE, "TIME", 0, "Begin there (with the oldest event)", 0 }, \
	{ "until", PERIOD_KEY_UNTIL, "TIME", 0, "End there (with the newest event)", 0 }

/* All there is; before options are parsed. */
void period_init(struct period *period);

/* Takes these two; ends the program for a wrong one. Others are ARGP_ERR_UNKNOWN. */
error_t period_option(struct period *period, int key, char *arg, struct argp_state *state);

/* 0, or EXIT_USAGE after a message: it ends before it begins. */
int period_check(const struct period *period);

/*
 * Warns if the ring does not reach back as far as is asked for, or if that is not yet. @span:
 * how far it does, in which first_seqno is 0 if it is empty. False: there is more than it has.
 */
bool period_is_held(const struct period *period, struct reader *reader, struct reader_span *span);

/*
 * The next event of the period; false: there is none any more. Gaps are counted by the reader,
 * whenever they were.
 */
bool period_next(const struct period *period, struct reader *reader, struct ring_walk *walk,
		 struct monad_event_descriptor *desc);

#endif /* MONAD_STORAGE_PERIOD_H */
