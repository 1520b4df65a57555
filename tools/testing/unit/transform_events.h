/* SPDX-License-Identifier: GPL-2.0 */
/* Made-up events for the transformer, and what its batches hold. */
#ifndef MONAD_TRANSFORM_EVENTS_H
#define MONAD_TRANSFORM_EVENTS_H

#include <errno.h>

#include "families.h"
#include "tap.h"
#include "transform.h"

#define MS 1000000ULL
#define SECOND 1000000000ULL
/* Later than any clock that is right: the window began before. */
#define NOW 4000000000000000000ULL

/* A read of sda, which took 1 ms and is nothing special. */
static inline struct raw_event quick_read(void)
{
	struct raw_event event = {
		.time_ns = NOW,
		.seqno = 1,
		.type = MONAD_STORAGE_RQ_COMPLETE,
		.complete = {
			.dev_major = 8,
			.sector = 2048,
			.bytes = 4096,
			.queue_ns = MS / 4,
			.device_ns = MS / 2,
			.total_ns = MS,
			.cgroup_id = 70,
			.actor_cgroup_id = 71,
			.pid = 101,
			.tgid = 100,
			.flags = MONAD_STORAGE_F_QUEUE_NS | MONAD_STORAGE_F_DEVICE_NS |
				 MONAD_STORAGE_F_TOTAL_NS,
			.op = MONAD_STORAGE_OP_READ,
			.issues = 1,
			.comm = "reader",
			.disk = "sda",
		},
	};

	return event;
}

static inline struct raw_event slow_read(uint64_t total_ns)
{
	struct raw_event event = quick_read();

	event.complete.total_ns = total_ns;
	event.complete.queue_ns = total_ns / 4;
	event.complete.device_ns = total_ns / 4 * 3;
	return event;
}

static inline struct raw_event failed_read(unsigned int error)
{
	struct raw_event event = quick_read();

	event.complete.error = error;
	return event;
}

static inline struct raw_event made_call(enum monad_storage_event_type type,
					 enum monad_storage_call_op op, uint64_t latency_ns)
{
	struct raw_event event = {
		.time_ns = NOW,
		.seqno = 5,
		.type = type,
		.call = {
			.dev_major = 8,
			.dev_minor = 1,
			.inode = 1234,
			.latency_ns = latency_ns,
			.cgroup_id = 71,
			.pid = 201,
			.tgid = 200,
			.op = op,
			.comm = "writer",
			.fs = "ext4",
			.file = "journal.db",
		},
	};

	return event;
}

static inline struct raw_inflight made_inflight(uint32_t tgid, uint64_t age_ns)
{
	struct raw_inflight io = {
		.age_ns = age_ns,
		.sector = 8,
		.bytes = 4096,
		.cgroup_id = 70,
		.actor_cgroup_id = 71,
		.dev_major = 8,
		.pid = tgid,
		.tgid = tgid,
		.op = MONAD_STORAGE_OP_WRITE,
		.issues = 1,
		.issued = true,
	};

	snprintf(io.comm, sizeof(io.comm), "victim%u", tgid);
	return io;
}

static inline struct transformer *new_transformer(const struct transform_config *config,
						  const struct transform_sources *sources)
{
	struct transformer *transformer;

	if (transformer_new(&transformer, config, sources))
		bail_out("no transformer");
	return transformer;
}

static inline Monad__TelemetryBatch *end_window(struct transformer *transformer)
{
	static uint64_t now = NOW;
	Monad__TelemetryBatch *batch = transform_batch(transformer, now += SECOND);

	if (!batch)
		bail_out("no batch");
	return batch;
}

/* Is every notable event accounted for, in the counters and in what was sent? */
static inline bool adds_up(const struct transformer *transformer)
{
	const struct transform_counters *c = transform_counters(transformer);

	if (c->sent + c->truncated + c->dropped == c->notable && c->sampled <= c->truncated)
		return true;
	diag("sent %llu + truncated %llu + dropped %llu, notable %llu; sampled %llu",
	     (unsigned long long)c->sent, (unsigned long long)c->truncated,
	     (unsigned long long)c->dropped, (unsigned long long)c->notable,
	     (unsigned long long)c->sampled);
	return false;
}

/* How many events a batch stands for. */
static inline uint64_t stands_for(const Monad__TelemetryBatch *batch)
{
	uint64_t all = 0;

	for (size_t i = 0; i < batch->n_spontaneous_events; i++)
		all += 1 + batch->spontaneous_events[i]->truncated_count;
	return all;
}

/* Of its first sample; UINT64_MAX if there is no such family. */
static inline uint64_t family_value(const struct families *families, const char *name)
{
	for (size_t i = 0; i < families->nr; i++) {
		if (!strcmp(families->family[i].name, name))
			return families->family[i].samples[0].value;
	}
	return UINT64_MAX;
}

#endif /* MONAD_TRANSFORM_EVENTS_H */
