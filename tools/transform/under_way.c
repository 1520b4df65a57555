// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "under_way.h"

int under_way_init(struct under_way *under_way)
{
	memset(under_way, 0, sizeof(*under_way));
	under_way->devices = calloc(UNDER_WAY_DEVICES, sizeof(*under_way->devices));
	return under_way->devices ? 0 : -ENOMEM;
}

void under_way_free(struct under_way *under_way)
{
	free(under_way->ios);
	free(under_way->devices);
	memset(under_way, 0, sizeof(*under_way));
}

static void count_device(struct under_way *under_way, uint32_t major, uint32_t minor)
{
	size_t at = (major * 0x9e3779b1U ^ minor * 0x85ebca6bU) >> 16;
	struct under_way_device *device;

	for (;; at++) {
		device = &under_way->devices[at % UNDER_WAY_DEVICES];
		if (!device->count)
			break;
		if (device->major == major && device->minor == minor) {
			device->count++;
			return;
		}
	}
	if (under_way->nr_devices == UNDER_WAY_DEVICES / 2)
		return;
	under_way->nr_devices++;
	device->major = major;
	device->minor = minor;
	device->count = 1;
}

static int compare(const void *a, const void *b)
{
	const struct raw_inflight *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return (x->age_ns < y->age_ns) - (x->age_ns > y->age_ns);
}

static size_t make_room(struct under_way *under_way, size_t nr)
{
	struct raw_inflight *more;

	if (nr > UNDER_WAY_MAX)
		nr = UNDER_WAY_MAX;
	if (nr <= under_way->room)
		return nr;
	more = realloc(under_way->ios, nr * sizeof(*more));
	if (!more)
		return under_way->room;
	under_way->ios = more;
	under_way->room = nr;
	return nr;
}

void under_way_set(struct under_way *under_way, const struct raw_inflight *ios, size_t nr,
		   uint64_t stuck_ns)
{
	const size_t room = make_room(under_way, nr);
	size_t nr_stuck = 0;

	under_way->nr = 0;
	under_way->nr_devices = 0;
	under_way->fresh = true;
	memset(under_way->devices, 0, UNDER_WAY_DEVICES * sizeof(*under_way->devices));
	for (size_t i = 0; i < nr; i++) {
		count_device(under_way, ios[i].dev_major, ios[i].dev_minor);
		nr_stuck += stuck_ns && ios[i].age_ns >= stuck_ns;
	}
	under_way->whole = nr_stuck <= room;
	/* First what is stuck, then the rest. */
	for (int stuck = 1; stuck >= 0; stuck--) {
		for (size_t i = 0; i < nr && under_way->nr < room; i++) {
			if ((stuck_ns && ios[i].age_ns >= stuck_ns) == stuck)
				under_way->ios[under_way->nr++] = ios[i];
		}
	}
	if (under_way->nr)
		qsort(under_way->ios, under_way->nr, sizeof(*under_way->ios), compare);
}

/*
 * The root has no limit that its members could wait for: where nobody made cgroups, everybody
 * is in it. Its number is the first that kernfs gives away.
 */
#define ROOT_CGROUP 1

static bool waits_for_the_same(const struct raw_inflight *io, const struct facts *facts)
{
	if (facts->charged_cgroup_id > ROOT_CGROUP && io->cgroup_id == facts->charged_cgroup_id)
		return true;
	return io->dev_major == facts->dev_major && io->dev_minor == facts->dev_minor &&
	       (facts->dev_major || facts->dev_minor);
}

/* Those that have waited longest, in that order. */
static void add_victim(const struct raw_inflight *io, struct victim *victims, size_t max,
		       size_t *nr)
{
	size_t at = *nr;

	while (at && victims[at - 1].age_ns < io->age_ns)
		at--;
	if (at >= max)
		return;
	if (*nr < max)
		++*nr;
	memmove(&victims[at + 1], &victims[at], (*nr - at - 1) * sizeof(*victims));
	victims[at] = (struct victim){
		.age_ns = io->age_ns,
		.cgroup_id = io->actor_cgroup_id,
		.pid = io->pid,
		.tgid = io->tgid,
		.flags = io->flags,
	};
	memcpy(victims[at].comm, io->comm, sizeof(victims[at].comm));
}

uint64_t under_way_victims(const struct under_way *under_way, const struct facts *facts,
			   struct victim *victims, size_t max, size_t *nr)
{
	/* 0 is nobody that is known. */
	uint32_t last = 0;
	uint64_t all = 0;

	*nr = 0;
	for (size_t i = 0; i < under_way->nr; i++) {
		const struct raw_inflight *io = &under_way->ios[i];

		if (io->tgid == last || io->tgid == facts->tgid || !waits_for_the_same(io, facts))
			continue;
		last = io->tgid;
		all++;
		add_victim(io, victims, max, nr);
	}
	return all;
}
