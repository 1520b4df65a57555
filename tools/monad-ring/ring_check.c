// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <monad_event/event_snapshot.h>

#include "ring_check.h"
#include "ring_walk.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

/* Positions above this would come to their end in a lifetime. */
#define MAX_POSITION (UINT64_C(1) << 62)

#define HEADER_OFFSET(field) offsetof(struct monad_event_ring_header, field)
#define EXT_OFFSET(field)    (MONAD_RING_EXT_OFFSET + offsetof(struct monad_ring_ext, field))

const char *check_kind_name(enum check_kind kind)
{
	static const char *const names[CHECK_COUNT] = {
		[CHECK_SIZE] = "size",		   [CHECK_CONTROL] = "control",
		[CHECK_RESERVED] = "reserved",	   [CHECK_EXT] = "extension",
		[CHECK_SNAPSHOT] = "snapshot",	   [CHECK_SEQNO] = "seqno",
		[CHECK_PAYLOAD] = "payload",	   [CHECK_OVERLAP] = "overlap",
		[CHECK_TYPE] = "type",		   [CHECK_TAG] = "tag",
		[CHECK_ERROR] = "record_error",	   [CHECK_UNFINISHED] = "unfinished",
		[CHECK_TIME] = "time",		   [CHECK_WRITER] = "writer",
	};

	return names[kind];
}

void ring_check_found(struct ring_check *check, enum check_kind kind, uint64_t seqno,
		      uint64_t offset, const char *format, ...)
{
	char text[256];
	va_list args;

	check->counts[kind]++;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	check->found(check, kind, seqno, offset, text);
}

uint64_t ring_check_wrong(const struct ring_check *check)
{
	uint64_t wrong = 0;

	for (int kind = 0; kind < CHECK_NOTES; kind++)
		wrong += check->counts[kind];
	return wrong;
}

/* Of a file, which is longer than its ring: mapping it has found out if it is shorter. */
static void check_size(struct ring_check *check)
{
	const struct ring_handle *handle = check->handle;
	uint64_t size;

	if (handle->device || handle->snapshot)
		return;
	size = monad_event_ring_calc_storage(&handle->ring.header->size);
	if ((uint64_t)handle->st.st_size > size)
		ring_check_found(check, CHECK_SIZE, 0, size,
				 "the file has %jd bytes, the ring takes %" PRIu64,
				 (intmax_t)handle->st.st_size, size);
}

/* The sizes in the header were those of the mapping, when it was mapped. */
static void check_sizes(struct ring_check *check)
{
	const struct monad_event_ring *ring = &check->handle->ring;
	const struct monad_event_ring_size size = ring->header->size;

	if (size.descriptor_capacity != ring->desc_capacity_mask + 1 ||
	    size.payload_buf_size != ring->payload_buf_mask + 1)
		ring_check_found(check, CHECK_CONTROL, 0, HEADER_OFFSET(size),
				 "somebody changes the ring's sizes while it is being checked");
}

static void check_control(struct ring_check *check)
{
	const struct monad_event_ring *ring = &check->handle->ring;

	if (check->last_seqno > MAX_POSITION)
		ring_check_found(check, CHECK_CONTROL, 0, HEADER_OFFSET(control.last_seqno),
				 "the last event has number %" PRIu64, check->last_seqno);
	if (check->next_byte > MAX_POSITION)
		ring_check_found(check, CHECK_CONTROL, 0, HEADER_OFFSET(control.next_payload_byte),
				 "the next payload is at byte %" PRIu64, check->next_byte);
	else if (check->next_byte % MONAD_EVENT_PAYLOAD_ALIGN)
		ring_check_found(check, CHECK_CONTROL, 0, HEADER_OFFSET(control.next_payload_byte),
				 "the next payload is at byte %" PRIu64
				 ", which is no multiple of %d",
				 check->next_byte, MONAD_EVENT_PAYLOAD_ALIGN);
	if (check->window > check->next_byte)
		ring_check_found(check, CHECK_CONTROL, 0,
				 HEADER_OFFSET(control.buffer_window_start),
				 "payloads are good from byte %" PRIu64 " on and end at %" PRIu64,
				 check->window, check->next_byte);
	/* Writers add to the one and then raise the other. */
	else if (!check->may_be_live &&
		 check->next_byte - check->window > ring->payload_buf_mask + 1)
		ring_check_found(check, CHECK_CONTROL, 0,
				 HEADER_OFFSET(control.buffer_window_start),
				 "payloads are good from byte %" PRIu64 " to %" PRIu64
				 ", which is more than the buffer has",
				 check->window, check->next_byte);
	if (!check->last_seqno && check->next_byte && !check->may_be_live)
		ring_check_found(check, CHECK_CONTROL, 0, HEADER_OFFSET(control.next_payload_byte),
				 "there are %" PRIu64 " bytes of payload and no events",
				 check->next_byte);
}

