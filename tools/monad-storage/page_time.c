// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "axis.h"
#include "monad_storage.h"
#include "page_time.h"

/* Shorter columns show nothing: what takes longer than them ends in them. */
#define LEAST_COLUMN_NS 100000ULL
/* So that what happened at once is not as wide as the picture. */
#define LEAST_COLUMNS 20

void page_zone_init(struct page_zone *zone, uint64_t epoch_ns)
{
	time_t t = (time_t)(epoch_ns / NSEC_PER_SEC);
	long minutes;
	struct tm tm;

	zone->offset_s = localtime_r(&t, &tm) ? tm.tm_gmtoff : 0;
	minutes = labs(zone->offset_s) / 60;
	if (!minutes)
		snprintf(zone->name, sizeof(zone->name), "UTC");
	else
		snprintf(zone->name, sizeof(zone->name), "UTC%c%02ld:%02ld",
			 zone->offset_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

static void split(const struct page_zone *zone, uint64_t epoch_ns, struct tm *tm)
{
	time_t t = (time_t)(epoch_ns / NSEC_PER_SEC) + zone->offset_s;

	if (!gmtime_r(&t, tm))
		memset(tm, 0, sizeof(*tm));
}

const char *page_date(const struct page_zone *zone, uint64_t epoch_ns, char buf[HUMAN_LEN])
{
	struct tm tm;

	split(zone, epoch_ns, &tm);
	strftime(buf, HUMAN_LEN, "%Y-%m-%d", &tm);
	return buf;
}

const char *page_clock(const struct page_zone *zone, uint64_t epoch_ns, int digits,
		       char buf[HUMAN_LEN])
{
	char fraction[16];
	struct tm tm;
	size_t n;

	split(zone, epoch_ns, &tm);
	n = strftime(buf, HUMAN_LEN, digits < 0 ? "%H:%M" : "%H:%M:%S", &tm);
	if (digits > 0) {
		snprintf(fraction, sizeof(fraction), "%09u",
			 (unsigned int)(epoch_ns % NSEC_PER_SEC));
		snprintf(buf + n, HUMAN_LEN - n, ".%.*s", digits, fraction);
	}
	return buf;
}

const char *page_time(const struct page_zone *zone, uint64_t epoch_ns, int digits,
		      char buf[HUMAN_LEN])
{
	char clock[HUMAN_LEN];

	page_date(zone, epoch_ns, buf);
	snprintf(buf + strlen(buf), HUMAN_LEN - strlen(buf), " %.19s",
		 page_clock(zone, epoch_ns, digits, clock));
	return buf;
}

/* Of the zone, how far into a @step_ns. */
static uint64_t into_step(const struct page_zone *zone, uint64_t epoch_ns, uint64_t step_ns)
{
	int64_t offset_ns = zone->offset_s * (int64_t)NSEC_PER_SEC;
	int64_t rest = (int64_t)(epoch_ns % step_ns) + offset_ns % (int64_t)step_ns;

	rest %= (int64_t)step_ns;
	return (uint64_t)(rest < 0 ? rest + (int64_t)step_ns : rest);
}

uint64_t page_axis_tick(const struct page_axis *axis, uint64_t from_ns, uint64_t step_ns)
{
	uint64_t into = into_step(&axis->zone, from_ns, step_ns);

	return into ? from_ns + step_ns - into : from_ns;
}

void page_axis_init(struct page_axis *axis, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t least_ns = (last_ns - first_ns) / PAGE_COLUMNS + 1, into, missing;

	page_zone_init(&axis->zone, first_ns);
	if (least_ns < LEAST_COLUMN_NS)
		least_ns = LEAST_COLUMN_NS;
	/* Once more where they do not begin with a column: then the last is not in the last. */
	do {
		axis->column_ns = axis_time_step(least_ns);
		into = into_step(&axis->zone, first_ns, axis->column_ns);
		axis->begin_ns = first_ns > into ? first_ns - into : 0;
		axis->columns = (last_ns - axis->begin_ns) / axis->column_ns + 1;
		least_ns = axis->column_ns + 1;
	} while (axis->columns > PAGE_COLUMNS);
	if (axis->columns >= LEAST_COLUMNS)
		return;
	missing = (LEAST_COLUMNS - axis->columns) / 2 * axis->column_ns;
	if (axis->begin_ns > missing)
		axis->begin_ns -= missing;
	axis->columns = LEAST_COLUMNS;
}

int page_axis_column(const struct page_axis *axis, uint64_t epoch_ns)
{
	if (epoch_ns < axis->begin_ns ||
	    (epoch_ns - axis->begin_ns) / axis->column_ns >= axis->columns)
		return -1;
	return (int)((epoch_ns - axis->begin_ns) / axis->column_ns);
}
