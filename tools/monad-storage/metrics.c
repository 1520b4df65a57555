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

/* What the maps have of a series: its place in them is its place here. */
struct noted {
	uint64_t key; /* 0: there is none here */
	struct metrics_series *to; /* what it is added to */
	char disk[32];
	uint64_t diskseq;
	bool bio_based;
};

/* As sysfs has it, which knows no "/", and printable. */
static void take_name(char *to, size_t size, const struct monad_storage_disk_name *name)
{
	char text[sizeof(name->text)];

	memcpy(text, name->text, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (char *p = text; *p; p++) {
		if (*p == '/')
			*p = '!';
	}
	printable(to, size, text);
}

/*
 * Series that began without their disk have the name of another one of it. What never came
 * with a disk is a number's: no disk that has it today need be the one.
 */
static void name_nameless(struct noted *noted, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct noted *n = &noted[i];
		uint32_t dev = MONAD_STORAGE_SERIES_DEV(n->key);

		if (!n->key || *n->disk)
			continue;
		for (size_t k = 0; k < nr && !*n->disk; k++) {
			const struct noted *of = &noted[k];

			if (*of->disk && MONAD_STORAGE_SERIES_NAME(n->key) &&
			    MONAD_STORAGE_SERIES_DISK(of->key) ==
				    MONAD_STORAGE_SERIES_DISK(n->key)) {
				memcpy(n->disk, of->disk, sizeof(n->disk));
				n->bio_based = of->bio_based;
			}
		}
		if (!*n->disk && !dev)
			snprintf(n->disk, sizeof(n->disk), "none");
		else if (!*n->disk)
			snprintf(n->disk, sizeof(n->disk), "%u:%u", dev >> 20, dev & 0xfffff);
	}
}

/* One of them, where they are put in another order. */
struct place {
	struct noted *of;
};

static int compare_places(const void *a, const void *b)
{
	const struct noted *x = ((const struct place *)a)->of;
	const struct noted *y = ((const struct place *)b)->of;
	int diff = strverscmp(x->disk, y->disk);

	if (!diff)
		diff = strcmp(x->disk, y->disk);
	if (!diff)
		diff = (int)MONAD_STORAGE_SERIES_OP(x->key) - (int)MONAD_STORAGE_SERIES_OP(y->key);
	return diff ? diff : (x->diskseq > y->diskseq) - (x->diskseq < y->diskseq);
}

static bool is_called(uint32_t dev, const char *disk)
{
	char name[sizeof(((struct noted *)NULL)->disk)];

	disk_name(dev, name, sizeof(name));
	return !strcmp(name, disk);
}

static void add_words(void *to, const void *from, size_t size)
{
	const uint64_t *what = from;
	uint64_t *sum = to;

	for (size_t i = 0; i < size / sizeof(*sum); i++)
		sum[i] += what[i];
}

/*
 * A disk that went and came back under its name, with another number, is one; what another
 * with its number had is not among it.
 */
