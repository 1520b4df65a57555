/* SPDX-License-Identifier: GPL-2.0 */
/* What a task was asked to do, and how it comes out. */
#ifndef MONAD_STORAGE_TASK_TOOL_H
#define MONAD_STORAGE_TASK_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"
#include "pid_set.h"
#include "storage_task.h"

enum task_kind {
	TASK_VFS,
	TASK_FSYNC,
	TASK_WRITEBACK,
	TASK_BLOCK,
	TASK_KINDS,
};

extern const char *const task_kind_names[TASK_KINDS];

#define TASK_MAX_DISKS 64

/* What may be asked for, on the command line and elsewhere; and what is if nothing else is. */
#define TASK_MIN_DURATION_NS 100000000ULL
#define TASK_MAX_DURATION_NS 600000000000ULL
#define TASK_DURATION_NS 10000000000ULL
#define TASK_MAX_EVENTS 1000000
#define TASK_EVENTS 10000
#define TASK_MAX_SAMPLE_RATE 1000000
/* What is slow without a least latency. */
#define TASK_SLOW_NS 10000000ULL

struct task_options {
	enum task_kind kind;
	const char *ring;
	uint64_t duration_ns;
	uint64_t max_events;
	uint64_t sample_rate; /* one in so many */
	uint64_t min_latency_ns;
	uint64_t slow_ns; /* what counts as slow: min_latency_ns, or a default */
	uint32_t devs[TASK_MAX_DISKS];
	unsigned int nr_devs;
	struct pid_set pids;
	uint32_t ops; /* a bit each: monad_storage_op for TASK_BLOCK, else _call_op; 0: all */
	uint32_t self; /* another process whose calls are not looked at, for it is told of them */
	/*
	 * It comes after what is always on: it does not begin, and ends, when an exporter asks
	 * for that or the ring is overwritten sooner than it could be read.
	 */
	bool yields;
	bool json;
	bool verbose;
};

/* A block event or a call, with its descriptor. */
struct task_event {
	bool is_call;
	union {
		struct storage_event block;
		struct {
			struct monad_event_descriptor desc;
			struct monad_storage_call call;
		};
	};
};

#define TASK_OPS 32
#define TASK_SLOWEST 5

struct task_device {
	uint32_t dev;
	struct monad_task_device sum;
};

struct task_results {
	const char *ended_by; /* "duration", "max_events", "interrupt", "recording", ... */
	const char *reason; /* as task_reason() says */
	uint64_t began_ns; /* CLOCK_REALTIME */
	uint64_t window_ns;
	/* All that matched, events or not; by the numbers of the kind's operations */
	struct monad_task_totals ops[TASK_OPS];
	struct monad_task_counters counters;
	struct task_device *devices; /* those that took most time first */
	size_t nr_devices;
	uint64_t recursion_misses; /* hits that the kernel skipped */
	uint64_t queue_ns;  /* TASK_BLOCK: sums of what was slow */
	uint64_t device_ns;
	/* Of the events: */
	uint64_t shown;
	uint64_t missed; /* written, and overwritten before they were read */
	uint64_t unsent; /* read, and not taken by who asked for them */
	struct task_event slowest[TASK_SLOWEST];
	unsigned int nr_slowest;
	/* Of the calls that have not ended, those that began first: how long it took so far */
	struct task_event unfinished[TASK_SLOWEST];
	unsigned int nr_unfinished;
};

/* "read", "fsync", ...; those of blocks are op_name()'s. */
const char *task_op_name(enum task_kind kind, unsigned int op);
/* TASK_KINDS if there is none of that name. */
enum task_kind task_kind_by_name(const char *name);

/* -1 if the kind has no such operation. */
int task_op_by_name(enum task_kind kind, const char *name);
/* All that a kind has, with commas, for messages. */
const char *task_op_list(enum task_kind kind, char *buf, size_t size);

uint64_t task_event_latency(const struct task_event *event);

/* Keeps the event if it is one of the slowest. */
void task_note_slowest(struct task_results *results, const struct task_event *event);

/* Likewise of a call that has not ended. */
void task_note_unfinished(struct task_results *results, const struct monad_storage_call *call);

/* As metrics_percentile(), and never more than the largest. */
uint64_t task_percentile(const struct monad_task_totals *totals, double percent);

/* Sums of all operations; the buckets too. */
struct monad_task_totals task_all_ops(const struct task_results *results);

/* Sorts the devices. */
void task_sort_devices(struct task_results *results);

/* Calls that were seen to begin, and not to end within the window; TASK_BLOCK: all under way. */
uint64_t task_unfinished(const struct task_results *results);

/* What it comes to, in one word; see the man page. */
const char *task_reason(const struct task_options *options, const struct task_results *results);

#endif /* MONAD_STORAGE_TASK_TOOL_H */
