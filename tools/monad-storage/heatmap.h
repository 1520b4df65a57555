/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Latencies over time, as a picture: time from left to right, latency from bottom to top,
 * a cell the darker the more operations it has.
 */
#ifndef MONAD_STORAGE_HEATMAP_H
#define MONAD_STORAGE_HEATMAP_H

#include <stdint.h>
#include <stdio.h>

#include "page_time.h"

/* Six for each power of ten: from 1, 1.5, 2, 3, 5 and 7 times it on. Up to 10^13 ns. */
#define HEATMAP_ROWS 78

struct heatmap {
	const struct page_axis *axis; /* of the page; it has to stay */
	uint64_t cells[PAGE_COLUMNS][HEATMAP_ROWS];
	uint64_t ops[PAGE_COLUMNS];
	uint64_t bytes[PAGE_COLUMNS];
	uint64_t failed[PAGE_COLUMNS];
	uint64_t total;
};

/* @latency_ns: 0 if it is not known. What is at no time of the axis is left out. */
void heatmap_add(struct heatmap *map, uint64_t end_ns, uint64_t latency_ns, uint64_t bytes,
		 int failed);

/* Where a row begins, ns. */
uint64_t heatmap_row_begin(unsigned int row);

/* As SVG, with axes, and below it operations over time. The page has heatmap_style. */
void heatmap_write(FILE *out, const struct heatmap *map);

/* CSS of it, for a light and a dark page. */
extern const char heatmap_style[];

#endif /* MONAD_STORAGE_HEATMAP_H */
