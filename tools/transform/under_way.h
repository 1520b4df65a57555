/* SPDX-License-Identifier: GPL-2.0 */
/* What is in flight: who has to wait for the same (6), what is stuck, where there is too much. */
#ifndef TRANSFORM_UNDER_WAY_H
#define TRANSFORM_UNDER_WAY_H

#include "wire.h"

/* So many I/Os are looked at, those that have been there too long first. */
#define UNDER_WAY_MAX 16384
/* Devices whose I/Os are counted; a power of two, of which half are used. */
#define UNDER_WAY_DEVICES 4096UL

struct under_way_device {
	uint32_t major;
	uint32_t minor;
	uint64_t count; /* 0: not in use */
};

struct under_way {
	struct raw_inflight *ios; /* by process, the oldest of each first */
	size_t nr;
	size_t room;
	bool fresh; /* not yet asked for what is notable */
	bool whole; /* all that is stuck is there */
	struct under_way_device *devices; /* by hash */
	size_t nr_devices;
};

/* 0 or -ENOMEM. */
int under_way_init(struct under_way *under_way);
void under_way_free(struct under_way *under_way);

/* In place of what was there before. @stuck_ns: as of the configuration. */
void under_way_set(struct under_way *under_way, const struct raw_inflight *ios, size_t nr,
		   uint64_t stuck_ns);

/*
 * The processes that have something under way on the device or charged to the cgroup, but
 * for the actor: how many, and at @victims the @max of them that have waited longest.
 */
uint64_t under_way_victims(const struct under_way *under_way, const struct facts *facts,
			   struct victim *victims, size_t max, size_t *nr);

#endif /* TRANSFORM_UNDER_WAY_H */
