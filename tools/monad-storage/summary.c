// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "monad_storage.h"
#include "summary_data.h"

struct summary *summary_new(void)
{
	struct summary *summary = xcalloc(1, sizeof(*summary));

	summary->actors_size = 1024;
	summary->actors = xcalloc(summary->actors_size, sizeof(*summary->actors));
	return summary;
}

void summary_free(struct summary *summary)
{
	for (unsigned int i = 0; i < summary->nr_rows; i++)
		free(summary->rows[i]);
	free(summary->rows);
	event_disks_free(&summary->disks);
	free(summary->actors);
	free(summary);
}

/* There are few: a handful of operations on as many devices as there are. */
static struct summary_row *find_row(struct summary *summary, uint32_t dev, const char *disk,
				    unsigned int op, unsigned int type)
{
	bool cache_flush = type == MONAD_STORAGE_FLUSH_COMPLETE;
	struct summary_row *row;

	for (unsigned int i = 0; i < summary->nr_rows; i++) {
		row = summary->rows[i];
		if (row->dev == dev && row->op == op && row->cache_flush == cache_flush &&
		    !strcmp(row->disk, disk))
			return row;
	}
	row = xcalloc(1, sizeof(*row));
	row->dev = dev;
	snprintf(row->disk, sizeof(row->disk), "%s", disk);
	row->op = op;
	row->cache_flush = cache_flush;
	row->bio_based = type == MONAD_STORAGE_BIO_COMPLETE;
	summary->rows = xrealloc(summary->rows,
				 (summary->nr_rows + 1) * sizeof(struct summary_row *));
	summary->rows[summary->nr_rows++] = row;
	return row;
}

