// SPDX-License-Identifier: GPL-2.0
/* The picture of a report: nothing falls out of it, and each is where it belongs. */
#include "heatmap.h"
#include "tap.h"

#define SECOND 1000000000ULL
#define MS 1000000ULL

static uint64_t cells(const struct heatmap *map)
{
	uint64_t sum = 0;

	for (int column = 0; column < PAGE_COLUMNS; column++) {
		for (int row = 0; row < HEATMAP_ROWS; row++)
			sum += map->cells[column][row];
	}
	return sum;
}

static void test_ends(uint64_t begin, uint64_t end)
{
	struct heatmap *map = calloc(1, sizeof(*map));
	uint64_t first, past;
	struct page_axis axis;

	page_axis_init(&axis, begin, end);
	map->axis = &axis;
	heatmap_add(map, begin, 1000, 4096, 0);
	heatmap_add(map, end, 1000, 4096, 1);
	eq_u64(cells(map), 2, "%llu ns: the first and the last are in it",
	       (unsigned long long)(end - begin));
	first = axis.begin_ns;
	past = axis.begin_ns + axis.columns * axis.column_ns;
	heatmap_add(map, first - 1, 1000, 4096, 0);
	heatmap_add(map, past, 1000, 4096, 0);
	eq_u64(map->total, 2, "what is at no time of it is not");
	heatmap_add(map, first, 1000, 4096, 0);
	heatmap_add(map, past - 1, 1000, 4096, 0);
	ok(map->ops[0] >= 1 && map->ops[axis.columns - 1] >= 1,
	   "its ends are in the outer columns");
	free(map);
}

static void test_latencies(void)
{
	static const unsigned int tenths[] = { 10, 15, 20, 30, 50, 70 };
	struct heatmap *map = calloc(1, sizeof(*map));
	uint64_t n = 0, ten = 1;
	struct page_axis axis;
	bool one = true;
	int column;

	page_axis_init(&axis, SECOND, 2 * SECOND);
	map->axis = &axis;
	for (int decade = 0; decade < 13; decade++, ten *= 10) {
		for (int i = 0; i < 6; i++, n++)
			heatmap_add(map, SECOND, (tenths[i] * ten + 9) / 10, 0, 0);
	}
	column = page_axis_column(&axis, SECOND);
	/* 1.5 and 2 are the same whole number. */
	for (int row = 3; row < HEATMAP_ROWS; row++)
		one &= map->cells[column][row] == 1;
	ok(one, "a row begins with 1, 1.5, 2, 3, 5, 7 times each power of ten");
	eq_u64(cells(map), n, "none is without a cell");
	heatmap_add(map, SECOND, 9999999, 0, 0);
	eq_u64(map->cells[column][6 * 6 + 5], 2, "one below the next is still in it");
	heatmap_add(map, SECOND, UINT64_MAX, 0, 0);
	eq_u64(map->cells[column][HEATMAP_ROWS - 1], 2, "the longest are in the last");
	n = cells(map);
	heatmap_add(map, SECOND, 0, 512, 0);
	eq_u64(cells(map), n, "one whose latency is not known is in none");
	eq_u64(map->ops[column], n + 1, "but is counted");
	eq_u64(map->bytes[column], 512, "with its bytes");
	free(map);
}

static char *picture(const struct heatmap *map)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	heatmap_write(out, map);
	fclose(out);
	return text;
}

static unsigned int count(const char *text, const char *what)
{
	unsigned int n = 0;

	for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

#define has(text, what) ok(strstr(text, what), "%s", what)
#define has_not(text, what) ok(!strstr(text, what), "no %s", what)

static void test_picture(void)
{
	struct heatmap *map = calloc(1, sizeof(*map));
	struct page_axis axis;
	char *text;

	page_axis_init(&axis, 1700000000 * SECOND, 1700000120 * SECOND);
	map->axis = &axis;
	for (int i = 0; i < 100; i++)
		heatmap_add(map, (1700000000 + i) * SECOND, 100000, 4096, i == 50);
	text = picture(map);
	ok(count(text, "<svg ") == 1 && count(text, "</svg>") == 1, "it is an SVG");
	eq_int(count(text, "<title>1: 100us - 150us</title>"), 100,
	       "with cells that say what they are");
	eq_int(count(text, "class=\"failed\""), 1, "and where one failed");
	has(text, ">operations per second</text>");
	has(text, ">22:13:30</text>");
	has(text, ">2023-11-14, UTC</text>");
	eq_int(count(text, "2023-11-14"), 1, "the day and the zone, once");
	has(text, ">200us</text>");
	has(text, ">100us</text>");
	has(text, ">1</text>");
	has_not(text, "65.5");
	free(text);
	/* Cells of as many as there is no color for. */
	for (int i = 0; i < 3000; i++)
		heatmap_add(map, 1700000000 * SECOND, 100000, 4096, 0);
	text = picture(map);
	has(text, "class=\"h5\"><title>3001: ");
	has(text, "class=\"h0\"><title>1: ");
	has_not(text, "class=\"h8\"");
	has(text, ">1K+</text>");
	free(text);
	free(map);
}

/* From one day to the next. */
static void test_midnight(void)
{
	struct heatmap *map = calloc(1, sizeof(*map));
	struct page_axis axis;
	char *text;

	page_axis_init(&axis, 1700000000 * SECOND, 1700010000 * SECOND);
	map->axis = &axis;
	heatmap_add(map, 1700000000 * SECOND, 100000, 4096, 0);
	text = picture(map);
	ok(count(text, "2023-11-14") == 1 && count(text, "2023-11-15") == 1, "each day once");
	has(text, ">00:00</text>");
	has(text, ">2023-11-15</text>");
	free(text);
	free(map);
}

/* What comes to one point: the page is of that, and not of nothing on either side. */
static void test_instant(void)
{
	struct heatmap *map = calloc(1, sizeof(*map));
	struct page_axis axis;
	char *text;

	page_axis_init(&axis, 1700000000 * SECOND + 123456789, 1700000000 * SECOND + 123456789);
	map->axis = &axis;
	text = picture(map);
	ok(strstr(text, "</svg>"), "a picture of nothing is one");
	has(text, "no latency is known");
	free(text);
	heatmap_add(map, 1700000000 * SECOND + 123456789, 250000, 4096, 0);
	text = picture(map);
	has(text, ">operations per 100us</text>");
	has_not(text, "operations per second");
	has(text, ">1</text>");
	has(text, ">22:13:20.1236</text>");
	eq_int(count(text, "22:13:20.1236</text>"), 1, "each label once");
	has(text, "<title>1: 200us - 300us</title>");
	free(text);
	free(map);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	test_ends(SECOND, 1000 * SECOND);
	test_ends(SECOND, SECOND);
	test_ends(SECOND, SECOND + 1);
	test_ends(SECOND, SECOND + 119);
	test_ends(SECOND + 1, SECOND + 18 * MS);
	test_ends(1234567890123456789, 1234567890123456789 + 180 * SECOND);
	test_ends(SECOND, 1700000000 * SECOND);
	test_latencies();
	test_picture();
	test_midnight();
	test_instant();
	return done_testing();
}
