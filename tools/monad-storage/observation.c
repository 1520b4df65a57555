// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <monad/ring_ioctl.h>
#include <monad_event/event_ring_util.h>

#include "cgroup_path.h"
#include "disk.h"
#include "monad_storage.h"
#include "observation.h"
#include "pins.h"
#include "printable.h"

/* As often as it is tried when the recording is stopped or started in between. */
#define TRIES 4

/* What fixed fields hold is padded with spaces, in front (serial numbers) or behind. */
static void read_attribute(uint32_t dev, const char *name, char *value, size_t size)
{
	char path[96], text[256] = "", *begin = text;
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", dev >> 20, dev & 0xfffff, name);
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(text, sizeof(text), file))
		*text = '\0';
	fclose(file);
	while (isspace((unsigned char)*begin))
		begin++;
	length = strlen(begin);
	while (length && isspace((unsigned char)begin[length - 1]))
		begin[--length] = '\0';
	printable(value, size, begin);
}

/* The disk's own serial number: virtio has it with the disk, others with the device. */
static void read_attributes(struct observed_device *device)
{
	const uint32_t dev = device->dev;

	read_attribute(dev, "device/model", device->model, sizeof(device->model));
	read_attribute(dev, "serial", device->serial, sizeof(device->serial));
	if (!*device->serial)
		read_attribute(dev, "device/serial", device->serial, sizeof(device->serial));
	read_attribute(dev, "wwid", device->wwid, sizeof(device->wwid));
	if (!*device->wwid)
		read_attribute(dev, "device/wwid", device->wwid, sizeof(device->wwid));
	read_attribute(dev, "dm/name", device->dm_name, sizeof(device->dm_name));
}

static struct observed_device *find_device(const struct observation *seen, const char *disk)
{
	for (size_t i = 0; i < seen->nr_devices; i++) {
		if (!strcmp(seen->devices[i].disk, disk))
			return &seen->devices[i];
	}
	return NULL;
}

static struct observed_device *get_device(struct observation *seen, uint32_t dev,
					  const char *disk, bool bio_based)
{
	struct observed_device *device = find_device(seen, disk);
	char now[sizeof(device->disk)];

	if (device)
		return device;
	seen->devices = xrealloc(seen->devices, (seen->nr_devices + 1) * sizeof(*device));
	device = &seen->devices[seen->nr_devices++];
	memset(device, 0, sizeof(*device));
	device->dev = dev;
	device->bio_based = bio_based;
	snprintf(device->disk, sizeof(device->disk), "%s", disk);
	disk_name(dev, now, sizeof(now));
	device->there = disk_there(dev) && !strcmp(now, device->disk);
	/* Not those of another disk that has its number. */
	if (device->there)
		read_attributes(device);
	return device;
}

/* Of a disk that is gone, that of the last one which had the number. */
static void name_inflight(const struct observation *seen, uint32_t dev, char *name, size_t size)
{
	const struct metrics *metrics = &seen->metrics;
	const struct metrics_series *last = NULL;

	if (!disk_there(dev)) {
		for (size_t i = 0; i < metrics->nr_series; i++) {
			const struct metrics_series *s = &metrics->series[i];

			if (s->dev == dev && (!last || s->diskseq > last->diskseq))
				last = s;
		}
	}
	if (last)
		snprintf(name, size, "%s", last->disk);
	else
		disk_name(dev, name, size);
}

static int take_inflight(struct observation *seen)
{
	struct inflight_device *inflight;
	struct timespec now;
	size_t n;
	int err;

	err = pins_inflight_by_device(0, &inflight, &n);
	if (err)
		return err;
	clock_gettime(CLOCK_MONOTONIC, &now);
	for (size_t i = 0; i < n; i++) {
		const struct inflight_device *from = &inflight[i];
		uint64_t now_ns = now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
		struct observed_device *device;
		char disk[sizeof(device->disk)];

		name_inflight(seen, from->dev, disk, sizeof(disk));
		device = get_device(seen, from->dev, disk, from->bios);
		device->waiting += from->waiting;
		device->queued += from->queued;
		device->issued += from->issued + from->bios;
		if (from->oldest_ns && now_ns > from->oldest_ns &&
		    now_ns - from->oldest_ns > device->oldest_ns)
			device->oldest_ns = now_ns - from->oldest_ns;
	}
	free(inflight);
	return 0;
}

