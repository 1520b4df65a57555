// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Where events wait between being copied from a live ring and being written. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"
#include "snapshot.h"

/* Keeping up with writers is what counts: this compresses fast rather than well. */
#define SPOOL_LEVEL 1
#define SPOOL_BUF_SIZE (256UL << 10)

int spool_open(struct spool *spool, const char *dir)
{
	memset(spool, 0, sizeof(*spool));
	if (dir)
		spool->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	else
		spool->fd = memfd_create("monad-snapshot-spool", MFD_CLOEXEC);
	if (spool->fd < 0)
		return FAIL_HINT(errno,
				 errno == EOPNOTSUPP || errno == EISDIR
					 ? "its file system must support O_TMPFILE"
					 : NULL,
				 "cannot make a temporary file in `%s`", dir ? dir : "memory");
	spool->buf_size = SPOOL_BUF_SIZE;
	spool->buf = malloc(spool->buf_size);
	spool->cctx = ZSTD_createCCtx();
	spool->dctx = ZSTD_createDCtx();
	if (!spool->buf || !spool->cctx || !spool->dctx)
		return FAIL(ENOMEM, "no memory for the spool of a snapshot");
	ZSTD_CCtx_setParameter(spool->cctx, ZSTD_c_compressionLevel, SPOOL_LEVEL);
	return 0;
}

static int write_all(struct spool *spool, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pwrite(spool->fd, spool->buf + done, len - done,
				   (off_t)spool->file_pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return FAIL_HINT(errno,
					 errno == EFBIG
						 ? "raise the limit on file size (ulimit -f)"
						 : "spool_dir can be on another file system",
					 "cannot spool the events of a snapshot");
		done += (size_t)n;
		spool->file_pos += (uint64_t)n;
	}
	return 0;
}

static int put(struct spool *spool, const void *data, size_t len, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {data, len, 0};
	size_t left;
	int err;

	do {
		ZSTD_outBuffer out = {spool->buf, spool->buf_size, 0};

		left = ZSTD_compressStream2(spool->cctx, &out, &in, end);
		if (ZSTD_isError(left))
			return FAIL(ENOMEM, "cannot compress the events of a snapshot: %s",
				    ZSTD_getErrorName(left));
		err = write_all(spool, out.pos);
		if (err)
			return err;
	} while (end == ZSTD_e_end ? left != 0 : in.pos < in.size);
	return 0;
}

int spool_put(struct spool *spool, const void *data, size_t len)
{
	return put(spool, data, len, ZSTD_e_continue);
}

int spool_turn(struct spool *spool)
{
	int err = put(spool, "", 0, ZSTD_e_end);

	spool->file_pos = 0;
	spool->in = (ZSTD_inBuffer){spool->buf, 0, 0};
	return err;
}

int spool_get(struct spool *spool, void *data, size_t len)
{
	ZSTD_outBuffer out = {data, len, 0};

	while (out.pos < out.size) {
		const size_t before = out.pos;
		size_t ret = ZSTD_decompressStream(spool->dctx, &out, &spool->in);
		ssize_t n;

		if (ZSTD_isError(ret))
			return FAIL(EIO, "the spool of a snapshot is damaged: %s",
				    ZSTD_getErrorName(ret));
		if (out.pos > before || spool->in.pos < spool->in.size)
			continue;
		do {
			n = pread(spool->fd, spool->buf, spool->buf_size, (off_t)spool->file_pos);
		} while (n < 0 && errno == EINTR);
		if (n < 0)
			return FAIL(errno, "cannot read the spool of a snapshot");
		if (n == 0)
			return FAIL(EIO, "the spool of a snapshot has been cut short");
		spool->file_pos += (uint64_t)n;
		spool->in = (ZSTD_inBuffer){spool->buf, (size_t)n, 0};
	}
	return 0;
}

void spool_close(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	ZSTD_freeCCtx(spool->cctx);
	ZSTD_freeDCtx(spool->dctx);
	free(spool->buf);
	memset(spool, 0, sizeof(*spool));
	spool->fd = -1;
}
