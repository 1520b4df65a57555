// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The bytes of a snapshot: one zstd frame of a ring file that holds the copied events. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "layout.h"
#include "ring_identity.h"
#include "snapshot.h"

#define CHUNK (128UL << 10)

/* The frame while it is written. */
struct frame {
	ZSTD_CCtx *cctx;
	int fd;
	const char *name;
	uint64_t image_pos; /* bytes of the image so far */
	uint64_t file_size;
	uint8_t *buf; /* compressed */
	size_t buf_size;
};

static int write_all(struct frame *frame, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(frame->fd, frame->buf + done, len - done);

		if (n >= 0) {
			done += (size_t)n;
			continue;
		}
		if (errno == EAGAIN) {
			struct pollfd pollfd = {.fd = frame->fd, .events = POLLOUT};

			poll(&pollfd, 1, -1);
		} else if (errno != EINTR) {
			return FAIL_HINT(errno,
					 errno == EFBIG
						 ? "raise the limit on file size (ulimit -f)"
						 : NULL,
					 "cannot write snapshot `%s`", frame->name);
		}
	}
	frame->file_size += len;
	return 0;
}

static int frame_put(struct frame *frame, const void *data, size_t len, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {data, len, 0};
	size_t left;
	int err;

	do {
		ZSTD_outBuffer out = {frame->buf, frame->buf_size, 0};

		left = ZSTD_compressStream2(frame->cctx, &out, &in, end);
		if (ZSTD_isError(left))
			return FAIL(ENOMEM, "cannot compress snapshot `%s`: %s", frame->name,
				    ZSTD_getErrorName(left));
		err = write_all(frame, out.pos);
		if (err)
			return err;
	} while (end == ZSTD_e_end ? left != 0 : in.pos < in.size);
	frame->image_pos += len;
	return 0;
}

/* Zeroes up to a position of the image. */
static int frame_pad(struct frame *frame, uint64_t to)
{
	static const uint8_t zeroes[CHUNK];
	int err = 0;

	while (frame->image_pos < to && !err) {
		const uint64_t left = to - frame->image_pos;

		err = frame_put(frame, zeroes, left < CHUNK ? left : CHUNK, ZSTD_e_continue);
	}
	return err;
}

static int frame_spool(struct frame *frame, struct spool *spool, uint64_t len)
{
	uint8_t *chunk = malloc(CHUNK);
	int err = 0;

	if (!chunk)
		return FAIL(ENOMEM, "no memory to write snapshot `%s`", frame->name);
	while (len && !err) {
		const size_t n = len < CHUNK ? len : CHUNK;

		err = spool_get(spool, chunk, n);
		if (!err)
			err = frame_put(frame, chunk, n, ZSTD_e_continue);
		len -= n;
	}
	free(chunk);
	return err;
}

/* A copy first: the compressor must not see bytes change. */
static int frame_context(struct frame *frame, const struct monad_event_ring *ring, uint64_t len)
{
	uint8_t *chunk = malloc(CHUNK);
	int err = 0;

	if (!chunk)
		return FAIL(ENOMEM, "no memory to write snapshot `%s`", frame->name);
	for (uint64_t done = 0; done < len && !err; done += CHUNK) {
		const size_t n = len - done < CHUNK ? len - done : CHUNK;

		monad_event_copy_bytes_(chunk, (const uint8_t *)ring->context_area + done, n);
		err = frame_put(frame, chunk, n, ZSTD_e_continue);
	}
	free(chunk);
	return err;
}

/* What of the ring's extension block is true of a snapshot of it. */
static void fill_ext(struct monad_ring_ext *to, const struct monad_ring_ext *from)
{
	static const uint8_t unknown[sizeof(to->boot_id)];

	memcpy(to->magic, MONAD_RING_EXT_MAGIC, sizeof(to->magic));
	to->size = sizeof(*to);
	to->abi_version = MONAD_RING_ABI_VERSION;
	memcpy(to->uuid, from->uuid, sizeof(to->uuid));
	memcpy(to->boot_id, from->boot_id, sizeof(to->boot_id));
	/*
	 * A ring of the kernel's leaves it out, as it is of this boot; and such a ring
	 * knows of what memory it is made.
	 */
	if (memcmp(from->boot_id, unknown, sizeof(unknown)) == 0 && from->chunks_total)
		ring_identity_boot_id(to->boot_id);
	to->generation = from->generation;
	to->realtime_offset_ns = __atomic_load_n(&from->realtime_offset_ns, __ATOMIC_RELAXED);
	to->state = MONAD_RING_STATE_GONE; /* no event will follow */
	for (unsigned int i = 0; i < MONAD_RING_LOST_MAX; i++)
		to->lost[i] = __atomic_load_n(&from->lost[i], __ATOMIC_RELAXED);
	to->discarded = __atomic_load_n(&from->discarded, __ATOMIC_RELAXED);
}

static void fill_info(struct monad_event_snapshot_info *info, const struct snapshot_events *events)
{
	const struct monad_event_snapshot_stats *stats = &events->stats;

	memcpy(info->magic, MONAD_EVENT_SNAPSHOT_INFO_MAGIC, sizeof(info->magic));
	info->size = sizeof(*info);
	info->taken_epoch_nanos = events->taken_epoch_nanos;
	info->base_seqno = stats->base_seqno;
	info->first_seqno = stats->first_seqno;
	info->last_seqno = stats->last_seqno;
	info->copied = stats->copied;
	info->missed = stats->missed;
	info->expired = stats->expired;
	info->not_ready = stats->not_ready;
}

