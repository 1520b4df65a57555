// SPDX-License-Identifier: GPL-2.0
/* Mapping: where everything is, and files that are not what they should be. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>

#include "ring_image.h"
#include "tap.h"

static void test_mapping(void)
{
	struct monad_event_ring ring, again;
	struct image image;

	image_create(&image, 10, 21, MIB2);
	image.map[image.payload_offset] = 0xaa;
	image.map[image.payload_offset + MIB2 - 1] = 0xbb;
	image.map[image.payload_offset + MIB2] = 0xcc;
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, MAP_POPULATE, image.fd, 0, "ring"), 0,
	       "mmap");
	eq_int(ring.mmap_prot, PROT_READ, "mmap_prot");
	ok(memcmp(ring.header, "RING01", 6) == 0, "header");
	eq_u64((uintptr_t)ring.header % MIB2, 0, "2 MiB aligned");
	eq_u64((uintptr_t)ring.descriptors - (uintptr_t)ring.header, MIB2, "descriptors");
	eq_u64((uintptr_t)ring.payload_buf - (uintptr_t)ring.header, 2 * MIB2, "payload");
	eq_u64(ring.desc_capacity_mask, 1023, "desc_capacity_mask");
	eq_u64(ring.payload_buf_mask, MIB2 - 1, "payload_buf_mask");
	ok(ring.payload_buf[0] == 0xaa && ring.payload_buf[MIB2 - 1] == 0xbb, "payload bytes");
	ok(ring.payload_buf[MIB2] == 0xaa && ring.payload_buf[2 * MIB2 - 1] == 0xbb,
	   "the payload buffer goes on into its start");
	eq_u64(*(uint8_t *)ring.context_area, 0xcc, "context area");
	ok(!monad_event_ring_ext(&ring), "no extension block");

	eq_int(monad_event_ring_mmap(&again, PROT_READ | PROT_WRITE, 0, image.fd, 0, NULL), 0,
	       "mapped again, for writing, without a name");
	again.payload_buf[MIB2] = 0xdd;
	eq_u64(ring.payload_buf[0], 0xdd, "all see what one writes, at either place");
	monad_event_ring_unmap(&again);
	ok(!again.header && again.desc_capacity_mask == 0, "unmap zeroes the object");
	monad_event_ring_unmap(&again);
	monad_event_ring_unmap(NULL);
	monad_event_ring_unmap(&ring);
	image_destroy(&image);
}

/* A ring somewhere in a larger file. */
static void test_offset(void)
{
	struct monad_event_ring ring;
	struct image image;
	uint8_t *shifted;

	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 5);
	eq_int(ftruncate(image.fd, (off_t)(image.size + 4 * MIB2)), 0, "ftruncate");
	shifted = mmap(NULL, image.size, PROT_READ | PROT_WRITE, MAP_SHARED, image.fd, 4 * MIB2);
	memcpy(shifted, image.map, image.size);
	memset(image.map, 0, 4096);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 0, "x"), EPROTO, "none at 0");
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 4 * MIB2, "x"), 0, "at 8 MiB");
	eq_u64(monad_event_ring_last_seqno(&ring), 5, "last_seqno");
	eq_u64(ring.descriptors[4].seqno, 5, "last event");
	monad_event_ring_unmap(&ring);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 1, "x"), EINVAL, "offset 1");
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, -4096, "x"), EINVAL,
	       "negative offset");
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, INT64_MAX & ~4095LL, "x"),
	       EPROTO, "offset far behind the end");
	munmap(shifted, image.size);
	image_destroy(&image);
}

/* No length below the full one maps, whatever section it cuts. */
static void test_truncated(void)
{
	struct monad_event_ring ring;
	struct image image;
	unsigned int wrong = 0, tried = 0;

	image_create(&image, 10, 21, MIB2);
	for (uint64_t size = image.size; size-- > 0;) {
		int err, want = size < 6 ? EPROTO : EINVAL;

		/* Every 64 bytes, and all lengths at the ends of sections. */
		if (size % 64 != 0 && size % MIB2 > 70 && size % MIB2 < MIB2 - 70)
			continue;
		if (ftruncate(image.fd, (off_t)size) != 0)
			bail_out("ftruncate");
		err = monad_event_ring_mmap(&ring, PROT_READ, MAP_POPULATE, image.fd, 0, "short");
		if (err != want || ring.header) {
			if (wrong++ == 0)
				diag("%llu bytes: %d", (unsigned long long)size, err);
		}
		tried++;
	}
	eq_u64(wrong, 0, "%u shorter lengths are errors", tried);
	image_destroy(&image);
}

