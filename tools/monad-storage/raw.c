// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "monad_storage.h"
#include "raw.h"
#include "tables.h"

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

static struct raw_inflight raw_inflight(const struct monad_storage_io *io, uint64_t now_ns,
					bool bio)
{
	/* What was not seen to start has been there since it was issued. */
	const uint64_t begin = io->start_ns ? io->start_ns : io->first_issue_ns;
	struct raw_inflight raw = {
		.start_ns = begin,
		.age_ns = begin && now_ns > begin ? now_ns - begin : 0,
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
		.issued = bio || io->state == MONAD_STORAGE_STATE_ISSUED,
	};

	memcpy(raw.comm, io->comm, sizeof(raw.comm));
	return raw;
}

static int add_table(const char *keys, const char *entries, bool bios, struct raw_inflight **ios,
		     size_t *nr, size_t *room)
{
	struct monad_storage_io io;
	struct table table;
	size_t at = 0;
	uint64_t key;
	int err;

	err = table_open(&table, keys, entries, sizeof(io), 1);
	while (!err && (key = table_next(&table, &at))) {
		if (!table_copy(&table, at - 1, key, &io))
			continue;
		if (*nr == *room) {
			*room = *room * 2 + 64;
			*ios = xrealloc(*ios, *room * sizeof(**ios));
		}
		/* The driver of a bio has it from the beginning. */
		(*ios)[(*nr)++] = raw_inflight(&io, clock_ns(CLOCK_MONOTONIC), bios && !(key & 1));
	}
	table_close(&table);
	return err;
}

int raw_inflight_read(struct raw_inflight **ios, size_t *nr)
{
	size_t room = 0;
	int err;

	*ios = NULL;
	*nr = 0;
	err = add_table("inflight_keys", "inflight", false, ios, nr, &room);
	if (!err)
		err = add_table("bio_keys", "inflight_bios", true, ios, nr, &room);
	if (err) {
		free(*ios);
		*ios = NULL;
		*nr = 0;
	}
	return err;
}
