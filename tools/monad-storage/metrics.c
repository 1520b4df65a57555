// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "disk.h"
#include "event.h"
#include "metrics.h"
#include "monad_storage.h"
#include "pins.h"
#include "printable.h"
#include "tables.h"

const char *metrics_op_name(uint32_t op)
{
	return op == MONAD_STORAGE_OP_CACHE_FLUSH ? "cache_flush" : op_name(op);
}

/* The disk's name of today, so that it is the one other tools show. */
static void name_disk(struct metrics_series *s, const char *noted)
{
	char number[32];

	if (!s->dev) {
		snprintf(s->disk, sizeof(s->disk), "none");
		return;
	}
	disk_name(s->dev, s->disk, sizeof(s->disk));
	snprintf(number, sizeof(number), "%u:%u", s->dev >> 20, s->dev & 0xfffff);
	if (!strcmp(s->disk, number) && *noted)
		printable(s->disk, sizeof(s->disk), noted);
}

static int compare_series(const void *a, const void *b)
{
	const struct metrics_series *x = a, *y = b;
	int diff = strverscmp(x->disk, y->disk);

	if (!diff)
		diff = (x->dev > y->dev) - (x->dev < y->dev);
	return diff ? diff : (int)x->op - (int)y->op;
}

/* What is no operation is kept apart. */
static void part_throttles(struct metrics *metrics)
{
	size_t kept = 0;

	metrics->throttles = xcalloc(metrics->nr_series + 1, sizeof(*metrics->throttles));
	for (size_t i = 0; i < metrics->nr_series; i++) {
		if (metrics->series[i].op == MONAD_STORAGE_OP_THROTTLE)
			metrics->throttles[metrics->nr_throttles++] = metrics->series[i];
		else
			metrics->series[kept++] = metrics->series[i];
	}
	metrics->nr_series = kept;
}

static int read_series(struct metrics *metrics, unsigned int shards)
{
	struct table series = {}, counters = {};
	size_t at = 0, room = 0;
	uint64_t key;
	int err;

	err = table_open(&series, "series_keys", "series", sizeof(struct monad_storage_series), 1);
	if (!err)
		err = table_open(&counters, "series_keys", "metrics",
				 sizeof(struct monad_storage_metrics), shards);
	if (!err && !counters.behind)
		err = -EPROTO;
	while (!err && (key = table_next(&counters, &at))) {
		const struct monad_storage_series *noted = table_entry(&series, at - 1);
		char name[sizeof(noted->disk)];
		struct metrics_series *s;

		if (metrics->nr_series == room) {
			room = room * 2 + 16;
			metrics->series = xrealloc(metrics->series, room * sizeof(*s));
		}
		s = &metrics->series[metrics->nr_series++];
		memset(s, 0, sizeof(*s));
		s->dev = MONAD_STORAGE_SERIES_DEV(key);
		s->op = MONAD_STORAGE_SERIES_OP(key);
		s->bio_based = noted->bio_based;
		memcpy(name, noted->disk, sizeof(name));
		name[sizeof(name) - 1] = '\0';
		name_disk(s, name);
		table_sum(&counters, at - 1, &s->sum);
	}
	if (!err)
		table_sum(&counters, counters.nr, &metrics->unknown);
	table_close(&series);
	table_close(&counters);
	if (metrics->nr_series)
		qsort(metrics->series, metrics->nr_series, sizeof(*metrics->series),
		      compare_series);
	part_throttles(metrics);
	return err;
}