static void test_hostile_headers(void)
{
	static const struct {
		const char *what;
		int offset;
		uint64_t value;
		int want;
	} changes[] = {
		{"magic of another version", 4, 0x3230, EPROTO},
		{"magic in lower case", 0, 0x676e6972, EPROTO},
		{"no magic", 0, 0, EPROTO},
		{"0 descriptors", 40, 0, EINVAL},
		{"1 descriptor", 40, 1, EINVAL},
		{"512 descriptors", 40, 512, EINVAL},
		{"1025 descriptors", 40, 1025, EINVAL},
		{"one descriptor less than there are", 40, 1023, EINVAL},
		{"more descriptors than the file", 40, 1ULL << 16, EINVAL},
		{"2^32 descriptors", 40, 1ULL << 32, EINVAL},
		{"2^33 descriptors", 40, 1ULL << 33, EINVAL},
		{"descriptors whose size overflows to 0", 40, 1ULL << 58, EINVAL},
		{"2^63 descriptors", 40, 1ULL << 63, EINVAL},
		{"2^64 - 1 descriptors", 40, ~0ULL, EINVAL},
		{"0 bytes of payload", 48, 0, EINVAL},
		{"1 byte of payload", 48, 1, EINVAL},
		{"1 MiB of payload", 48, 1ULL << 20, EINVAL},
		{"3 MiB of payload", 48, 3ULL << 20, EINVAL},
		{"4 MiB of payload, more than there is", 48, 1ULL << 22, EINVAL},
		{"2^40 bytes of payload", 48, 1ULL << 40, EINVAL},
		{"2^41 bytes of payload", 48, 1ULL << 41, EINVAL},
		{"2^63 bytes of payload", 48, 1ULL << 63, EINVAL},
		{"2^64 - 1 bytes of payload", 48, ~0ULL, EINVAL},
		{"payload that makes the sum overflow", 48, 0ULL - (4ULL << 20), EINVAL},
		{"1 byte of context", 56, 1, EINVAL},
		{"3 bytes of context", 56, 3, EINVAL},
		{"2 MiB of context", 56, MIB2, EINVAL},
		{"2^63 bytes of context", 56, 1ULL << 63, EINVAL},
		{"2^64 - 1 bytes of context", 56, ~0ULL, EINVAL},
		{"context that makes the sum overflow", 56, 0ULL - (6ULL << 20), EINVAL},
	};
	struct monad_event_ring ring;

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct image image;

		image_create(&image, 10, 21, 0);
		put(&image, changes[i].offset, changes[i].value, changes[i].offset == 4 ? 2 : 8);
		eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 0, changes[i].what),
		       changes[i].want, "%s", changes[i].what);
		if (ring.header)
			ok(false, "nothing is mapped");
		if (!strstr(monad_event_ring_get_last_error(), changes[i].what))
			ok(false, "the message names the ring: %s",
			   monad_event_ring_get_last_error());
		image_destroy(&image);
	}
}

/* What a mapped ring says later changes nothing about where we look. */
static void test_sizes_change_later(void)
{
	struct monad_event_descriptor event;
	struct monad_event_iterator iter;
	struct monad_event_ring ring;
	struct image image;

	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 3);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 0, "x"), 0, "mmap");
	put(&image, 40, 1ULL << 40, 8);
	put(&image, 48, 1ULL << 50, 8);
	put_last_seqno(&image, 1ULL << 60);
	put_event(&image, 3, 2, ~0ULL - 7, 0xffffffff);
	eq_int(monad_event_ring_init_iterator(&ring, &iter), 0, "iterator");
	eq_int(monad_event_iterator_try_next(&iter, &event), MONAD_EVENT_NOT_READY, "newest");
	ok(monad_event_ring_try_copy(&ring, 3, &event), "an event of absurd size");
	eq_u64(event.payload_size, 0xffffffff, "its size");
	ok(!monad_event_ring_payload_peek(&ring, &event), "has no payload to look at");
	ok(!monad_event_iterator_payload_peek(&iter, &event), "nor for the iterator");
	ok(!monad_event_ring_payload_memcpy(&ring, &event, &event, event.payload_size),
	   "nor to copy");
	ok(!monad_event_iterator_payload_memcpy(&iter, &event, &event, event.payload_size),
	   "nor for the iterator");
	event.payload_size = 8;
	ok((const uint8_t *)monad_event_ring_payload_peek(&ring, &event) ==
		   ring.payload_buf + MIB2 - 8,
	   "any offset is within the buffer");
	monad_event_ring_unmap(&ring);
	image_destroy(&image);
}

static void test_not_files(void)
{
	struct monad_event_ring ring;
	int fds[2], fd;

	fd = open("/tmp", O_RDONLY | O_DIRECTORY);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, "dir"), EPROTO, "a directory");
	close(fd);
	fd = open("/dev/null", O_RDONLY);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, "null"), EPROTO, "/dev/null");
	ok(strstr(monad_event_ring_get_last_error(), "`null`"), "message: %s",
	   monad_event_ring_get_last_error());
	close(fd);
	fd = open("/dev/zero", O_RDONLY);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, "zero"), EPROTO, "/dev/zero");
	close(fd);
	if (pipe(fds) == 0) {
		eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, fds[0], 0, "pipe"), EPROTO,
		       "a pipe");
		close(fds[0]);
		close(fds[1]);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0) {
		eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, fds[0], 0, "socket"), EPROTO,
		       "a socket");
		close(fds[0]);
		close(fds[1]);
	}
	fd = memfd_create("empty", MFD_CLOEXEC);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, "empty"), EPROTO, "an empty file");
	if (write(fd, "\x28\xb5\x2f\xfd....", 8) == 8)
		eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, "z"), EPROTO,
		       "a snapshot");
	ok(strstr(monad_event_ring_get_last_error(), "snapshot"), "is called one: %s",
	   monad_event_ring_get_last_error());
	close(fd);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, -1, 0, "none"), EBADF, "no descriptor");
}

