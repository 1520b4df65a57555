// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "axis.h"
#include "heatmap.h"
#include "human.h"
#include "monad_storage.h"

#define WIDTH 980
#define LEFT 64
#define PLOT_WIDTH 890
#define PLOT_RIGHT (LEFT + PLOT_WIDTH)
#define CAPTION 18
#define CELL_HEIGHT 9
#define RATE_HEIGHT 48
#define GAP 10
#define TIME_HEIGHT 34 /* two lines: time, and date */
#define SWATCH 12
/* Rows of less are shown all the same, or one band would be all of the picture. */
#define LEAST_ROWS 14
/* Of more rows, only powers of ten have a label. */
#define ROWS_ALL_LABELS 24
/* Labels of times: at most so many, as they have to stand side by side. */
#define TIME_LABELS 10
#define COLORS 8
/* In shorter columns, one operation would be a rate of thousands. */
#define LEAST_RATE_NS 100000000ULL

const char heatmap_style[] =
	"svg{display:block;width:100%;min-width:50em;height:auto}"
	"svg text{font:11px system-ui,sans-serif;fill:var(--dim)}"
	"svg .y{text-anchor:end}svg .x{text-anchor:middle}"
	"svg line{stroke:var(--grid);shape-rendering:crispEdges}"
	"svg rect{shape-rendering:crispEdges}"
	"svg .rate{fill:var(--rate)}svg .failed{fill:var(--bad)}"
	":root{--grid:#e2e2e2;--rate:#4a7fb5;"
	"--h0:#fdd49e;--h1:#fdbb84;--h2:#fc8d59;--h3:#ef6548;--h4:#d7301f;--h5:#b30000;"
	"--h6:#7a0000;--h7:#400000}"
	"@media(prefers-color-scheme:dark){:root{--grid:#3a3a3a;--rate:#6fa8dc;"
	"--h0:#71402f;--h1:#8c4529;--h2:#a94d22;--h3:#c85b1c;--h4:#e6731f;--h5:#f7953e;"
	"--h6:#fdbf74;--h7:#ffe9c4}}"
	".h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}"
	".h4{fill:var(--h4)}.h5{fill:var(--h5)}.h6{fill:var(--h6)}.h7{fill:var(--h7)}";

/* What is drawn: rows from @low to @high, and how many powers of two have the same color. */
struct picture {
	const struct heatmap *map;
	unsigned int low, high;
	unsigned int powers;
	uint64_t most; /* of all cells */
};

static double column_x(const struct heatmap *map, double column)
{
	return LEFT + column * PLOT_WIDTH / map->axis->columns;
}

static double column_width(const struct heatmap *map)
{
	return (double)PLOT_WIDTH / map->axis->columns;
}

static unsigned int log2_of(uint64_t n)
{
	return n ? 63 - __builtin_clzll(n) : 0;
}

static void choose_rows(struct picture *p)
{
	bool any = false;

	p->low = 0;
	p->high = 0;
	for (unsigned int row = 0; row < HEATMAP_ROWS; row++) {
		for (unsigned int column = 0; column < p->map->axis->columns; column++) {
			uint64_t n = p->map->cells[column][row];

			if (!n)
				continue;
			p->low = any ? p->low : row;
			p->high = row;
			any = true;
			p->most = n > p->most ? n : p->most;
		}
	}
	/* Some room, and from one label to another. */
	p->low -= p->low > 0;
	while (p->high - p->low + 1 < LEAST_ROWS && p->high < HEATMAP_ROWS - 1) {
		p->high++;
		p->low -= p->low > 0;
	}
	p->low = p->low / 2 * 2;
	p->powers = log2_of(p->most) / COLORS + 1;
}

