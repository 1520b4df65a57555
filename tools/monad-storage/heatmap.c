// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdbool.h>

#include "heatmap.h"
#include "human.h"
#include "monad_storage.h"

#define CELL_WIDTH 6
#define CELL_HEIGHT 9
#define LEFT 64
#define TOP 6
#define RATE_HEIGHT 40
#define GAP 18

static unsigned int row_of(uint64_t ns)
{
	unsigned int power, row;

	if (ns < 2)
		return 0;
	power = 63 - __builtin_clzll(ns);
	/* The upper half begins at 1.5 times the power. */
	row = power * 2 + (unsigned int)(ns >> (power - 1) & 1);
	return row < HEATMAP_ROWS ? row : HEATMAP_ROWS - 1;
}

/* Where a row begins. */
static uint64_t row_begin(unsigned int row)
{
	uint64_t begin = 1ULL << row / 2;

	return row % 2 ? begin + begin / 2 : begin;
}

static uint64_t width_ns(const struct heatmap *map)
{
	return (map->end_ns - map->begin_ns) / HEATMAP_COLUMNS + 1;
}

void heatmap_add(struct heatmap *map, uint64_t end_ns, uint64_t latency_ns, uint64_t bytes,
		 int failed)
{
	uint64_t column;

	if (end_ns < map->begin_ns || end_ns > map->end_ns)
		return;
	column = (end_ns - map->begin_ns) / width_ns(map);
	if (latency_ns)
		map->cells[column][row_of(latency_ns)]++;
	map->ops[column]++;
	map->bytes[column] += bytes;
	map->failed[column] += !!failed;
	map->total++;
}

static bool row_is_empty(const struct heatmap *map, unsigned int row)
{
	for (int column = 0; column < HEATMAP_COLUMNS; column++) {
		if (map->cells[column][row])
			return false;
	}
	return true;
}

/* From pale to dark; by powers of two, or a few slow ones would not be seen. */
static const char *color_of(uint64_t count)
{
	static const char *const colors[] = {
		"#fdd49e", "#fdbb84", "#fc8d59", "#ef6548", "#d7301f", "#b30000", "#8f0000",
		"#650000", "#3d0000",
	};
	unsigned int power = 63 - __builtin_clzll(count);
	unsigned int last = ARRAY_SIZE(colors) - 1;

	return colors[power < last ? power : last];
}

static void write_cells(FILE *out, const struct heatmap *map, unsigned int low, unsigned int high)
{
	char from[HUMAN_LEN], to[HUMAN_LEN];

	for (int column = 0; column < HEATMAP_COLUMNS; column++) {
		for (unsigned int row = low; row <= high; row++) {
			uint64_t count = map->cells[column][row];

			if (!count)
				continue;
			fprintf(out, "<rect x=\"%d\" y=\"%u\" width=\"%d\" height=\"%d\" "
				"fill=\"%s\"><title>%" PRIu64 ": %s - %s</title></rect>\n",
				LEFT + column * CELL_WIDTH, TOP + (high - row) * CELL_HEIGHT,
				CELL_WIDTH, CELL_HEIGHT, color_of(count), count,
				human_duration(row_begin(row), from),
				human_duration(row_begin(row + 1), to));
		}
	}
}

static void write_latency_axis(FILE *out, unsigned int low, unsigned int high)
{
	char text[HUMAN_LEN];

	for (unsigned int row = low; row <= high; row++) {
		unsigned int y = TOP + (high - row + 1) * CELL_HEIGHT;

		if (row % 4)
			continue;
		fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%u\" y2=\"%u\" class=\"grid\"/>"
			"<text x=\"%d\" y=\"%u\" class=\"y\">%s</text>\n",
			LEFT - 3, LEFT + HEATMAP_COLUMNS * CELL_WIDTH, y, y, LEFT - 6, y + 3,
			human_duration(row_begin(row), text));
	}
}

static void write_rate(FILE *out, const struct heatmap *map, unsigned int y)
{
	double seconds = (double)width_ns(map) / 1e9;
	char bytes[HUMAN_LEN];
	uint64_t most = 1;

	for (int column = 0; column < HEATMAP_COLUMNS; column++) {
		if (map->ops[column] > most)
			most = map->ops[column];
	}
	fprintf(out, "<text x=\"%d\" y=\"%u\" class=\"y\">%.4g/s</text>\n", LEFT - 6, y + 9,
		(double)most / seconds);
	for (int column = 0; column < HEATMAP_COLUMNS; column++) {
		double height = (double)map->ops[column] * RATE_HEIGHT / (double)most;

		if (!map->ops[column])
			continue;
		fprintf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" class=\"%s\">"
			"<title>%.4g operations/s, %s/s", LEFT + column * CELL_WIDTH,
			y + RATE_HEIGHT - height, CELL_WIDTH - 1, height,
			map->failed[column] ? "failed" : "rate", (double)map->ops[column] / seconds,
			human_bytes((uint64_t)((double)map->bytes[column] / seconds), bytes));
		if (map->failed[column])
			fprintf(out, ", %" PRIu64 " failed", map->failed[column]);
		fputs("</title></rect>\n", out);
	}
}

static void write_time_axis(FILE *out, const struct heatmap *map, unsigned int y)
{
	char text[HUMAN_LEN];

	for (int column = 0; column <= HEATMAP_COLUMNS; column += HEATMAP_COLUMNS / 4) {
		uint64_t at = map->begin_ns + column * width_ns(map);

		fprintf(out, "<text x=\"%d\" y=\"%u\" class=\"x\">%.12s</text>\n",
			LEFT + column * CELL_WIDTH, y, human_clock(at, text));
	}
}

void heatmap_write(FILE *out, const struct heatmap *map)
{
	unsigned int low = 0, high = HEATMAP_ROWS - 1, rate_y;

	while (low < high && row_is_empty(map, low))
		low++;
	while (high > low && row_is_empty(map, high))
		high--;
	/* Some room, so that one band does not fill the picture. */
	low = low > 2 ? (low - 2) / 4 * 4 : 0;
	high = high + 3 < HEATMAP_ROWS ? high + 2 : HEATMAP_ROWS - 2;
	rate_y = TOP + (high - low + 1) * CELL_HEIGHT + 10;
	fprintf(out, "<svg viewBox=\"0 0 %d %u\" width=\"%d\" height=\"%u\" role=\"img\">\n",
		LEFT + HEATMAP_COLUMNS * CELL_WIDTH + 40, rate_y + RATE_HEIGHT + GAP,
		LEFT + HEATMAP_COLUMNS * CELL_WIDTH + 40, rate_y + RATE_HEIGHT + GAP);
	write_latency_axis(out, low, high);
	write_cells(out, map, low, high);
	write_rate(out, map, rate_y);
	write_time_axis(out, map, rate_y + RATE_HEIGHT + 13);
	fputs("</svg>\n", out);
}
