/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of a report on writeback pressure: who was put to sleep until a disk kept up. Events
 * of it are there where a task looked; the sums of all are with the programs, not in the ring.
 */
#ifndef MONAD_STORAGE_REPORT_WRITEBACK_H
#define MONAD_STORAGE_REPORT_WRITEBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "event_disk.h"
#include "filter.h"
#include "metrics.h"
#include "page_time.h"
#include "reader.h"

/* One process that wrote to one disk. */
struct writeback_writer {
	uint32_t dev;
	uint32_t tgid;
	char comm[MONAD_STORAGE_COMM_LEN];
	uint64_t times;
	uint64_t dirtied; /* bytes */
	uint64_t slept_ns;
	uint64_t longest_ns;
};

/* To tell whether two tasks saw the same. */
#define WRITEBACK_RECENT 64

struct writeback_pause {
	uint64_t time_ns; /* of its event, since 1970 */
	uint64_t pause_ns;
	uint64_t dirtied; /* bytes */
	uint64_t tasks;   /* that have seen it: a bit each, by their numbers modulo 64 */
	uint32_t pid;
};

struct writeback {
	struct writeback_writer *writers;
	size_t nr_writers;
	struct writeback_pause recent[WRITEBACK_RECENT];
	size_t nr_pauses;
	struct event_disks disks; /* by all ends of the time, wanted or not */
	bool here; /* what it is about is recorded now, by this machine */
	bool has_sums;
	struct metrics sums; /* since the start of the recording, if there are */
};

/* Adds a DIRTY_THROTTLE event, if it is one that @filter wants, of whatever disk. */
void writeback_add(struct writeback *writeback, struct reader *reader, const struct filter *filter,
		   const struct monad_event_descriptor *desc);

/* Reads the sums, if there are some of the @reader's ring. */
void writeback_read_sums(struct writeback *writeback, const struct reader *reader);

/* Takes the name of its disk from an event of another kind, if it says that. */
void writeback_note_disk(struct writeback *writeback, struct reader *reader,
			 const struct monad_event_descriptor *desc);

/* Writes the section of the page. */
void writeback_write(FILE *out, struct writeback *writeback, const struct filter *filter,
		     const struct page_zone *zone);

void writeback_free(struct writeback *writeback);

#endif /* MONAD_STORAGE_REPORT_WRITEBACK_H */
