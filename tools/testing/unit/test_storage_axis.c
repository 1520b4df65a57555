// SPDX-License-Identifier: GPL-2.0
/* Axes of a report: round numbers, and times in one zone. */
#include "axis.h"
#include "page_time.h"
#include "tap.h"

#define MS 1000000ULL
#define SECOND 1000000000ULL
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static bool is_round(uint64_t n)
{
	while (n && n % 10 == 0)
		n /= 10;
	return n == 1 || n == 2 || n == 5;
}

static void test_steps(void)
{
	static const uint64_t some[] = { 0, 1, 2, 3, 5, 6, 10, 11, 99, 5000, 5001, 999999999 };
	bool good = true;

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		uint64_t step = axis_step(some[i]);

		good &= is_round(step) && step >= some[i] && step <= some[i] * 5 / 2 + 1;
	}
	ok(good, "1, 2, 5, and no more than has to be");
	for (uint64_t ns = 1; ns < 10000 * DAY; ns += ns / 3 + 1)
		good &= axis_time_step(ns) >= ns && axis_time_step(ns) <= ns * 5 / 2 + 1;
	ok(good, "times, too");
	eq_u64(axis_time_step(3 * SECOND), 5 * SECOND, "seconds");
	eq_u64(axis_time_step(11 * SECOND), 15 * SECOND, "a quarter of a minute");
	eq_u64(axis_time_step(50 * SECOND), MINUTE, "minutes are not of 50 s");
	eq_u64(axis_time_step(21 * MINUTE), 30 * MINUTE, "half an hour");
	eq_u64(axis_time_step(13 * HOUR), DAY, "days");
	eq_u64(axis_time_step(3 * DAY), 5 * DAY, "of them");
}

static void test_texts(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} durations[] = {
		{ 0, "0ns" }, { 1, "1ns" }, { 1500, "1.5us" }, { 200000, "200us" },
		{ 7 * MS, "7ms" }, { SECOND, "1s" }, { 15 * SECOND, "15s" },
		{ 90 * SECOND, "90s" }, { MINUTE, "1m" },
		{ 12 * HOUR, "12h" }, { 2 * DAY, "2d" }, { 7000 * SECOND, "7000s" },
	};
	char buf[HUMAN_LEN];

	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++)
		eq_str(axis_duration(durations[i].ns, buf), durations[i].text, "%s",
		       durations[i].text);
	eq_str(axis_number(500, buf), "500", "a number");
	eq_str(axis_number(20000, buf), "20k", "thousands");
	eq_str(axis_number(1500000, buf), "1.5M", "millions");
}

/* All of it fits, and columns are at round times. */
static void fits(uint64_t first, uint64_t last, const char *what)
{
	struct page_axis axis;
	uint64_t local;

	page_axis_init(&axis, first, last);
	local = axis.begin_ns + axis.zone.offset_s * SECOND;
	ok(axis.columns >= 20 && axis.columns <= PAGE_COLUMNS &&
	   page_axis_column(&axis, first) >= 0 && page_axis_column(&axis, last) >= 0 &&
	   local % axis.column_ns == 0,
	   "%s: %u columns of %llu ns", what, axis.columns, (unsigned long long)axis.column_ns);
}

static void test_axis(void)
{
	const uint64_t at = 1700000000 * SECOND + 123456789;
	struct page_axis axis;

	fits(at, at, "an instant");
	page_axis_init(&axis, at, at);
	ok(page_axis_column(&axis, at) >= 8 && page_axis_column(&axis, at) <= 11,
	   "is in the middle");
	fits(at, at + 1, "a nanosecond");
	fits(at, at + 17 * MS, "milliseconds");
	fits(at, at + 179 * SECOND, "columns of a second, less one");
	fits(at, at + 180 * SECOND, "as many as there may be, and not aligned");
	fits(at, at + DAY, "a day");
	fits(at, at + 400 * DAY, "a year");
	fits(5, 7, "1970");
}

static void test_zones(void)
{
	/* 2023-11-14 22:13:20 UTC; 2023-10-29 00:30 and 01:30 UTC, 02:30 twice in Berlin */
	const uint64_t at = 1700000000 * SECOND + 5 * MS, twice = 1698539400 * SECOND;
	struct page_axis axis;
	struct page_zone zone;
	char buf[HUMAN_LEN];

	page_zone_init(&zone, at);
	eq_str(zone.name, "UTC", "UTC");
	eq_str(page_time(&zone, at, 3, buf), "2023-11-14 22:13:20.005", "a time");
	eq_str(page_time(&zone, at, 0, buf), "2023-11-14 22:13:20", "in seconds");
	eq_str(page_clock(&zone, at, -1, buf), "22:13", "in minutes");
	setenv("TZ", "<+0545>-5:45", 1);
	tzset();
	page_zone_init(&zone, at);
	eq_str(zone.name, "UTC+05:45", "Kathmandu");
	eq_str(page_time(&zone, at, 0, buf), "2023-11-15 03:58:20", "is elsewhen");
	page_axis_init(&axis, at, at + 5 * DAY);
	eq_str(page_clock(&zone, page_axis_tick(&axis, at, DAY), 0, buf), "00:00:00",
	       "days begin at its midnight");
	eq_str(page_clock(&zone, page_axis_tick(&axis, at, HOUR), 0, buf), "04:00:00",
	       "and hours with its hours");
	setenv("TZ", "<-0330>3:30", 1);
	tzset();
	page_zone_init(&zone, at);
	eq_str(zone.name, "UTC-03:30", "Newfoundland");
	page_axis_init(&axis, at, at + 5 * DAY);
	eq_str(page_time(&zone, page_axis_tick(&axis, at, DAY), 0, buf), "2023-11-15 00:00:00",
	       "west of UTC, too");
	/* In Newfoundland it is still the day before. */
	eq_str(page_time(&zone, page_axis_tick(&axis, at + 4 * HOUR, DAY), 0, buf),
	       "2023-11-15 00:00:00", "when it is another day there");
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	page_zone_init(&zone, twice);
	eq_str(zone.name, "UTC+02:00", "the night the clocks are set back");
	eq_str(page_clock(&zone, twice, -1, buf), "02:30", "has its first half past two");
	eq_str(page_clock(&zone, twice + HOUR, -1, buf), "03:30", "and no second");
	setenv("TZ", "UTC", 1);
	tzset();
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	test_steps();
	test_texts();
	test_axis();
	test_zones();
	return done_testing();
}
