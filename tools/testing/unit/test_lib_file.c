// SPDX-License-Identifier: GPL-2.0
/* Making ring files: sizes, and every byte that init_file writes. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>

#include "ring_image.h"
#include "tap.h"

static uint8_t hash[32];

static void test_sizes(void)
{
	struct monad_event_ring_size size;

	eq_int(monad_event_ring_init_size(16, 27, 0, &size), 0, "smallest of other writers");
	eq_u64(size.descriptor_capacity, 65536, "2^16 descriptors");
	eq_u64(size.payload_buf_size, 134217728, "2^27 bytes of payload");
	eq_u64(size.context_area_size, 0, "no context area");
	eq_u64(monad_event_ring_calc_storage(&size), 2097152 + 4194304 + 134217728, "storage");

	eq_int(monad_event_ring_init_size(10, 21, 2, &size), 0, "smallest of ours");
	eq_u64(size.context_area_size, 4194304, "two large pages of context");
	eq_u64(monad_event_ring_calc_storage(&size), 5 * MIB2, "descriptors padded to 2 MiB");

	eq_int(monad_event_ring_init_size(32, 40, 0, &size), 0, "largest");
	eq_u64(monad_event_ring_calc_storage(&size), 0x10000000000 + 0x4000000000 + MIB2,
	       "storage of the largest");

	eq_int(monad_event_ring_init_size(9, 21, 0, &size), ERANGE, "too few descriptors");
	eq_int(monad_event_ring_init_size(33, 21, 0, &size), ERANGE, "too many descriptors");
	eq_int(monad_event_ring_init_size(10, 20, 0, &size), ERANGE, "too little payload");
	eq_int(monad_event_ring_init_size(10, 41, 0, &size), ERANGE, "too much payload");
	eq_int(monad_event_ring_init_size(255, 255, 0, &size), ERANGE, "absurd shifts");
	eq_int(monad_event_ring_init_size(10, 21, 3, &size), ERANGE, "odd context area");
	eq_int(monad_event_ring_init_size(10, 21, 0, NULL), EFAULT, "no size");
}

/* Everything but the header's first 192 bytes and the magic in them is zero. */
static bool rest_is_zero(const struct image *image)
{
	for (uint64_t i = 192; i < image->size; i++) {
		if (image->map[i])
			return false;
	}
	return true;
}

static void test_bytes(void)
{
	static const uint8_t magic[] = {0x52, 0x49, 0x4e, 0x47, 0x30, 0x31};
	struct monad_event_ring_size size = {1024, 0x200000, 0x200000};
	uint8_t expected[192] = {0};
	struct image image;

	image_create(&image, 10, 21, MIB2);
	memset(image.map, 0, 192);
	for (int i = 0; i < 32; i++)
		hash[i] = (uint8_t)(i + 1);
	eq_int(monad_event_ring_init_file(&size, MONAD_EVENT_CONTENT_TYPE_EXEC, hash, image.fd, 0,
					  "x"),
	       0, "init_file");
	memcpy(expected, magic, 6);
	expected[6] = 2;
	memcpy(expected + 8, hash, 32);
	expected[41] = 0x04; /* 1024 */
	expected[50] = 0x20; /* 2 MiB */
	expected[58] = 0x20;
	ok(memcmp(image.map, expected, 192) == 0, "the 192 bytes of the header");
	ok(rest_is_zero(&image), "and nothing else");
	image_destroy(&image);
}

/* A ring made over an old one shows none of the old one's events. */
static void test_reuse(void)
{
	struct monad_event_ring_size size = {1024, 0x200000, 0};
	struct monad_event_descriptor event;
	struct monad_event_ring ring;
	struct image image;

	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 3000);
	put(&image, 4096, 0x4154444e4f4dULL, 8);
	eq_int(monad_event_ring_init_file(&size, MONAD_EVENT_CONTENT_TYPE_TEST, hash, image.fd, 0,
					  NULL),
	       0, "init_file over an old ring");
	eq_u64(get(&image, 64, 8), 0, "last_seqno is 0");
	eq_u64(get(&image, 72, 8), 0, "next_payload_byte is 0");
	eq_u64(get(&image, 128, 8), 0, "buffer_window_start is 0");
	eq_u64(get(&image, 4096, 8), 0, "no extension block");
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 0, NULL), 0, "mmap");
	for (uint64_t seqno = 1; seqno <= 3000; seqno++) {
		if (monad_event_ring_try_copy(&ring, seqno, &event)) {
			ok(false, "event %d is still there", (int)seqno);
			break;
		}
	}
	monad_event_ring_unmap(&ring);
	image_destroy(&image);
}