/* The first bytes of an image, up to the last that is not zero. */
struct start {
	struct monad_event_ring_header header;
	uint8_t reserved[MONAD_RING_EXT_OFFSET - sizeof(struct monad_event_ring_header)];
	struct monad_ring_ext ext;
	uint8_t reserved2[MONAD_EVENT_SNAPSHOT_INFO_OFFSET - MONAD_RING_EXT_OFFSET -
			  sizeof(struct monad_ring_ext)];
	struct monad_event_snapshot_info info;
};

static int frame_start(struct frame *frame, const struct snapshot_events *events,
		       const struct monad_event_ring_size *size)
{
	const struct monad_event_ring_header *from = events->ring->header;
	const struct monad_ring_ext *ext = monad_event_ring_ext(events->ring);
	struct start *start = aligned_alloc(64, (sizeof(*start) + 63) & ~63UL);
	int err;

	if (!start)
		return FAIL(ENOMEM, "no memory to write snapshot `%s`", frame->name);
	memset(start, 0, sizeof(*start));
	memcpy(start->header.magic, MONAD_EVENT_RING_MAGIC, MONAD_EVENT_RING_MAGIC_LEN);
	start->header.content_type = from->content_type;
	memcpy(start->header.schema_hash, from->schema_hash, sizeof(from->schema_hash));
	start->header.size = *size;
	start->header.control.last_seqno = events->stats.events;
	start->header.control.next_payload_byte = events->payload_bytes;
	if (ext)
		fill_ext(&start->ext, ext);
	fill_info(&start->info, events);
	err = frame_put(frame, start, sizeof(*start), ZSTD_e_continue);
	free(start);
	return err;
}

/* The power of two that holds @need, no smaller than other readers take. */
static uint64_t round_up(uint64_t need, unsigned int min_shift)
{
	uint64_t size = UINT64_C(1) << min_shift;

	while (size < need)
		size *= 2;
	return size;
}

static int put_image(struct frame *frame, struct snapshot_events *events,
		     const struct monad_event_ring_size *size, const struct ring_layout *layout)
{
	const uint64_t context = events->ring->context_area ? size->context_area_size : 0;
	int err;

	err = frame_start(frame, events, size);
	if (!err)
		err = frame_pad(frame, layout->descriptor_offset);
	if (!err)
		err = frame_spool(frame, &events->descriptors,
				  events->stats.events * sizeof(struct monad_event_descriptor));
	if (!err)
		err = frame_pad(frame, layout->payload_offset);
	if (!err)
		err = frame_spool(frame, &events->payloads, events->payload_bytes);
	if (!err)
		err = frame_pad(frame, layout->context_offset);
	if (!err)
		err = frame_context(frame, events->ring, context);
	if (!err)
		err = frame_pad(frame, layout->total);
	return err ? err : frame_put(frame, "", 0, ZSTD_e_end);
}

/* Bytes of the context area, from what was checked when the ring was mapped. */
static uint64_t context_size(const struct monad_event_ring *ring)
{
	const uint64_t mapped =
		ring->context_area
			? ring->map_size - (uint64_t)((const uint8_t *)ring->context_area -
						      (const uint8_t *)ring->header)
			: 0;
	const uint64_t said = ring->header->size.context_area_size;

	/* The header may say another thing by now, but not to us. */
	return said <= mapped && mapped - said < MONAD_EVENT_RING_ALIGN && (said & (said - 1)) == 0
		       ? said
		       : mapped;
}

int snapshot_image_write(struct snapshot_events *events, int out_fd, int level, const char *name)
{
	const struct monad_event_ring_size size = {
		.descriptor_capacity =
			round_up(events->stats.events, MONAD_EVENT_MIN_DESCRIPTORS_SHIFT),
		.payload_buf_size =
			round_up(events->payload_bytes, MONAD_EVENT_MIN_PAYLOAD_BUF_SHIFT),
		.context_area_size = context_size(events->ring),
	};
	struct frame frame = {.fd = out_fd, .name = name, .buf_size = ZSTD_CStreamOutSize()};
	struct ring_layout layout;
	int err;

	err = ring_layout_init(&layout, &size, name);
	if (err)
		return err;
	frame.buf = malloc(frame.buf_size);
	frame.cctx = ZSTD_createCCtx();
	if (!frame.buf || !frame.cctx) {
		err = FAIL(ENOMEM, "no memory to write snapshot `%s`", name);
	} else {
		ZSTD_CCtx_setParameter(frame.cctx, ZSTD_c_compressionLevel, level);
		ZSTD_CCtx_setParameter(frame.cctx, ZSTD_c_checksumFlag, 1);
		ZSTD_CCtx_setPledgedSrcSize(frame.cctx, layout.total);
		err = put_image(&frame, events, &size, &layout);
	}
	events->stats.image_size = layout.total;
	events->stats.file_size = frame.file_size;
	ZSTD_freeCCtx(frame.cctx);
	free(frame.buf);
	return err;
}
