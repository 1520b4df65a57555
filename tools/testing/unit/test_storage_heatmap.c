// SPDX-License-Identifier: GPL-2.0
/* The picture of a report: nothing falls out of it, and each is where it belongs. */
#include "heatmap.h"
#include "tap.h"

#define SECOND 1000000000ULL

static uint64_t cells(const struct heatmap *map)
{
	uint64_t sum = 0;

	for (int column = 0; column < HEATMAP_COLUMNS; column++) {
		for (int row = 0; row < HEATMAP_ROWS; row++)
			sum += map->cells[column][row];
	}
	return sum;
}

static void test_ends(uint64_t begin, uint64_t end)
{
	struct heatmap *map = calloc(1, sizeof(*map));

	map->begin_ns = begin;
	map->end_ns = end;
	heatmap_add(map, begin, 1000, 4096, 0);
	heatmap_add(map, end, 1000, 4096, 1);
	heatmap_add(map, begin - 1, 1000, 4096, 0);
	heatmap_add(map, end + 1, 1000, 4096, 0);
	eq_u64(cells(map), 2, "%llu ns: the first and the last are in it, others not",
	       (unsigned long long)(end - begin));
	eq_u64(map->total, 2, "and counted");
	ok(map->ops[0] >= 1, "the first in the first column");
	free(map);
}

static void test_latencies(void)
{
	struct heatmap *map = calloc(1, sizeof(*map));
	uint64_t n = 0;

	map->begin_ns = SECOND;
	map->end_ns = 2 * SECOND;
	for (unsigned int power = 0; power < 64; power++, n += 2) {
		heatmap_add(map, SECOND, 1ULL << power, 0, 0);
		heatmap_add(map, SECOND, (1ULL << power) + (1ULL << power) / 2, 0, 0);
	}
	eq_u64(cells(map), n, "any latency has a cell");
	for (int row = 4; row < HEATMAP_ROWS - 1; row++) {
		if (map->cells[0][row] != 1) {
			ok(false, "one in each row: row %d has %llu", row,
			   (unsigned long long)map->cells[0][row]);
			break;
		}
	}
	heatmap_add(map, SECOND, 0, 512, 0);
	eq_u64(cells(map), n, "one whose latency is not known has none");
	eq_u64(map->ops[0], n + 1, "but is counted");
	eq_u64(map->bytes[0], 512, "with its bytes");
	free(map);
}

static void test_picture(void)
{
	struct heatmap *map = calloc(1, sizeof(*map));
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	map->begin_ns = SECOND;
	map->end_ns = 121 * SECOND;
	for (int i = 0; i < 100; i++)
		heatmap_add(map, SECOND + i * SECOND, 100000, 4096, i == 50);
	heatmap_write(out, map);
	fclose(out);
	ok(strstr(text, "<svg ") && strstr(text, "</svg>"), "it is an SVG");
	ok(strstr(text, "98.3us - 131us</title>"), "with a cell that says what it is");
	ok(strstr(text, "class=\"failed\""), "and where one failed");
	free(text);
	/* Nothing at all, or but one: no picture has to be of something. */
	memset(map, 0, sizeof(*map));
	out = open_memstream(&text, &size);
	heatmap_write(out, map);
	fclose(out);
	ok(strstr(text, "</svg>"), "an empty one is one");
	free(text);
	free(map);
}

int main(void)
{
	test_ends(SECOND, 1000 * SECOND);
	test_ends(SECOND, SECOND);
	test_ends(SECOND, SECOND + 1);
	test_ends(SECOND, SECOND + 119);
	test_ends(SECOND, SECOND + 120);
	test_latencies();
	test_picture();
	return done_testing();
}
