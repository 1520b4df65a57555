// SPDX-License-Identifier: GPL-2.0
#include "event.h"

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
