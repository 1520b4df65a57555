// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Decompressing snapshots, which may come from anywhere.
 *
 * The frame's content is taken in order, a buffer at a time. From its first bytes,
 * the ring's header, is known how much is to come: what is more, or too much less, is
 * an error as soon as it shows. The memfd is as large as the header says from the
 * start, but it is a hole; only blocks that are not zero are written to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd_errors.h>

#include <monad_event/event_ring_util.h>

#include "error.h"
#include "layout.h"
#include "snapshot.h"

/* Real snapshots can be up to that much shorter than the ring: the tail is zero. */
#define MAX_SHORT 15

/* What is zero is left out in units of this. */
#define BLOCK 4096UL

#define IN_SIZE	 (128UL << 10)
#define OUT_SIZE (256UL << 10)

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

struct reader {
	const char *name;
	size_t max_size;
	/* the frame: from memory if buf is NULL, otherwise from fd through buf */
	int fd;
	bool seekable;
	off_t file_pos;
	uint8_t *buf;
	ZSTD_inBuffer in;
	bool at_end;
	ZSTD_DCtx *dctx;
	/* the content */
	uint8_t *out;
	uint64_t total; /* bytes so far */
	struct ring_layout layout;
	int ring_fd;
};

/* More of the frame into reader->in; at_end when there is no more. */
static int fill(struct reader *reader)
{
	ssize_t n = 0;

	if (reader->buf) {
		do {
			n = reader->seekable ? pread(reader->fd, reader->buf, IN_SIZE,
						     reader->file_pos)
					     : read(reader->fd, reader->buf, IN_SIZE);
		} while (n < 0 && errno == EINTR);
		if (n < 0)
			return FAIL(errno, "cannot read snapshot `%s`", reader->name);
		reader->file_pos += n;
		reader->in = (ZSTD_inBuffer){reader->buf, (size_t)n, 0};
	}
	reader->at_end = n == 0;
	return 0;
}

/* Fills up to at least @len bytes, if there are so many; for the very start. */
static int fill_start(struct reader *reader, size_t len)
{
	size_t have = 0;
	int err;

	if (!reader->buf)
		return 0;
	while (have < len) {
		uint8_t start[8];

		memcpy(start, reader->buf, have);
		err = fill(reader);
		if (err)
			return err;
		if (reader->at_end)
			break;
		/* A pipe can give a byte at a time. */
		memmove(reader->buf + have, reader->buf, reader->in.size);
		memcpy(reader->buf, start, have);
		have += reader->in.size;
	}
	reader->in = (ZSTD_inBuffer){reader->buf, have, 0};
	return 0;
}

static int zstd_error(const struct reader *reader, size_t ret)
{
	switch (ZSTD_getErrorCode(ret)) {
	case ZSTD_error_memory_allocation:
		return FAIL_HINT(ENOMEM, "it was compressed with a large window (zstd --long)",
				 "no memory to decompress snapshot `%s`", reader->name);
	case ZSTD_error_frameParameter_windowTooLarge:
		return FAIL_HINT(EPROTO, "decompress it with zstd -d --long=31 --memory=8192MB",
				 "snapshot `%s` was compressed with a window too large for this "
				 "machine",
				 reader->name);
	default:
		return FAIL(EPROTO, "snapshot `%s` is damaged after %" PRIu64 " bytes of content: "
			    "%s", reader->name, reader->total, ZSTD_getErrorName(ret));
	}
}

/* Everything that does not depend on whether it is a snapshot. */
static int reader_open(struct reader *reader, const char *name, int fd, bool seekable,
		       const void *mem, size_t mem_size)
{
	ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);

	memset(reader, 0, sizeof(*reader));
	reader->name = name ? name : "unnamed";
	reader->fd = fd;
	reader->seekable = seekable;
	reader->ring_fd = -1;
	/* Room for what fill_start() has already. */
	if (!mem)
		reader->buf = malloc(IN_SIZE + 8);
	reader->in = (ZSTD_inBuffer){mem, mem_size, 0};
	reader->out = malloc(OUT_SIZE);
	reader->dctx = ZSTD_createDCtx();
	if ((!mem && !reader->buf) || !reader->out || !reader->dctx)
		return FAIL(ENOMEM, "no memory to decompress snapshot `%s`", reader->name);
	/*
	 * As large a window as there is: zstd gets address space for it, and touches of
	 * that what it has content for.
	 */
	ZSTD_DCtx_setParameter(reader->dctx, ZSTD_d_windowLogMax, bounds.upperBound);
	return 0;
}

static void reader_close(struct reader *reader)
{
	ZSTD_freeDCtx(reader->dctx);
	free(reader->buf);
	free(reader->out);
	if (reader->ring_fd >= 0)
		close(reader->ring_fd);
}

static bool is_zstd_start(const uint8_t *start, size_t len)
{
	return len >= ZSTD_FRAME_MAGIC_LEN &&
	       memcmp(start, ZSTD_FRAME_MAGIC, ZSTD_FRAME_MAGIC_LEN) == 0;
}

