// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "facts.h"
#include "storage_names.h"

static void begin(struct facts *facts, const struct raw_event *event)
{
	memset(facts, 0, sizeof(*facts));
	facts->time_ns = event->time_ns;
	facts->seqno = event->seqno;
	facts->type = event->type;
	facts->layer = MONAD__STORAGE_LAYER__STORAGE_LAYER_BLOCK;
	facts->sector = MONAD_STORAGE_NO_SECTOR;
}

static void of_complete(struct facts *facts, const struct monad_storage_complete *c)
{
	facts->dev_major = c->dev_major;
	facts->dev_minor = c->dev_minor;
	facts->phase = MONAD__STORAGE_PHASE__STORAGE_PHASE_COMPLETE;
	facts->op = c->op;
	/* As metrics call it: it is nobody's operation. */
	facts->operation = facts->type == MONAD_STORAGE_FLUSH_COMPLETE ? "cache_flush" :
								       op_name(c->op);
	facts->sector = c->sector;
	facts->bytes = c->bytes;
	facts->has_latency = c->flags & MONAD_STORAGE_F_TOTAL_NS;
	facts->has_queue = c->flags & MONAD_STORAGE_F_QUEUE_NS;
	facts->has_device = c->flags & MONAD_STORAGE_F_DEVICE_NS;
	facts->latency_ns = facts->has_latency ? c->total_ns : 0;
	facts->queue_ns = facts->has_queue ? c->queue_ns : 0;
	facts->device_ns = facts->has_device ? c->device_ns : 0;
	facts->cgroup_id = c->actor_cgroup_id;
	facts->charged_cgroup_id = c->cgroup_id;
	facts->pid = c->pid;
	facts->tgid = c->tgid;
	facts->flags = c->flags;
	facts->error = c->error;
	facts->issues = c->issues;
	facts->requeues_issued = c->requeues_issued;
	facts->requeues_unissued = c->requeues_unissued;
	facts->partials = c->partials;
	facts->stack = c->stack;
	memcpy(facts->comm, c->comm, sizeof(facts->comm));
	memcpy(facts->disk, c->disk, sizeof(facts->disk));
}

static void of_step(struct facts *facts, const struct monad_storage_step *s)
{
	facts->dev_major = s->dev_major;
	facts->dev_minor = s->dev_minor;
	facts->phase = facts->type == MONAD_STORAGE_RQ_ISSUE ?
			       MONAD__STORAGE_PHASE__STORAGE_PHASE_ISSUE :
		       facts->type == MONAD_STORAGE_RQ_PARTIAL ?
			       MONAD__STORAGE_PHASE__STORAGE_PHASE_COMPLETE :
			       MONAD__STORAGE_PHASE__STORAGE_PHASE_QUEUE;
	facts->op = s->op;
	facts->operation = op_name(s->op);
	facts->sector = s->sector;
	facts->bytes = s->bytes;
	/* So far; 0 where its beginning was not seen, or this is it. */
	facts->has_latency = s->since_ns;
	facts->latency_ns = s->since_ns;
	facts->pid = s->pid;
	facts->tgid = s->tgid;
	facts->flags = s->flags;
	facts->error = s->error;
	facts->issues = s->issues;
	memcpy(facts->comm, s->comm, sizeof(facts->comm));
}

