// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "framing.h"
#include "jsonl_exporter.h"
#include "jsonl_line.h"

/* How long a pipe may be full before the batch is said to have to wait. */
#define STALL_NS 5000000000ULL

struct jsonl {
	struct exporter exporter;
	char path[PATH_MAX]; /* "" is stdout */
	int fd;              /* -1: to be opened */
	bool regular;
	/*
	 * A pipe takes what it takes: what is left of a line it has begun to take, and whose
	 * line it is. Nothing else goes before that.
	 */
	char *rest;
	size_t rest_at, rest_size;
	uint64_t rest_sequence;
	uint8_t rest_session[64];
	size_t rest_session_length;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void close_file(struct jsonl *jsonl)
{
	if (jsonl->fd >= 0 && *jsonl->path)
		close(jsonl->fd);
	jsonl->fd = -1;
	/* What was in the pipe's place has not begun this line. */
	free(jsonl->rest);
	jsonl->rest = NULL;
}

/*
 * Opening
 */

/* Somebody who was killed may have left half a line there: it does not become part of ours. */
static int end_last_line(struct jsonl *jsonl, off_t size)
{
	char last = '\n';
	int fd;

	if (!size)
		return 0;
	/* Ours is for writing only: what is appended to may be nothing we may read. */
	fd = open(jsonl->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (pread(fd, &last, 1, size - 1) != 1)
		last = '\n';
	close(fd);
	if (last != '\n' && write(jsonl->fd, "\n", 1) != 1)
		return -errno;
	return 0;
}

static int examine(struct jsonl *jsonl)
{
	struct stat st;

	if (fstat(jsonl->fd, &st))
		return -errno;
	jsonl->regular = S_ISREG(st.st_mode);
	return jsonl->regular && *jsonl->path ? end_last_line(jsonl, st.st_size) : 0;
}

/* 0 or -errno. */
static int open_file(struct jsonl *jsonl)
{
	int err;

	if (*jsonl->path)
		/* (A FIFO nobody reads from does not keep us: ENXIO.) */
		jsonl->fd = open(jsonl->path,
				 O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
				 0640);
	else
		jsonl->fd = STDOUT_FILENO;
	if (jsonl->fd < 0)
		return -errno;
	err = examine(jsonl);
	if (err)
		close_file(jsonl);
	return err;
}

/* Whether the path leads to another file now, or to none. */
static bool was_renamed(const struct jsonl *jsonl)
{
	struct stat there, ours;

	if (!*jsonl->path)
		return false;
	return stat(jsonl->path, &there) || fstat(jsonl->fd, &ours) ||
	       there.st_dev != ours.st_dev || there.st_ino != ours.st_ino;
}

static const char *open_error(int err)
{
	return err == -ENXIO ? "nobody reads from it" : strerror(-err);
}

/*
 * Writing
 */

/* All of it or nothing: a part of a line is taken back. 0 or -errno. */
static int write_regular(struct jsonl *jsonl, const char *line, size_t size)
{
	struct stat st;
	ssize_t n;
	int err;

	do {
		n = write(jsonl->fd, line, size);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)size)
		return 0;
	err = n < 0 ? -errno : -ENOSPC;
	if (n <= 0)
		return err;
	/* Where it ends is the end of the file, unless somebody else writes there as well. */
	if (fstat(jsonl->fd, &st) || lseek(jsonl->fd, 0, SEEK_CUR) != st.st_size ||
	    ftruncate(jsonl->fd, st.st_size - n) ||
	    lseek(jsonl->fd, st.st_size - n, SEEK_SET) < 0) {
		/* It stays; the next one begins a line of its own. */
		close_file(jsonl);
	}
	return err;
}

/* Pieces that a pipe takes at once, or not at all, so that a full one does not keep us. */
static int write_piece(struct jsonl *jsonl, const struct framing_deadline *deadline,
		       const char *data, size_t size)
{
	ssize_t n;
	int err = framing_wait(jsonl->fd, POLLOUT, deadline);

	if (err)
		return err;
	n = write(jsonl->fd, data, size < PIPE_BUF ? size : PIPE_BUF);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	return n < 0 ? -errno : (int)n;
}

/* 0 or -errno; -ETIMEDOUT leaves the rest for later. */
static int write_rest(struct jsonl *jsonl)
{
	const struct framing_deadline deadline = {
		.at_ns = now_ns() + STALL_NS, .sooner = &jsonl->exporter.give_up_ns,
	};
	int n;

	while (jsonl->rest_at < jsonl->rest_size) {
		n = write_piece(jsonl, &deadline, jsonl->rest + jsonl->rest_at,
				jsonl->rest_size - jsonl->rest_at);
		if (n < 0)
			return n;
		jsonl->rest_at += n;
	}
	free(jsonl->rest);
	jsonl->rest = NULL;
	return 0;
}

/* Batches of several senders may have the same number. */
static void note_rest_of(struct jsonl *jsonl, const Monad__TelemetryBatch *batch)
{
	size_t length = batch->session_token.len;

	if (length > sizeof(jsonl->rest_session))
		length = sizeof(jsonl->rest_session);
	jsonl->rest_sequence = batch->sequence;
	jsonl->rest_session_length = length;
	if (length)
		memcpy(jsonl->rest_session, batch->session_token.data, length);
}

static bool was_rest_of(const struct jsonl *jsonl, const Monad__TelemetryBatch *batch)
{
	return jsonl->rest_sequence == batch->sequence &&
	       jsonl->rest_session_length == batch->session_token.len &&
	       (!batch->session_token.len ||
		!memcmp(jsonl->rest_session, batch->session_token.data, batch->session_token.len));
}

static bool has_begun(const struct jsonl *jsonl)
{
	return jsonl->rest && jsonl->rest_at;
}

/* Takes @line, that of @batch. */
static int write_pipe(struct jsonl *jsonl, char *line, size_t size,
		      const Monad__TelemetryBatch *batch)
{
	int err;

	jsonl->rest = line;
	jsonl->rest_at = 0;
	jsonl->rest_size = size;
	note_rest_of(jsonl, batch);
	err = write_rest(jsonl);
	if (err && !has_begun(jsonl)) {
		free(jsonl->rest);
		jsonl->rest = NULL;
	}
	return err;
}

/* 0 or -errno. */
static int write_batch(struct jsonl *jsonl, const Monad__TelemetryBatch *batch)
{
	size_t size;
	char *line;
	int err;

	if (jsonl->rest) {
		/* The line that was begun may be this batch's: it was tried before. */
		err = write_rest(jsonl);
		if (err || was_rest_of(jsonl, batch))
			return err;
	}
	line = jsonl_line(batch, &size);
	if (!line)
		return -ENOMEM;
	if (!jsonl->regular)
		return write_pipe(jsonl, line, size, batch);
	err = write_regular(jsonl, line, size);
	free(line);
	return err;
}

static enum export_result send_batch(struct exporter *exporter, Monad__TelemetryBatch *batch,
				     char *why, size_t why_size)
{
	struct jsonl *jsonl = (struct jsonl *)exporter;
	int err;

	if (jsonl->fd >= 0 && was_renamed(jsonl))
		close_file(jsonl);
	if (jsonl->fd < 0) {
		err = open_file(jsonl);
		if (err) {
			snprintf(why, why_size, "cannot be opened: %s", open_error(err));
			return EXPORT_AGAIN;
		}
	}
	err = write_batch(jsonl, batch);
	if (!err)
		return EXPORT_SENT;
	/* Who reads our stdout has what he wanted: that ends a pipeline, and is no fault. */
	if (err == -EPIPE && !*jsonl->path)
		return EXPORT_AGAIN;
	if (err == -ETIMEDOUT)
		snprintf(why, why_size, "who reads it does not keep up");
	else
		snprintf(why, why_size, "cannot be written: %s", strerror(-err));
	/* Whoever reads from a FIFO may come again, and so may a file system. */
	if (err != -ETIMEDOUT && err != -ENOMEM && *jsonl->path)
		close_file(jsonl);
	return EXPORT_AGAIN;
}

static void close_exporter(struct exporter *exporter)
{
	struct jsonl *jsonl = (struct jsonl *)exporter;

	close_file(jsonl);
	free(jsonl);
}

struct exporter *jsonl_exporter(const char *path, char *why, size_t why_size)
{
	struct jsonl *jsonl = calloc(1, sizeof(*jsonl));
	int err;

	if (!jsonl) {
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	if (strlen(path) >= sizeof(jsonl->path)) {
		snprintf(why, why_size, "its name is too long");
		free(jsonl);
		return NULL;
	}
	jsonl->exporter.name = "json";
	jsonl->exporter.send = send_batch;
	jsonl->exporter.close = close_exporter;
	jsonl->fd = -1;
	snprintf(jsonl->exporter.target, sizeof(jsonl->exporter.target), "%.255s", path);
	if (strcmp(path, "-") != 0)
		snprintf(jsonl->path, sizeof(jsonl->path), "%s", path);
	/* What is wrong with it is better said at once; a FIFO may find its reader later. */
	err = open_file(jsonl);
	if (err && err != -ENXIO) {
		snprintf(why, why_size, "%s", open_error(err));
		free(jsonl);
		return NULL;
	}
	return &jsonl->exporter;
}
