// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Mapping rings.
 *
 * One piece of address space is reserved for the whole ring, so that the payload
 * buffer can be mapped twice in a row and a payload that goes past its end goes
 * on where it is mapped again:
 *
 *	| header | descriptors | payload | payload again | context |
 *	^ header, 2 MiB aligned, and so is all else
 *
 * Nothing the mapping's bounds depend on is read from shared memory more than
 * once: the header is copied first and the copy is checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>

#include "error.h"
#include "layout.h"
#include "snapshot.h"
#include "writer_mapping.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0
#endif

/* Explains what a file is that does not begin with the magic. */
static int wrong_magic(const char *name, const uint8_t *start, ssize_t len)
{
	if (len >= ZSTD_FRAME_MAGIC_LEN &&
	    memcmp(start, ZSTD_FRAME_MAGIC, ZSTD_FRAME_MAGIC_LEN) == 0)
		return FAIL_HINT(EPROTO,
				 "if it is a snapshot of a ring, open it by name, or decompress "
				 "it before it is mapped",
				 "`%s` is compressed by zstd", name);
	if (len >= MONAD_EVENT_RING_MAGIC_LEN && memcmp(start, MONAD_EVENT_RING_MAGIC, 4) == 0)
		return FAIL(EPROTO,
			    "event ring `%s` has format version %.2s, this library reads 01", name,
			    (const char *)start + 4);
	return FAIL(EPROTO, "`%s` is not an event ring: it does not begin with %s", name,
		    MONAD_EVENT_RING_MAGIC);
}

/* Finds out the layout of a ring in a regular file, trusting nothing in it. */
static int file_layout(struct ring_layout *layout, struct monad_event_ring_size *size, int fd,
		       off_t offset, off_t file_size, const char *name)
{
	union {
		struct monad_event_ring_header header;
		uint8_t bytes[sizeof(struct monad_event_ring_header)];
	} start;
	const uint64_t available = file_size > offset ? (uint64_t)(file_size - offset) : 0;
	ssize_t len;
	int err;

	do {
		len = pread(fd, &start, sizeof(start), offset);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return FAIL(errno, "cannot read the header of event ring `%s`", name);
	if (len < MONAD_EVENT_RING_MAGIC_LEN ||
	    memcmp(start.header.magic, MONAD_EVENT_RING_MAGIC, MONAD_EVENT_RING_MAGIC_LEN) != 0)
		return wrong_magic(name, start.bytes, len);
	if (len < (ssize_t)sizeof(start))
		return FAIL(EINVAL, "event ring `%s` is truncated in its header", name);
	*size = start.header.size;
	err = ring_layout_init(layout, size, name);
	if (err)
		return err;
	if (layout->total > available)
		return FAIL(EINVAL,
			    "event ring `%s` is truncated: its header says %" PRIu64
			    " bytes, there are %" PRIu64,
			    name, layout->total, available);
	return 0;
}

/* Finds out the layout of a device's ring; the kernel's word is good. */
static int device_layout(struct ring_layout *layout, struct monad_event_ring_size *size, int fd,
			 const char *name)
{
	struct monad_ring_info info;
	int err = monad_event_ring_query_device(fd, &info);

	if (err == ENOTTY)
		return FAIL(EPROTO, "device `%s` is not an event ring", name);
	if (err)
		return err;
	size->descriptor_capacity = info.descriptor_capacity;
	size->payload_buf_size = info.payload_buf_size;
	size->context_area_size = info.context_area_size;
	err = ring_layout_init(layout, size, name);
	if (err)
		return err;
	if (info.descriptor_offset != layout->descriptor_offset ||
	    info.payload_offset != layout->payload_offset ||
	    (layout->context_len && info.context_offset != layout->context_offset) ||
	    info.map_size != layout->total)
		return FAIL_HINT(EPROTO, "is the module newer than this library?",
				 "event ring device `%s` lays its sections out in another way",
				 name);
	return 0;
}

/* Reserves @len bytes of address space, 2 MiB aligned; MAP_FAILED and errno. */
static uint8_t *reserve_aligned(size_t len)
{
	const size_t align = MONAD_EVENT_RING_ALIGN;
	uint8_t *start, *aligned;
	size_t head;

	start = mmap(NULL, len + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		     0);
	if (start == MAP_FAILED)
		return MAP_FAILED;
	head = -(uintptr_t)start & (align - 1);
	aligned = start + head;
	if (head)
		munmap(start, head);
	if (align - head)
		munmap(aligned + len, align - head);
	return aligned;
}

/*
 * Touches each 2 MiB: all it takes for memory that is mapped in units of that,
 * and MAP_POPULATE does not work for memory of a device.
 */
static void populate_device(const uint8_t *start, size_t len)
{
	for (size_t i = 0; i < len; i += MONAD_EVENT_RING_ALIGN)
		(void)*(const volatile uint8_t *)(start + i);
}

static bool on_hugetlbfs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == HUGETLBFS_MAGIC;
}