static int compare_cgroups(const void *a, const void *b)
{
	const struct metrics_cgroup *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static void read_living_cgroups(struct metrics *metrics, const struct table *table, size_t *room)
{
	size_t at = 0;
	uint64_t key;

	metrics->nr_cgroups = 0;
	while ((key = table_next(table, &at))) {
		if (metrics->nr_cgroups == *room) {
			*room = *room * 2 + 16;
			metrics->cgroups = xrealloc(metrics->cgroups,
						    *room * sizeof(*metrics->cgroups));
		}
		metrics->cgroups[metrics->nr_cgroups].id = key;
		table_sum(table, at - 1, &metrics->cgroups[metrics->nr_cgroups++].sum);
	}
}

static int read_cgroups(struct metrics *metrics, unsigned int shards)
{
	struct monad_storage_cgroup gone;
	struct table table;
	size_t room = 0;
	int tries = 8;
	int err;

	err = table_open(&table, "cgroup_keys", "cgroups", sizeof(struct monad_storage_cgroup),
			 shards);
	if (!err && table.behind < 2)
		err = -EPROTO;
	if (err)
		goto out;
	/* One that goes meanwhile would be in both, or in neither. */
	table_sum(&table, table.nr + 1, &metrics->gone_cgroups);
	do {
		gone = metrics->gone_cgroups;
		read_living_cgroups(metrics, &table, &room);
		table_sum(&table, table.nr + 1, &metrics->gone_cgroups);
	} while (memcmp(&gone, &metrics->gone_cgroups, sizeof(gone)) != 0 && --tries);
	table_sum(&table, table.nr, &metrics->unknown_cgroup);
out:
	table_close(&table);
	if (metrics->nr_cgroups)
		qsort(metrics->cgroups, metrics->nr_cgroups, sizeof(*metrics->cgroups),
		      compare_cgroups);
	return err;
}

static int compare_errors(const void *a, const void *b)
{
	const struct metrics_error *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	return (int)x->error - (int)y->error;
}

static int read_errors(struct metrics *metrics)
{
	size_t at = 0, room = 0;
	struct table table;
	uint64_t key;
	int err;

	err = table_open(&table, "error_keys", "errors", sizeof(uint64_t), 1);
	if (!err && !table.behind)
		err = -EPROTO;
	while (!err && (key = table_next(&table, &at))) {
		struct metrics_error *e;

		if (metrics->nr_errors == room) {
			room = room * 2 + 16;
			metrics->errors = xrealloc(metrics->errors, room * sizeof(*e));
		}
		e = &metrics->errors[metrics->nr_errors++];
		e->dev = MONAD_STORAGE_SERIES_DEV(key);
		e->op = MONAD_STORAGE_SERIES_OP(key);
		e->error = MONAD_STORAGE_ERROR_ERRNO(key);
		table_sum(&table, at - 1, &e->count);
	}
	if (!err)
		table_sum(&table, table.nr, &metrics->unknown_errors);
	table_close(&table);
	if (metrics->nr_errors)
		qsort(metrics->errors, metrics->nr_errors, sizeof(*metrics->errors),
		      compare_errors);
	return err;
}

int metrics_read(struct metrics *metrics)
{
	struct monad_storage_session session;
	int err;

	memset(metrics, 0, sizeof(*metrics));
	err = pins_read_session(&session);
	if (err)
		return err;
	metrics->taken_ns = clock_ns(CLOCK_MONOTONIC);
	metrics->started_ns = session.started_ns;
	err = read_series(metrics, session.shards);
	if (!err)
		err = read_cgroups(metrics, session.shards);
	if (!err)
		err = read_errors(metrics);
	if (err)
		metrics_free(metrics);
	return err;
}

void metrics_free(struct metrics *metrics)
{
	free(metrics->series);
	free(metrics->throttles);
	free(metrics->cgroups);
	free(metrics->errors);
	memset(metrics, 0, sizeof(*metrics));
}

int metrics_read_or_complain(struct metrics *metrics)
{
	int err = metrics_read(metrics);

	if (err)
		pins_complain(err);
	return err;
}

static void *copy(const void *from, size_t n, size_t size)
{
	void *to = xcalloc(n ? n : 1, size);

	if (n)
		memcpy(to, from, n * size);
	return to;
}

static void subtract(void *from, const void *what, size_t size)
{
	const uint64_t *before = what;
	uint64_t *now = from;

	for (size_t i = 0; i < size / sizeof(*now); i++)
		now[i] -= before[i];
}

/* There are few of them. */
static void subtract_series(struct metrics_series *series, size_t nr,
			    const struct metrics_series *before, size_t nr_before)
{
	for (size_t i = 0; i < nr; i++) {
		for (size_t old = 0; old < nr_before; old++) {
			if (before[old].dev == series[i].dev && before[old].op == series[i].op)
				subtract(&series[i].sum, &before[old].sum, sizeof(series[i].sum));
		}
	}
}

static const struct metrics_error *old_error(const struct metrics *before,
					     const struct metrics_error *e)
{
	return bsearch(e, before->errors, before->nr_errors, sizeof(*e), compare_errors);
}

/* One that comes again with the same id after it was gone cannot have fewer. */
static const struct metrics_cgroup *old_cgroup(const struct metrics *before,
					       const struct metrics_cgroup *c)
{
	return bsearch(c, before->cgroups, before->nr_cgroups, sizeof(*c), compare_cgroups);
}

void metrics_since(struct metrics *since, const struct metrics *now, const struct metrics *before)
{
	*since = *now;
	since->series = copy(now->series, now->nr_series, sizeof(*now->series));
	since->throttles = copy(now->throttles, now->nr_throttles, sizeof(*now->throttles));
	since->cgroups = copy(now->cgroups, now->nr_cgroups, sizeof(*now->cgroups));
	since->errors = copy(now->errors, now->nr_errors, sizeof(*now->errors));
	if (now->started_ns != before->started_ns)
		return;
	subtract_series(since->series, since->nr_series, before->series, before->nr_series);
	subtract_series(since->throttles, since->nr_throttles, before->throttles,
			before->nr_throttles);
	for (size_t i = 0; i < since->nr_cgroups; i++) {
		struct metrics_cgroup *c = &since->cgroups[i];
		const struct metrics_cgroup *old = old_cgroup(before, c);

		if (old)
			subtract(&c->sum, &old->sum, sizeof(c->sum));
	}
	for (size_t i = 0; i < since->nr_errors; i++) {
		struct metrics_error *e = &since->errors[i];
		const struct metrics_error *old = old_error(before, e);

		if (old)
			e->count -= old->count;
	}
	subtract(&since->unknown, &before->unknown, sizeof(since->unknown));
	subtract(&since->unknown_cgroup, &before->unknown_cgroup, sizeof(since->unknown_cgroup));
	subtract(&since->gone_cgroups, &before->gone_cgroups, sizeof(since->gone_cgroups));
	since->unknown_errors -= before->unknown_errors;
}
