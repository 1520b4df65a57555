/* SPDX-License-Identifier: GPL-2.0 */
/* Snapshots of ring images, compressed by zstd itself in any of its ways. */
#ifndef MONAD_SNAPSHOT_FRAME_H
#define MONAD_SNAPSHOT_FRAME_H

#include <dirent.h>
#include <stdbool.h>

#include <zstd.h>

#include "ring_image.h"

struct frame_options {
	int level;
	int window_log; /* 0: zstd's choice */
	bool no_size;	/* of the content in the frame's header, as from a pipe */
	bool checksum;
	bool long_distance;
};

struct frame {
	uint8_t *data;
	size_t size;
};

static inline struct frame frame_make(const void *data, size_t size, struct frame_options options)
{
	ZSTD_CCtx *cctx = ZSTD_createCCtx();
	struct frame frame = {malloc(ZSTD_compressBound(size)), 0};

	ZSTD_CCtx_setParameter(cctx, ZSTD_c_compressionLevel, options.level);
	ZSTD_CCtx_setParameter(cctx, ZSTD_c_contentSizeFlag, !options.no_size);
	ZSTD_CCtx_setParameter(cctx, ZSTD_c_checksumFlag, options.checksum);
	if (options.window_log)
		ZSTD_CCtx_setParameter(cctx, ZSTD_c_windowLog, options.window_log);
	if (options.long_distance)
		ZSTD_CCtx_setParameter(cctx, ZSTD_c_enableLongDistanceMatching, 1);
	frame.size = ZSTD_compress2(cctx, frame.data, ZSTD_compressBound(size), data, size);
	if (ZSTD_isError(frame.size)) {
		fprintf(stderr, "zstd: %s\n", ZSTD_getErrorName(frame.size));
		exit(1);
	}
	ZSTD_freeCCtx(cctx);
	return frame;
}

/* Of the first @size bytes of an image. */
static inline struct frame frame_of(const struct image *image, size_t size)
{
	return frame_make(image->map, size, (struct frame_options){.level = 3, .checksum = true});
}

static inline void frame_free(struct frame *frame)
{
	free(frame->data);
	frame->data = NULL;
}

/* @frame and then @n more bytes. */
static inline void frame_append(struct frame *frame, const void *data, size_t n)
{
	frame->data = realloc(frame->data, frame->size + n);
	memcpy(frame->data + frame->size, data, n);
	frame->size += n;
}

/* A file of these bytes, in memory. */
static inline int file_of(const void *data, size_t size)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0) {
		perror("memfd");
		exit(1);
	}
	return fd;
}

/* How many descriptors are open. */
static inline int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

#endif /* MONAD_SNAPSHOT_FRAME_H */
