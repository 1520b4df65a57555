/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters by windows (2), with few labels (3): what was added since metrics were sent
 * last, and for cgroups, of which there may be any number, those with the largest values
 * alone, the others as one.
 */
#ifndef TRANSFORM_SERIES_H
#define TRANSFORM_SERIES_H

#include "series_table.h"

#include "monad/telemetry.pb-c.h"

/* The value of the label "cgroup" that what cgroups had that are no more goes to. */
#define SERIES_REMOVED "(removed)"
/* ... and what those had that are not among the largest. */
#define SERIES_OTHER "other"

struct series {
	unsigned int cgroups; /* that have a series of their own, in each family */
	/* As they were sent last, and as they will be. */
	struct series_table *before, *now;
	struct series_table *other_before, *other_now;
	Monad__MetricWrapper **metrics; /* to be sent; whoever sends them takes them */
	size_t nr_metrics;
};

/* False without memory: then there are no metrics to be sent. */
bool series_take(struct series *series, const struct families *families, uint64_t time_ns);

/* They were sent. */
void series_sent(struct series *series);

/* They are not to be sent. */
void series_drop(struct series *series);

/* How many were left out of those to be sent, as there are too many. */
uint64_t series_left_out(const struct series *series);

void series_free(struct series *series);

#endif /* TRANSFORM_SERIES_H */