/* From @begin to @end of the header section: one finding for all of it. */
static void check_zero(struct ring_check *check, uint64_t begin, uint64_t end)
{
	const uint8_t *bytes = (const uint8_t *)check->handle->ring.header;
	uint64_t first = 0, count = 0;

	for (uint64_t i = begin; i < end; i++) {
		if (!bytes[i])
			continue;
		if (!count++)
			first = i;
	}
	if (count)
		ring_check_found(check, CHECK_RESERVED, 0, first,
				 "%" PRIu64 " bytes of the header section from %" PRIu64
				 " to %" PRIu64 " are not zero",
				 count, begin, end);
}

static void check_ext(struct ring_check *check, const struct monad_ring_ext *ext)
{
	static const uint8_t none[sizeof(ext->uuid)];
	const uint32_t size = ext->size;
	uint64_t newer = 0;

	if (size > MONAD_EVENT_SNAPSHOT_INFO_OFFSET - MONAD_RING_EXT_OFFSET)
		ring_check_found(check, CHECK_EXT, 0, EXT_OFFSET(size),
				 "the extension block says that it has %u bytes", size);
	if (ext->abi_version != MONAD_RING_ABI_VERSION)
		ring_check_found(check, CHECK_EXT, 0, EXT_OFFSET(abi_version),
				 "version %u of the extension block is not known, %d is",
				 ext->abi_version, MONAD_RING_ABI_VERSION);
	if (memcmp(ext->uuid, none, sizeof(none)) == 0 && !check->handle->snapshot)
		ring_check_found(check, CHECK_EXT, 0, EXT_OFFSET(uuid), "the ring has no UUID");
	if (ext->chunks_huge > ext->chunks_total)
		ring_check_found(check, CHECK_EXT, 0, EXT_OFFSET(chunks_huge),
				 "%u chunks of %u are huge pages", ext->chunks_huge,
				 ext->chunks_total);
	if (ext->state > MONAD_RING_STATE_GONE)
		ring_check_found(check, CHECK_EXT, 0, EXT_OFFSET(state), "state %u is not known",
				 ext->state);
	if (ext->reserved)
		ring_check_found(check, CHECK_RESERVED, 0, EXT_OFFSET(reserved),
				 "reserved field of the extension block is %u", ext->reserved);
	for (unsigned int i = MONAD_RING_LOST_COUNT; i < MONAD_RING_LOST_MAX; i++)
		newer |= ext->lost[i];
	if (newer)
		ring_check_found(check, CHECK_EXT, 0, EXT_OFFSET(lost[MONAD_RING_LOST_COUNT]),
				 "events were lost for a cause that is not known");
}

/* What only the writer of a file can tell. */
static void check_writer(struct ring_check *check, const struct monad_ring_ext *ext)
{
	const pid_t pid = ring_handle_writer_pid(check->handle);

	if (check->handle->device || check->handle->snapshot || !ext)
		return;
	if (pid && ext->state == MONAD_RING_STATE_GONE)
		ring_check_found(check, CHECK_WRITER, 0, EXT_OFFSET(state),
				 "the ring says that it is closed, and process %d has it locked",
				 (int)pid);
	else if (!pid && ext->state == MONAD_RING_STATE_LIVE)
		ring_check_found(check, CHECK_WRITER, 0, EXT_OFFSET(state),
				 "the writer has died without closing the ring");
}

