/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of one event, whatever it came from: steps (1) and (8) look at this. */
#ifndef TRANSFORM_FACTS_H
#define TRANSFORM_FACTS_H

#include "transform.h"

struct facts {
	uint64_t time_ns; /* CLOCK_REALTIME */
	uint64_t seqno;
	uint32_t type;    /* enum monad_storage_event_type; 0: it was seen in flight */
	uint32_t dev_major;
	uint32_t dev_minor;
	Monad__StorageLayer layer;
	Monad__StoragePhase phase;
	uint32_t op;      /* of enum monad_storage_call_op if it is a call */
	const char *operation;
	uint64_t sector;
	uint64_t bytes;
	bool has_latency; /* in all; and so on */
	bool has_queue;
	bool has_device;
	uint64_t latency_ns;
	uint64_t queue_ns;
	uint64_t device_ns;
	uint64_t cgroup_id;       /* the actor's */
	uint64_t charged_cgroup_id;
	uint32_t pid;
	uint32_t tgid;
	uint32_t flags;   /* enum monad_storage_flag */
	uint32_t error;   /* errno */
	uint32_t issues;
	uint32_t requeues_issued;
	uint32_t requeues_unissued;
	uint32_t partials;
	uint32_t stack;   /* its number in the ring; 0: none */
	uint32_t task;    /* whose it is; 0: nobody's */
	bool gone;        /* it was in flight, is not any more, and its end was not seen */
	uint64_t count;   /* I/Os under way, of a congestion */
	uint64_t inode;
	char comm[MONAD_STORAGE_COMM_LEN]; /* these need not end in a NUL */
	char disk[MONAD_STORAGE_DISK_LEN];
	char fs[MONAD_STORAGE_FS_LEN];
	char file[MONAD_STORAGE_FILE_LEN];
};

/* False for what is no event of its own, or of a type that is not known. */
bool facts_of_event(struct facts *facts, const struct raw_event *event);

void facts_of_inflight(struct facts *facts, const struct raw_inflight *io, uint64_t time_ns);

/* A device that has @count under way. */
void facts_of_congestion(struct facts *facts, uint32_t dev_major, uint32_t dev_minor,
			 uint64_t count, uint64_t time_ns);

static inline bool facts_are_of_call(const struct facts *facts)
{
	return facts->type >= MONAD_STORAGE_VFS_IO && facts->type <= MONAD_STORAGE_DIRTY_THROTTLE;
}

/* That of an I/O. */
static inline bool facts_are_of_end(const struct facts *facts)
{
	return facts->type == MONAD_STORAGE_RQ_COMPLETE ||
	       facts->type == MONAD_STORAGE_BIO_COMPLETE ||
	       facts->type == MONAD_STORAGE_FLUSH_COMPLETE;
}

/* The kernel's own flushes of a device's cache, and those that somebody asked for. */
static inline bool facts_are_of_flush(const struct facts *facts)
{
	return facts->type == MONAD_STORAGE_FLUSH_COMPLETE ||
	       (!facts_are_of_call(facts) && facts->op == MONAD_STORAGE_OP_FLUSH);
}

#endif /* TRANSFORM_FACTS_H */
