/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the parts of writing a snapshot share. */
#ifndef MONAD_EVENT_SRC_SNAPSHOT_H
#define MONAD_EVENT_SRC_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include <zstd.h>

#include <monad_event/event_snapshot.h>

#define ZSTD_FRAME_MAGIC "\x28\xb5\x2f\xfd"
#define ZSTD_FRAME_MAGIC_LEN 4

/*
 * A stream of bytes that is first put in, all of it, and then got out: compressed
 * on the way, in a memfd or in a temporary file.
 */
struct spool {
	int fd;
	ZSTD_CCtx *cctx;
	ZSTD_DCtx *dctx;
	uint8_t *buf; /* compressed, on the way to or from the file */
	size_t buf_size;
	ZSTD_inBuffer in; /* what of buf is still to be decompressed */
	uint64_t file_pos;
};

/* @dir: for the temporary file, or NULL. Close it also after an error. */
int spool_open(struct spool *spool, const char *dir);
int spool_put(struct spool *spool, const void *data, size_t len);
/* Ends what is put in; from now on it is got out. */
int spool_turn(struct spool *spool);
/* Exactly @len bytes of what was put in. */
int spool_get(struct spool *spool, void *data, size_t len);
void spool_close(struct spool *spool);

/* The events of a snapshot, copied from the ring and made those of the image. */
struct snapshot_events {
	const struct monad_event_ring *ring;
	struct monad_event_snapshot_stats stats;
	uint64_t taken_epoch_nanos;
	struct spool descriptors; /* stats.events of them */
	struct spool payloads;
	uint64_t payload_bytes; /* in it; what stands at offset 0 of the image's on */
};

/* Copies what @options choose. Call snapshot_events_free() also after an error. */
int snapshot_events_copy(struct snapshot_events *events, const struct monad_event_ring *ring,
			 const struct monad_event_snapshot_options *options);
void snapshot_events_free(struct snapshot_events *events);

/* Writes them as a snapshot; sets the last of the statistics. */
int snapshot_image_write(struct snapshot_events *events, int out_fd, int level, const char *name);

#endif /* MONAD_EVENT_SRC_SNAPSHOT_H */