static struct summary_actor *actor_slot(struct summary_actor *actors, unsigned int size,
					uint32_t tgid, const char *comm)
{
	uint32_t hash = tgid * 2654435761U;

	for (const char *p = comm; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619U;
	for (unsigned int i = hash & (size - 1);; i = (i + 1) & (size - 1)) {
		struct summary_actor *actor = &actors[i];

		if (!actor->ops || (actor->tgid == tgid && !strcmp(actor->comm, comm)))
			return actor;
	}
}

static struct summary_actor *find_actor(struct summary *summary, uint32_t tgid, const char *comm)
{
	struct summary_actor *actor;

	if (summary->nr_actors >= summary->actors_size / 2) {
		unsigned int size = summary->actors_size * 2;
		struct summary_actor *grown = xcalloc(size, sizeof(*grown));

		for (unsigned int i = 0; i < summary->actors_size; i++) {
			struct summary_actor *old = &summary->actors[i];

			if (old->ops)
				*actor_slot(grown, size, old->tgid, old->comm) = *old;
		}
		free(summary->actors);
		summary->actors = grown;
		summary->actors_size = size;
	}
	actor = actor_slot(summary->actors, summary->actors_size, tgid, comm);
	if (!actor->ops) {
		actor->tgid = tgid;
		snprintf(actor->comm, sizeof(actor->comm), "%s", comm);
		summary->nr_actors++;
	}
	return actor;
}

static void add_actor(struct summary *summary, const struct monad_storage_complete *c)
{
	struct summary_actor *actor = find_actor(summary, c->tgid, c->comm);

	actor->kthread = c->flags & MONAD_STORAGE_F_KTHREAD;
	actor->ops++;
	actor->bytes += c->bytes;
	actor->errors += c->error != 0;
	actor->wait_ns += c->total_ns;
	if (c->total_ns > actor->max_ns)
		actor->max_ns = c->total_ns;
}

void summary_add(struct summary *summary, const struct storage_event *event)
{
	const struct monad_storage_complete *c = &event->complete;
	unsigned int type = event->desc.event_type;
	struct summary_row *row;

	if (!event->is_complete)
		return;
	row = find_row(summary, DISK_DEV(c->dev_major, c->dev_minor),
		       event_disk_name(&summary->disks, event), c->op, type);
	row->ops++;
	row->bytes += c->bytes;
	row->errors += c->error != 0;
	row->timeouts += !!(c->flags & MONAD_STORAGE_F_TIMED_OUT);
	row->requeues += c->requeues_issued + c->requeues_unissued;
	row->orphans += !!(c->flags & MONAD_STORAGE_F_ORPHAN);
	if (c->flags & MONAD_STORAGE_F_IO_STAT || row->cache_flush) {
		row->counted_ops++;
		row->counted_sectors += c->bytes / 512;
	}
	if (c->flags & MONAD_STORAGE_F_QUEUE_NS)
		histogram_add(&row->times[PHASE_QUEUE], c->queue_ns);
	if (c->flags & MONAD_STORAGE_F_DEVICE_NS)
		histogram_add(&row->times[PHASE_DEVICE], c->device_ns);
	if (c->flags & MONAD_STORAGE_F_TOTAL_NS)
		histogram_add(&row->times[PHASE_TOTAL], c->total_ns);

	if (!summary->first_ns || event->desc.record_epoch_nanos < summary->first_ns)
		summary->first_ns = event->desc.record_epoch_nanos;
	if (event->desc.record_epoch_nanos > summary->last_ns)
		summary->last_ns = event->desc.record_epoch_nanos;
	if (!row->cache_flush) {
		summary->ops++;
		add_actor(summary, c);
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct summary_row *x = *(const struct summary_row *const *)a;
	const struct summary_row *y = *(const struct summary_row *const *)b;
	int diff = strcmp(x->disk, y->disk);

	if (!diff)
		diff = (x->dev > y->dev) - (x->dev < y->dev);
	if (!diff)
		diff = x->op - y->op;
	return diff ? diff : x->cache_flush - y->cache_flush;
}

struct summary_row **summary_sorted_rows(const struct summary *summary)
{
	struct summary_row **rows = xcalloc(summary->nr_rows + 1, sizeof(struct summary_row *));

	if (summary->nr_rows)
		memcpy(rows, summary->rows, summary->nr_rows * sizeof(struct summary_row *));
	qsort(rows, summary->nr_rows, sizeof(struct summary_row *), compare_rows);
	return rows;
}

static int compare_actors(const void *a, const void *b)
{
	const struct summary_actor *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	return (x->ops < y->ops) - (x->ops > y->ops);
}

struct summary_actor *summary_sorted_actors(const struct summary *summary)
{
	struct summary_actor *actors = xcalloc(summary->nr_actors + 1, sizeof(*actors));
	unsigned int n = 0;

	for (unsigned int i = 0; i < summary->actors_size; i++) {
		if (summary->actors[i].ops)
			actors[n++] = summary->actors[i];
	}
	qsort(actors, n, sizeof(*actors), compare_actors);
	return actors;
}

/*
 * The kernel's op_stat_group() and blk_account_io_done(): a caller's flush is a
 * write of no sectors, the device's flush is a flush, passthrough is nothing,
 * and whatever writes and is no discard is a write.
 */
void summary_diskstats(const struct summary *summary, const char *disk, struct diskstats *stats)
{
	memset(stats, 0, sizeof(*stats));
	for (unsigned int i = 0; i < summary->nr_rows; i++) {
		const struct summary_row *row = summary->rows[i];

		if (row->bio_based || !row->dev || strcmp(row->disk, disk) != 0)
			continue;
		if (row->cache_flush) {
			stats->flushes += row->counted_ops;
			continue;
		}
		switch (row->op) {
		case MONAD_STORAGE_OP_DRV_IN:
		case MONAD_STORAGE_OP_DRV_OUT:
			break;
		case MONAD_STORAGE_OP_READ:
		case MONAD_STORAGE_OP_OTHER:
			stats->reads += row->counted_ops;
			stats->read_sectors += row->counted_sectors;
			break;
		case MONAD_STORAGE_OP_DISCARD:
			stats->discards += row->counted_ops;
			stats->discarded_sectors += row->counted_sectors;
			break;
		default:
			stats->writes += row->counted_ops;
			stats->written_sectors += row->counted_sectors;
		}
	}
}
