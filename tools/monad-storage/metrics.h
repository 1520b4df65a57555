/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs have added up since the start (storage_state.h), read out of
 * their maps: no event is lost to it, and no ring is looked at.
 */
#ifndef MONAD_STORAGE_METRICS_H
#define MONAD_STORAGE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interval.h"
#include "storage_state.h"

/* Operations of one kind on one device. */
struct metrics_series {
	/*
	 * major << 20 | minor: that of the disk that is called so now, of the last one that
	 * was if there is none. There may have been others.
	 */
	uint32_t dev;
	uint32_t op;    /* enum monad_storage_op, or MONAD_STORAGE_OP_CACHE_FLUSH */
	bool bio_based;
	char disk[32];  /* as it was called; there is one for each name and operation */
	uint64_t diskseq; /* of the one that was last; 0: not known */
	struct monad_storage_metrics sum;
};

struct metrics_cgroup {
	uint64_t id;
	struct monad_storage_cgroup sum;
};

/* Operations of one kind on one device that failed in one way. */
struct metrics_error {
	uint32_t dev;
	uint32_t op;
	uint32_t error; /* errno */
	uint64_t count;
	char disk[32]; /* as its series has it */
};

struct metrics {
	uint64_t taken_ns;   /* CLOCK_MONOTONIC */
	uint64_t started_ns; /* CLOCK_REALTIME: of the recording */
	/* by name of the disk, then operation */
	struct metrics_series *series;
	size_t nr_series;
	/* Writeback pressure, by name of the disk: each MONAD_STORAGE_OP_THROTTLE. */
	struct metrics_series *throttles;
	size_t nr_throttles;
	/* by id */
	struct metrics_cgroup *cgroups;
	size_t nr_cgroups;
	/* by name of the disk, then operation and error */
	struct metrics_error *errors;
	size_t nr_errors;
	/* for which there was no room in a table; their device, cgroup or error is not known */
	struct monad_storage_metrics unknown;
	struct monad_storage_cgroup unknown_cgroup; /* and what is charged to none */
	uint64_t unknown_errors;
	/* of cgroups that do not exist any more */
	struct monad_storage_cgroup gone_cgroups;
};

/* Reads all of it; 0, or -errno when nothing is recording. metrics_free() after it. */
int metrics_read(struct metrics *metrics);
void metrics_free(struct metrics *metrics);

/* The same, with a message. */
int metrics_read_or_complain(struct metrics *metrics);

/*
 * What was added between two reads: all there is @now if the recording was started anew
 * meanwhile. metrics_free() is for @since, too.
 */
void metrics_since(struct metrics *since, const struct metrics *now,
		   const struct metrics *before);

/* Shows @metrics, as @what says. @window_ns: of an interval that long; 0: since the start. */
typedef void metrics_show_fn(const void *what, struct metrics *metrics, uint64_t window_ns);

/*
 * Has what there is shown: once, or what was added in each interval, until there are
 * no more or somebody interrupts. An exit status.
 */
int metrics_show(struct interval *interval, metrics_show_fn *show, const void *what);

/* The longest time that goes into a bucket, in ns; UINT64_MAX for the last. */
uint64_t metrics_bucket_end(unsigned int bucket);

/* All samples of a phase. */
uint64_t metrics_samples(const struct monad_storage_metrics *m, enum monad_storage_phase phase);

/*
 * The time that @percent of the samples did not exceed, at most 12.5 % too high and
 * never too low; 0 without samples. Beyond 2^40 ns it is no more than the sum of all.
 */
uint64_t metrics_percentile(const struct monad_storage_metrics *m, enum monad_storage_phase phase,
			    double percent);

/* "read", ..., "cache_flush" */
const char *metrics_op_name(uint32_t op);

#endif /* MONAD_STORAGE_METRICS_H */
