// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "event.h"
#include "losses.h"
#include "monad_storage.h"
#include "pins.h"
#include "samples.h"

#define PREFIX "monad_storage_"

/* For what has no name, apart from all names there can be. */
#define UNKNOWN "(unknown)"
#define REMOVED "(removed)"

static void begin(struct families *families, enum family_type type, const char *name,
		  const char *unit, const char *help)
{
	const struct family family = {
		.name = name,
		.help = help,
		.unit = unit,
		.type = type,
		.nano = !strcmp(unit, "seconds") || !strcmp(unit, "ratio"),
	};

	families_add(families, &family);
}

static void counter(struct families *families, const char *name, const char *unit,
		    const char *help)
{
	begin(families, FAMILY_COUNTER, name, unit, help);
}

static void gauge(struct families *families, const char *name, const char *unit, const char *help)
{
	begin(families, FAMILY_GAUGE, name, unit, help);
}

/*
 * Devices and operations
 */

/* One counter of each series. */
static void add_series(struct families *families, const struct metrics *metrics,
		       const char *name, const char *unit, const char *help, size_t offset)
{
	uint64_t unknown = *(const uint64_t *)((const char *)&metrics->unknown + offset);

	counter(families, name, unit, help);
	for (size_t i = 0; i < metrics->nr_series; i++) {
		const struct metrics_series *s = &metrics->series[i];

		families_sample(families, *(const uint64_t *)((const char *)&s->sum + offset), 2,
				"device", s->disk, "operation", metrics_op_name(s->op));
	}
	if (unknown)
		families_sample(families, unknown, 2, "device", UNKNOWN, "operation", UNKNOWN);
}

#define ADD_SERIES(families, metrics, name, unit, help, field)      \
	add_series(families, metrics, PREFIX name, unit, help,      \
		   offsetof(struct monad_storage_metrics, field))

static void add_histogram(struct families *families, const struct monad_storage_metrics *m,
			  const char *device, const char *operation)
{
	static const char *const phases[MONAD_STORAGE_PHASES] = {
		[MONAD_STORAGE_PHASE_QUEUE] = "queue",
		[MONAD_STORAGE_PHASE_DEVICE] = "device",
		[MONAD_STORAGE_PHASE_TOTAL] = "total",
	};

	for (int phase = 0; phase < MONAD_STORAGE_PHASES; phase++) {
		struct sample *sample;
		unsigned int bound = 0;
		uint64_t seen = 0;

		/* A device without requests has no queue. */
		if (!metrics_samples(m, phase))
			continue;
		sample = families_sample(families, 0, 3, "device", device, "operation", operation,
					 "phase", phases[phase]);
		for (unsigned int i = 0; i < MONAD_STORAGE_BUCKETS; i++) {
			seen += m->bucket[phase][i];
			if (bound < SAMPLES_BOUNDS &&
			    metrics_bucket_end(i) == 1ULL << (SAMPLES_FIRST_SHIFT + bound))
				sample->buckets[bound++] = seen;
		}
		sample->value = seen;
		sample->sum = m->sum_ns[phase];
	}
}

static void add_latencies(struct families *families, const struct metrics *metrics)
{
	static uint64_t bounds[SAMPLES_BOUNDS];
	const struct family family = {
		.name = PREFIX "latency_seconds",
		.help = "Time of operations: waiting for the device (queue), with it since it was "
			"last handed over (device), from beginning to end (total).",
		.unit = "seconds",
		.type = FAMILY_HISTOGRAM,
		.nano = true,
		.bounds = bounds,
		.nr_bounds = SAMPLES_BOUNDS,
	};

	for (int i = 0; i < SAMPLES_BOUNDS; i++)
		bounds[i] = 1ULL << (SAMPLES_FIRST_SHIFT + i);
	families_add(families, &family);
	for (size_t i = 0; i < metrics->nr_series; i++)
		add_histogram(families, &metrics->series[i].sum, metrics->series[i].disk,
			      metrics_op_name(metrics->series[i].op));
	add_histogram(families, &metrics->unknown, UNKNOWN, UNKNOWN);
}

