/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Times on a page that others read, elsewhere: all in one zone, which the page names. It is that
 * of this machine, with the offset it had at one time, so that also a page of the night in which
 * the clocks change has each time once.
 */
#ifndef MONAD_STORAGE_PAGE_TIME_H
#define MONAD_STORAGE_PAGE_TIME_H

#include <stdint.h>

#include "human.h"

struct page_zone {
	int64_t offset_s;     /* east of UTC */
	char name[HUMAN_LEN]; /* "UTC", "UTC+05:30" */
};

void page_zone_init(struct page_zone *zone, uint64_t epoch_ns);

/* All return @buf. */
const char *page_date(const struct page_zone *zone, uint64_t epoch_ns, char buf[HUMAN_LEN]);
/* "03:12:30", with so many digits of a second, up to 9; -1: "03:12" */
const char *page_clock(const struct page_zone *zone, uint64_t epoch_ns, int digits,
		       char buf[HUMAN_LEN]);
/* Both, with a space. */
const char *page_time(const struct page_zone *zone, uint64_t epoch_ns, int digits,
		      char buf[HUMAN_LEN]);

/* Up to so many columns in a picture. */
#define PAGE_COLUMNS 180

/* What all pictures of a page have from left to right. */
struct page_axis {
	struct page_zone zone;
	uint64_t begin_ns;    /* of the first column, since 1970; the others follow */
	uint64_t column_ns;   /* of each; a round time, at round times of the zone */
	unsigned int columns;
};

/* Makes room for all from @first_ns to @last_ns, which may be the same. */
void page_axis_init(struct page_axis *axis, uint64_t first_ns, uint64_t last_ns);

/* The column of a time; -1: it is in none. */
int page_axis_column(const struct page_axis *axis, uint64_t epoch_ns);

/* The first time at or after @from_ns that is a multiple of @step_ns in the zone. */
uint64_t page_axis_tick(const struct page_axis *axis, uint64_t from_ns, uint64_t step_ns);

#endif /* MONAD_STORAGE_PAGE_TIME_H */