/* Reads the start of the file; EPROTO unless that is a zstd frame's. */
static int check_magic(struct reader *reader)
{
	int err = fill_start(reader, ZSTD_FRAME_MAGIC_LEN);
	const uint8_t *start = reader->in.src;

	if (err || is_zstd_start(start, reader->in.size))
		return err;
	if (reader->in.size >= 4 && (start[0] & 0xf0) == 0x50 &&
	    memcmp(start + 1, "\x2a\x4d\x18", 3) == 0)
		return FAIL_HINT(EPROTO, "decompress it with zstd -d and compress it again",
				 "`%s` begins with a skippable zstd frame, a snapshot does not",
				 reader->name);
	return FAIL(EPROTO, "`%s` is not a snapshot: it does not begin as a zstd frame",
		    reader->name);
}

/*
 * The next of the content: fills reader->out, unless it ends before; @len becomes how
 * much is in it, @ended whether the frame ended there.
 */
static int next_content(struct reader *reader, size_t *len, bool *ended)
{
	ZSTD_outBuffer out = {reader->out, OUT_SIZE, 0};
	size_t ret;
	int err;

	*ended = false;
	for (;;) {
		ret = ZSTD_decompressStream(reader->dctx, &out, &reader->in);
		if (ZSTD_isError(ret))
			return zstd_error(reader, ret);
		*ended = ret == 0;
		if (*ended || out.pos == out.size)
			break;
		/* zstd makes an error of it if this leads nowhere. */
		if (reader->in.pos < reader->in.size)
			continue;
		err = fill(reader);
		if (err)
			return err;
		if (reader->at_end)
			return FAIL(EPROTO,
				    "snapshot `%s` is truncated: it ends after %" PRIu64
				    " bytes of content",
				    reader->name, reader->total + out.pos);
	}
	*len = out.pos;
	return 0;
}

static bool is_ring_start(const uint8_t *content, size_t len)
{
	return len >= MONAD_EVENT_RING_MAGIC_LEN &&
	       memcmp(content, MONAD_EVENT_RING_MAGIC, MONAD_EVENT_RING_MAGIC_LEN) == 0;
}

