/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ring files made byte by byte from the format's description, not by the code
 * under test: every offset here is a number.
 */
#ifndef MONAD_RING_IMAGE_H
#define MONAD_RING_IMAGE_H

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB2 0x200000ULL

struct image {
	int fd; /* a memfd */
	uint8_t *map;
	uint64_t size;		 /* of the file, bytes */
	uint64_t capacity;	 /* descriptors */
	uint64_t payload_size;	 /* bytes */
	uint64_t payload_offset; /* of the payload section in the file */
};

static inline void put(struct image *image, uint64_t offset, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		image->map[offset + i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t get(const struct image *image, uint64_t offset, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)image->map[offset + i] << (8 * i);
	return value;
}

/* Each of these is at a fixed place of the header. */
static inline void put_last_seqno(struct image *image, uint64_t seqno)
{
	put(image, 64, seqno, 8);
}

static inline void put_next_byte(struct image *image, uint64_t offset)
{
	put(image, 72, offset, 8);
}

static inline void put_window_start(struct image *image, uint64_t offset)
{
	put(image, 128, offset, 8);
}

static inline uint64_t slot_offset(const struct image *image, uint64_t seqno)
{
	return MIB2 + 64 * ((seqno - 1) % image->capacity);
}

/* An empty ring of content type TEST. */
static inline void image_create(struct image *image, int descriptors_shift, int payload_shift,
				uint64_t context_size)
{
	uint64_t descriptors = 64ULL << descriptors_shift;

	image->capacity = 1ULL << descriptors_shift;
	image->payload_size = 1ULL << payload_shift;
	image->payload_offset = MIB2 + (descriptors + MIB2 - 1) / MIB2 * MIB2;
	image->size = image->payload_offset + image->payload_size +
		      (context_size + MIB2 - 1) / MIB2 * MIB2;
	image->fd = memfd_create("ring", MFD_CLOEXEC);
	if (image->fd < 0 || ftruncate(image->fd, (off_t)image->size) != 0) {
		perror("memfd");
		exit(1);
	}
	image->map = mmap(NULL, image->size, PROT_READ | PROT_WRITE, MAP_SHARED, image->fd, 0);
	if (image->map == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memcpy(image->map, "RING01", 6);
	put(image, 6, 1, 2);
	put(image, 40, image->capacity, 8);
	put(image, 48, image->payload_size, 8);
	put(image, 56, context_size, 8);
}

static inline void image_destroy(struct image *image)
{
	munmap(image->map, image->size);
	close(image->fd);
}

/* A complete descriptor; its tags are seqno * 10 + 0..3. */
static inline void put_event(struct image *image, uint64_t seqno, uint16_t type,
			     uint64_t payload_offset, uint32_t payload_size)
{
	uint64_t slot = slot_offset(image, seqno);

	put(image, slot, seqno, 8);
	put(image, slot + 8, type, 2);
	put(image, slot + 10, 0, 2);
	put(image, slot + 12, payload_size, 4);
	put(image, slot + 16, 1700000000000000000ULL + seqno, 8);
	put(image, slot + 24, payload_offset, 8);
	for (int i = 0; i < 4; i++)
		put(image, slot + 32 + 8 * i, seqno * 10 + i, 8);
}

/* What a ring looks like after events 1 to @last, 16 bytes of payload each. */
static inline void put_events_up_to(struct image *image, uint64_t last)
{
	uint64_t first = last > image->capacity ? last - image->capacity + 1 : 1;
	uint64_t bytes = last * 16;

	for (uint64_t seqno = first; seqno <= last; seqno++) {
		put_event(image, seqno, 2, (seqno - 1) * 16, 16);
		put(image, image->payload_offset + (seqno - 1) * 16 % image->payload_size, seqno,
		    8);
	}
	put_last_seqno(image, last);
	put_next_byte(image, bytes);
	put_window_start(image, bytes > image->payload_size ? bytes - image->payload_size : 0);
}

/* Writes the image to the file @name in @dir. */
static inline void image_save(const struct image *image, const char *dir, const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (write(fd, image->map, image->size) != (ssize_t)image->size) {
		fprintf(stderr, "cannot write %s\n", path);
		exit(1);
	}
	close(fd);
}

#endif /* MONAD_RING_IMAGE_H */
