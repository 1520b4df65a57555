// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Making ring files and going on with them. How they get their names: ring_place.c. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <monad_event/event_recorder.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_ring_writer.h>

#include "error.h"
#include "file_limit.h"
#include "ring_identity.h"
#include "ring_place.h"
#include "ring_resume.h"
#include "ring_room.h"
#include "writer_mapping.h"

#define KNOWN_FLAGS (MONAD_EVENT_WRITER_KEEP | MONAD_EVENT_WRITER_POPULATE)

/* Others may make the same ring at the same time, and die at it. */
#define TRIES 16

/* No error: something has changed meanwhile. */
#define TRY_AGAIN (-1)

struct monad_event_ring_writer {
	struct monad_event_ring ring;
	pid_t pid;
	uint64_t repaired;
	char path[PATH_MAX];
	char warning[2 * PATH_MAX];
};

/* What is to be made. */
struct request {
	struct monad_event_ring_config config;
	struct monad_event_ring_writer_options options;
	struct ring_place place;
	struct draft_file draft; /* fd -1: not yet */
	uint64_t generation; /* of the last ring that was seen there */
};

static void warn(struct monad_event_ring_writer *writer, const char *text)
{
	const size_t len = strlen(writer->warning);

	snprintf(writer->warning + len, sizeof(writer->warning) - len, "%s%s", len ? " " : "",
		 text);
}

static bool is_on_hugetlbfs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == HUGETLBFS_MAGIC;
}

/* Options of a version of the library that is newer, or, some day, older than this one. */
static int take_options(const struct monad_event_ring_writer_options *from,
			struct monad_event_ring_writer_options *options)
{
	const uint8_t *bytes = (const uint8_t *)from;

	if (from->size < sizeof(*options))
		return FAIL(EINVAL, "options of %u bytes; was their size set?", from->size);
	for (size_t i = sizeof(*options); i < from->size; i++) {
		if (bytes[i])
			return FAIL_HINT(E2BIG, "run the program with the library it was built for",
					 "options that this library does not know");
	}
	*options = *from;
	if (options->flags & ~KNOWN_FLAGS)
		return FAIL(EINVAL, "unknown flags 0x%x", options->flags & ~KNOWN_FLAGS);
	if (options->mode & ~(mode_t)0777)
		return FAIL(EINVAL, "mode 0%o of an event ring file is not up to 0777",
			    options->mode);
	if (!options->schema_hash)
		return FAIL(EFAULT, "the schema hash is NULL");
	return 0;
}

/* The draft becomes a ring that wants nothing but its name. */
static int init_draft(struct monad_event_ring_writer *writer, const struct request *request)
{
	const struct monad_event_ring_simple_config config = {
		.descriptors_shift = request->config.descriptors_shift,
		.payload_buf_shift = request->config.payload_buf_shift,
		.context_large_pages = request->options.context_large_pages,
		.content_type = (enum monad_event_content_type)request->options.content_type,
		.schema_hash = request->options.schema_hash,
	};

	return monad_event_ring_init_simple(&config, request->draft.fd, 0, writer->path);
}

static int map_ring(struct monad_event_ring_writer *writer, int fd)
{
	return monad_event_ring_mmap(&writer->ring, PROT_READ | PROT_WRITE, 0, fd, 0, writer->path);
}

/* Once there is room for all of its pages. What fails is made up for when they are used. */
static void populate_ring(const struct monad_event_ring_writer *writer,
			  const struct request *request)
{
	if (request->options.flags & MONAD_EVENT_WRITER_POPULATE)
		(void)madvise(writer->ring.header, writer->ring.map_size, MADV_POPULATE_READ);
}

/* Bytes of the ring that is mapped, in its file. */
static uint64_t ring_size(const struct monad_event_ring *ring)
{
	return ring->map_size - (ring->payload_buf_mask + 1);
}

static void look_for_huge_pages(struct monad_event_ring_writer *writer, int fd)
{
	const bool huge = is_on_hugetlbfs(fd);

	ring_identity_update(&writer->ring, huge, ring_size(&writer->ring));
	if (!huge)
		warn(writer, "This event ring is not on a hugetlbfs: with small pages, writing and "
			     "reading it is slower, and what is on a disk is written there again "
			     "and again.");
}

/*
 * Makes the draft. The pages of the ring that it replaces, whose file is open at @old (or -1),
 * may be the only ones there are: it is given up for them.
 */