/* A hole of the ring's size. */
static int make_ring_file(struct reader *reader)
{
	struct rlimit limit;
	int fd;

	/* What no other kernel than the newest knows is EINVAL. */
	fd = memfd_create("monad-snapshot", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("monad-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return FAIL(errno, "cannot make a memory file for snapshot `%s`", reader->name);
	reader->ring_fd = fd;
	/* Otherwise the kernel sends SIGXFSZ. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < reader->layout.total)
		return FAIL_HINT(EFBIG, "raise the limit on file size (ulimit -f)",
				 "snapshot `%s` is of a ring of %" PRIu64 " bytes", reader->name,
				 reader->layout.total);
	if (ftruncate(fd, (off_t)reader->layout.total) != 0)
		return FAIL(errno, "cannot make a memory file of %" PRIu64 " bytes for `%s`",
			    reader->layout.total, reader->name);
	return 0;
}

/* Takes the ring's header from the first of the content. */
static int take_header(struct reader *reader, size_t len)
{
	struct monad_event_ring_header header;

	if (!is_ring_start(reader->out, len))
		return FAIL(EPROTO,
			    "`%s` is not a snapshot: what is compressed in it does not begin "
			    "with " MONAD_EVENT_RING_MAGIC,
			    reader->name);
	if (len < sizeof(header))
		return FAIL(EPROTO, "snapshot `%s` is truncated in the ring's header",
			    reader->name);
	memcpy(&header, reader->out, sizeof(header));
	if (ring_layout_init(&reader->layout, &header.size, reader->name) != 0)
		return FAIL(EPROTO,
			    "snapshot `%s` is of a ring that cannot exist: %" PRIu64
			    " descriptors, %" PRIu64 " bytes of payload, %" PRIu64 " of context",
			    reader->name, header.size.descriptor_capacity,
			    header.size.payload_buf_size, header.size.context_area_size);
	if (reader->max_size && reader->layout.total > reader->max_size)
		return FAIL_HINT(ENOBUFS,
				 "zstd -d makes a ring file of it that takes no memory",
				 "snapshot `%s` is of a ring of %" PRIu64
				 " bytes, and the limit is %zu",
				 reader->name, reader->layout.total, reader->max_size);
	return make_ring_file(reader);
}

static bool is_zero(const uint8_t *data, size_t len)
{
	return data[0] == 0 && memcmp(data, data + 1, len - 1) == 0;
}

static int write_out(struct reader *reader, size_t from, size_t to)
{
	while (from < to) {
		ssize_t n = pwrite(reader->ring_fd, reader->out + from, to - from,
				   (off_t)(reader->total + from));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return FAIL(errno, "no room in memory for snapshot `%s`", reader->name);
		from += (size_t)n;
	}
	return 0;
}

/* Adds what is in reader->out to the ring, but for blocks of zeroes. */
static int take_content(struct reader *reader, size_t len)
{
	size_t start = 0;
	int err;

	for (size_t pos = 0; pos < len; pos += BLOCK) {
		const size_t n = len - pos < BLOCK ? len - pos : BLOCK;

		if (!is_zero(reader->out + pos, n))
			continue;
		err = write_out(reader, start, pos);
		if (err)
			return err;
		start = pos + n;
	}
	err = write_out(reader, start, len);
	reader->total += len;
	return err;
}

/* Behind the frame there must be nothing. */
static int check_end(struct reader *reader)
{
	int err = 0;

	if (reader->total + MAX_SHORT < reader->layout.total)
		return FAIL(EPROTO,
			    "snapshot `%s` is truncated: the ring's header says %" PRIu64
			    " bytes, there are %" PRIu64,
			    reader->name, reader->layout.total, reader->total);
	if (reader->in.pos == reader->in.size)
		err = fill(reader);
	if (err)
		return err;
	if (!reader->at_end)
		return FAIL(EPROTO, "something follows the zstd frame of snapshot `%s`",
			    reader->name);
	return 0;
}

static int decompress(struct reader *reader)
{
	bool ended = false;
	size_t len = 0;
	int err;

	err = check_magic(reader);
	while (!err && !ended) {
		err = next_content(reader, &len, &ended);
		if (!err && reader->total == 0)
			err = take_header(reader, len);
		if (!err && reader->total + len > reader->layout.total)
			err = FAIL(EPROTO,
				   "snapshot `%s` has more content than the %" PRIu64
				   " bytes that the ring's header says",
				   reader->name, reader->layout.total);
		if (!err)
			err = take_content(reader, len);
	}
	if (!err)
		err = check_end(reader);
	/*
	 * Not F_SEAL_WRITE: before Linux 6.7 that also forbids to map it for reading. If
	 * this cannot be done, the ring is good all the same.
	 */
	if (!err)
		(void)fcntl(reader->ring_fd, F_ADD_SEALS,
			    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
	return err;
}

static int give_ring(struct reader *reader, int err, int *fd_out)
{
	if (!err) {
		*fd_out = reader->ring_fd;
		reader->ring_fd = -1;
	}
	reader_close(reader);
	return err;
}

int monad_event_decompress_snapshot_mem(const void *buf, size_t size, size_t max_size,
					const char *error_name, int *fd_out)
{
	struct reader reader;
	int err;

	if (!buf || !fd_out)
		return FAIL(EFAULT, "%s is NULL", buf ? "descriptor" : "snapshot");
	*fd_out = -1;
	err = reader_open(&reader, error_name, -1, false, buf, size);
	reader.max_size = max_size;
	if (!err)
		err = decompress(&reader);
	return give_ring(&reader, err, fd_out);
}

int monad_event_decompress_snapshot_fd(int fd, size_t max_size, const char *error_name, int *fd_out)
{
	struct reader reader;
	struct stat st;
	int err;

	if (!fd_out)
		return FAIL(EFAULT, "descriptor is NULL");
	*fd_out = -1;
	if (fstat(fd, &st) != 0)
		return FAIL(errno, "cannot fstat snapshot `%s`",
			    error_name ? error_name : "unnamed");
	err = reader_open(&reader, error_name, fd, S_ISREG(st.st_mode) || S_ISBLK(st.st_mode),
			  NULL, 0);
	reader.max_size = max_size;
	if (!err)
		err = decompress(&reader);
	return give_ring(&reader, err, fd_out);
}

/* The first bytes of the content, at most @len; what is too damaged to tell is none. */
static int peek_content(struct reader *reader, uint8_t *content, size_t *len)
{
	ZSTD_outBuffer out = {content, *len, 0};
	size_t ret = 1;
	int err = 0;

	while (ret && !err && out.pos < out.size && !reader->at_end) {
		ret = ZSTD_decompressStream(reader->dctx, &out, &reader->in);
		if (ZSTD_isError(ret))
			break;
		if (reader->in.pos == reader->in.size && out.pos < out.size)
			err = fill(reader);
	}
	*len = out.pos;
	return err;
}

int monad_event_is_snapshot_file(int fd, const char *error_name, bool *is_snapshot)
{
	const char *const name = error_name ? error_name : "unnamed";
	uint8_t start[MONAD_EVENT_RING_MAGIC_LEN];
	size_t len = sizeof(start);
	struct reader reader;
	struct stat st;
	ssize_t n;
	int err;

	if (!is_snapshot)
		return FAIL(EFAULT, "result is NULL");
	*is_snapshot = false;
	if (fstat(fd, &st) != 0)
		return FAIL(errno, "cannot fstat `%s`", name);
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return FAIL(ESPIPE,
			    "cannot look into `%s`, a pipe or socket, without taking from it",
			    name);
	if (!S_ISREG(st.st_mode))
		return 0;
	/* Most files are none, which 4 bytes tell. */
	do {
		n = pread(fd, start, ZSTD_FRAME_MAGIC_LEN, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return FAIL(errno, "cannot read `%s`", name);
	if (!is_zstd_start(start, (size_t)n))
		return 0;
	err = reader_open(&reader, name, fd, true, NULL, 0);
	if (!err)
		err = peek_content(&reader, start, &len);
	*is_snapshot = !err && is_ring_start(start, len);
	reader_close(&reader);
	return err;
}
