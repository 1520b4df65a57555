// SPDX-License-Identifier: GPL-2.0
#include "heatmap.h"
#include "monad_storage.h"

/* Ten times where the rows of a power of ten begin. */
static const unsigned int row_tenths[] = { 10, 15, 20, 30, 50, 70 };

#define ROWS_PER_DECADE ARRAY_SIZE(row_tenths)

uint64_t heatmap_row_begin(unsigned int row)
{
	uint64_t tenths = row_tenths[row % ROWS_PER_DECADE];

	if (!row)
		return 0;
	for (unsigned int i = 0; i < row / ROWS_PER_DECADE; i++)
		tenths *= 10;
	/* Times are whole numbers: from 1.5 ns on is from 2 ns on. */
	return (tenths + 9) / 10;
}

static unsigned int row_of(uint64_t ns)
{
	unsigned int low = 0, high = HEATMAP_ROWS;

	/* The last one that begins at or before it. */
	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (heatmap_row_begin(middle) <= ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void heatmap_add(struct heatmap *map, uint64_t end_ns, uint64_t latency_ns, uint64_t bytes,
		 int failed)
{
	int column = page_axis_column(map->axis, end_ns);

	if (column < 0)
		return;
	if (latency_ns)
		map->cells[column][row_of(latency_ns)]++;
	map->ops[column]++;
	map->bytes[column] += bytes;
	map->failed[column] += !!failed;
	map->total++;
}
