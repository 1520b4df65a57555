// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "metric.h"
#include "series.h"
#include "text.h"

static bool has_delta(const struct family *family)
{
	return family->type != FAMILY_GAUGE;
}

/*
 * What was added
 */

/* Two counters that began at different times are two counters. */
static void set_restarted(struct series_entry *entry, const struct series_table *before,
			  uint64_t time_ns)
{
	entry->restarted = true;
	if (entry->since_ns < before->time_ns || entry->since_ns >= time_ns)
		return;
	entry->delta = entry->value;
	entry->window_ns = time_ns - entry->since_ns;
}

/* What is not there was not, then. */
static bool was_looked_for(const struct series_entry *entry, const struct series_table *before)
{
	const struct series_labels none = {};

	return !before->left_out && series_find(before, entry->family->name, &none);
}

static void set_delta(struct series_entry *entry, const struct series_table *before,
		      uint64_t time_ns)
{
	const struct series_entry *then = series_find_same(before, entry);
	uint64_t value = then ? then->value : 0;

	if (then ? then->since_ns != entry->since_ns : entry->since_ns > before->time_ns) {
		set_restarted(entry, before, time_ns);
		return;
	}
	/* One that is new began at 0, if it would have been seen; the family was looked for. */
	if (!then && !was_looked_for(entry, before))
		return;
	/* It cannot be known what happened. */
	if (entry->value < value)
		return;
	entry->added = entry->value - value;
	entry->added -= entry->moved < entry->added ? entry->moved : entry->added;
	/* The clock was set back. */
	if (time_ns <= before->time_ns)
		return;
	entry->window_ns = time_ns - before->time_ns;
	entry->delta = entry->added;
}

/* A cgroup may be made again, under the same path. */
static bool is_same(const struct series_entry *entry, const struct series_entry *then)
{
	return entry && then && entry->id == then->id;
}

/* What follows others under the same labels began since the last time, if it was not there. */
static void note_since(struct series_entry *entry, const struct series_table *before)
{
	const struct series_entry *then = series_find_same(before, entry);
	uint64_t since_ns = before->time_ns;

	if (!entry->id || (!then && !was_looked_for(entry, before)))
		return;
	if (is_same(entry, then))
		since_ns = then->since_ns;
	if (since_ns > entry->since_ns)
		entry->since_ns = since_ns;
}

/* What a cgroup had when it was there last is no addition to what the removed ones had. */
static void note_moved(struct series_table *now, const struct series_table *before)
{
	for (size_t i = 0; i < before->nr; i++) {
		const struct series_entry *then = &before->entries[i];
		struct series_labels labels;
		struct series_entry *to;
		const char **cgroup;

		series_labels_of_entry(&labels, then);
		cgroup = series_label(&labels, "cgroup");
		if (!cgroup || is_same(series_find_same(now, then), then))
			continue;
		*cgroup = SERIES_REMOVED;
		to = series_find(now, then->key, &labels);
		if (to)
			to->moved += then->value;
	}
}

static void set_deltas(struct series *series)
{
	struct series_table *now = series->now;

	if (!series->before)
		return;
	note_moved(now, series->before);
	for (size_t i = 0; i < now->nr; i++) {
		if (!has_delta(now->entries[i].family))
			continue;
		note_since(&now->entries[i], series->before);
		set_delta(&now->entries[i], series->before, now->time_ns);
	}
}

/*
 * Cgroups
 */

struct cgroup {
	const char *name;
	uint64_t sum;
	size_t entry;
};

static int compare_names(const void *a, const void *b)
{
	const struct cgroup *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int compare_sums(const void *a, const void *b)
{
	const struct cgroup *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Of the entries @first to @end: each with its cgroup; how many have one. */
static size_t list_cgroups(const struct series_table *table, size_t first, size_t end,
			   struct cgroup *cgroups)
{
	struct series_labels labels;
	const char **value;
	size_t nr = 0;

	for (size_t i = first; i < end; i++) {
		series_labels_of_entry(&labels, &table->entries[i]);
		value = series_label(&labels, "cgroup");
		if (value)
			cgroups[nr++] = (struct cgroup){ *value, table->entries[i].value, i };
	}
	return nr;
}

/* Gives all entries of a cgroup the sum of all of them. */
static size_t sum_up(struct cgroup *cgroups, size_t nr)
{
	size_t different = 0;

	for (size_t i = 0, k; i < nr; i = k) {
		uint64_t sum = 0;

		for (k = i; k < nr && !strcmp(cgroups[k].name, cgroups[i].name); k++)
			sum += cgroups[k].sum;
		for (size_t j = i; j < k; j++)
			cgroups[j].sum = sum;
		different++;
	}
	return different;
}

static void mark_folded(struct series_table *table, const struct cgroup *cgroups, size_t nr,
			unsigned int kept)
{
	unsigned int different = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!i || strcmp(cgroups[i].name, cgroups[i - 1].name) != 0)
			different++;
		table->entries[cgroups[i].entry].folded = different > kept;
	}
}

/* The entries of one family, @first to @end. */
static bool choose_cgroups(struct series *series, size_t first, size_t end)
{
	struct cgroup *cgroups;
	size_t nr;

	if (end - first <= series->cgroups)
		return true;
	cgroups = calloc(end - first, sizeof(*cgroups));
	if (!cgroups)
		return false;
	nr = list_cgroups(series->now, first, end, cgroups);
	if (nr)
		qsort(cgroups, nr, sizeof(*cgroups), compare_names);
	if (sum_up(cgroups, nr) > series->cgroups) {
		qsort(cgroups, nr, sizeof(*cgroups), compare_sums);
		mark_folded(series->now, cgroups, nr, series->cgroups);
	}
	free(cgroups);
	return true;
}