static int compare_devices(const void *a, const void *b)
{
	const struct observed_device *x = a, *y = b;

	int diff = (x->dev > y->dev) - (x->dev < y->dev);

	return diff ? diff : strcmp(x->disk, y->disk);
}

static int take_devices(struct observation *seen)
{
	const struct metrics *metrics = &seen->metrics;
	int err;

	for (size_t i = 0; i < metrics->nr_series; i++)
		get_device(seen, metrics->series[i].dev, metrics->series[i].disk,
			   metrics->series[i].bio_based);
	for (size_t i = 0; i < metrics->nr_errors; i++)
		get_device(seen, metrics->errors[i].dev, metrics->errors[i].disk, false);
	err = take_inflight(seen);
	if (seen->nr_devices)
		qsort(seen->devices, seen->nr_devices, sizeof(*seen->devices), compare_devices);
	return err;
}

static void take_cgroups(struct observation *seen)
{
	const struct metrics *metrics = &seen->metrics;
	char path[PATH_MAX], text[PATH_MAX];
	int err;

	seen->cgroups = xcalloc(metrics->nr_cgroups, sizeof(*seen->cgroups));
	for (size_t i = 0; i < metrics->nr_cgroups; i++) {
		struct observed_cgroup *cgroup = &seen->cgroups[i];

		cgroup->cgroup = &metrics->cgroups[i];
		err = cgroup_path(cgroup->cgroup->id, path, sizeof(path));
		if (err)
			snprintf(path, sizeof(path), "%llu",
				 (unsigned long long)cgroup->cgroup->id);
		cgroup->removed = err == -ENOENT;
		cgroup->path = xstrdup(printable(text, sizeof(text), path));
	}
}

static uint64_t since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

/* The device says it all: mapping the ring would be more work. */
static void take_ring(struct observation *seen, const struct monad_storage_session *session)
{
	const struct monad_storage_ring_start *start = &session->ring_start;
	struct monad_ring_info info;
	int fd;

	if (monad_event_ring_open_fd(session->ring, &fd, NULL, 0))
		return;
	if (!monad_event_ring_query_device(fd, &info)) {
		seen->has_ring = true;
		seen->ring.last_seqno = info.last_seqno;
		seen->ring.events = since(info.last_seqno, start->last_seqno);
		seen->ring.capacity = info.descriptor_capacity;
		seen->ring.next_byte = info.next_payload_byte;
		seen->ring.bytes = since(info.next_payload_byte, start->next_byte);
		seen->ring.byte_capacity = info.payload_buf_size;
		seen->ring.discarded = since(info.discarded, start->discarded);
		for (int i = 0; i < MONAD_RING_LOST_COUNT; i++)
			seen->ring.lost[i] = since(info.lost[i], start->lost[i]);
	}
	close(fd);
}

static int take(struct observation *seen, const struct monad_storage_session *session)
{
	int err;

	seen->recording = true;
	seen->started_ns = pins_session_began(session);
	seen->filtered = session->filtered;
	err = metrics_read(&seen->metrics);
	if (!err)
		err = pins_read_counters(&seen->counters);
	if (!err)
		err = hooks_read(seen->hooks);
	if (!err)
		err = take_devices(seen);
	if (err)
		return err;
	take_cgroups(seen);
	take_ring(seen, session);
	return 0;
}

int observation_take(struct observation *seen)
{
	struct monad_storage_session session, after;
	int err;

	for (int tries = 0; tries < TRIES; tries++) {
		memset(seen, 0, sizeof(*seen));
		err = pins_read_session(&session);
		if (err)
			break;
		err = take(seen, &session);
		/* Of one recording, not of two. */
		if (!pins_read_session(&after) && after.started_ns == session.started_ns) {
			if (err)
				observation_free(seen);
			return err;
		}
		observation_free(seen);
	}
	/* Not, or not any more, or not quite. */
	return err == -ENOENT || !err ? 0 : err;
}

void observation_free(struct observation *seen)
{
	for (size_t i = 0; seen->cgroups && i < seen->metrics.nr_cgroups; i++)
		free(seen->cgroups[i].path);
	free(seen->cgroups);
	free(seen->devices);
	metrics_free(&seen->metrics);
	memset(seen, 0, sizeof(*seen));
}