static void write_legend(FILE *out, const struct picture *p)
{
	unsigned int colors = log2_of(p->most) / p->powers + 1;
	int x = PLOT_RIGHT - (int)colors * 3 * SWATCH;
	char from[HUMAN_LEN];

	if (!p->most) {
		fprintf(out, "<text x=\"%d\" y=\"11\" class=\"y\">no latency is known</text>\n",
			PLOT_RIGHT);
		return;
	}
	fprintf(out, "<text x=\"%d\" y=\"11\" class=\"y\">operations in a cell:</text>\n", x - 6);
	for (unsigned int i = 0; i < colors; i++) {
		fprintf(out, "<rect x=\"%d\" y=\"1\" width=\"%d\" height=\"%d\" class=\"h%u\"/>"
			"<text x=\"%d\" y=\"11\">%s%s</text>\n", x, SWATCH, SWATCH, i,
			x + SWATCH + 2, human_bytes(1ULL << i * p->powers, from),
			i == colors - 1 && p->most > 1 ? "+" : "");
		x += 3 * SWATCH;
	}
}

static void write_cells(FILE *out, const struct picture *p)
{
	char from[HUMAN_LEN], to[HUMAN_LEN];

	for (unsigned int column = 0; column < p->map->axis->columns; column++) {
		for (unsigned int row = p->low; row <= p->high; row++) {
			uint64_t n = p->map->cells[column][row];

			if (!n)
				continue;
			fprintf(out, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" "
				"class=\"h%u\"><title>%" PRIu64 ": %s ",
				column_x(p->map, column), CAPTION + (p->high - row) * CELL_HEIGHT,
				column_width(p->map), CELL_HEIGHT, log2_of(n) / p->powers, n,
				axis_duration(heatmap_row_begin(row), from));
			if (row < HEATMAP_ROWS - 1)
				fprintf(out, "- %s</title></rect>\n",
					axis_duration(heatmap_row_begin(row + 1), to));
			else
				fputs("or longer</title></rect>\n", out);
		}
	}
}

static void write_grid_line(FILE *out, double y, const char *label)
{
	fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
		"<text x=\"%d\" y=\"%.1f\" class=\"y\">%s</text>\n", LEFT - 4, PLOT_RIGHT, y, y,
		LEFT - 8, y + 4, label);
}

static void write_latency_axis(FILE *out, const struct picture *p)
{
	/* 1, 2 and 5 times a power of ten are every other row. */
	unsigned int every = p->high - p->low + 1 > ROWS_ALL_LABELS ? 6 : 2;
	char text[HUMAN_LEN];

	for (unsigned int row = p->low; row <= p->high + 1 && row < HEATMAP_ROWS; row++) {
		if (row % every == 0 && row)
			write_grid_line(out, CAPTION + (p->high + 1.0 - row) * CELL_HEIGHT,
					axis_duration(heatmap_row_begin(row), text));
	}
}

static void write_bar(FILE *out, double x, double width, double bottom, double height,
		      const char *class)
{
	fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>",
		x, bottom - height, width, height, class);
}

/* How many, from when on, and what was moved. */
static void write_bar_title(FILE *out, const struct heatmap *map, unsigned int column)
{
	uint64_t at = map->axis->begin_ns + column * map->axis->column_ns;
	char bytes[HUMAN_LEN], clock[HUMAN_LEN], length[HUMAN_LEN];

	fprintf(out, "<title>%" PRIu64 " operations in %s from %s on, %s",
		map->ops[column], axis_duration(map->axis->column_ns, length),
		page_clock(&map->axis->zone, at, map->axis->column_ns % NSEC_PER_SEC ? 4 : 0,
			   clock),
		human_bytes(map->bytes[column], bytes));
	if (map->failed[column])
		fprintf(out, ", %" PRIu64 " failed", map->failed[column]);
	fputs("</title>", out);
}

