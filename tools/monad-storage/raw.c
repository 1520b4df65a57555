// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "inflight_table.h"
#include "monad_storage.h"
#include "raw.h"

/* 0: of a type that is not known. */
static size_t payload_size(unsigned int type)
{
	switch (type) {
	case MONAD_STORAGE_BIO_QUEUE:
	case MONAD_STORAGE_RQ_ISSUE:
	case MONAD_STORAGE_RQ_REQUEUE:
	case MONAD_STORAGE_RQ_MERGE:
	case MONAD_STORAGE_RQ_PARTIAL:
		return sizeof(struct monad_storage_step);
	case MONAD_STORAGE_BIO_COMPLETE:
	case MONAD_STORAGE_RQ_COMPLETE:
	case MONAD_STORAGE_FLUSH_COMPLETE:
		return sizeof(struct monad_storage_complete);
	case MONAD_STORAGE_STACK:
		return sizeof(struct monad_storage_stack);
	case MONAD_STORAGE_VFS_IO:
	case MONAD_STORAGE_VFS_SYNC:
	case MONAD_STORAGE_DIRTY_THROTTLE:
		return sizeof(struct monad_storage_call);
	default:
		return 0;
	}
}

enum event_result raw_event_read(struct monad_event_iterator *iter,
				 const struct monad_event_descriptor *desc,
				 struct raw_event *event)
{
	const size_t size = payload_size(desc->event_type);

	if (!size || desc->payload_size < size)
		return EVENT_UNKNOWN;
	/* They all begin at the same place. */
	if (!monad_event_iterator_payload_memcpy(iter, desc, &event->complete, size))
		return EVENT_EXPIRED;
	event->time_ns = desc->record_epoch_nanos;
	event->seqno = desc->seqno;
	event->type = desc->event_type;
	return EVENT_OK;
}

static struct raw_inflight raw_inflight(const struct inflight_io *inflight)
{
	const struct monad_storage_io *io = &inflight->io;
	struct raw_inflight raw = {
		.start_ns = inflight->began_ns,
		.age_ns = inflight->age_ns,
		.sector = io->sector,
		.bytes = io->bytes,
		.cgroup_id = io->cgroup_id,
		.actor_cgroup_id = io->actor_cgroup_id,
		.dev_major = io->dev >> 20,
		.dev_minor = io->dev & 0xfffff,
		.pid = io->pid,
		.tgid = io->tgid,
		.flags = io->flags,
		.stack = io->stack,
		.op = io->op,
		.issues = io->issues,
		.requeues_issued = io->requeues_issued,
		.requeues_unissued = io->requeues_unissued,
		/* The driver of a bio has it from the beginning. */
		.issued = inflight->bio || io->state == MONAD_STORAGE_STATE_ISSUED,
	};

	memcpy(raw.comm, io->comm, sizeof(raw.comm));
	return raw;
}

struct list {
	struct raw_inflight *ios;
	size_t nr, room;
};

static void add_io(const struct inflight_io *io, void *arg)
{
	struct list *list = arg;

	if (list->nr == list->room) {
		list->room = list->room * 2 + 64;
		list->ios = xrealloc(list->ios, list->room * sizeof(*list->ios));
	}
	list->ios[list->nr++] = raw_inflight(io);
}

int raw_inflight_read(struct raw_inflight **ios, size_t *nr)
{
	struct list list = {};
	int err;

	err = inflight_visit(add_io, &list, NULL);
	if (err) {
		free(list.ios);
		list = (struct list){};
	}
	*ios = list.ios;
	*nr = list.nr;
	return err;
}
