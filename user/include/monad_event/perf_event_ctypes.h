/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Events of content type PERF: where CPUs were when a sampler looked. BPF programs
 * that write them include this file too.
 *
 * The layout is this project's own. Other writers may use the content type for
 * events of theirs: g_monad_perf_event_schema_hash (event_metadata.h) tells them
 * apart, and a writer of these events puts it into its ring.
 */
#ifndef MONAD_EVENT_PERF_EVENT_CTYPES_H
#define MONAD_EVENT_PERF_EVENT_CTYPES_H

#include <monad/event_ring.h>

enum monad_perf_event_type {
	MONAD_PERF_NONE = 0,
	MONAD_PERF_RECORD_ERROR = 1,
	MONAD_PERF_SAMPLE = 2, /* struct monad_perf_sample */
	MONAD_PERF_EVENT_COUNT = 3,
};

/* Bits of struct monad_perf_sample.flags. */
enum monad_perf_sample_flag {
	MONAD_PERF_SAMPLE_USER = 1 << 0,   /* ip is an address of the process */
	MONAD_PERF_SAMPLE_KERNEL = 1 << 1, /* ip is an address of the kernel */
	MONAD_PERF_SAMPLE_IDLE = 1 << 2,   /* the CPU had nothing to do */
};

#define MONAD_PERF_COMM_LEN 16

/* One look at one CPU. */
struct monad_perf_sample {
	uint64_t ip;	/* address of the instruction; 0 if not known */
	uint32_t pid;	/* of the process ... */
	uint32_t tid;	/* ... and of the thread, in the initial pid namespace */
	uint32_t cpu;	/* that was looked at */
	uint32_t flags; /* enum monad_perf_sample_flag */
	char comm[MONAD_PERF_COMM_LEN]; /* of the thread; ends with a NUL */
};

/* Index into content_ext[] of a descriptor. */
enum monad_perf_flow_type {
	MONAD_PERF_FLOW_PID = 0, /* pid, as in the sample; 0 as well for idle CPUs */
	MONAD_PERF_FLOW_TID = 1, /* tid */
	MONAD_PERF_FLOW_CPU = 2, /* cpu + 1 */
};

MONAD_EVENT_ASSERT_SIZE(struct monad_perf_sample, 40);
MONAD_EVENT_ASSERT_OFFSET(struct monad_perf_sample, ip, 0);
MONAD_EVENT_ASSERT_OFFSET(struct monad_perf_sample, pid, 8);
MONAD_EVENT_ASSERT_OFFSET(struct monad_perf_sample, tid, 12);
MONAD_EVENT_ASSERT_OFFSET(struct monad_perf_sample, cpu, 16);
MONAD_EVENT_ASSERT_OFFSET(struct monad_perf_sample, flags, 20);
MONAD_EVENT_ASSERT_OFFSET(struct monad_perf_sample, comm, 24);

#endif /* MONAD_EVENT_PERF_EVENT_CTYPES_H */