static void add_errors(struct families *families, const struct metrics *metrics)
{
	counter(families, PREFIX "errors", "", "Operations that failed, by what the kernel calls "
		"the error.");
	for (size_t i = 0; i < metrics->nr_errors; i++) {
		const struct metrics_error *e = &metrics->errors[i];

		families_sample(families, e->count, 3, "device", e->disk, "operation",
				metrics_op_name(e->op), "error", errno_name(e->error));
	}
	if (metrics->unknown_errors)
		families_sample(families, metrics->unknown_errors, 3, "device", UNKNOWN,
				"operation", UNKNOWN, "error", UNKNOWN);
}

static void add_requeues(struct families *families, const struct metrics *metrics)
{
	const struct monad_storage_metrics *unknown = &metrics->unknown;

	counter(families, PREFIX "requeues", "", "Times a driver gave a request back, to be issued "
		"later: one that was with the device (issued), or not yet (unissued).");
	for (size_t i = 0; i < metrics->nr_series; i++) {
		const struct metrics_series *s = &metrics->series[i];
		const char *op = metrics_op_name(s->op);

		families_sample(families, s->sum.requeues_issued, 3, "device", s->disk,
				"operation", op, "state", "issued");
		families_sample(families, s->sum.requeues_unissued, 3, "device", s->disk,
				"operation", op, "state", "unissued");
	}
	if (unknown->requeues_issued)
		families_sample(families, unknown->requeues_issued, 3, "device", UNKNOWN,
				"operation", UNKNOWN, "state", "issued");
	if (unknown->requeues_unissued)
		families_sample(families, unknown->requeues_unissued, 3, "device", UNKNOWN,
				"operation", UNKNOWN, "state", "unissued");
}

static void add_operations(struct families *families, const struct metrics *metrics)
{
	ADD_SERIES(families, metrics, "operations", "", "Operations that ended; cache_flush is the "
		   "device's own flush of its cache, which is nobody's operation.", ops);
	ADD_SERIES(families, metrics, "bytes", "bytes", "Bytes of the operations that ended.",
		   bytes);
	add_latencies(families, metrics);
	ADD_SERIES(families, metrics, "failed_operations", "", "Operations that ended with an "
		   "error.", errors);
	add_errors(families, metrics);
	ADD_SERIES(families, metrics, "timeouts", "", "Operations that timed out at least once.",
		   timeouts);
	add_requeues(families, metrics);
	ADD_SERIES(families, metrics, "merges", "", "Requests and bios that became part of another "
		   "request, and no operation of their own.", merged);
	ADD_SERIES(families, metrics, "partial_completions", "", "Times a part of a request was "
		   "done before the rest.", partials);
}

static void add_writeback(struct families *families, const struct metrics *metrics)
{
	counter(families, PREFIX "writeback_throttles", "", "Times somebody who wrote to files was "
		"put to sleep, since more was dirty than the device keeps up with.");
	for (size_t i = 0; i < metrics->nr_throttles; i++)
		families_sample(families, metrics->throttles[i].sum.ops, 1, "device",
				metrics->throttles[i].disk);
	counter(families, PREFIX "writeback_throttled_seconds", "seconds",
		"How long these slept.");
	for (size_t i = 0; i < metrics->nr_throttles; i++)
		families_sample(families,
				metrics->throttles[i].sum.sum_ns[MONAD_STORAGE_PHASE_TOTAL], 1,
				"device", metrics->throttles[i].disk);
	counter(families, PREFIX "writeback_dirtied_bytes", "bytes",
		"What these had dirtied, each since the last time it was looked at.");
	for (size_t i = 0; i < metrics->nr_throttles; i++)
		families_sample(families, metrics->throttles[i].sum.bytes, 1, "device",
				metrics->throttles[i].disk);
}

static void add_devices(struct families *families, const struct observation *seen)
{
	gauge(families, PREFIX "device_info", "", "What is behind the label device: its number, "
	      "whether it takes requests or bios, its model, and what tells it from others of the "
	      "same name: serial, wwid, dm_name, as far as it has them. Always 1.");
	for (size_t i = 0; i < seen->nr_devices; i++) {
		const struct observed_device *device = &seen->devices[i];
		char major[16], minor[16];

		/* Another one may have its number today. */
		if (!device->there)
			continue;
		snprintf(major, sizeof(major), "%u", device->dev >> 20);
		snprintf(minor, sizeof(minor), "%u", device->dev & 0xfffff);
		families_sample(families, 1, 8, "device", device->disk, "major", major, "minor",
				minor, "kind", device->bio_based ? "bio" : "request", "model",
				device->model, "serial", device->serial, "wwid", device->wwid,
				"dm_name", device->dm_name);
	}
}

