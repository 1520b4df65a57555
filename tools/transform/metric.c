// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "metric.h"
#include "text.h"

#define NANO 1e9

static double scaled(const struct family *family, uint64_t value)
{
	return family->nano ? (double)value / NANO : (double)value;
}

static bool add_label(Monad__MetricWrapper *metric, const char *name, const char *value)
{
	Monad__Label **labels = array_grow(metric->labels, metric->n_labels);
	Monad__Label *label = labels ? malloc(sizeof(*label)) : NULL;

	if (labels)
		metric->labels = labels;
	if (!label)
		return false;
	monad__label__init(label);
	labels[metric->n_labels++] = label;
	return text_set(&label->name, name) && text_set(&label->value, value);
}

static bool add_labels(Monad__MetricWrapper *metric, const struct series_entry *entry)
{
	struct series_labels labels;

	series_labels_of_entry(&labels, entry);
	for (unsigned int i = 0; i < labels.nr; i++) {
		if (!add_label(metric, labels.name[i], labels.value[i]))
			return false;
	}
	return true;
}

/* Each bucket alone, where families have them with all below; they were read one by one. */
static bool add_histogram(Monad__MetricWrapper *metric, const struct series_entry *entry)
{
	const struct family *family = entry->family;
	const size_t nr = family->nr_bounds;
	Monad__Histogram *histogram = metric->histogram = malloc(sizeof(*histogram));
	uint64_t below = 0;

	if (!histogram)
		return false;
	monad__histogram__init(histogram);
	histogram->bounds = calloc(nr + 1, sizeof(*histogram->bounds));
	histogram->buckets = calloc(nr + 1, sizeof(*histogram->buckets));
	if (!histogram->bounds || !histogram->buckets)
		return false;
	histogram->n_bounds = nr;
	histogram->n_buckets = nr + 1;
	for (size_t i = 0; i < nr; i++) {
		histogram->bounds[i] = scaled(family, family->bounds[i]);
		if (entry->buckets[i] > below) {
			histogram->buckets[i] = entry->buckets[i] - below;
			below = entry->buckets[i];
		}
	}
	if (entry->value > below)
		histogram->buckets[nr] = entry->value - below;
	/* As much as is in the buckets, always. */
	histogram->count = entry->value > below ? entry->value : below;
	histogram->sum = scaled(family, entry->sum);
	return true;
}

static bool add_value(Monad__MetricWrapper *metric, const struct series_entry *entry)
{
	switch (entry->family->type) {
	case FAMILY_HISTOGRAM:
		metric->type = MONAD__METRIC_TYPE__METRIC_TYPE_HISTOGRAM;
		metric->value = (double)entry->value;
		metric->delta = (double)entry->delta;
		return add_histogram(metric, entry);
	case FAMILY_COUNTER:
		metric->type = MONAD__METRIC_TYPE__METRIC_TYPE_COUNTER;
		metric->delta = scaled(entry->family, entry->delta);
		break;
	case FAMILY_GAUGE:
		metric->type = MONAD__METRIC_TYPE__METRIC_TYPE_GAUGE;
		break;
	}
	metric->value = scaled(entry->family, entry->value);
	return true;
}

Monad__MetricWrapper *metric_make(const struct series_entry *entry, uint64_t time_ns)
{
	const struct family *family = entry->family;
	Monad__MetricWrapper *metric = malloc(sizeof(*metric));

	if (!metric)
		return NULL;
	monad__metric_wrapper__init(metric);
	metric->time_ns = time_ns;
	if (family->type != FAMILY_GAUGE) {
		metric->start_ns = entry->since_ns;
		metric->window_ns = entry->window_ns;
	}
	if (text_set(&metric->name, family->name) && text_set(&metric->help, family->help) &&
	    text_set(&metric->unit, family->unit) && add_labels(metric, entry) &&
	    add_value(metric, entry))
		return metric;
	monad__metric_wrapper__free_unpacked(metric, NULL);
	return NULL;
}
