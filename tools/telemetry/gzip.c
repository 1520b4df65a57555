// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdlib.h>

#include <zlib.h>

#include "gzip.h"

/* What is told at intervals is much the same: more effort finds little more. */
#define LEVEL 3
/* The largest window, and a header of gzip's. */
#define WINDOW_BITS (15 + 16)
#define MEMORY_LEVEL 8

uint8_t *gzip_compress(const uint8_t *data, size_t size, size_t *compressed_size)
{
	z_stream stream = {};
	uint8_t *out = NULL;
	size_t room;

	if (size > UINT_MAX / 2 ||
	    deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	/* All of it in one go: there is always room enough. */
	room = deflateBound(&stream, size);
	out = malloc(room);
	stream.next_in = (uint8_t *)data;
	stream.avail_in = size;
	stream.next_out = out;
	stream.avail_out = room;
	if (out && deflate(&stream, Z_FINISH) != Z_STREAM_END) {
		free(out);
		out = NULL;
	}
	*compressed_size = stream.total_out;
	deflateEnd(&stream);
	return out;
}
