/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of monad-storage top. */
#ifndef MONAD_STORAGE_TOP_H
#define MONAD_STORAGE_TOP_H

#include "interval.h"
#include "metrics.h"
#include "series_filter.h"
#include "storage_state.h"
#include "summary_data.h"

enum sort { BY_WAITED, BY_OPS, BY_BYTES, BY_SLOWEST, BY_ERRORS, SORTS };

/* What actors can be sorted by: the option's word for it, and the key. */
struct top_sort {
	const char *name;
	char key;
};

extern const struct top_sort top_sorts[SORTS];

struct top {
	struct series_filter filter;
	struct interval interval;
	const char *ring; /* NULL: the one recorded to */
	struct monad_storage_session session;
	enum sort sort;
	unsigned int rows; /* 0: not said */
	bool json;
	bool batch;
	bool screen; /* a terminal, that is ours */
	bool left;   /* or was */
	bool quit;
};

/* All operations on one disk. */
struct disk_row {
	uint32_t dev;
	char disk[32];
	uint64_t ops[MONAD_STORAGE_DIRECTIONS];
	uint64_t bytes[MONAD_STORAGE_DIRECTIONS];
	struct monad_storage_metrics sum;
	uint64_t inflight;
};

/* What there is to show of one interval. */
struct shown {
	uint64_t end_ns; /* of the interval, since 1970 */
	uint64_t window_ns;
	struct disk_row *disks;
	size_t nr_disks;
	struct summary_actor *actors;
	unsigned int nr_actors;
	uint64_t missed; /* events that were overwritten before they were read */
	bool notable_only; /* actors are those of notable I/O */
};

/* Fills in the disks of an interval; free() shown->disks. */
void top_gather_disks(const struct top *top, const struct metrics *metrics, struct shown *shown);

/* Sorts the actors and prints all. */
void top_show(const struct top *top, struct shown *shown);

/*
 * Takes the terminal, if there is one and it is wanted. It is given back at exit, and for as
 * long as the program is stopped (^Z).
 */
void top_take_terminal(struct top *top);

/* Gives it back; false if it was not taken. What is shown from then on has its size. */
bool top_leave_terminal(struct top *top);

/*
 * Sleeps for so long, or until somebody interrupts, or, on a terminal, presses a key:
 * true if that changes what is shown.
 */
bool top_sleep(struct top *top, uint64_t ns);

void top_screen_size(unsigned int *rows, unsigned int *columns);

/* Shows @text, as much as there is room for. */
void top_screen_put(const char *text, unsigned int rows, unsigned int columns);

#endif /* MONAD_STORAGE_TOP_H */