static void check_snapshot(struct ring_check *check, const struct monad_event_snapshot_info *info)
{
	const uint64_t at = MONAD_EVENT_SNAPSHOT_INFO_OFFSET;
	const uint64_t range = info->last_seqno - info->first_seqno + (info->last_seqno ? 1 : 0);

	if (info->size < sizeof(*info) || info->reserved)
		ring_check_found(check, CHECK_SNAPSHOT, 0, at,
				 "its description has %u bytes, and %u in a reserved field",
				 info->size, info->reserved);
	if (info->first_seqno > info->last_seqno ||
	    info->copied + info->missed + info->not_ready != range)
		ring_check_found(check, CHECK_SNAPSHOT, 0, at,
				 "of events %" PRIu64 " to %" PRIu64 ", %" PRIu64
				 " were copied, %" PRIu64 " missed, %" PRIu64 " not written",
				 info->first_seqno, info->last_seqno, info->copied, info->missed,
				 info->not_ready);
	if (info->expired > info->missed)
		ring_check_found(check, CHECK_SNAPSHOT, 0, at,
				 "%" PRIu64 " events were missed, %" PRIu64
				 " of these for their payload",
				 info->missed, info->expired);
	if (info->copied > check->last_seqno || (info->copied && !info->base_seqno))
		ring_check_found(check, CHECK_SNAPSHOT, 0, at,
				 "%" PRIu64 " events were copied, from %" PRIu64
				 " on, and there are %" PRIu64,
				 info->copied, info->base_seqno, check->last_seqno);
	else if (info->base_seqno && (info->base_seqno < info->first_seqno ||
				      info->base_seqno > info->last_seqno ||
				      check->last_seqno > info->last_seqno - info->base_seqno + 1))
		ring_check_found(check, CHECK_SNAPSHOT, 0, at,
				 "event 1 was %" PRIu64 ", and events %" PRIu64 " to %" PRIu64
				 " were to be copied",
				 info->base_seqno, info->first_seqno, info->last_seqno);
}

static void check_header(struct ring_check *check)
{
	const struct monad_event_ring *ring = &check->handle->ring;
	const struct monad_ring_ext *ext = monad_event_ring_ext(ring);
	const struct monad_event_snapshot_info *info = monad_event_ring_snapshot_info(ring);
	uint64_t at = MONAD_RING_EXT_OFFSET;

	check_size(check);
	check_sizes(check);
	check_control(check);
	check_zero(check, HEADER_OFFSET(control.next_payload_byte) + 8,
		   HEADER_OFFSET(control.buffer_window_start));
	check_zero(check, HEADER_OFFSET(control.buffer_window_start) + 8, at);
	if (ext) {
		check_ext(check, ext);
		/* A later version is larger. */
		at += ext->size > sizeof(*ext) && ext->size <= 4096 ? ext->size : sizeof(*ext);
	}
	check_zero(check, at, MONAD_EVENT_SNAPSHOT_INFO_OFFSET);
	at = MONAD_EVENT_SNAPSHOT_INFO_OFFSET;
	if (info) {
		check_snapshot(check, info);
		at += info->size > sizeof(*info) && info->size <= 4096 ? info->size : sizeof(*info);
	}
	check_zero(check, at, MONAD_EVENT_RING_HEADER_SIZE);
	check_writer(check, ext);
}

void ring_check_run(struct ring_check *check, const struct ring_handle *handle)
{
	const struct monad_event_ring_control *control = &handle->ring.header->control;
	struct timespec ts;
	uint32_t state;

	check->handle = handle;
	check->schema_known = monad_event_ring_schema_known(&handle->ring);
	/* A file that is not locked may have a writer that does not know how to do that. */
	check->may_be_live = handle->device ? !ring_handle_state(handle, &state) ||
						      state != MONAD_RING_STATE_GONE
					    : ring_handle_writer_pid(handle) ||
						      (!handle->snapshot &&
						       ring_is_busy(&handle->ring));
	clock_gettime(CLOCK_REALTIME, &ts);
	check->now_ns = (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
	/* In this order each is no larger than the next, whatever is being written. */
	check->window = __atomic_load_n(&control->buffer_window_start, __ATOMIC_ACQUIRE);
	check->last_seqno = __atomic_load_n(&control->last_seqno, __ATOMIC_ACQUIRE);
	check->next_byte = __atomic_load_n(&control->next_payload_byte, __ATOMIC_ACQUIRE);
	check_header(check);
	ring_check_events(check);
	free(check->extents);
	check->extents = NULL;
}
