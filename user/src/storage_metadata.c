// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Event types of content type STORAGE. Their schema hash is made by the build. */
#include <monad/storage_event.h>

#include "storage_metadata.h"

#define STORAGE(name, text) \
	[MONAD_STORAGE_##name] = {MONAD_STORAGE_##name, #name, text}

const struct monad_event_metadata g_monad_storage_event_metadata[] = {
	[MONAD_EVENT_NONE_EVENT_TYPE] = {MONAD_EVENT_NONE_EVENT_TYPE, "NONE",
					 "discarded by its writer; carries nothing"},
	[MONAD_EVENT_RECORD_ERROR_EVENT_TYPE] = {MONAD_EVENT_RECORD_ERROR_EVENT_TYPE,
						 "RECORD_ERROR",
						 "an event could not be recorded as it was meant"},
	STORAGE(BIO_QUEUE, "a bio was submitted to a bio-based device"),
	STORAGE(BIO_COMPLETE, "all of a bio is done"),
	STORAGE(RQ_ISSUE, "a request was handed to the device"),
	STORAGE(RQ_REQUEUE, "a request was given back by the driver, to be issued later"),
	STORAGE(RQ_MERGE, "a request was merged into another one and is gone"),
	STORAGE(RQ_PARTIAL, "a part of a request is done, more is to come"),
	STORAGE(RQ_COMPLETE, "all of a request is done"),
	STORAGE(FLUSH_COMPLETE, "the device has flushed its write cache"),
	STORAGE(STACK, "a stack that I/O came from"),
	STORAGE(VFS_IO, "a read or write of a file has returned, as a task wanted to know"),
	STORAGE(VFS_SYNC, "a call that syncs a file has returned, likewise"),
	STORAGE(DIRTY_THROTTLE, "somebody has to wait for writeback, likewise"),
};

const struct monad_event_metadata *storage_metadata_table(size_t *count)
{
	*count = sizeof(g_monad_storage_event_metadata) / sizeof(g_monad_storage_event_metadata[0]);
	return g_monad_storage_event_metadata;
}