static const char *mmap_hint(int err, bool device, bool hugetlb)
{
	if (err == EACCES)
		return "was it opened for what it is to be mapped for?";
	if (err == EPERM && device)
		return "the rings of the kernel module are read-only";
	if (err == ENOMEM && hugetlb)
		return "the file has holes and no huge pages are left for them; see "
		       "/proc/sys/vm/nr_hugepages";
	if (err == EINVAL && hugetlb)
		return "is it on a hugetlbfs with pages larger than 2 MiB?";
	return NULL;
}

int monad_event_ring_mmap(struct monad_event_ring *ring, int mmap_prot, int mmap_extra_flags,
			  int ring_fd, off_t ring_offset, const char *error_name)
{
	const char *const name = error_name ? error_name : "unnamed";
	struct monad_event_ring_size size = {0};
	struct ring_layout layout = {0};
	int flags = MAP_SHARED | MAP_FIXED | mmap_extra_flags;
	bool device, hugetlb;
	uint64_t map_size;
	struct stat st;
	uint8_t *base;
	int err;

	if (!ring)
		return FAIL(EFAULT, "event ring object for `%s` is NULL", name);
	memset(ring, 0, sizeof(*ring));
	if (mmap_prot & ~(PROT_READ | PROT_WRITE))
		return FAIL(EINVAL, "event ring `%s` cannot be mapped with protection 0x%x", name,
			    mmap_prot);
	if (mmap_extra_flags & (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE))
		return FAIL(EINVAL, "event ring `%s` cannot be mapped with flags 0x%x", name,
			    mmap_extra_flags);
	if (ring_offset < 0 || ring_offset % sysconf(_SC_PAGESIZE) != 0)
		return FAIL(EINVAL, "event ring `%s` at offset %jd, which is not at a page", name,
			    (intmax_t)ring_offset);
	if (fstat(ring_fd, &st) != 0)
		return FAIL(errno, "cannot fstat event ring `%s`", name);

	device = S_ISCHR(st.st_mode);
	if (device && ring_offset != 0)
		return FAIL(EINVAL, "event ring device `%s` has nothing at offset %jd", name,
			    (intmax_t)ring_offset);
	if (device)
		err = device_layout(&layout, &size, ring_fd, name);
	else if (S_ISREG(st.st_mode))
		err = file_layout(&layout, &size, ring_fd, ring_offset, st.st_size, name);
	else
		err = FAIL(EPROTO, "`%s` is neither a file nor a device, so not an event ring",
			   name);
	if (err)
		return err;

	map_size = layout.total + layout.payload_len;
	if (map_size > SIZE_MAX - MONAD_EVENT_RING_ALIGN)
		return FAIL(EOVERFLOW, "event ring `%s` is larger than this address space", name);
	hugetlb = on_hugetlbfs(ring_fd);
	if (!hugetlb)
		flags &= ~MAP_HUGETLB;
	base = reserve_aligned(map_size);
	if (base == MAP_FAILED)
		return FAIL_HINT(errno, "is there a limit on virtual memory (ulimit -v)?",
				 "cannot reserve %" PRIu64 " bytes of address space for event ring "
				 "`%s`",
				 map_size, name);
	if (mmap(base, layout.context_offset, mmap_prot, flags, ring_fd, ring_offset) ==
		    MAP_FAILED ||
	    mmap(base + layout.context_offset, layout.payload_len, mmap_prot, flags, ring_fd,
		 ring_offset + (off_t)layout.payload_offset) == MAP_FAILED ||
	    (layout.context_len &&
	     mmap(base + layout.context_offset + layout.payload_len, layout.context_len, mmap_prot,
		  flags, ring_fd, ring_offset + (off_t)layout.context_offset) == MAP_FAILED)) {
		err = FAIL_HINT(errno, mmap_hint(errno, device, hugetlb),
				"cannot map event ring `%s`, %" PRIu64 " bytes", name,
				layout.total);
		munmap(base, map_size);
		return err;
	}

	ring->mmap_prot = mmap_prot;
	ring->header = (struct monad_event_ring_header *)base;
	ring->descriptors = (struct monad_event_descriptor *)(base + layout.descriptor_offset);
	ring->payload_buf = base + layout.payload_offset;
	if (layout.context_len)
		ring->context_area = base + layout.context_offset + layout.payload_len;
	ring->desc_capacity_mask = size.descriptor_capacity - 1;
	ring->payload_buf_mask = size.payload_buf_size - 1;
	ring->map_size = map_size;

	if (device && (mmap_prot & PROT_READ) &&
	    (memcmp(ring->header->magic, MONAD_EVENT_RING_MAGIC, MONAD_EVENT_RING_MAGIC_LEN) != 0 ||
	     memcmp(&ring->header->size, &size, sizeof(size)) != 0)) {
		monad_event_ring_unmap(ring);
		return FAIL(EPROTO, "the header of event ring device `%s` contradicts its ioctl",
			    name);
	}
	if (device && (mmap_prot & PROT_READ) && (mmap_extra_flags & MAP_POPULATE))
		populate_device(base, map_size);
	if (!device && (mmap_prot & PROT_WRITE)) {
		err = writer_mapping_add(ring, ring_fd, &st, ring_offset, name);
		if (err)
			monad_event_ring_unmap(ring);
		return err;
	}
	return 0;
}

