// SPDX-License-Identifier: GPL-2.0
/* Reading snapshots: those that others make, and those that nobody should. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_snapshot.h>

#include "snapshot_frame.h"
#include "tap.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif

static struct image image;
static struct frame frame; /* of it */

static int decompress(const struct frame *from, int *fd)
{
	return monad_event_decompress_snapshot_mem(from->data, from->size, 0, "test", fd);
}

static bool says(const char *text)
{
	return strstr(monad_event_ring_get_last_error(), text);
}

/* Whether the file is the image, all of it, and zero from @from on. */
static bool same_bytes(int fd, uint64_t from)
{
	struct stat st;
	uint8_t *map;
	bool same;

	if (fstat(fd, &st) != 0 || (uint64_t)st.st_size != image.size)
		return false;
	map = mmap(NULL, image.size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return false;
	same = memcmp(map, image.map, from) == 0;
	for (uint64_t i = from; i < image.size; i++)
		same &= map[i] == 0;
	munmap(map, image.size);
	return same;
}

/* Decompresses, compares, closes. */
static int check_frame(const struct frame *from)
{
	int fd, err = decompress(from, &fd);

	if (err)
		return err;
	err = same_bytes(fd, image.size) ? 0 : -1;
	close(fd);
	return err;
}

static void test_memory(void)
{
	struct monad_event_descriptor event;
	struct monad_event_ring ring;
	struct stat st;
	int fd;

	eq_int(decompress(&frame, &fd), 0, "decompress_snapshot_mem");
	ok(same_bytes(fd, image.size), "gives the bytes that were compressed");
	eq_u64(lseek(fd, 0, SEEK_CUR), 0, "the offset is 0");
	ok(fcntl(fd, F_GETFD) & FD_CLOEXEC, "it is closed on exec");
	ok(write(fd, "x", 1) < 0 && errno == EPERM, "nobody can write to it");
	ok(ftruncate(fd, 0) < 0 && errno == EPERM, "or truncate it");
	ok(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED, "or map it to write");
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, "test"), 0, "it can be mapped");
	ok(monad_event_ring_try_copy(&ring, 50, &event), "and read");
	ok(!monad_event_ring_snapshot_info(&ring), "it says nothing of where it is from");
	monad_event_ring_unmap(&ring);
	close(fd);
	/* Mapping it to compare has filled the holes of the former. */
	eq_int(decompress(&frame, &fd), 0, "once more");
	eq_int(fstat(fd, &st), 0, "fstat");
	ok(st.st_blocks * 512 <= 64 << 10, "what is zero are holes: %llu bytes of %llu",
	   (unsigned long long)st.st_blocks * 512, (unsigned long long)st.st_size);
	close(fd);
}

static void *feed(void *arg)
{
	const int fd = *(int *)arg;

	/* The slowest start there can be. */
	for (size_t i = 0; i < 10; i++) {
		if (write(fd, frame.data + i, 1) != 1)
			return NULL;
		usleep(1000);
	}
	if (write(fd, frame.data + 10, frame.size - 10) < 0)
		return NULL;
	close(fd);
	return NULL;
}

static void test_descriptors(void)
{
	int file = file_of(frame.data, frame.size), fd, fds[2];
	pthread_t thread;

	lseek(file, 100, SEEK_SET);
	eq_int(monad_event_decompress_snapshot_fd(file, 0, NULL, &fd), 0, "decompress_snapshot_fd");
	ok(same_bytes(fd, image.size), "reads from the beginning");
	eq_u64(lseek(file, 0, SEEK_CUR), 100, "and leaves the offset alone");
	close(fd);
	close(file);
	if (pipe(fds) != 0)
		bail_out("pipe");
	pthread_create(&thread, NULL, feed, &fds[1]);
	eq_int(monad_event_decompress_snapshot_fd(fds[0], 0, "pipe", &fd), 0, "from a pipe");
	pthread_join(thread, NULL);
	ok(same_bytes(fd, image.size), "reads all that comes");
	close(fd);
	close(fds[0]);
	file = open("/", O_RDONLY | O_CLOEXEC);
	eq_int(monad_event_decompress_snapshot_fd(file, 0, "dir", &fd), EISDIR, "a directory");
	eq_int(fd, -1, "gives no descriptor");
	close(file);
	eq_int(monad_event_decompress_snapshot_fd(-1, 0, "none", &fd), EBADF, "no file");
	eq_int(monad_event_decompress_snapshot_fd(0, 0, "none", NULL), EFAULT, "no result");
	eq_int(monad_event_decompress_snapshot_mem(NULL, 1, 0, "none", &fd), EFAULT, "no memory");
	eq_int(monad_event_decompress_snapshot_mem("", 0, 0, "none", &fd), EPROTO, "empty");
}