static int make_draft(struct monad_event_ring_writer *writer, struct request *request, int old)
{
	struct stat st, old_st;
	int err;

	err = ring_draft_create(&request->place, request->options.mode, &request->draft);
	if (err)
		return err;
	err = init_draft(writer, request);
	if ((err == ENOSPC || err == ENOMEM) && old >= 0 && fstat(old, &old_st) == 0) {
		struct monad_event_ring_size size;
		uint64_t need = UINT64_MAX;

		if (monad_event_ring_init_size(request->config.descriptors_shift,
					       request->config.payload_buf_shift,
					       request->options.context_large_pages, &size) == 0)
			need = monad_event_ring_calc_storage(&size);
		if ((uint64_t)old_st.st_size < need)
			return err;
		/* Freed when the last reader is gone as well; there may be none. */
		unlinkat(request->place.dirfd, request->place.name, 0);
		ring_file_retire(old);
		return TRY_AGAIN;
	}
	if (err)
		return err;
	err = map_ring(writer, request->draft.fd);
	if (err)
		return err;
	populate_ring(writer, request);
	if (fstat(request->draft.fd, &st) != 0)
		return FAIL(errno, "cannot fstat event ring file `%s`", writer->path);
	ring_identity_create(&writer->ring, 0);
	look_for_huge_pages(writer, request->draft.fd);
	writer_mapping_set_checked(&writer->ring);
	return 0;
}

/* Whether the ring at @fd, of @st, is the one that is wanted, by its header alone. */
static int check_kept(const struct monad_event_ring_writer *writer, const struct request *request,
		      const struct stat *st)
{
	const struct monad_event_ring_config *config = &request->config;
	const struct monad_event_ring_writer_options *options = &request->options;
	const struct monad_event_ring *ring = &writer->ring;
	enum monad_event_content_type type;
	uint64_t context;

	if ((uint64_t)st->st_size != ring_size(ring))
		return FAIL_HINT(EPROTO, "it cannot be gone on with: make it anew",
				 "event ring file `%s` has %jd bytes, of which its header knows "
				 "%" PRIu64,
				 writer->path, (intmax_t)st->st_size, ring_size(ring));
	if (config->shifts_given &&
	    (ring->desc_capacity_mask + 1 != UINT64_C(1) << config->descriptors_shift ||
	     ring->payload_buf_mask + 1 != UINT64_C(1) << config->payload_buf_shift))
		return FAIL_HINT(EPROTO, "leave the shifts out, or make it anew",
				 "event ring `%s` has %" PRIu64 " descriptors and %" PRIu64
				 " bytes of payload, not 2^%d and 2^%d",
				 writer->path, ring->desc_capacity_mask + 1,
				 ring->payload_buf_mask + 1, config->descriptors_shift,
				 config->payload_buf_shift);
	context = (uint64_t)options->context_large_pages * MONAD_EVENT_RING_ALIGN;
	if (context && ring->header->size.context_area_size != context)
		return FAIL(EPROTO,
			    "event ring `%s` has a context area of %" PRIu64 " bytes, not %" PRIu64,
			    writer->path, ring->header->size.context_area_size, context);
	type = (enum monad_event_content_type)options->content_type;
	return monad_event_ring_check_content_type(ring, type, options->schema_hash);
}

/* Goes on with the ring at @fd, of @st, which is locked. */
static int keep_ring(struct monad_event_ring_writer *writer, const struct request *request, int fd,
		     const struct stat *st)
{
	struct monad_event_ring *ring = &writer->ring;
	int err;

	err = map_ring(writer, fd);
	if (!err)
		err = check_kept(writer, request, st);
	/* Holes, once there is no room to fill them, would be the writer's death. */
	if (!err)
		err = ring_room_fill(fd, ring_size(ring), writer->path);
	if (err)
		return err;
	populate_ring(writer, request);
	err = ring_resume(ring, ring_writable_ext(ring), writer->path, &writer->repaired);
	if (err)
		return err;
	writer_mapping_set_checked(ring);
	if (!ring_writable_ext(ring))
		ring_identity_create(ring, 1);
	look_for_huge_pages(writer, fd);
	return 0;
}

/*
 * One try. @old is the file
 * that is at the place, locked, or -1.
 */