static void of_call(struct facts *facts, const struct monad_storage_call *c)
{
	facts->dev_major = c->dev_major;
	facts->dev_minor = c->dev_minor;
	facts->layer = MONAD__STORAGE_LAYER__STORAGE_LAYER_VFS;
	facts->phase = MONAD__STORAGE_PHASE__STORAGE_PHASE_COMPLETE;
	if (facts->type == MONAD_STORAGE_VFS_SYNC) {
		facts->phase = MONAD__STORAGE_PHASE__STORAGE_PHASE_FSYNC;
	} else if (facts->type == MONAD_STORAGE_DIRTY_THROTTLE) {
		facts->layer = MONAD__STORAGE_LAYER__STORAGE_LAYER_WRITEBACK;
		facts->phase = MONAD__STORAGE_PHASE__STORAGE_PHASE_DIRTY_THROTTLE;
	}
	facts->op = c->op;
	facts->operation = call_name(c->op);
	facts->bytes = c->bytes;
	facts->has_latency = true;
	facts->latency_ns = c->latency_ns;
	facts->cgroup_id = c->cgroup_id;
	facts->pid = c->pid;
	facts->tgid = c->tgid;
	facts->flags = c->flags;
	facts->error = c->error;
	facts->task = c->task_id;
	facts->inode = c->inode;
	memcpy(facts->comm, c->comm, sizeof(facts->comm));
	memcpy(facts->fs, c->fs, sizeof(facts->fs));
	memcpy(facts->file, c->file, sizeof(facts->file));
}

bool facts_of_event(struct facts *facts, const struct raw_event *event)
{
	begin(facts, event);
	switch (event->type) {
	case MONAD_STORAGE_BIO_QUEUE:
	case MONAD_STORAGE_RQ_ISSUE:
	case MONAD_STORAGE_RQ_REQUEUE:
	case MONAD_STORAGE_RQ_MERGE:
	case MONAD_STORAGE_RQ_PARTIAL:
		of_step(facts, &event->step);
		return true;
	case MONAD_STORAGE_BIO_COMPLETE:
	case MONAD_STORAGE_RQ_COMPLETE:
	case MONAD_STORAGE_FLUSH_COMPLETE:
		of_complete(facts, &event->complete);
		return true;
	case MONAD_STORAGE_VFS_IO:
	case MONAD_STORAGE_VFS_SYNC:
	case MONAD_STORAGE_DIRTY_THROTTLE:
		of_call(facts, &event->call);
		return true;
	default:
		facts->layer = MONAD__STORAGE_LAYER__STORAGE_LAYER_UNSPECIFIED;
		facts->operation = "unknown";
		return false;
	}
}

void facts_of_inflight(struct facts *facts, const struct raw_inflight *io, uint64_t time_ns)
{
	memset(facts, 0, sizeof(*facts));
	facts->time_ns = time_ns;
	facts->layer = MONAD__STORAGE_LAYER__STORAGE_LAYER_BLOCK;
	facts->phase = io->issued ? MONAD__STORAGE_PHASE__STORAGE_PHASE_ISSUE :
				    MONAD__STORAGE_PHASE__STORAGE_PHASE_QUEUE;
	facts->dev_major = io->dev_major;
	facts->dev_minor = io->dev_minor;
	facts->op = io->op;
	facts->operation = op_name(io->op);
	facts->sector = io->sector;
	facts->bytes = io->bytes;
	facts->has_latency = true;
	facts->latency_ns = io->age_ns;
	facts->cgroup_id = io->actor_cgroup_id;
	facts->charged_cgroup_id = io->cgroup_id;
	facts->pid = io->pid;
	facts->tgid = io->tgid;
	facts->flags = io->flags;
	facts->issues = io->issues;
	facts->requeues_issued = io->requeues_issued;
	facts->requeues_unissued = io->requeues_unissued;
	facts->stack = io->stack;
	memcpy(facts->comm, io->comm, sizeof(facts->comm));
}

void facts_of_congestion(struct facts *facts, uint32_t dev_major, uint32_t dev_minor,
			 uint64_t count, uint64_t time_ns)
{
	memset(facts, 0, sizeof(*facts));
	facts->time_ns = time_ns;
	facts->layer = MONAD__STORAGE_LAYER__STORAGE_LAYER_BLOCK;
	facts->phase = MONAD__STORAGE_PHASE__STORAGE_PHASE_QUEUE;
	facts->dev_major = dev_major;
	facts->dev_minor = dev_minor;
	facts->operation = "";
	facts->sector = MONAD_STORAGE_NO_SECTOR;
	facts->count = count;
}
