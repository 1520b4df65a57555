// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "event.h"
#include "monad_storage.h"

enum event_result event_read(struct monad_event_iterator *iter,
			     const struct monad_event_descriptor *desc,
			     struct storage_event *event)
{
	size_t size;

	switch (desc->event_type) {
	case MONAD_STORAGE_BIO_QUEUE:
	case MONAD_STORAGE_RQ_ISSUE:
	case MONAD_STORAGE_RQ_REQUEUE:
	case MONAD_STORAGE_RQ_MERGE:
	case MONAD_STORAGE_RQ_PARTIAL:
		size = sizeof(event->step);
		event->is_complete = false;
		break;
	case MONAD_STORAGE_BIO_COMPLETE:
	case MONAD_STORAGE_RQ_COMPLETE:
	case MONAD_STORAGE_FLUSH_COMPLETE:
		size = sizeof(event->complete);
		event->is_complete = true;
		break;
	default:
		return EVENT_UNKNOWN;
	}
	if (desc->payload_size < size)
		return EVENT_UNKNOWN;
	if (!monad_event_iterator_payload_memcpy(iter, desc, &event->step, size))
		return EVENT_EXPIRED;
	event->desc = *desc;
	if (event->is_complete) {
		event->complete.comm[MONAD_STORAGE_COMM_LEN - 1] = '\0';
		event->complete.disk[MONAD_STORAGE_DISK_LEN - 1] = '\0';
	} else {
		event->step.comm[MONAD_STORAGE_COMM_LEN - 1] = '\0';
	}
	return EVENT_OK;
}

uint32_t event_dev(const struct monad_event_descriptor *desc)
{
	return desc->content_ext[MONAD_STORAGE_TAG_DEVICE] >> MONAD_STORAGE_TAG_DEVICE_SHIFT;
}

unsigned int event_op(const struct monad_event_descriptor *desc)
{
	return desc->content_ext[MONAD_STORAGE_TAG_DEVICE] & MONAD_STORAGE_TAG_OP_MASK;
}

bool event_failed(const struct monad_event_descriptor *desc)
{
	return desc->content_ext[MONAD_STORAGE_TAG_DEVICE] & MONAD_STORAGE_TAG_FAILED;
}

bool event_is_reference(unsigned int type)
{
	return type == MONAD_STORAGE_STACK;
}

bool event_is_operation(unsigned int type)
{
	return type == MONAD_STORAGE_RQ_COMPLETE || type == MONAD_STORAGE_BIO_COMPLETE;
}

bool event_is_call(unsigned int type)
{
	return type >= MONAD_STORAGE_VFS_IO && type <= MONAD_STORAGE_DIRTY_THROTTLE;
}

static const char *const op_names[MONAD_STORAGE_OP_COUNT] = {
	[MONAD_STORAGE_OP_OTHER] = "other",
	[MONAD_STORAGE_OP_READ] = "read",
	[MONAD_STORAGE_OP_WRITE] = "write",
	[MONAD_STORAGE_OP_FLUSH] = "flush",
	[MONAD_STORAGE_OP_DISCARD] = "discard",
	[MONAD_STORAGE_OP_SECURE_ERASE] = "secure_erase",
	[MONAD_STORAGE_OP_WRITE_ZEROES] = "write_zeroes",
	[MONAD_STORAGE_OP_ZONE_APPEND] = "zone_append",
	[MONAD_STORAGE_OP_ZONE_OPEN] = "zone_open",
	[MONAD_STORAGE_OP_ZONE_CLOSE] = "zone_close",
	[MONAD_STORAGE_OP_ZONE_FINISH] = "zone_finish",
	[MONAD_STORAGE_OP_ZONE_RESET] = "zone_reset",
	[MONAD_STORAGE_OP_ZONE_RESET_ALL] = "zone_reset_all",
	[MONAD_STORAGE_OP_DRV_IN] = "drv_in",
	[MONAD_STORAGE_OP_DRV_OUT] = "drv_out",
};

const char *op_name(unsigned int op)
{
	return op < MONAD_STORAGE_OP_COUNT ? op_names[op] : "other";
}

int op_by_name(const char *name)
{
	for (int op = 0; op < MONAD_STORAGE_OP_COUNT; op++) {
		if (!strcasecmp(name, op_names[op]))
			return op;
	}
	return -1;
}