static int open_ring(struct monad_event_ring_writer *writer, struct request *request, int old)
{
	const bool keep = request->options.flags & MONAD_EVENT_WRITER_KEEP;
	struct monad_ring_ext *ext;
	struct stat st;
	int err;

	if (old >= 0)
		request->generation = ring_file_generation(old);
	if (old >= 0 && keep && fstat(old, &st) == 0 && st.st_size) {
		monad_event_ring_unmap(&writer->ring);
		writer->warning[0] = '\0';
		return keep_ring(writer, request, old, &st);
	}
	if (request->draft.fd < 0) {
		err = make_draft(writer, request, old);
		if (err == TRY_AGAIN) {
			draft_file_abandon(&request->draft);
			warn(writer, "There was no room for a second one, so that the event ring "
				     "of a dead writer was removed before this one was made.");
		}
		if (err)
			return err;
	}
	ext = ring_writable_ext(&writer->ring);
	if (ext)
		ext->generation = request->generation + 1;
	err = ring_draft_publish(&request->place, &request->draft, old >= 0);
	if (err == EEXIST && old < 0)
		return TRY_AGAIN;
	if (!err && old >= 0)
		ring_file_retire(old);
	return err;
}

static int try_to_open(struct monad_event_ring_writer *writer, struct request *request)
{
	int err = TRY_AGAIN, old;

	for (int tries = 0; err == TRY_AGAIN && tries < TRIES; tries++) {
		err = ring_place_lock(&request->place, &old);
		if (err)
			return err;
		err = open_ring(writer, request, old);
		/* Kept open, and locked, by the mapping where it is kept. */
		if (old >= 0)
			close(old);
	}
	if (err == TRY_AGAIN)
		return FAIL(EBUSY, "others make event ring `%s` again and again", writer->path);
	return err;
}

static int open_writer(struct monad_event_ring_writer *writer, struct request *request)
{
	struct file_limit limit;
	int err;

	file_limit_begin(&limit);
	err = try_to_open(writer, request);
	file_limit_end(&limit);
	return err;
}

int monad_event_ring_writer_open(const char *config,
				 const struct monad_event_ring_writer_options *options,
				 struct monad_event_ring_writer **writer_out)
{
	struct monad_event_ring_writer *writer;
	struct request *request;
	int err;

	if (writer_out)
		*writer_out = NULL;
	if (!config || !options || !writer_out)
		return FAIL(EFAULT, "%s is NULL",
			    !config    ? "configuration string"
			    : !options ? "options"
				       : "writer");
	writer = calloc(1, sizeof(*writer));
	request = calloc(1, sizeof(*request));
	if (!writer || !request) {
		err = FAIL(ENOMEM, "no memory to open event ring `%s`", config);
		goto out;
	}
	writer->pid = getpid();
	request->draft.fd = -1;
	request->place.dirfd = -1;
	err = take_options(options, &request->options);
	if (!err)
		err = monad_event_ring_parse_config(config, &request->config);
	if (!err)
		err = monad_event_resolve_ring_file(request->options.default_dir,
						    request->config.name, writer->path,
						    sizeof(writer->path));
	if (!err)
		err = ring_place_open(&request->place, writer->path);
	if (!err)
		err = open_writer(writer, request);
	/* Published or not, the file is not needed any more: a mapping keeps its own. */
	draft_file_abandon(&request->draft);
	ring_place_close(&request->place);
	if (!err) {
		*writer_out = writer;
		writer = NULL;
	}
out:
	if (writer)
		monad_event_ring_unmap(&writer->ring);
	free(writer);
	free(request);
	return err;
}

const struct monad_event_ring *
monad_event_ring_writer_ring(const struct monad_event_ring_writer *writer)
{
	return &writer->ring;
}

const char *monad_event_ring_writer_path(const struct monad_event_ring_writer *writer)
{
	return writer->path;
}

int monad_event_ring_writer_fd(const struct monad_event_ring_writer *writer)
{
	return writer_mapping_fd(&writer->ring);
}

const char *monad_event_ring_writer_warning(const struct monad_event_ring_writer *writer)
{
	return writer->warning[0] ? writer->warning : NULL;
}

uint64_t monad_event_ring_writer_repaired(const struct monad_event_ring_writer *writer)
{
	return writer->repaired;
}

void monad_event_ring_writer_close(struct monad_event_ring_writer *writer)
{
	struct monad_ring_ext *ext;

	if (!writer)
		return;
	if (writer->pid == getpid()) {
		writer_mapping_finish(&writer->ring);
		ext = ring_writable_ext(&writer->ring);
		if (ext)
			__atomic_store_n(&ext->state, MONAD_RING_STATE_GONE, __ATOMIC_RELEASE);
	}
	monad_event_ring_unmap(&writer->ring);
	free(writer);
}
