// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Making ring files. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>

#include "error.h"
#include "layout.h"
#include "ring_room.h"

/* Checks that a ring of this size can be put there; 0 or an errno. */
static int check_storage(const struct ring_layout *layout, int fd, off_t offset, const char *name)
{
	struct stat st;

	if (offset < 0 || offset % MONAD_EVENT_RING_ALIGN != 0)
		return FAIL(EINVAL,
			    "event ring `%s` at offset %jd, which is not a multiple of 2 MiB", name,
			    (intmax_t)offset);
	if (fstat(fd, &st) != 0)
		return FAIL(errno, "cannot fstat event ring file `%s`", name);
	if (!S_ISREG(st.st_mode))
		return FAIL(EINVAL, "`%s` is not a regular file to make an event ring of", name);
	if (st.st_size < offset || (uint64_t)(st.st_size - offset) < layout->total)
		return FAIL(ENOSPC, "event ring `%s` needs %" PRIu64 " bytes, the file has %jd",
			    name, layout->total, (intmax_t)(st.st_size - offset));
	return 0;
}

/* Zeroes the seqno of whatever descriptors are in this piece of a file. */
static int clear_descriptors(int fd, off_t offset, uint64_t len, const char *name)
{
	struct monad_event_descriptor *slots;

	slots = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (slots == MAP_FAILED)
		return FAIL(errno, "cannot map the descriptors of event ring `%s`", name);
	/* Written only where it has to be, so that clean pages stay clean. */
	for (uint64_t i = 0; i < len / sizeof(*slots); i++) {
		if (slots[i].seqno != 0)
			slots[i].seqno = 0;
	}
	munmap(slots, len);
	return 0;
}

/*
 * A ring made over an older one must not show the older one's events: sequence
 * numbers begin at 1 again, and readers would take what is in the slots for
 * them. Holes hold nothing and are left alone: that keeps this cheap for new
 * files, and on a full tmpfs even reading a hole is SIGBUS. (hugetlbfs does not
 * tell holes from data, but reserves pages for what is mapped.)
 */
static int clear_descriptor_array(const struct ring_layout *layout, int fd, off_t ring_offset,
				  const char *name)
{
	const off_t page_mask = ~(off_t)(sysconf(_SC_PAGESIZE) - 1);
	const off_t end = ring_offset + (off_t)layout->payload_offset;
	const off_t file_pos = lseek(fd, 0, SEEK_CUR);
	off_t pos = ring_offset + (off_t)layout->descriptor_offset;
	int err = 0;

	while (!err && pos < end) {
		off_t hole;

		/* Errors (ENXIO: no more data) are told apart below. */
		pos = lseek(fd, pos, SEEK_DATA);
		if (pos < 0 || pos >= end)
			break;
		hole = lseek(fd, pos, SEEK_HOLE);
		if (hole < 0 || hole > end)
			hole = end;
		pos &= page_mask;
		hole = (hole + ~page_mask) & page_mask;
		err = clear_descriptors(fd, pos, (uint64_t)(hole - pos), name);
		pos = hole;
	}
	if (!err && pos < 0 && errno != ENXIO)
		err = FAIL(errno, "cannot look for data in event ring file `%s`", name);
	lseek(fd, file_pos, SEEK_SET);
	return err;
}

int monad_event_ring_init_file(const struct monad_event_ring_size *size,
			       enum monad_event_content_type content_type,
			       const uint8_t *schema_hash, int ring_fd, off_t ring_offset,
			       const char *error_name)
{
	const char *const name = error_name ? error_name : "unnamed";
	struct monad_event_ring_header *header;
	struct ring_layout layout;
	union {
		struct {
			char magic[MONAD_EVENT_RING_MAGIC_LEN];
			uint16_t content_type;
		};
		uint64_t word;
	} first;
	void *map;
	int err;

	if (!size || !schema_hash)
		return FAIL(EFAULT, "%s for event ring `%s` is NULL", size ? "schema hash" : "size",
			    name);
	if ((unsigned int)content_type > UINT16_MAX)
		return FAIL(EINVAL, "event ring `%s` cannot have content type %u", name,
			    (unsigned int)content_type);
	err = ring_layout_init(&layout, size, name);
	if (err)
		return err;
	err = check_storage(&layout, ring_fd, ring_offset, name);
	if (err)
		return err;
	/* Pages under the header, or ENOSPC now instead of SIGBUS below. */
	if (fallocate(ring_fd, 0, ring_offset, MONAD_EVENT_RING_HEADER_SIZE) != 0 &&
	    errno != EOPNOTSUPP && errno != ENOSYS)
		return FAIL(errno, "cannot allocate the header of event ring `%s`", name);
	map = mmap(NULL, MONAD_EVENT_RING_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd,
		   ring_offset);
	if (map == MAP_FAILED)
		return FAIL(errno, "cannot map the header of event ring `%s`", name);

	/* No magic while the rest is not as it says. */
	header = map;
	memset(header->magic, 0, sizeof(header->magic));
	err = clear_descriptor_array(&layout, ring_fd, ring_offset, name);
	if (!err) {
		memset(map, 0, MONAD_RING_EXT_OFFSET + sizeof(struct monad_ring_ext));
		memcpy(header->schema_hash, schema_hash, sizeof(header->schema_hash));
		header->size = *size;
		/* Magic and content type are one word, and go in last. */
		memcpy(first.magic, MONAD_EVENT_RING_MAGIC, MONAD_EVENT_RING_MAGIC_LEN);
		first.content_type = (uint16_t)content_type;
		__atomic_store_n((monad_event_word_ *)map, first.word, __ATOMIC_RELEASE);
	}
	munmap(map, MONAD_EVENT_RING_HEADER_SIZE);
	return err;
}

int monad_event_ring_init_simple(const struct monad_event_ring_simple_config *config, int ring_fd,
				 off_t ring_offset, const char *error_name)
{
	const char *const name = error_name ? error_name : "unnamed";
	struct monad_event_ring_size size;
	char hint[192];
	struct stat st;
	size_t storage;
	int err;

	if (!config)
		return FAIL(EFAULT, "configuration for event ring `%s` is NULL", name);
	err = monad_event_ring_init_size(config->descriptors_shift, config->payload_buf_shift,
					 config->context_large_pages, &size);
	if (err)
		return err;
	if (ring_offset < 0)
		return FAIL(EINVAL, "event ring `%s` at negative offset %jd", name,
			    (intmax_t)ring_offset);
	if (fstat(ring_fd, &st) != 0)
		return FAIL(errno, "cannot fstat event ring file `%s`", name);
	storage = monad_event_ring_calc_storage(&size);
	do {
		err = posix_fallocate(ring_fd, ring_offset, (off_t)storage);
	} while (err == EINTR);
	if (err) {
		/*
		 * Gives back what was allocated before looking what there is; if that
		 * fails, nothing is worse.
		 */
		if (S_ISREG(st.st_mode))
			(void)!ftruncate(ring_fd, st.st_size);
		return FAIL_HINT(err,
				 err == ENOSPC || err == ENOMEM
					 ? ring_room_hint(hint, sizeof(hint), ring_fd, storage)
					 : NULL,
				 "posix_fallocate failed for event ring file `%s`, size %zu", name,
				 storage);
	}
	return monad_event_ring_init_file(&size, config->content_type, config->schema_hash, ring_fd,
					  ring_offset, name);
}