static void begin_other(const struct series *series, struct series_entry *other,
			uint64_t since_ns)
{
	const struct series_entry *then = NULL;

	other->sampled = true;
	other->since_ns = since_ns;
	if (has_delta(other->family) && series->other_before)
		then = series_find_same(series->other_before, other);
	if (then && then->since_ns == since_ns)
		other->value = then->value;
}

/*
 * A counter of the others goes on from where it was by what they have added: it never
 * goes backwards when one of them becomes one of the largest, and no addition is in two.
 */
static bool fold(struct series *series, const struct series_entry *entry)
{
	struct series_labels labels;
	struct series_entry *other;
	const char **cgroup;
	bool full;

	series_labels_of_entry(&labels, entry);
	cgroup = series_label(&labels, "cgroup");
	*cgroup = SERIES_OTHER;
	other = series_get(series->other_now, entry->family, &labels, &full);
	if (!other)
		return full;
	if (!other->sampled)
		begin_other(series, other, entry->family_since_ns);
	/* The first time, all there is has been added. */
	if (has_delta(entry->family) && series->before && !entry->restarted)
		other->value += entry->added;
	else
		other->value += entry->value;
	other->delta += entry->delta;
	if (entry->window_ns > other->window_ns)
		other->window_ns = entry->window_ns;
	return true;
}

static bool fold_cgroups(struct series *series)
{
	const struct series_table *now = series->now;
	size_t first = 0;

	for (size_t i = 1; i <= now->nr; i++) {
		if (i < now->nr && now->entries[i].family == now->entries[first].family)
			continue;
		if (!choose_cgroups(series, first, i))
			return false;
		first = i;
	}
	for (size_t i = 0; i < now->nr; i++) {
		if (!now->entries[i].folded)
			continue;
		/* Nobody has one of these by cgroup. */
		if (now->entries[i].family->type == FAMILY_HISTOGRAM)
			series->now->left_out++;
		else if (!fold(series, &now->entries[i]))
			return false;
	}
	return true;
}

/*
 * All of it
 */

static void set_since(struct series_entry *entry, uint64_t since_ns)
{
	entry->since_ns = since_ns;
	entry->family_since_ns = since_ns;
}

static bool take_family(struct series_table *now, const struct family *family, uint64_t since_ns)
{
	struct series_labels labels = {};
	struct series_entry *entry;
	bool full;

	/* Itself, so that it is known that it was looked for; it is not sent. */
	entry = series_get(now, family, &labels, &full);
	if (!entry && !full)
		return false;
	if (entry)
		set_since(entry, since_ns);
	for (size_t i = 0; i < family->nr_samples; i++) {
		series_labels_of_sample(&labels, &family->samples[i]);
		entry = series_get(now, family, &labels, &full);
		if (!entry && !full)
			return false;
		/* Two families of one name that are not alike cannot be added up. */
		if (!entry || entry->family->type != family->type ||
		    entry->family->nr_bounds != family->nr_bounds) {
			now->left_out++;
			continue;
		}
		set_since(entry, since_ns);
		series_add(entry, &family->samples[i]);
	}
	return true;
}

static bool take_all(struct series *series, const struct families *families)
{
	for (size_t i = 0; i < families->nr; i++) {
		const struct family *family = &families->family[i];

		if (!take_family(series->now, family,
				 family->since_ns ? family->since_ns : families->since_ns))
			return false;
	}
	return true;
}

static bool make_metrics(struct series *series, const struct series_table *table)
{
	for (size_t i = 0; i < table->nr; i++) {
		const struct series_entry *entry = &table->entries[i];
		Monad__MetricWrapper **metrics;

		if (entry->folded || !entry->sampled)
			continue;
		metrics = array_grow(series->metrics, series->nr_metrics);
		if (!metrics)
			return false;
		series->metrics = metrics;
		metrics[series->nr_metrics] = metric_make(entry, table->time_ns);
		if (!metrics[series->nr_metrics])
			return false;
		series->nr_metrics++;
	}
	return true;
}

bool series_take(struct series *series, const struct families *families, uint64_t time_ns)
{
	series_drop(series);
	series->now = series_table_new(time_ns);
	series->other_now = series_table_new(time_ns);
	if (series->now && series->other_now && take_all(series, families)) {
		set_deltas(series);
		if (fold_cgroups(series) && make_metrics(series, series->now) &&
		    make_metrics(series, series->other_now))
			return true;
	}
	series_drop(series);
	return false;
}

void series_sent(struct series *series)
{
	if (!series->now)
		return;
	series_table_free(series->before);
	series_table_free(series->other_before);
	series->before = series->now;
	series->other_before = series->other_now;
	series->now = NULL;
	series->other_now = NULL;
	series_drop(series);
}

void series_drop(struct series *series)
{
	while (series->nr_metrics)
		monad__metric_wrapper__free_unpacked(series->metrics[--series->nr_metrics], NULL);
	free(series->metrics);
	series->metrics = NULL;
	series_table_free(series->now);
	series_table_free(series->other_now);
	series->now = NULL;
	series->other_now = NULL;
}

uint64_t series_left_out(const struct series *series)
{
	return series->now ? series->now->left_out : 0;
}

void series_free(struct series *series)
{
	series_drop(series);
	series_table_free(series->before);
	series_table_free(series->other_before);
	series->before = NULL;
	series->other_before = NULL;
}
