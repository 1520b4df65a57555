/* SPDX-License-Identifier: GPL-2.0 */
/* Whether what is in a ring is what the format says, down to each descriptor. */
#ifndef MONAD_RING_TOOL_RING_CHECK_H
#define MONAD_RING_TOOL_RING_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <monad_event/event_metadata.h>

#include "ring_handle.h"

enum check_kind {
	/* wrong */
	CHECK_SIZE,	 /* the file is not as large as its ring */
	CHECK_CONTROL,	 /* positions that cannot be */
	CHECK_RESERVED,	 /* bytes that are not zero */
	CHECK_EXT,	 /* the extension block */
	CHECK_SNAPSHOT,	 /* where a snapshot comes from */
	CHECK_SEQNO,	 /* an event in a slot that is not its own */
	CHECK_PAYLOAD,	 /* bytes that were never allocated, or not aligned */
	CHECK_OVERLAP,	 /* bytes of two events */
	CHECK_TYPE,	 /* not one of the content type's */
	CHECK_TAG,	 /* a flow that begins with a later event */
	CHECK_ERROR,	 /* RECORD_ERROR that does not say what it should */
	/* not wrong, but worth knowing */
	CHECK_NOTES,
	CHECK_UNFINISHED = CHECK_NOTES, /* reserved, and not committed (yet) */
	CHECK_TIME,			/* a clock that was set, or is wrong */
	CHECK_WRITER,			/* died, or was not told apart from one that did */
	CHECK_COUNT,
};

/* "seqno", ...: one word. */
const char *check_kind_name(enum check_kind kind);

struct ring_check {
	/* the caller's: called for each finding. @seqno 0: not of an event; @offset: in the ring */
	void (*found)(struct ring_check *check, enum check_kind kind, uint64_t seqno,
		      uint64_t offset, const char *text);
	void *data;

	uint64_t counts[CHECK_COUNT];
	uint64_t events;      /* that were looked at */
	uint64_t expired;     /* of these, with a payload that is not there any more */
	uint64_t discarded;   /* of these, of type NONE */
	uint64_t overwritten; /* before they could be looked at */
	bool overlap_unchecked; /* too many events for the memory there is */
	bool interrupted;

	/* of its own */
	const struct ring_handle *handle;
	bool schema_known;
	bool may_be_live; /* somebody may be writing to it now */
	uint64_t last_seqno, next_byte, window, now_ns, last_time;
	uint64_t last_time_seqno;
	struct check_extent *extents;
	size_t extent_count, extent_room;
};

/* Goes through all of it. Zeroed, but for what is the caller's; ring_check_wrong() then. */
void ring_check_run(struct ring_check *check, const struct ring_handle *handle);

/* How many findings are of things that are wrong. */
uint64_t ring_check_wrong(const struct ring_check *check);

/* The parts: ring_check.c has the header's, ring_check_events.c has this. */
void ring_check_events(struct ring_check *check);

__attribute__((format(printf, 5, 6))) void
ring_check_found(struct ring_check *check, enum check_kind kind, uint64_t seqno, uint64_t offset,
		 const char *format, ...);

#endif /* MONAD_RING_TOOL_RING_CHECK_H */