static void add_inflight(struct families *families, const struct observation *seen)
{
	gauge(families, PREFIX "inflight", "", "Operations that have begun and not ended: waiting "
	      "for a request, as when the disk has no free one (waiting), for the device (queued), "
	      "or with it (issued).");
	for (size_t i = 0; i < seen->nr_devices; i++) {
		const struct observed_device *device = &seen->devices[i];

		families_sample(families, device->waiting, 2, "device", device->disk, "state",
				"waiting");
		families_sample(families, device->queued, 2, "device", device->disk, "state",
				"queued");
		families_sample(families, device->issued, 2, "device", device->disk, "state",
				"issued");
	}
	gauge(families, PREFIX "inflight_oldest_seconds", "seconds",
	      "How long ago the oldest operation in flight began; 0 when there is none.");
	families->family[families->nr - 1].merge = FAMILY_LARGEST;
	for (size_t i = 0; i < seen->nr_devices; i++)
		families_sample(families, seen->devices[i].oldest_ns, 1, "device",
				seen->devices[i].disk);
}

/*
 * Cgroups
 */

static void add_directions(struct families *families, const char *cgroup, uint64_t id,
			   const struct monad_storage_cgroup *sum, size_t offset)
{
	static const char *const names[MONAD_STORAGE_DIRECTIONS] = {
		[MONAD_STORAGE_READS] = "read",
		[MONAD_STORAGE_WRITES] = "write",
		[MONAD_STORAGE_OTHERS] = "other",
	};
	const uint64_t *values = (const uint64_t *)((const char *)sum + offset);

	for (int i = 0; i < MONAD_STORAGE_DIRECTIONS; i++)
		families_sample(families, values[i], 2, "cgroup", cgroup, "operation",
				names[i])->id = id;
}

static const char *cgroup_label(const struct observed_cgroup *cgroup)
{
	return cgroup->removed ? REMOVED : cgroup->path;
}

/* Which of those that had a path, one after the other. */
static uint64_t cgroup_id(const struct observed_cgroup *cgroup)
{
	return cgroup->removed ? 0 : cgroup->cgroup->id;
}

static void add_cgroup_counter(struct families *families, const struct observation *seen,
			       const char *name, const char *unit, const char *help, size_t offset)
{
	const struct metrics *metrics = &seen->metrics;

	counter(families, name, unit, help);
	for (size_t i = 0; i < metrics->nr_cgroups; i++)
		add_directions(families, cgroup_label(&seen->cgroups[i]),
			       cgroup_id(&seen->cgroups[i]), &seen->cgroups[i].cgroup->sum,
			       offset);
	add_directions(families, REMOVED, 0, &metrics->gone_cgroups, offset);
	add_directions(families, UNKNOWN, 0, &metrics->unknown_cgroup, offset);
}

static void add_cgroups(struct families *families, const struct observation *seen)
{
	const struct metrics *metrics = &seen->metrics;

	add_cgroup_counter(families, seen, PREFIX "cgroup_operations", "",
			   "Operations that ended, by the cgroup they are charged to.",
			   offsetof(struct monad_storage_cgroup, ops));
	add_cgroup_counter(families, seen, PREFIX "cgroup_bytes", "bytes",
			   "Bytes of the operations that ended, by cgroup.",
			   offsetof(struct monad_storage_cgroup, bytes));
	add_cgroup_counter(families, seen, PREFIX "cgroup_seconds", "seconds",
			   "Time of the operations that ended, from beginning to end, by cgroup.",
			   offsetof(struct monad_storage_cgroup, total_ns));
	counter(families, PREFIX "cgroup_failed_operations", "",
		"Operations that ended with an error, by cgroup.");
	for (size_t i = 0; i < metrics->nr_cgroups; i++)
		families_sample(families, seen->cgroups[i].cgroup->sum.errors, 1, "cgroup",
				cgroup_label(&seen->cgroups[i]))->id =
			cgroup_id(&seen->cgroups[i]);
	families_sample(families, metrics->gone_cgroups.errors, 1, "cgroup", REMOVED);
	families_sample(families, metrics->unknown_cgroup.errors, 1, "cgroup", UNKNOWN);
}

/*
 * The recording itself
 */

