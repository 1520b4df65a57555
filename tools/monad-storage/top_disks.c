// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "monad_storage.h"
#include "pins.h"
#include "top.h"

static void add(struct monad_storage_metrics *to, const struct monad_storage_metrics *from)
{
	const uint64_t *what = (const void *)from;
	uint64_t *sum = (void *)to;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*sum); i++)
		sum[i] += what[i];
}

static struct disk_row *find_row(struct shown *shown, const char *disk)
{
	for (size_t i = 0; i < shown->nr_disks; i++) {
		if (!strcmp(shown->disks[i].disk, disk))
			return &shown->disks[i];
	}
	return NULL;
}

/* Also of disks on which nothing ever ended: they may be those that hang. */
static void count_inflight(const struct top *top, struct shown *shown)
{
	struct inflight_device *devices;
	size_t n;

	if (pins_inflight_by_device(top->filter.ops, &devices, &n))
		return;
	shown->disks = xrealloc(shown->disks, (shown->nr_disks + n + 1) * sizeof(*shown->disks));
	for (size_t i = 0; i < n; i++) {
		char name[sizeof(shown->disks->disk)];
		struct disk_row *row;

		disk_name(devices[i].dev, name, sizeof(name));
		row = find_row(shown, name);
		if (!row) {
			row = &shown->disks[shown->nr_disks];
			memset(row, 0, sizeof(*row));
			row->dev = devices[i].dev;
			memcpy(row->disk, name, sizeof(row->disk));
			if (!series_filter_disk(&top->filter, row->dev, row->disk))
				continue;
			shown->nr_disks++;
		}
		row->inflight += devices[i].waiting + devices[i].queued + devices[i].issued +
				 devices[i].bios;
	}
	free(devices);
}

void top_gather_disks(const struct top *top, const struct metrics *metrics, struct shown *shown)
{
	struct disk_row *row = NULL;

	shown->disks = xcalloc(metrics->nr_series + 1, sizeof(*row));
	shown->nr_disks = 0;
	for (size_t i = 0; i < metrics->nr_series; i++) {
		const struct metrics_series *s = &metrics->series[i];

		/* The device's own flushes are nobody's operation. */
		if (s->op == MONAD_STORAGE_OP_CACHE_FLUSH ||
		    !series_filter(&top->filter, s->dev, s->disk, s->op))
			continue;
		/* They are in the order of their disks. */
		if (!row || strcmp(row->disk, s->disk) != 0) {
			row = &shown->disks[shown->nr_disks++];
			row->dev = s->dev;
			snprintf(row->disk, sizeof(row->disk), "%s", s->disk);
		}
		row->ops[monad_storage_direction(s->op)] += s->sum.ops;
		row->bytes[monad_storage_direction(s->op)] += s->sum.bytes;
		add(&row->sum, &s->sum);
	}
	count_inflight(top, shown);
}
