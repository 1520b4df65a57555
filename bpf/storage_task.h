/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of a task keep in maps, shared with the process that loads them
 * and reads the maps, which lives as long as they do.
 */
#ifndef MONAD_STORAGE_TASK_H
#define MONAD_STORAGE_TASK_H

#include "storage_state.h"

/* Of what matches the filters of process, device and operation. */
enum monad_task_counter {
	MONAD_TASK_BEGUN,       /* calls seen to begin */
	MONAD_TASK_ENDED,       /* ... and to end; of writeback-pressure: pauses */
	MONAD_TASK_ASYNC,       /* ended with -EIOCBQUEUED: how long they take is not known */
	MONAD_TASK_ENDS_UNSEEN, /* another call of the same thread came first */
	MONAD_TASK_NESTED,      /* calls within another that was measured, which has their time */
	MONAD_TASK_NOT_KEPT,    /* beginnings for which there was no memory */
	MONAD_TASK_NOT_PAUSED,  /* of writeback-pressure: looked at, and let go on */
	MONAD_TASK_DEVICES_FULL, /* ended, and in no device's sum */
	/* Why what ended is not among the events; RECORDED is what is. */
	MONAD_TASK_QUICK,       /* less than the least latency */
	MONAD_TASK_SAMPLED_OUT,
	MONAD_TASK_BEYOND_MAX,  /* after as many as were wanted */
	MONAD_TASK_NOT_RECORDED, /* the ring refused; it counts why */
	MONAD_TASK_RECORDED,
	MONAD_TASK_COUNTERS,
};

struct monad_task_counters {
	uint64_t value[MONAD_TASK_COUNTERS];
};

/* All of one operation that ended; buckets are those of struct monad_storage_metrics. */
struct monad_task_totals {
	uint64_t ops;
	uint64_t bytes;
	uint64_t errors;
	uint64_t slow;
	uint64_t sum_ns;
	uint64_t max_ns;
	uint64_t bucket[MONAD_STORAGE_BUCKETS];
};

/* All that ended on one device. */
struct monad_task_device {
	uint64_t ops;
	uint64_t bytes;
	uint64_t errors;
	uint64_t sum_ns;
};

#define MONAD_TASK_DEVICES 1024
#define MONAD_TASK_PIDS 64

/* What a system call means for a vfs_fsync_range() within it. */
enum monad_task_syscall {
	MONAD_TASK_SYSCALL_OTHER = 0,
	MONAD_TASK_SYSCALL_FSYNC,
	MONAD_TASK_SYSCALL_FDATASYNC,
	MONAD_TASK_SYSCALL_MSYNC,
	MONAD_TASK_SYSCALL_WRITE, /* any that writes to one file */
};

#define MONAD_TASK_SYSCALLS 512

#endif /* MONAD_STORAGE_TASK_H */
