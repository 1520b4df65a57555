/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metrics on their way out: families of samples, as Prometheus and OpenTelemetry know
 * them. What fills them in knows nothing of how they are written, and who writes them
 * nothing of what they are about.
 */
#ifndef MONAD_TOOLS_FAMILIES_H
#define MONAD_TOOLS_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum family_type { FAMILY_COUNTER, FAMILY_GAUGE, FAMILY_HISTOGRAM };

/* Of samples with the same labels, which become one. */
enum family_merge { FAMILY_SUM, FAMILY_LARGEST };

#define SAMPLE_LABELS 8

struct sample_label {
	const char *name;
	char *value; /* any text; the writers see to what may be in it */
};

struct sample {
	struct sample_label labels[SAMPLE_LABELS];
	unsigned int nr_labels;
	uint64_t value;    /* of a histogram: how many values were observed ... */
	uint64_t sum;      /* ... their sum ... */
	uint64_t *buckets; /* ... and how many of them were not above each bound */
	uint64_t id; /* where things follow each other under the same labels: of which this is */
};

struct family {
	const char *name; /* with its unit, and without the "_total" of counters */
	const char *help;
	const char *unit; /* "seconds", "bytes"; "" is a number */
	enum family_type type;
	enum family_merge merge;
	bool nano;        /* values, sums and bounds are in billionths of the unit */
	const uint64_t *bounds; /* of a histogram, ascending, the last one is not infinite */
	size_t nr_bounds;
	uint64_t since_ns; /* what it counts from, if not what all others do; or 0 */

	struct sample *samples;
	size_t nr_samples;
	size_t room;
};

struct families {
	struct family *family;
	size_t nr;
	uint64_t since_ns; /* CLOCK_REALTIME: counters and histograms count from then on; or 0 */
	size_t room;
};

/* A copy of @what is added, without samples; the strings and bounds stay the caller's. */
void families_add(struct families *families, const struct family *what);

/*
 * A sample of the family that was added last, with @nr_labels pairs of const char *:
 * name and value. The name stays the caller's, the value is copied. For a histogram
 * its buckets are 0, to be filled in. Valid until the next one.
 */
struct sample *families_sample(struct families *families, uint64_t value,
			       unsigned int nr_labels, ...);

/*
 * Sorts all samples by their labels, and makes one of those that have the same: two
 * disks that had the same name, one after the other.
 */
void families_finish(struct families *families);

void families_free(struct families *families);

#endif /* MONAD_TOOLS_FAMILIES_H */