static void fold_series(struct metrics *metrics, struct noted *all, size_t nr,
			const struct table *counters)
{
	struct place *order = xcalloc(nr + 1, sizeof(*order));
	struct monad_storage_metrics sum;
	size_t used = 0;

	for (size_t i = 0; i < nr; i++) {
		if (all[i].key)
			order[used++].of = &all[i];
	}
	if (used)
		qsort(order, used, sizeof(*order), compare_places);
	metrics->series = xcalloc(used + 1, sizeof(*metrics->series));
	for (size_t i = 0; i < used; i++) {
		const uint32_t dev = MONAD_STORAGE_SERIES_DEV(order[i].of->key);
		const uint32_t op = MONAD_STORAGE_SERIES_OP(order[i].of->key);
		struct metrics_series *s = &metrics->series[metrics->nr_series];

		if (metrics->nr_series && s[-1].op == op &&
		    !strcmp(s[-1].disk, order[i].of->disk)) {
			s--;
		} else {
			metrics->nr_series++;
			memcpy(s->disk, order[i].of->disk, sizeof(s->disk));
			s->op = op;
			s->dev = dev;
		}
		if (s->dev != dev && !is_called(s->dev, s->disk))
			s->dev = dev;
		s->diskseq = order[i].of->diskseq;
		s->bio_based |= order[i].of->bio_based;
		table_sum(counters, order[i].of - all, &sum);
		add_words(&s->sum, &sum, sizeof(sum));
		order[i].of->to = s;
	}
	free(order);
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

/* @noted: of all places in the table, of which there are @nr; free() it. */
static int read_series(struct metrics *metrics, unsigned int shards, struct noted **noted,
		       size_t *nr)
{
	struct table series = {}, counters = {};
	size_t at = 0;
	uint64_t key;
	int err;

	*noted = NULL;
	*nr = 0;
	err = table_open(&series, "series_keys", "series", sizeof(struct monad_storage_series), 1);
	if (!err)
		err = table_open(&counters, "series_keys", "metrics",
				 sizeof(struct monad_storage_metrics), shards);
	if (!err && !counters.behind)
		err = -EPROTO;
	if (err)
		goto out;
	*nr = series.nr;
	*noted = xcalloc(*nr + 1, sizeof(**noted));
	while ((key = table_next(&series, &at))) {
		const struct monad_storage_series *from = table_entry(&series, at - 1);
		struct noted *n = &(*noted)[at - 1];

		n->key = key;
		n->diskseq = from->diskseq;
		n->bio_based = from->bio_based;
		take_name(n->disk, sizeof(n->disk), &from->disk);
	}
	name_nameless(*noted, *nr);
	fold_series(metrics, *noted, *nr, &counters);
	table_sum(&counters, counters.nr, &metrics->unknown);
out:
	table_close(&series);
	table_close(&counters);
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
	int diff = strverscmp(x->disk, y->disk);

	if (!diff)
		diff = strcmp(x->disk, y->disk);
	if (!diff)
		diff = (int)x->op - (int)y->op;
	return diff ? diff : (int)x->error - (int)y->error;
}

/* Those of disks that had the same name, one after the other. */
static void fold_errors(struct metrics *metrics)
{
	struct metrics_error *errors = metrics->errors;
	size_t kept = 0;

	if (metrics->nr_errors)
		qsort(errors, metrics->nr_errors, sizeof(*errors), compare_errors);
	for (size_t i = 0; i < metrics->nr_errors; i++) {
		if (kept && !compare_errors(&errors[kept - 1], &errors[i]))
			errors[kept - 1].count += errors[i].count;
		else
			errors[kept++] = errors[i];
	}
	metrics->nr_errors = kept;
}

static int read_errors(struct metrics *metrics, const struct noted *noted, size_t nr)
{
	size_t at = 0, room = 0;
	struct table table;
	uint64_t key;
	int err;

	err = table_open(&table, "error_keys", "errors", sizeof(uint64_t), 1);
	if (!err && !table.behind)
		err = -EPROTO;
	while (!err && (key = table_next(&table, &at))) {
		const uint32_t place = MONAD_STORAGE_ERROR_SERIES(key);
		struct metrics_error *e;

		/* The first of a series that was not there yet when those were read. */
		if (place >= nr || !noted[place].key)
			continue;
		if (metrics->nr_errors == room) {
			room = room * 2 + 16;
			metrics->errors = xrealloc(metrics->errors, room * sizeof(*e));
		}
		e = &metrics->errors[metrics->nr_errors++];
		e->dev = noted[place].to->dev;
		e->op = MONAD_STORAGE_SERIES_OP(noted[place].key);
		e->error = MONAD_STORAGE_ERROR_ERRNO(key);
		memcpy(e->disk, noted[place].disk, sizeof(e->disk));
		table_sum(&table, at - 1, &e->count);
	}
	if (!err)
		table_sum(&table, table.nr, &metrics->unknown_errors);
	table_close(&table);
	fold_errors(metrics);
	return err;
}

int metrics_read(struct metrics *metrics)
{
	struct monad_storage_session session;
	struct noted *noted;
	size_t nr;
	int err;

	memset(metrics, 0, sizeof(*metrics));
	err = pins_read_session(&session);
	if (err)
		return err;
	metrics->taken_ns = clock_ns(CLOCK_MONOTONIC);
	metrics->started_ns = session.started_ns;
	err = read_series(metrics, session.shards, &noted, &nr);
	if (!err)
		err = read_errors(metrics, noted, nr);
	free(noted);
	part_throttles(metrics);
	if (!err)
		err = read_cgroups(metrics, session.shards);
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
		now[i] -= now[i] < before[i] ? now[i] : before[i];
}

/* There are few of them. */
static void subtract_series(struct metrics_series *series, size_t nr,
			    const struct metrics_series *before, size_t nr_before)
{
	for (size_t i = 0; i < nr; i++) {
		for (size_t old = 0; old < nr_before; old++) {
			if (before[old].op == series[i].op &&
			    !strcmp(before[old].disk, series[i].disk))
				subtract(&series[i].sum, &before[old].sum, sizeof(series[i].sum));
		}
	}
}

static const struct metrics_error *old_error(const struct metrics *before,
					     const struct metrics_error *e)
{
	return bsearch(e, before->errors, before->nr_errors, sizeof(*e), compare_errors);
}

/* @c as it is, or was, in @metrics; NULL if it is not there. */
static const struct metrics_cgroup *find_cgroup(const struct metrics *metrics,
						const struct metrics_cgroup *c)
{
	return bsearch(c, metrics->cgroups, metrics->nr_cgroups, sizeof(*c), compare_cgroups);
}

/* What a cgroup had before it was gone was not added to the gone ones' since. */
static void subtract_moved(struct metrics *since, const struct metrics *before)
{
	for (size_t i = 0; i < before->nr_cgroups; i++) {
		const struct metrics_cgroup *c = &before->cgroups[i];

		if (!find_cgroup(since, c))
			subtract(&since->gone_cgroups, &c->sum, sizeof(c->sum));
	}
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
		/* One that comes again with the same id after it was gone cannot have fewer. */
		const struct metrics_cgroup *old = find_cgroup(before, c);

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
	subtract_moved(since, before);
	since->unknown_errors -= before->unknown_errors;
}