static void add_programs(struct families *families, const struct observation *seen)
{
	counter(families, PREFIX "program_events", "",
		"What the programs saw, by counter of 'monad-storage status'.");
	for (int i = 0; i < MONAD_STORAGE_COUNTERS; i++) {
		if (!losses_has(i))
			families_sample(families, seen->counters.value[i], 1, "event",
					counter_names[i]);
	}
	counter(families, PREFIX "program_losses", "",
		"What the programs did not see or could not keep, by cause.");
	for (int i = 0; i < MONAD_STORAGE_COUNTERS; i++) {
		if (losses_has(i))
			families_sample(families, seen->counters.value[i], 1, "cause",
					counter_names[i]);
	}
}

static void add_hooks(struct families *families, const struct observation *seen)
{
	gauge(families, PREFIX "hook_attached", "",
	      "1 if a program is attached to the tracepoint, 0 if not.");
	for (size_t i = 0; i < NR_HOOKS; i++) {
		if (seen->hooks[i].attached || hook_missing(seen->hooks, i))
			families_sample(families, seen->hooks[i].attached, 1, "hook",
					hook_names[i]);
	}
	counter(families, PREFIX "hook_recursion_misses", "",
		"Hits of the tracepoint that the kernel skipped, since the program was running "
		"on that CPU already.");
	for (size_t i = 0; i < NR_HOOKS; i++) {
		if (seen->hooks[i].attached)
			families_sample(families, seen->hooks[i].recursion_misses, 1, "hook",
					hook_names[i]);
	}
}

/* In billionths; full is full. */
static uint64_t ratio(uint64_t used, uint64_t size)
{
	return used < size ? (uint64_t)((double)used / (double)size * NSEC_PER_SEC) : NSEC_PER_SEC;
}

static void add_ring(struct families *families, const struct observed_ring *ring)
{
	counter(families, PREFIX "ring_events", "", "Events recorded in the ring, by anybody.");
	families_sample(families, ring->events, 0);
	counter(families, PREFIX "ring_bytes", "bytes", "Bytes of payload recorded in the ring.");
	families_sample(families, ring->bytes, 0);
	counter(families, PREFIX "ring_lost_events", "",
		"Events that are missing in the ring, by cause.");
	for (int i = 0; i < MONAD_RING_LOST_COUNT; i++)
		families_sample(families, ring->lost[i], 1, "cause", ring_loss_names[i]);
	counter(families, PREFIX "ring_discarded_events", "",
		"Events that their writer began and gave back.");
	families_sample(families, ring->discarded, 0);
	gauge(families, PREFIX "ring_capacity_events", "", "Events the ring has room for.");
	families_sample(families, ring->capacity, 0);
	gauge(families, PREFIX "ring_capacity_bytes", "bytes",
	      "Bytes of payload the ring has room for.");
	families_sample(families, ring->byte_capacity, 0);
	gauge(families, PREFIX "ring_fill_ratio", "ratio",
	      "How full the ring is, 0 to 1; once full, new events replace the oldest.");
	families_sample(families, ratio(ring->last_seqno, ring->capacity), 1, "part", "events");
	families_sample(families, ratio(ring->next_byte, ring->byte_capacity), 1, "part",
			"payload");
}

void samples_make(struct families *families, const struct observation *seen)
{
	memset(families, 0, sizeof(*families));
	gauge(families, PREFIX "build_info", "", "The version of monad-storage. Always 1.");
	families_sample(families, 1, 1, "version", MONAD_STORAGE_VERSION);
	gauge(families, PREFIX "recording", "", "1 while disks are being recorded, 0 if not.");
	families_sample(families, seen->recording, 0);
	if (!seen->recording)
		return;
	families->since_ns = seen->started_ns;
	gauge(families, PREFIX "recording_filtered", "",
	      "1 if only some devices are recorded, 0 if all are.");
	families_sample(families, seen->filtered, 0);
	gauge(families, PREFIX "start_time_seconds", "seconds",
	      "When the recording was started, since 1970; all counters began then.");
	families_sample(families, seen->started_ns, 0);
	add_devices(families, seen);
	add_operations(families, &seen->metrics);
	add_writeback(families, &seen->metrics);
	add_inflight(families, seen);
	add_cgroups(families, seen);
	add_programs(families, seen);
	add_hooks(families, seen);
	if (seen->has_ring)
		add_ring(families, &seen->ring);
	families_finish(families);
}