void monad_event_ring_unmap(struct monad_event_ring *ring)
{
	if (!ring)
		return;
	if (ring->header) {
		if (ring->mmap_prot & PROT_WRITE)
			writer_mapping_remove(ring);
		munmap(ring->header, ring->map_size);
	}
	memset(ring, 0, sizeof(*ring));
}

int monad_event_ring_init_iterator(const struct monad_event_ring *ring,
				   struct monad_event_iterator *iter)
{
	if (!ring || !iter)
		return FAIL(EFAULT, "%s is NULL", ring ? "iterator" : "event ring");
	memset(iter, 0, sizeof(*iter));
	if (!ring->header)
		return FAIL(EINVAL, "the event ring is not mapped");
	if (!(ring->mmap_prot & PROT_READ))
		return FAIL(EACCES, "the event ring is not mapped for reading");
	iter->descriptors = ring->descriptors;
	iter->desc_capacity_mask = ring->desc_capacity_mask;
	iter->header = ring->header;
	iter->payload_buf = ring->payload_buf;
	iter->payload_buf_mask = ring->payload_buf_mask;
	monad_event_iterator_reset(iter);
	return 0;
}

const struct monad_ring_ext *monad_event_ring_ext(const struct monad_event_ring *ring)
{
	const struct monad_ring_ext *ext;

	if (!ring || !ring->header || !(ring->mmap_prot & PROT_READ))
		return NULL;
	ext = (const struct monad_ring_ext *)((const uint8_t *)ring->header +
					      MONAD_RING_EXT_OFFSET);
	if (memcmp(ext->magic, MONAD_RING_EXT_MAGIC, sizeof(ext->magic)) != 0)
		return NULL;
	/* Never smaller than its first version, which is all this library reads. */
	if (ext->size < sizeof(*ext) ||
	    ext->size > MONAD_EVENT_RING_HEADER_SIZE - MONAD_RING_EXT_OFFSET)
		return NULL;
	return ext;
}