/* Operations per second; where a second is far more than all of it, per column. */
static void write_rate(FILE *out, const struct heatmap *map, double y)
{
	bool per_second = map->axis->column_ns >= LEAST_RATE_NS;
	double unit = per_second ? (double)map->axis->column_ns / (double)NSEC_PER_SEC : 1;
	double width = column_width(map), bottom = y + RATE_HEIGHT, scale, most = 0;
	uint64_t step, top;
	char text[HUMAN_LEN];

	for (unsigned int i = 0; i < map->axis->columns; i++) {
		if ((double)map->ops[i] / unit > most)
			most = (double)map->ops[i] / unit;
	}
	step = axis_step((uint64_t)(most / 3) + 1);
	top = ((uint64_t)most + step - 1) / step * step;
	if ((double)top < most || !top)
		top += step;
	scale = RATE_HEIGHT / (double)top;
	fprintf(out, "<text x=\"%d\" y=\"%.1f\">operations per %s</text>\n", LEFT, y - 6,
		per_second ? "second" : axis_duration(map->axis->column_ns, text));
	for (uint64_t n = 0; n <= top; n += step)
		write_grid_line(out, bottom - (double)n * scale, axis_number(n, text));
	for (unsigned int i = 0; i < map->axis->columns; i++) {
		double failed = (double)map->failed[i] / unit * scale;

		if (!map->ops[i])
			continue;
		fputs("<g>", out);
		write_bar(out, column_x(map, i), width - 1, bottom,
			  (double)map->ops[i] / unit * scale, "rate");
		/* One of thousands is to be seen, too. */
		if (map->failed[i])
			write_bar(out, column_x(map, i), width - 1, bottom,
				  failed < 3 ? 3 : failed, "failed");
		write_bar_title(out, map, i);
		fputs("</g>\n", out);
	}
}

/* Digits of a second that a label needs; -1: none, nor seconds. */
static int label_digits(uint64_t step_ns)
{
	int digits = 0;

	if (step_ns % (60 * NSEC_PER_SEC) == 0)
		return -1;
	for (uint64_t unit = NSEC_PER_SEC; step_ns % unit; unit /= 10)
		digits++;
	return digits;
}

static void write_time_axis(FILE *out, const struct heatmap *map, double top, double y)
{
	const struct page_axis *axis = map->axis;
	uint64_t width_ns = axis->columns * axis->column_ns, end_ns = axis->begin_ns + width_ns;
	uint64_t step_ns = axis_time_step((width_ns + TIME_LABELS - 1) / TIME_LABELS);
	char text[HUMAN_LEN], date[HUMAN_LEN], before[HUMAN_LEN] = "";
	int digits = label_digits(step_ns);

	for (uint64_t at = page_axis_tick(axis, axis->begin_ns, step_ns); at <= end_ns;
	     at += step_ns) {
		double x = column_x(map, (double)(at - axis->begin_ns) / (double)axis->column_ns);

		fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text x=\"%.1f\" y=\"%.1f\" class=\"x\">%s</text>\n", x, x, top, y + 4,
			x, y + 15, page_clock(&axis->zone, at, digits, text));
		/* The date where it is another one, and the zone with the first. */
		page_date(&axis->zone, at, date);
		if (strcmp(date, before) != 0)
			fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"x\">%s%s%s</text>\n", x,
				y + 28, date, *before ? "" : ", ", *before ? "" : axis->zone.name);
		memcpy(before, date, sizeof(before));
	}
}

void heatmap_write(FILE *out, const struct heatmap *map)
{
	struct picture p = { .map = map };
	double rate_y, bottom;

	choose_rows(&p);
	bottom = CAPTION + (p.high - p.low + 1.0) * CELL_HEIGHT;
	rate_y = bottom + GAP + CAPTION;
	fprintf(out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\">\n"
		"<text x=\"%d\" y=\"11\">latency (total)</text>\n", WIDTH,
		rate_y + RATE_HEIGHT + TIME_HEIGHT, LEFT);
	write_time_axis(out, map, CAPTION, rate_y + RATE_HEIGHT);
	write_latency_axis(out, &p);
	write_legend(out, &p);
	write_cells(out, &p);
	write_rate(out, map, rate_y);
	fputs("</svg>\n", out);
}