static void test_ways_to_compress(void)
{
	static const struct frame_options ways[] = {
		{.level = -7},
		{.level = 1, .checksum = true},
		{.level = 3, .no_size = true},
		{.level = 19, .no_size = true, .checksum = true},
		{.level = 22},
		{.level = 3, .window_log = 10, .no_size = true},
		{.level = 3, .window_log = 27, .no_size = true, .long_distance = true},
		{.level = 3, .window_log = 27, .checksum = true, .long_distance = true},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct frame other = frame_make(image.map, image.size, ways[i]);

		eq_int(check_frame(&other), 0, "level %d, window 2^%d, %s, %s", ways[i].level,
		       ways[i].window_log, ways[i].no_size ? "no size" : "size",
		       ways[i].checksum ? "checksum" : "no checksum");
		frame_free(&other);
	}
}

/* A frame that says its window is 2 GiB, as zstd --long=31 of a large file does. */
static void test_large_window(void)
{
	struct frame large = frame_make(image.map, image.size,
					(struct frame_options){.level = 3, .no_size = true});
	struct rusage before, after;
	pid_t pid;
	int status;

	eq_u64(large.data[4] & 0xe0, 0, "a frame with a window descriptor, no content size");
	large.data[5] = (31 - 10) << 3;
	getrusage(RUSAGE_SELF, &before);
	eq_int(check_frame(&large), 0, "a window of 2 GiB");
	getrusage(RUSAGE_SELF, &after);
#ifdef HAVE_ASAN
	skip("ASan marks all of it");
#else
	ok(after.ru_maxrss - before.ru_maxrss < 64 << 10, "takes little memory: %ld KiB",
	   after.ru_maxrss - before.ru_maxrss);
#endif
	large.data[5] = (31 - 10) << 3 | 7;
	eq_int(check_frame(&large), EPROTO, "one of almost 4 GiB is too large");
	ok(says("window too large"), "and the message says so: %s",
	   monad_event_ring_get_last_error());
	large.data[5] = (31 - 10) << 3;
#ifndef HAVE_ASAN
	pid = fork();
	if (pid == 0) {
		struct rlimit limit = {1 << 30, 1 << 30};

		setrlimit(RLIMIT_AS, &limit);
		_exit(check_frame(&large) == ENOMEM && says("large window") ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ok(status == 0, "no address space for it is ENOMEM, and why is said");
#else
	(void)pid;
	(void)status;
	skip("ASan needs the address space");
#endif
	frame_free(&large);
}

static bool is_snapshot(const void *data, size_t size, int *err)
{
	int fd = file_of(data, size);
	bool is = true;

	lseek(fd, 3, SEEK_SET);
	*err = monad_event_is_snapshot_file(fd, "test", &is);
	if (lseek(fd, 0, SEEK_CUR) != 3)
		*err = -1;
	close(fd);
	return is;
}

static void test_is_snapshot(void)
{
	struct frame other = frame_make("RING00 is no ring", 17, (struct frame_options){0});
	struct frame tiny = frame_make("RING0", 5, (struct frame_options){0});
	struct frame large;
	uint8_t *noise = malloc(1 << 20);
	bool is = true;
	int err, fds[2], fd;

	ok(is_snapshot(frame.data, frame.size, &err) && !err, "a snapshot is one");
	ok(is_snapshot(frame.data, frame.size - 1, &err) && !err, "a truncated one, too");
	ok(!is_snapshot(other.data, other.size, &err) && !err, "another zstd file is none");
	ok(!is_snapshot(tiny.data, tiny.size, &err) && !err, "a tiny one is none");
	ok(!is_snapshot(image.map, image.size, &err) && !err, "a ring file is none");
	ok(!is_snapshot("", 0, &err) && !err, "an empty file is none");
	ok(!is_snapshot(frame.data, 3, &err) && !err, "3 bytes are none");
	ok(!is_snapshot(frame.data, 7, &err) && !err, "7 bytes are none");
	ok(!is_snapshot("\x50\x2a\x4d\x18\4\0\0\0abcd", 12, &err) && !err,
	   "a skippable frame is none");
	/* The first block is longer than is read at a time. */
	memcpy(noise, "RING01", 6);
	for (size_t i = 6; i < 1 << 20; i++)
		noise[i] = (uint8_t)(rand() >> 8 & 15); /* what can be compressed a little */
	large = frame_make(noise, 1 << 20, (struct frame_options){.level = 1});
	ok(is_snapshot(large.data, large.size, &err) && !err, "one with a large first block is");
	ok(!is_snapshot(large.data, 1000, &err) && !err, "unless it is cut in that");
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ok(monad_event_is_snapshot_file(fd, NULL, &is) == 0 && !is, "a device is none");
	close(fd);
	if (pipe(fds) != 0)
		bail_out("pipe");
	eq_int(monad_event_is_snapshot_file(fds[0], "pipe", &is), ESPIPE, "a pipe cannot be asked");
	close(fds[0]);
	close(fds[1]);
	eq_int(monad_event_is_snapshot_file(-1, "none", &is), EBADF, "no file");
	eq_int(monad_event_is_snapshot_file(0, "none", NULL), EFAULT, "no result");
	frame_free(&other);
	frame_free(&tiny);
	frame_free(&large);
	free(noise);
}

/* The image ends in ones here, so that what is missing shows. */
static void test_short(void)
{
	int fd;

	memset(image.map + image.size - 20, 1, 20);
	for (unsigned int missing = 0; missing <= 20; missing++) {
		struct frame cut = frame_of(&image, image.size - missing);
		int err = decompress(&cut, &fd);

		if (missing <= 15) {
			ok(!err && same_bytes(fd, image.size - missing),
			   "%u bytes short, zero instead", missing);
			close(fd);
		} else {
			eq_int(err, EPROTO, "%u bytes short", missing);
			ok(says("truncated: the ring's header says 6291456 bytes"), "says so");
		}
		frame_free(&cut);
	}
	memset(image.map + image.size - 20, 0, 20);
}

static void test_trailing(void)
{
	static const struct {
		const char *what;
		size_t size;
		uint8_t data[16];
	} cases[] = {
		{"a byte", 1, {0}},
		{"a skippable frame", 12, "\x50\x2a\x4d\x18\4\0\0\0abc"},
		{"a frame that is empty", 9, "\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"},
	};
	struct frame more;
	int fd, file;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		more = frame_of(&image, image.size);
		frame_append(&more, cases[i].data, cases[i].size);
		eq_int(decompress(&more, &fd), EPROTO, "followed by %s", cases[i].what);
		ok(says("something follows"), "says so");
		file = file_of(more.data, more.size);
		eq_int(monad_event_decompress_snapshot_fd(file, 0, "x", &fd), EPROTO, "in a file");
		close(file);
		frame_free(&more);
	}
	more = frame_of(&image, image.size);
	frame_append(&more, frame.data, frame.size);
	eq_int(decompress(&more, &fd), EPROTO, "followed by itself");
	frame_free(&more);
	/* A ring in two frames, one after the other, which zstd -d would put together. */
	more = frame_of(&image, 4 * MIB2 / 2);
	frame_append(&more, frame.data, frame.size);
	eq_int(decompress(&more, &fd), EPROTO, "half a ring and another frame");
	ok(says("truncated"), "is a truncated ring");
	frame_free(&more);
	more = (struct frame){malloc(12), 12};
	memcpy(more.data, cases[1].data, 12);
	frame_append(&more, frame.data, frame.size);
	eq_int(decompress(&more, &fd), EPROTO, "a skippable frame in front");
	ok(says("skippable"), "says so");
	frame_free(&more);
	more = frame_make("short", 5, (struct frame_options){0});
	eq_int(decompress(&more, &fd), EPROTO, "a frame of something else");
	ok(says("does not begin with RING01"), "says so");
	frame_free(&more);
	more = frame_of(&image, 100);
	eq_int(decompress(&more, &fd), EPROTO, "half a header");
	ok(says("truncated in the ring's header"), "says so");
	frame_free(&more);
	more = frame_make("", 0, (struct frame_options){0});
	eq_int(decompress(&more, &fd), EPROTO, "a frame of nothing");
	frame_free(&more);
	eq_int(monad_event_decompress_snapshot_mem(image.map, image.size, 0, "x", &fd), EPROTO,
	       "a ring file");
}

/* Without a dictionary that only its maker has, it cannot be read. */
static void test_dictionary(void)
{
	struct frame other = frame_make(image.map, image.size,
					(struct frame_options){.level = 3, .no_size = true});
	int fd;

	other.data = realloc(other.data, other.size + 1);
	memmove(other.data + 7, other.data + 6, other.size - 6);
	other.size++;
	other.data[4] |= 1;
	other.data[6] = 5;
	eq_int(decompress(&other, &fd), EPROTO, "a frame that needs a dictionary");
	ok(says("ictionary"), "says so: %s", monad_event_ring_get_last_error());
	frame_free(&other);
}

static void test_every_truncation(void)
{
	unsigned int wrong = 0;
	int fd, file;

	for (size_t size = 0; size < frame.size; size++) {
		if (monad_event_decompress_snapshot_mem(frame.data, size, 0, "x", &fd) != EPROTO)
			wrong++;
		file = file_of(frame.data, size);
		if (monad_event_decompress_snapshot_fd(file, 0, "x", &fd) != EPROTO || fd != -1)
			wrong++;
		close(file);
	}
	eq_u64(wrong, 0, "cut at any of its %zu bytes it is an error", frame.size);
}

/* With the checksum, what can be read is right. */
static void test_every_bit(void)
{
	unsigned int wrong = 0, same = 0, errors[256] = {0};
	int err;

	for (size_t bit = 0; bit < 8 * frame.size; bit++) {
		frame.data[bit / 8] ^= 1U << bit % 8;
		err = check_frame(&frame);
		frame.data[bit / 8] ^= 1U << bit % 8;
		if (err < 0 || err > 255)
			wrong++;
		else if (err)
			errors[err]++;
		else
			same++;
	}
	eq_u64(wrong, 0, "a flipped bit is an error, or makes no difference");
	eq_u64(errors[EPROTO] + same, 8 * frame.size, "the error is EPROTO");
	ok(same < frame.size, "for most of them (%u of %zu make no difference)", same,
	   8 * frame.size);
}

static void test_limits(void)
{
	static const struct {
		uint64_t offset, value;
	} bad[] = {
		{40, 0}, {40, 1000}, {40, 512}, {40, 1ULL << 33}, {40, ~0ULL}, {48, 0},
		{48, 1}, {48, 1ULL << 41}, {48, ~0ULL}, {56, 3}, {56, ~0ULL}, {56, 1ULL << 41},
	};
	uint64_t was = get(&image, 48, 8);
	struct rusage before, after;
	struct frame other;
	uint8_t *zeroes;
	int fd, status;
	pid_t pid;

	eq_int(monad_event_decompress_snapshot_mem(frame.data, frame.size, image.size, "x", &fd),
	       0, "the limit is what it needs");
	close(fd);
	eq_int(monad_event_decompress_snapshot_mem(frame.data, frame.size, image.size - 1, "x",
						   &fd), ENOBUFS, "the limit is a byte less");
	ok(says("ring of 6291456 bytes, and the limit is 6291455"), "says so: %s",
	   monad_event_ring_get_last_error());
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t good = get(&image, bad[i].offset, 8);

		put(&image, bad[i].offset, bad[i].value, 8);
		other = frame_of(&image, image.size);
		put(&image, bad[i].offset, good, 8);
		eq_int(decompress(&other, &fd), EPROTO, "the header's word at %d is 0x%llx",
		       (int)bad[i].offset, (unsigned long long)bad[i].value);
		frame_free(&other);
	}
	/* A terabyte is claimed, and does not come. */
	put(&image, 48, 1ULL << 40, 8);
	other = frame_of(&image, image.size);
	put(&image, 48, was, 8);
	getrusage(RUSAGE_SELF, &before);
	eq_int(decompress(&other, &fd), EPROTO, "a ring of 1 TB with 6 MB of content");
	getrusage(RUSAGE_SELF, &after);
	ok(after.ru_maxrss - before.ru_maxrss < 8 << 10, "takes no memory");
	eq_int(monad_event_decompress_snapshot_mem(other.data, other.size, 1 << 30, "x", &fd),
	       ENOBUFS, "and is refused with a limit");
	pid = fork();
	if (pid == 0) {
		struct rlimit limit = {1 << 30, 1 << 30};

		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(decompress(&other, &fd) == EFBIG && says("ulimit -f") ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ok(status == 0, "a limit on file size is an error and no signal");
	frame_free(&other);
	/* And more comes than was claimed. */
	zeroes = calloc(1, 512 << 20);
	memcpy(zeroes, image.map, 4096);
	other = frame_make(zeroes, 512 << 20, (struct frame_options){.level = 1});
	free(zeroes);
	eq_int(decompress(&other, &fd), EPROTO, "a bomb of 512 MiB in %zu bytes", other.size);
	ok(says("more content than the 6291456 bytes"), "is noticed at once");
	frame_free(&other);
	other = (struct frame){malloc(image.size + 1), 0};
	memcpy(other.data, image.map, image.size);
	other.data[image.size] = 0;
	zeroes = other.data;
	other = frame_make(zeroes, image.size + 1, (struct frame_options){.level = 1});
	free(zeroes);
	eq_int(decompress(&other, &fd), EPROTO, "a byte too many");
	frame_free(&other);
}

static void test_open(void)
{
	char path[] = "/tmp/monad-snapshot-XXXXXX";
	struct monad_event_iterator iter;
	struct monad_event_descriptor event;
	struct monad_event_ring ring;
	uint64_t payload[2];
	int fd = mkstemp(path), seen = 0;

	ok(write(fd, frame.data, frame.size) == (ssize_t)frame.size, "a snapshot on disk");
	eq_int(monad_event_ring_open(&ring, path, 0), 0, "monad_event_ring_open()");
	eq_u64(monad_event_ring_last_seqno(&ring), 50, "last seqno");
	eq_int(monad_event_ring_init_iterator(&ring, &iter), 0, "iterator");
	monad_event_iterator_seek_oldest(&iter);
	while (monad_event_iterator_try_next(&iter, &event) == MONAD_EVENT_SUCCESS &&
	       monad_event_iterator_payload_memcpy(&iter, &event, payload, sizeof(payload)))
		seen += payload[0] == event.seqno && event.content_ext[3] == 10 * event.seqno + 3;
	eq_int(seen, 50, "all of its events");
	monad_event_ring_unmap(&ring);
	eq_int(monad_event_ring_open(&ring, path, MONAD_EVENT_OPEN_POPULATE), 0, "populated");
	monad_event_ring_unmap(&ring);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, path), EPROTO,
	       "monad_event_ring_mmap() does not decompress");
	ok(says("decompress it before"), "but says what to do: %s",
	   monad_event_ring_get_last_error());
	eq_int(ftruncate(fd, (off_t)frame.size - 1), 0, "ftruncate");
	eq_int(monad_event_ring_open(&ring, path, 0), EPROTO, "a truncated one");
	ok(says("truncated") && says(path), "says so, and its name");
	ok(monad_event_snapshot_open_limit() >= 2ULL << 30, "the limit is sane");
	close(fd);
	unlink(path);
}

int main(void)
{
	int files;

	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 50);
	frame = frame_of(&image, image.size);
	diag("%zu bytes are the snapshot", frame.size);
	files = open_files();
	test_memory();
	test_descriptors();
	test_ways_to_compress();
	test_large_window();
	test_is_snapshot();
	test_short();
	test_trailing();
	test_dictionary();
	test_every_truncation();
	test_every_bit();
	test_limits();
	test_open();
	eq_int(open_files(), files, "no descriptor is left open");
	frame_free(&frame);
	image_destroy(&image);
	return done_testing();
}
