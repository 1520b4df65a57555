/* SPDX-License-Identifier: GPL-2.0 */
/* Events as blktrace would have written them, for what reads its files: blkparse, btt, fio. */
#ifndef MONAD_STORAGE_BLKTRACE_H
#define MONAD_STORAGE_BLKTRACE_H

#include <linux/blktrace_api.h>

#include "event.h"

/* What blkparse calls Q G M D R C, in the order of those with the same time. */
enum blktrace_kind {
	BLKTRACE_QUEUE,
	BLKTRACE_GETRQ,
	BLKTRACE_MERGE,
	BLKTRACE_ISSUE,
	BLKTRACE_REQUEUE,
	BLKTRACE_COMPLETE,
};

/* An event of ours, with what its operation needs. */
struct blktrace_event {
	uint64_t op_seqno; /* the same for all events of an operation */
	uint64_t seqno;
	uint64_t time_ns;   /* since 1970 */
	uint64_t sector;    /* of 512 bytes */
	uint64_t bytes;     /* of an end: of the whole operation ... */
	uint64_t done;      /* ... of which its parts had these already */
	uint64_t device_ns; /* of an end, if the flags say that they are known ... */
	uint64_t total_ns;  /* ... of a step: since the start, or 0 */
	uint32_t dev;
	uint32_t flags;
	uint32_t tid;
	uint16_t type; /* enum monad_storage_event_type */
	uint16_t op;
	uint16_t error;
	uint16_t cpu;
	uint16_t issue_cpu; /* of an end */
	uint16_t issues;
	char comm[MONAD_STORAGE_COMM_LEN];
	char disk[MONAD_STORAGE_DISK_LEN]; /* of an end */
};

/* One line of blkparse: an event, or the part of it that was made of one. */
struct blktrace_record {
	uint64_t time_ns;
	const struct blktrace_event *event;
	enum blktrace_kind kind;
};

/* Events that were lost after @time_ns. */
struct blktrace_gap {
	uint64_t time_ns;
	uint64_t missed;
};

struct blktrace {
	/* Take the operations that failed, or took that long, with all their steps. */
	bool errors;
	uint64_t min_latency_ns;

	struct blktrace_event *events;
	size_t nr_events, events_room;
	struct blktrace_gap *gaps;
	size_t nr_gaps, gaps_room;
	/* made by blktrace_convert() */
	struct blktrace_record *records;
	size_t nr_records, records_room;
	size_t unseen; /* operations whose end was not seen, and is not there */
};

/* All that is selected, in the order of the ring. */
void blktrace_add(struct blktrace *trace, const struct storage_event *event);
void blktrace_add_gap(struct blktrace *trace, uint64_t time_ns, uint64_t missed);

/* Once, when all are there: makes the records, sorted by device and time. */
void blktrace_convert(struct blktrace *trace);

/* Everything of a record but its sequence number. */
void blktrace_encode(const struct blktrace_record *record, struct blk_io_trace *encoded);

/*
 * Writes DIR/DISK.blktrace.CPU for each disk in the records. An exit status, after a message
 * if it failed.
 */
int blktrace_write(const struct blktrace *trace, const char *dir);

void blktrace_free(struct blktrace *trace);

#endif /* MONAD_STORAGE_BLKTRACE_H */
