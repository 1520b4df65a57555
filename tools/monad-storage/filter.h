/* SPDX-License-Identifier: GPL-2.0 */
/* Which events a reader wants to see, and the options that say so. */
#ifndef MONAD_STORAGE_FILTER_H
#define MONAD_STORAGE_FILTER_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "cgroup_set.h"
#include "event.h"
#include "pid_set.h"

#define FILTER_MAX 64

struct filter {
	bool all_types; /* not only the ends of operations */
	bool cache_flushes; /* and FLUSH_COMPLETE, if not all */
	bool errors;
	uint64_t min_latency_ns;
	uint32_t devs[FILTER_MAX];
	/* what each is called, if it was not given by its number: others had that before */
	char dev_names[FILTER_MAX][MONAD_STORAGE_DISK_LEN];
	bool other_disk[FILTER_MAX]; /* the latest end with that number was another's */
	unsigned int nr_devs;
	/* Disks that are gone; the device numbers that events with those names have */
	char names[FILTER_MAX][MONAD_STORAGE_DISK_LEN];
	unsigned int nr_names;
	uint32_t name_devs[FILTER_MAX];
	struct pid_set pids;
	uint32_t ops; /* a bit each; 0: all */
	struct cgroup_set cgroups; /* that pay */
	const char *cgroup_names[FILTER_MAX]; /* as they were asked for */
	unsigned int nr_cgroups;
};

/* Whether @number is among the @nr of @list, as the devices of a filter. */
bool filter_has(const uint32_t *list, unsigned int nr, uint32_t number);

/* A child parser for argp; its input is the struct filter. */
extern const struct argp filter_argp;

/* By descriptor alone: false means that the payload need not be looked at. */
bool filter_descriptor(const struct filter *filter, const struct monad_event_descriptor *desc);

/* The rest, once filter_descriptor() said true. */
bool filter_event(struct filter *filter, const struct storage_event *event);

/*
 * "disk sda, read, 20ms or longer": what is asked for, in words; "" when it is all. free() it;
 * never NULL but without memory.
 */
char *filter_text(const struct filter *filter);

/* What it took is given back; the filter itself is the caller's. */
void filter_free(struct filter *filter);

#endif /* MONAD_STORAGE_FILTER_H */