const char *event_type_name(unsigned int type)
{
	static const char *const names[] = {
		[MONAD_STORAGE_BIO_QUEUE] = "bio_queue",
		[MONAD_STORAGE_BIO_COMPLETE] = "bio_complete",
		[MONAD_STORAGE_RQ_ISSUE] = "rq_issue",
		[MONAD_STORAGE_RQ_REQUEUE] = "rq_requeue",
		[MONAD_STORAGE_RQ_MERGE] = "rq_merge",
		[MONAD_STORAGE_RQ_PARTIAL] = "rq_partial",
		[MONAD_STORAGE_RQ_COMPLETE] = "rq_complete",
		[MONAD_STORAGE_FLUSH_COMPLETE] = "flush_complete",
		[MONAD_STORAGE_STACK] = "stack",
		[MONAD_STORAGE_VFS_IO] = "vfs_io",
		[MONAD_STORAGE_VFS_SYNC] = "vfs_sync",
		[MONAD_STORAGE_DIRTY_THROTTLE] = "dirty_throttle",
	};

	return type < ARRAY_SIZE(names) && names[type] ? names[type] : "unknown";
}

const char *flag_name(unsigned int bit)
{
	switch (1U << bit) {
	case MONAD_STORAGE_F_SYNC: return "sync";
	case MONAD_STORAGE_F_META: return "meta";
	case MONAD_STORAGE_F_PRIO: return "prio";
	case MONAD_STORAGE_F_FUA: return "fua";
	case MONAD_STORAGE_F_PREFLUSH: return "preflush";
	case MONAD_STORAGE_F_RAHEAD: return "rahead";
	case MONAD_STORAGE_F_BACKGROUND: return "background";
	case MONAD_STORAGE_F_NOWAIT: return "nowait";
	case MONAD_STORAGE_F_POLLED: return "polled";
	case MONAD_STORAGE_F_SWAP: return "swap";
	case MONAD_STORAGE_F_PASSTHROUGH: return "passthrough";
	case MONAD_STORAGE_F_FLUSH_SEQ: return "flush_seq";
	case MONAD_STORAGE_F_TIMED_OUT: return "timed_out";
	case MONAD_STORAGE_F_IO_STAT: return "io_stat";
	case MONAD_STORAGE_F_KTHREAD: return "kthread";
	case MONAD_STORAGE_F_ACTOR_ISSUER: return "actor_issuer";
	case MONAD_STORAGE_F_ORPHAN: return "orphan";
	case MONAD_STORAGE_F_CLOCK_BACKWARDS: return "clock_backwards";
	case MONAD_STORAGE_F_END_UNSEEN: return "end_unseen";
	case MONAD_STORAGE_F_SLOW: return "slow";
	case MONAD_STORAGE_F_SAMPLE: return "sample";
	}
	return NULL;
}

void event_rwbs(unsigned int op, uint32_t flags, char rwbs[RWBS_LEN])
{
	char *p = rwbs;

	if (flags & MONAD_STORAGE_F_PREFLUSH)
		*p++ = 'F';
	switch (op) {
	case MONAD_STORAGE_OP_READ:
		*p++ = 'R';
		break;
	case MONAD_STORAGE_OP_WRITE:
	case MONAD_STORAGE_OP_ZONE_APPEND:
		*p++ = 'W';
		break;
	case MONAD_STORAGE_OP_FLUSH:
		*p++ = 'F';
		break;
	case MONAD_STORAGE_OP_DISCARD:
		*p++ = 'D';
		break;
	case MONAD_STORAGE_OP_SECURE_ERASE:
		*p++ = 'D';
		*p++ = 'E';
		break;
	default:
		*p++ = 'N';
	}
	if (flags & MONAD_STORAGE_F_FUA)
		*p++ = 'F';
	if (flags & MONAD_STORAGE_F_RAHEAD)
		*p++ = 'A';
	if (flags & MONAD_STORAGE_F_SYNC)
		*p++ = 'S';
	if (flags & MONAD_STORAGE_F_META)
		*p++ = 'M';
	*p = '\0';
}

const char *errno_name(unsigned int err)
{
	static char unnamed[16];
	const char *name = err ? strerrorname_np((int)err) : "";

	if (name)
		return name;
	snprintf(unnamed, sizeof(unnamed), "E%u", err);
	return unnamed;
}