static void test_errors(void)
{
	struct monad_event_ring_size size = {1024, 0x200000, 0};
	struct monad_event_ring_size bad = {1000, 0x200000, 0};
	struct image image;
	int fds[2];

	image_create(&image, 10, 21, 0);
	eq_int(monad_event_ring_init_file(NULL, 1, hash, image.fd, 0, "x"), EFAULT, "no size");
	eq_int(monad_event_ring_init_file(&size, 1, NULL, image.fd, 0, "x"), EFAULT, "no hash");
	eq_int(monad_event_ring_init_file(&bad, 1, hash, image.fd, 0, "x"), EINVAL, "bad size");
	ok(strstr(monad_event_ring_get_last_error(), "1000 descriptors"), "the message says so: %s",
	   monad_event_ring_get_last_error());
	eq_int(monad_event_ring_init_file(&size, 1, hash, image.fd, 4096, "x"), EINVAL,
	       "not at a multiple of 2 MiB");
	eq_int(monad_event_ring_init_file(&size, 1, hash, image.fd, MIB2, "x"), ENOSPC,
	       "too short from that offset on");
	eq_int(monad_event_ring_init_file(&size, 1, hash, -1, 0, "x"), EBADF, "no file");
	if (pipe(fds) == 0)
		eq_int(monad_event_ring_init_file(&size, 1, hash, fds[0], 0, "x"), EINVAL,
		       "a pipe");
	eq_int(ftruncate(image.fd, (off_t)image.size - 1), 0, "ftruncate");
	eq_int(monad_event_ring_init_file(&size, 1, hash, image.fd, 0, "x"), ENOSPC,
	       "a byte too short");
	image_destroy(&image);
}

static void test_simple(void)
{
	struct monad_event_ring_simple_config config = {
		.descriptors_shift = 11,
		.payload_buf_shift = 22,
		.context_large_pages = 1,
		.content_type = MONAD_EVENT_CONTENT_TYPE_STORAGE,
		.schema_hash = hash,
	};
	struct monad_event_ring ring;
	int fd = memfd_create("simple", MFD_CLOEXEC);

	eq_int(monad_event_ring_init_simple(&config, fd, 0, "simple"), 0, "init_simple");
	eq_u64(lseek(fd, 0, SEEK_END), 5 * MIB2, "file size");
	eq_int(monad_event_ring_mmap(&ring, PROT_READ | PROT_WRITE, MAP_POPULATE, fd, 0, "simple"),
	       0, "mmap");
	eq_u64(ring.desc_capacity_mask, 2047, "descriptors");
	eq_u64(ring.payload_buf_mask, 0x3fffff, "payload");
	ok(ring.context_area, "context area");
	eq_u64(ring.header->content_type, 256, "content type");
	eq_int(monad_event_ring_check_content_type(&ring, MONAD_EVENT_CONTENT_TYPE_STORAGE, hash),
	       0, "check_content_type");
	monad_event_ring_unmap(&ring);

	config.descriptors_shift = 5;
	eq_int(monad_event_ring_init_simple(&config, fd, 0, "simple"), ERANGE, "bad shift");
	eq_int(monad_event_ring_init_simple(NULL, fd, 0, "simple"), EFAULT, "no configuration");
	close(fd);
}

/* Files of 1 TB and more do not fit the memory that memfds are in. */
static void test_no_space(void)
{
	struct monad_event_ring_simple_config config = {
		.descriptors_shift = 10,
		.payload_buf_shift = 40,
		.content_type = MONAD_EVENT_CONTENT_TYPE_TEST,
		.schema_hash = hash,
	};
	char dir[] = "/tmp/monad-test-XXXXXX", path[128];
	FILE *mounts;
	int fd = -1;

	/* A tmpfs of its own, so that failing does not fill anybody's memory. */
	if (!mkdtemp(dir)) {
		skip("no directory in /tmp");
		return;
	}
	snprintf(path, sizeof(path), "mount -t tmpfs -o size=8M none %s 2>/dev/null", dir);
	mounts = popen(path, "r");
	if (!mounts || pclose(mounts) != 0) {
		skip("cannot mount a tmpfs");
		rmdir(dir);
		return;
	}
	snprintf(path, sizeof(path), "%s/ring", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	eq_int(monad_event_ring_init_simple(&config, fd, 0, path), ENOSPC, "1 TB on a small tmpfs");
	ok(strstr(monad_event_ring_get_last_error(),
		  "posix_fallocate failed for event ring file") &&
		   strstr(monad_event_ring_get_last_error(), "size 1099515822080: No space left"),
	   "the message names the size: %s", monad_event_ring_get_last_error());
	eq_u64(lseek(fd, 0, SEEK_END), 0, "the file has its old size");
	close(fd);
	snprintf(path, sizeof(path), "umount %s", dir);
	mounts = popen(path, "r");
	if (mounts)
		pclose(mounts);
	rmdir(dir);
}

int main(void)
{
	test_sizes();
	test_bytes();
	test_reuse();
	test_errors();
	test_simple();
	test_no_space();
	return done_testing();
}
