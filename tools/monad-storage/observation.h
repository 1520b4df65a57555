/* SPDX-License-Identifier: GPL-2.0 */
/* All there is to say of a recording, at one time: what exporters export. */
#ifndef MONAD_STORAGE_OBSERVATION_H
#define MONAD_STORAGE_OBSERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <monad/event_ring.h>

#include "hooks.h"
#include "metrics.h"

struct observed_device {
	uint32_t dev;   /* major << 20 | minor */
	bool there;     /* there is one of that name and number now */
	bool bio_based;
	char disk[32];  /* as struct metrics_series has it */
	/* What sysfs has of it, or "" */
	char model[64];
	char serial[64];
	char wwid[128];
	char dm_name[128]; /* of device mapper */
	uint64_t waiting; /* I/Os that have no request yet */
	uint64_t queued; /* I/Os in flight, not with the device ... */
	uint64_t issued; /* ... and with it */
	uint64_t oldest_ns; /* how long the oldest of them has been there; 0: there is none */
};

struct observed_cgroup {
	const struct metrics_cgroup *cgroup;
	char *path; /* or its id where there is none; see also ... */
	bool removed; /* ... those that were removed, and are still charged for what they had */
};

struct observed_ring {
	uint64_t last_seqno;
	uint64_t capacity;    /* in events */
	uint64_t next_byte;   /* of payload */
	uint64_t byte_capacity;
	/* Since the recording began, as all other counters, whatever was before in the ring. */
	uint64_t events;
	uint64_t bytes;       /* of payload */
	uint64_t discarded;   /* events reserved and given back */
	uint64_t lost[MONAD_RING_LOST_COUNT];
};

struct observation {
	bool recording; /* if not, nothing else is known */
	uint64_t started_ns; /* CLOCK_REALTIME */
	bool filtered; /* some devices only */
	struct metrics metrics;
	struct monad_storage_counters counters;
	struct hook hooks[NR_HOOKS];
	struct observed_device *devices; /* by number, one for each name */
	size_t nr_devices;
	struct observed_cgroup *cgroups; /* as many as in the metrics */
	bool has_ring; /* it could be looked at */
	struct observed_ring ring;
};

/*
 * 0, also when nothing is recording; or -errno: -EPERM and -EACCES where this takes
 * root, -EPROTO for a recording that another version of this program started, -ENOTDIR
 * for something else in its place. observation_free() after it.
 */
int observation_take(struct observation *seen);
void observation_free(struct observation *seen);

#endif /* MONAD_STORAGE_OBSERVATION_H */
