/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Latencies over time, as a picture: time from left to right, latency from bottom to top,
 * a cell the darker the more operations it has.
 */
#ifndef MONAD_STORAGE_HEATMAP_H
#define MONAD_STORAGE_HEATMAP_H

#include <stdint.h>
#include <stdio.h>

#define HEATMAP_COLUMNS 120
/* Two for each power of two, up to 2^40 ns. */
#define HEATMAP_ROWS 82

struct heatmap {
	uint64_t begin_ns, end_ns; /* of the picture */
	uint64_t cells[HEATMAP_COLUMNS][HEATMAP_ROWS];
	uint64_t ops[HEATMAP_COLUMNS];
	uint64_t bytes[HEATMAP_COLUMNS];
	uint64_t failed[HEATMAP_COLUMNS];
	uint64_t total;
};

void heatmap_add(struct heatmap *map, uint64_t end_ns, uint64_t latency_ns, uint64_t bytes,
		 int failed);

/* As SVG, with axes, and below it operations per second. */
void heatmap_write(FILE *out, const struct heatmap *map);

#endif /* MONAD_STORAGE_HEATMAP_H */
