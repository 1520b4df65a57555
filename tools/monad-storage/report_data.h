/* SPDX-License-Identifier: GPL-2.0 */
/* What a report is made of: all operations of a time, in the order in which they ended. */
#ifndef MONAD_STORAGE_REPORT_DATA_H
#define MONAD_STORAGE_REPORT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "filter.h"
#include "reader.h"
#include "report_writeback.h"
#include "summary.h"

/* One operation, for pictures over time. */
struct report_point {
	uint64_t end_ns;   /* since 1970 */
	uint64_t total_ns; /* 0: not known */
	uint64_t bytes;
	uint32_t dev;
	char disk[MONAD_STORAGE_DISK_LEN];
	uint16_t op;
	bool failed;
};

#define REPORT_ERRORS 100

struct report {
	struct report_point *points;
	size_t nr_points, room;
	/* the last of those that failed, the oldest one first */
	struct storage_event errors[REPORT_ERRORS];
	size_t nr_errors; /* in all */
	struct summary *summary;
	struct writeback writeback;
	const struct reader *reader;
	const struct filter *filter;
	const char *ring;
	const char *only; /* of which events, in words; "" for all */
	uint64_t since_ns, until_ns; /* what was asked for; 0 and UINT64_MAX: all */
	uint64_t reach_ns; /* when the ring begins */
	bool reach_later;  /* later than what was asked for, or it has been overwritten */
};

/* Adds an event; summary and points. */
void report_add(struct report *report, const struct storage_event *event);

/* Writes the page. */
void report_write(FILE *out, struct report *report);

#endif /* MONAD_STORAGE_REPORT_DATA_H */