static void test_arguments(void)
{
	struct monad_event_iterator iter;
	struct monad_event_ring ring;
	struct image image;
	char path[64];
	int fd;

	image_create(&image, 10, 21, 0);
	eq_int(monad_event_ring_mmap(NULL, PROT_READ, 0, image.fd, 0, "x"), EFAULT, "no object");
	eq_int(monad_event_ring_mmap(&ring, PROT_READ | PROT_EXEC, 0, image.fd, 0, "x"), EINVAL,
	       "PROT_EXEC");
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, MAP_PRIVATE, image.fd, 0, "x"), EINVAL,
	       "MAP_PRIVATE");
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, MAP_FIXED, image.fd, 0, "x"), EINVAL,
	       "MAP_FIXED");
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, MAP_HUGETLB, image.fd, 0, "x"), 0,
	       "MAP_HUGETLB where it does not apply");
	eq_int(monad_event_ring_init_iterator(&ring, NULL), EFAULT, "no iterator");
	eq_int(monad_event_ring_init_iterator(NULL, &iter), EFAULT, "no ring");
	monad_event_ring_unmap(&ring);
	eq_int(monad_event_ring_init_iterator(&ring, &iter), EINVAL, "nothing mapped");
	eq_int(monad_event_ring_mmap(&ring, PROT_WRITE, 0, image.fd, 0, "x"), 0, "write only");
	eq_int(monad_event_ring_init_iterator(&ring, &iter), EACCES, "iterator of that");
	ok(!monad_event_ring_ext(&ring), "extension block of that");
	monad_event_ring_unmap(&ring);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", image.fd);
	fd = open(path, O_RDONLY);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ | PROT_WRITE, 0, fd, 0, "ro"), EACCES,
	       "for writing from a read-only descriptor");
	ok(!ring.header, "nothing is mapped");
	close(fd);
	fd = open(path, O_WRONLY);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, "wo"), EBADF,
	       "from a write-only descriptor");
	close(fd);
	image_destroy(&image);
}

static void test_ext(void)
{
	const struct monad_ring_ext *ext;
	struct monad_event_ring ring;
	struct image image;

	image_create(&image, 10, 21, 0);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 0, "x"), 0, "mmap");
	memcpy(image.map + 4096, "MONADEXT", 8);
	put(&image, 4104, 256, 4);
	put(&image, 4096 + 48, 7, 8);
	put(&image, 4096 + 128 + 8, 42, 8);
	ext = monad_event_ring_ext(&ring);
	ok(ext, "an extension block");
	if (ext) {
		eq_u64(ext->generation, 7, "generation");
		eq_u64(ext->lost[MONAD_RING_LOST_STALLED], 42, "lost");
	}
	put(&image, 4104, 1 << 20, 4);
	ok(monad_event_ring_ext(&ring), "a larger one of a later version");
	put(&image, 4104, 255, 4);
	ok(!monad_event_ring_ext(&ring), "smaller than the first version");
	put(&image, 4104, 0xffffffff, 4);
	ok(!monad_event_ring_ext(&ring), "larger than the section");
	put(&image, 4104, 256, 4);
	image.map[4096] = 'm';
	ok(!monad_event_ring_ext(&ring), "another magic");
	ok(!monad_event_ring_ext(NULL), "no ring");
	monad_event_ring_unmap(&ring);
	image_destroy(&image);
}

/* Failing does not leak address space; neither does succeeding. */
static long maps_lines(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	long lines = 0;
	int c;

	if (!file)
		return -1;
	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	return lines;
}

static void test_leaks(void)
{
	struct monad_event_ring ring;
	struct image image;
	char path[64];
	long before;
	int fd;

	image_create(&image, 10, 21, MIB2);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", image.fd);
	fd = open(path, O_RDONLY);
	before = maps_lines();
	for (int i = 0; i < 50; i++) {
		if (monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, "x") == 0)
			monad_event_ring_unmap(&ring);
		monad_event_ring_mmap(&ring, PROT_WRITE, 0, fd, 0, "x");
	}
	ok(maps_lines() <= before + 2, "no mappings are left behind: %ld, %ld", before,
	   maps_lines());
	close(fd);
	image_destroy(&image);
}

int main(void)
{
	test_mapping();
	test_offset();
	test_truncated();
	test_hostile_headers();
	test_sizes_change_later();
	test_not_files();
	test_arguments();
	test_ext();
	test_leaks();
	return done_testing();
}
