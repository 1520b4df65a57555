// SPDX-License-Identifier: GPL-2.0
/* Writing snapshots: every byte of the image, by its place in the format. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_snapshot.h>

#include "snapshot_frame.h"
#include "tap.h"

/* Of the smallest image there is: 2^16 descriptors, 2^27 bytes of payload. */
#define DESCRIPTORS	0x200000ULL
#define PAYLOADS	0x600000ULL
#define CONTEXT		0x8600000ULL
#define EPOCH		1700000000000000000ULL
#define RECORD_ERROR_16 (1 | 16ULL << 32) /* type and size of such an event */

static struct monad_event_snapshot_stats stats;

/* A writer that acts at one point of a copy: when the first event goes to the spool. */
static void (*act)(void);
size_t __real_ZSTD_compressStream2(ZSTD_CCtx *cctx, ZSTD_outBuffer *out, ZSTD_inBuffer *in,
				   ZSTD_EndDirective end);
size_t __wrap_ZSTD_compressStream2(ZSTD_CCtx *cctx, ZSTD_outBuffer *out, ZSTD_inBuffer *in,
				   ZSTD_EndDirective end);

size_t __wrap_ZSTD_compressStream2(ZSTD_CCtx *cctx, ZSTD_outBuffer *out, ZSTD_inBuffer *in,
				   ZSTD_EndDirective end)
{
	if (act)
		act();
	act = NULL;
	return __real_ZSTD_compressStream2(cctx, out, in, end);
}

/* A file system that has no O_TMPFILE. */
static bool no_tmpfile;
int __real_openat(int dirfd, const char *path, int flags, mode_t mode);
int __wrap_openat(int dirfd, const char *path, int flags, mode_t mode);

int __wrap_openat(int dirfd, const char *path, int flags, mode_t mode)
{
	if (no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_openat(dirfd, path, flags, mode);
}

/* What is at synced_path when a file (first) and when a directory (then) is synced. */
static const char *synced_path;
static ino_t when_synced[2];
int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	struct stat st, now = {0};

	if (synced_path && fstat(fd, &st) == 0) {
		stat(synced_path, &now);
		when_synced[S_ISDIR(st.st_mode)] = now.st_ino;
	}
	return __real_fsync(fd);
}

static bool says(const char *text)
{
	return strstr(monad_event_ring_get_last_error(), text);
}

/* A snapshot of @source, decompressed, as bytes to look at; NULL: it failed, with @err. */
static struct image *snapshot(const struct image *source,
			      struct monad_event_snapshot_options options, int *err)
{
	static struct image image;
	int fd = memfd_create("snapshot", MFD_CLOEXEC);
	struct monad_event_ring ring;
	struct stat st;

	options.size = sizeof(options);
	memset(&stats, 0xee, sizeof(stats));
	stats.size = sizeof(stats);
	*err = monad_event_ring_mmap(&ring, PROT_READ, 0, source->fd, 0, "source");
	if (*err)
		return NULL;
	*err = monad_event_snapshot_write(&ring, fd, &options, &stats);
	monad_event_ring_unmap(&ring);
	if (*err)
		return NULL;
	fstat(fd, &st);
	eq_u64(stats.file_size, (uint64_t)st.st_size, "file_size");
	*err = monad_event_decompress_snapshot_fd(fd, 0, "snapshot", &image.fd);
	close(fd);
	if (*err)
		return NULL;
	fstat(image.fd, &st);
	image.size = (uint64_t)st.st_size;
	image.capacity = 65536;
	eq_u64(stats.image_size, image.size, "image_size");
	image.map = mmap(NULL, image.size, PROT_READ, MAP_SHARED, image.fd, 0);
	return &image;
}

static struct image *must(const struct image *source, struct monad_event_snapshot_options options)
{
	struct image *image;
	int err;

	image = snapshot(source, options, &err);
	if (!image)
		bail_out("no snapshot: %s", monad_event_ring_get_last_error());
	return image;
}

static uint64_t seqno_at(const struct image *image, uint64_t seqno)
{
	return get(image, DESCRIPTORS + 64 * (seqno - 1), 8);
}

/* Word @word of descriptor @seqno. */
static uint64_t word_at(const struct image *image, uint64_t seqno, unsigned int word)
{
	return get(image, DESCRIPTORS + 64 * (seqno - 1) + 8 * word, 8);
}

static bool is_zero(const struct image *image, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		if (image->map[i])
			return false;
	}
	return true;
}

/* Counts for a test that is in all of them. */
static void check_counts(uint64_t copied, uint64_t missed, uint64_t expired, uint64_t not_ready,
			 uint64_t events)
{
	eq_u64(stats.copied, copied, "copied");
	eq_u64(stats.missed, missed, "missed");
	eq_u64(stats.expired, expired, "expired");
	eq_u64(stats.not_ready, not_ready, "not ready");
	eq_u64(stats.events, events, "events");
	eq_u64(stats.copied + stats.missed + stats.not_ready,
	       stats.last_seqno ? stats.last_seqno - stats.first_seqno + 1 : 0, "all in all");
}

static void test_bytes(void)
{
	static const uint8_t header[192] = {
		'R', 'I', 'N', 'G', '0', '1', 0x00, 0x80, /* content type 32768 */
		[8] = 0x11, [39] = 0x22, [42] = 1,	  /* 65536 descriptors */
		[51] = 8,				  /* 2^27 bytes */
		[57] = 0x10,				  /* 4096 bytes */
		[64] = 10, [72] = 160,
	};
	struct monad_ring_ext ext = {
		.size = sizeof(ext), .abi_version = 1, .uuid = {7}, .boot_id = {8},
		.generation = 9, .realtime_offset_ns = 10, .chunks_total = 3, .chunks_huge = 2,
		.lost = {11, 12, 13}, .discarded = 14, .wakeups = 15,
	};
	struct image source, *image;

	memcpy(ext.magic, "MONADEXT", 8);
	image_create(&source, 10, 21, 4096);
	put_events_up_to(&source, 10);
	put(&source, 6, 32768, 2);
	source.map[8] = 0x11;
	source.map[39] = 0x22;
	memcpy(source.map + 4096, &ext, sizeof(ext));
	source.map[source.size - MIB2] = 0x77;
	source.map[source.size - MIB2 + 4095] = 0x78;
	image = must(&source, (struct monad_event_snapshot_options){0});

	eq_u64(image->size, CONTEXT + MIB2, "size of the image");
	ok(memcmp(image->map, header, 192) == 0, "header");
	ok(is_zero(image, 192, 4096), "nothing behind it");
	ok(memcmp(image->map + 4096, "MONADEXT", 8) == 0, "extension block");
	eq_u64(get(image, 4096 + 16, 8), 7, "uuid");
	eq_u64(get(image, 4096 + 32, 8), 8, "boot id");
	eq_u64(get(image, 4096 + 48, 8), 9, "generation");
	eq_u64(get(image, 4096 + 56, 8), 10, "realtime offset");
	eq_u64(get(image, 4096 + 64, 8), 0, "chunks of memory: not of a file");
	eq_u64(get(image, 4096 + 72, 4), 1, "state: gone");
	eq_u64(get(image, 4096 + 128, 8), 11, "lost");
	eq_u64(get(image, 4096 + 144, 8), 13, "lost");
	eq_u64(get(image, 4096 + 192, 8), 14, "discarded");
	eq_u64(get(image, 4096 + 200, 8), 0, "wakeups: nobody's");
	ok(memcmp(image->map + 8192, "MONADSNP\x50\0\0\0\0\0\0\0", 16) == 0, "snapshot's block");
	ok(get(image, 8192 + 16, 8) > EPOCH, "when it was taken");
	eq_u64(get(image, 8192 + 24, 8), 1, "base");
	eq_u64(get(image, 8192 + 32, 8), 1, "first");
	eq_u64(get(image, 8192 + 40, 8), 10, "last");
	eq_u64(get(image, 8192 + 48, 8), 10, "copied");
	ok(is_zero(image, 8192 + 56, DESCRIPTORS), "nothing else in the header");
	ok(memcmp(image->map + DESCRIPTORS, source.map + 0x200000, 640) == 0,
	   "the descriptors are those of the ring");
	ok(is_zero(image, DESCRIPTORS + 640, PAYLOADS), "and no others");
	ok(memcmp(image->map + PAYLOADS, source.map + 0x400000, 160) == 0, "payloads");
	ok(is_zero(image, PAYLOADS + 160, CONTEXT), "and no others");
	eq_u64(image->map[CONTEXT], 0x77, "context");
	eq_u64(image->map[CONTEXT + 4095], 0x78, "up to its end");
	ok(is_zero(image, CONTEXT + 4096, CONTEXT + MIB2), "and no more");
	check_counts(10, 0, 0, 0, 10);
	eq_u64(stats.first_epoch_nanos, EPOCH + 1, "time of the first");
	eq_u64(stats.last_epoch_nanos, EPOCH + 10, "time of the last");
	eq_u64(stats.oldest_epoch_nanos, EPOCH + 1, "time of the oldest");
	image_destroy(image);

	/* A ring of the kernel's leaves its boot out: then it is this one. */
	memset(source.map + 4096 + 32, 0, 16);
	image = must(&source, (struct monad_event_snapshot_options){0});
	ok(!is_zero(image, 4096 + 32, 4096 + 40) && !is_zero(image, 4096 + 40, 4096 + 48),
	   "boot id of this boot");
	image_destroy(image);
	put(&source, 4096 + 64, 0, 4);
	image = must(&source, (struct monad_event_snapshot_options){0});
	ok(is_zero(image, 4096 + 32, 4096 + 48), "a file's that is unknown stays so");
	image_destroy(image);
	image_destroy(&source);
}

/* A ring that has wrapped, whole and in parts. */
static void test_ranges(void)
{
	struct monad_event_snapshot_options options;
	struct image source, *image;

	image_create(&source, 10, 21, 0);
	put_events_up_to(&source, 3000);
	image = must(&source, (struct monad_event_snapshot_options){0});
	check_counts(1024, 0, 0, 0, 1024);
	eq_u64(stats.base_seqno, 1977, "all of it begins with the oldest");
	eq_u64(get(image, 64, 8), 1024, "last seqno");
	eq_u64(get(image, 72, 8), 16384, "next byte");
	eq_u64(seqno_at(image, 1), 1, "seqno 1");
	eq_u64(word_at(image, 1, 2), EPOCH + 1977, "its time");
	eq_u64(word_at(image, 1, 4), 19770, "its tag is no seqno in this content type");
	eq_u64(word_at(image, 1, 3), 0, "its payload is the first");
	eq_u64(get(image, PAYLOADS, 8), 1977, "with its content");
	eq_u64(word_at(image, 1024, 3), 1023 * 16, "the last one's place");
	eq_u64(get(image, PAYLOADS + 1023 * 16, 8), 3000, "and content");
	image_destroy(image);

	options = (struct monad_event_snapshot_options){.first_seqno = 2500, .last_seqno = 2509};
	image = must(&source, options);
	check_counts(10, 0, 0, 0, 10);
	eq_u64(word_at(image, 1, 2), EPOCH + 2500, "from 2500");
	eq_u64(word_at(image, 10, 2), EPOCH + 2509, "to 2509");
	image_destroy(image);

	/* More than is there, at both ends. */
	options = (struct monad_event_snapshot_options){.first_seqno = 1000, .last_seqno = 5000};
	image = must(&source, options);
	check_counts(1024, 977, 0, 0, 1024);
	eq_u64(stats.first_seqno, 1000, "the range is what was asked for");
	eq_u64(stats.last_seqno, 3000, "and can be there");
	eq_u64(get(image, 8192 + 56, 8), 977, "what was missed stands in the snapshot");
	image_destroy(image);

	image = must(&source, (struct monad_event_snapshot_options){.first_seqno = 3001});
	check_counts(0, 0, 0, 0, 0);
	eq_u64(stats.first_seqno, 0, "no range");
	eq_u64(get(image, 64, 8), 0, "an empty snapshot");
	image_destroy(image);
	options = (struct monad_event_snapshot_options){.first_seqno = 1, .last_seqno = 100};
	image = must(&source, options);
	check_counts(0, 100, 0, 0, 0);
	image_destroy(image);
	image_destroy(&source);

	image_create(&source, 10, 21, 0);
	image = must(&source, (struct monad_event_snapshot_options){0});
	check_counts(0, 0, 0, 0, 0);
	eq_u64(stats.oldest_epoch_nanos, 0, "of an empty ring");
	image_destroy(image);
	image_destroy(&source);
}

static void test_times(void)
{
	struct monad_event_snapshot_options options = {.from_epoch_nanos = EPOCH + 10,
						       .to_epoch_nanos = EPOCH + 20};
	struct image source, *image;

	image_create(&source, 10, 21, 0);
	put_events_up_to(&source, 100);
	image = must(&source, options);
	check_counts(11, 0, 0, 0, 11);
	eq_u64(word_at(image, 1, 2), EPOCH + 10, "from, inclusive");
	eq_u64(word_at(image, 11, 2), EPOCH + 20, "to, inclusive");
	image_destroy(image);
	/* Stamps out of order: 8 is early enough in time, 15 is not. */
	put(&source, slot_offset(&source, 8) + 16, EPOCH + 11, 8);
	put(&source, slot_offset(&source, 15) + 16, EPOCH + 25, 8);
	image = must(&source, options);
	eq_u64(stats.first_seqno, 8, "the first in the range");
	eq_u64(stats.last_seqno, 20, "the last in the range");
	check_counts(13, 0, 0, 0, 13);
	image_destroy(image);
	options.first_seqno = 12;
	options.last_seqno = 18;
	image = must(&source, options);
	eq_u64(stats.first_seqno, 12, "within a range of numbers");
	eq_u64(stats.last_seqno, 18, "up to its end");
	image_destroy(image);
	options = (struct monad_event_snapshot_options){.from_epoch_nanos = EPOCH + 90};
	image = must(&source, options);
	check_counts(11, 0, 0, 0, 11);
	image_destroy(image);
	options = (struct monad_event_snapshot_options){.to_epoch_nanos = EPOCH - 1};
	image = must(&source, options);
	check_counts(0, 0, 0, 0, 0);
	image_destroy(image);
	image_destroy(&source);
}

/* In rings of type EXEC, tag 0 is the seqno of the block's first event. */
static void test_flow_tags(void)
{
	struct image source, *image;

	image_create(&source, 10, 21, 0);
	put_events_up_to(&source, 40);
	put(&source, 6, 2, 2);
	for (uint64_t seqno = 1; seqno <= 40; seqno++)
		put(&source, slot_offset(&source, seqno) + 32,
		    seqno < 10 ? 0 : seqno < 30 ? 10 : seqno == 35 ? 40 : 30, 8);
	image = must(&source, (struct monad_event_snapshot_options){.first_seqno = 20});
	eq_u64(word_at(image, 1, 4), 0, "a block that began before the snapshot");
	eq_u64(word_at(image, 11, 4), 11, "a block's first event");
	eq_u64(word_at(image, 12, 4), 11, "and its second");
	eq_u64(word_at(image, 21, 4), 11, "and its last");
	eq_u64(word_at(image, 16, 4), 0, "one that points to the future");
	eq_u64(word_at(image, 12, 5), 311, "the other tags are as they were");
	image_destroy(image);
	image = must(&source, (struct monad_event_snapshot_options){.first_seqno = 10});
	eq_u64(word_at(image, 1, 4), 1, "the first event of all");
	eq_u64(word_at(image, 20, 4), 1, "and what belongs to it");
	image_destroy(image);
	image = must(&source, (struct monad_event_snapshot_options){.last_seqno = 9});
	eq_u64(word_at(image, 9, 4), 0, "no block");
	image_destroy(image);
	image_destroy(&source);
}

/* The same of other content types, if it is known what their tags are. */
static void test_storage_tags(void)
{
	struct image source, *image;
	uint64_t word;

	image_create(&source, 10, 21, 0);
	put_events_up_to(&source, 40);
	put(&source, 6, MONAD_EVENT_CONTENT_TYPE_STORAGE, 2);
	put(&source, slot_offset(&source, 25) + 32, 22, 8);
	put(&source, slot_offset(&source, 25) + 40, 22, 8);
	image = must(&source, (struct monad_event_snapshot_options){.first_seqno = 20});
	eq_u64(word_at(image, 6, 4), 22, "another schema's tag is left alone");
	image_destroy(image);
	for (unsigned int i = 0; i < 32; i += 8) {
		memcpy(&word, g_monad_storage_event_schema_hash + i, 8);
		put(&source, 8 + i, word, 8);
	}
	image = must(&source, (struct monad_event_snapshot_options){.first_seqno = 20});
	eq_u64(word_at(image, 6, 4), 3, "where the I/O began");
	eq_u64(word_at(image, 6, 5), 22, "the other tags are as they were");
	image_destroy(image);
	image_destroy(&source);
}

/* Events that are gone or not there yet, and what stands in for them. */
static void test_missing(void)
{
	struct image source, *image;

	image_create(&source, 10, 21, 0);
	put_events_up_to(&source, 100);
	put(&source, slot_offset(&source, 1), 0, 8);
	put(&source, slot_offset(&source, 2), 5000, 8);
	put(&source, slot_offset(&source, 50), 0, 8);
	put(&source, slot_offset(&source, 51), 0, 8);
	put(&source, slot_offset(&source, 60), 5000, 8);
	put(&source, slot_offset(&source, 99), 0, 8);
	put(&source, slot_offset(&source, 100), 0, 8);
	image = must(&source, (struct monad_event_snapshot_options){0});
	check_counts(93, 2, 0, 5, 96);
	eq_u64(stats.base_seqno, 3, "begins with the first that could be copied");
	eq_u64(get(image, 64, 8), 96, "ends with the last that was written");
	eq_u64(seqno_at(image, 97), 0, "nothing behind it");
	eq_u64(word_at(image, 48, 0), 48, "not ready: has a number");
	eq_u64(word_at(image, 48, 1), 0, "is of type NONE, no payload");
	eq_u64(word_at(image, 48, 2), EPOCH + 49, "at the time of the one before");
	eq_u64(word_at(image, 48, 4) | word_at(image, 48, 7), 0, "no tags");
	eq_u64(word_at(image, 49, 1), 0, "and the other one");
	eq_u64(word_at(image, 50, 2), EPOCH + 52, "then it goes on");
	eq_u64(word_at(image, 58, 0), 58, "missed: has a number");
	eq_u64(word_at(image, 58, 1), RECORD_ERROR_16, "is of type RECORD_ERROR");
	eq_u64(word_at(image, 58, 2), EPOCH + 59, "at the time of the one before");
	eq_u64(get(image, PAYLOADS + word_at(image, 58, 3), 8), 3, "MISSING_EVENT");
	eq_u64(get(image, PAYLOADS + word_at(image, 58, 3) + 8, 8), 0, "of unknown size");
	eq_u64(get(image, PAYLOADS + word_at(image, 59, 3), 8), 61, "then it goes on");
	eq_u64(get(image, 72, 8), 94 * 16, "next byte");
	image_destroy(image);

	/* Payloads that are gone: of the oldest, and of one in between that lies. */
	put_events_up_to(&source, 100);
	put_window_start(&source, 48);
	put(&source, slot_offset(&source, 70) + 24, 47, 8);
	put(&source, slot_offset(&source, 80) + 12, 0x200001, 4);
	put(&source, slot_offset(&source, 81) + 24, 0, 8);
	put(&source, slot_offset(&source, 81) + 12, 0, 4);
	/* Discarded ones, before and in the part that is there. */
	put_event(&source, 2, 0, 16, 0);
	put_event(&source, 85, 0, 84 * 16, 0);
	image = must(&source, (struct monad_event_snapshot_options){0});
	check_counts(95, 5, 5, 0, 97);
	eq_u64(stats.base_seqno, 4, "begins with the first whose payload is there");
	eq_u64(word_at(image, 67, 1), RECORD_ERROR_16, "one that has expired");
	eq_u64(word_at(image, 67, 2), EPOCH + 70, "has its time");
	eq_u64(word_at(image, 67, 5), 701, "and tags");
	eq_u64(get(image, PAYLOADS + word_at(image, 67, 3), 2), 2, "OVERFLOW_EXPIRE");
	eq_u64(get(image, PAYLOADS + word_at(image, 67, 3) + 2, 2), 2, "of its type");
	eq_u64(get(image, PAYLOADS + word_at(image, 67, 3) + 4, 4), 0, "nothing left");
	eq_u64(get(image, PAYLOADS + word_at(image, 67, 3) + 8, 8), 16, "and size");
	eq_u64(get(image, PAYLOADS + word_at(image, 77, 3) + 8, 8), 0x200001, "an impossible size");
	eq_u64(word_at(image, 78, 1), 2, "one without payload cannot expire");
	image_destroy(image);

	/* Lapped behind one that is not written: a slot of 0 is not always "not yet". */
	put_window_start(&source, 0);
	put_events_up_to(&source, 2000);
	put_last_seqno(&source, 2003);
	for (uint64_t seqno = 2001; seqno <= 2003; seqno++)
		put(&source, slot_offset(&source, seqno), 0, 8);
	image = must(&source, (struct monad_event_snapshot_options){.first_seqno = 977});
	check_counts(1021, 3, 0, 3, 1021);
	eq_u64(stats.base_seqno, 980, "the oldest that is there");
	image_destroy(image);
	image_destroy(&source);
}

static struct image *written;

/* Event 1026 begins to be written, where 2 was. */
static void lap_unwritten(void)
{
	put_last_seqno(written, 1026);
	put(written, slot_offset(written, 2), 0, 8);
}

/* Event 1025 is written, where 1 was. */
static void lap(void)
{
	put_events_up_to(written, 1025);
}

/* The payloads of events 1 to 10 are overwritten. */
static void expire(void)
{
	put_window_start(written, 160);
}

/* What a writer does while a snapshot is taken. */
static void test_meanwhile(void)
{
	struct image source, *image;

	written = &source;
	image_create(&source, 10, 21, 0);
	put_events_up_to(&source, 1024);
	act = lap_unwritten;
	image = must(&source, (struct monad_event_snapshot_options){0});
	check_counts(1024 - 65, 65, 0, 0, 1024);
	eq_u64(word_at(image, 2, 1), RECORD_ERROR_16, "lapped by one that is not written: missed");
	eq_u64(word_at(image, 66, 1), RECORD_ERROR_16, "up to the oldest that is safe");
	eq_u64(word_at(image, 67, 2), EPOCH + 67, "from there on it is copied");
	image_destroy(image);
	put_events_up_to(&source, 1024);
	act = lap;
	image = must(&source, (struct monad_event_snapshot_options){0});
	check_counts(1024, 0, 0, 0, 1024);
	eq_u64(stats.last_seqno, 1024, "what is recorded later is not in it");
	image_destroy(image);
	put_events_up_to(&source, 1024);
	act = expire;
	image = must(&source, (struct monad_event_snapshot_options){0});
	check_counts(1024 - 9, 9, 9, 0, 1024);
	eq_u64(word_at(image, 1, 1), 2 | 16ULL << 32, "what was copied before it expired is good");
	eq_u64(word_at(image, 10, 1), RECORD_ERROR_16, "the others are not");
	image_destroy(image);
	image_destroy(&source);
}

/* Payloads of many sizes, some across the end of the buffer. */
static void test_payloads(void)
{
	static const uint32_t sizes[] = {0, 1, 15, 16, 17, 65535, 65536, 65537, 300000, 524288};
	struct image source, *image;
	uint64_t offset = MIB2 * 5 - 150000, expect = 0;
	const uint64_t start = offset;
	uint64_t seqno = 0;

	image_create(&source, 10, 21, 0);
	for (size_t i = 0; i < 10; i++) {
		/* The largest come first, and last where they do not fit any more. */
		const uint32_t size = sizes[(i + 8) % 10];

		put_event(&source, ++seqno, 3, offset, size);
		for (uint64_t j = 0; j < size; j++)
			source.map[source.payload_offset + (offset + j) % MIB2] =
				(uint8_t)((j >> 8) + j + i);
		offset += (size + 15) / 16 * 16;
	}
	put_last_seqno(&source, seqno);
	put_next_byte(&source, offset);
	put_window_start(&source, start);
	image = must(&source, (struct monad_event_snapshot_options){0});
	check_counts(10, 0, 0, 0, 10);
	for (size_t i = 0; i < 10; i++) {
		const uint32_t size = sizes[(i + 8) % 10];
		uint64_t at = PAYLOADS + expect;
		bool same = true;

		eq_u64(word_at(image, i + 1, 3), expect, "%u bytes: their place", size);
		for (uint64_t j = 0; j < size; j++)
			same &= image->map[at + j] == (uint8_t)((j >> 8) + j + i);
		ok(same, "%u bytes", size);
		expect += (size + 15) / 16 * 16;
		ok(is_zero(image, at + size, PAYLOADS + expect), "nothing of others behind them");
	}
	image_destroy(image);
	image_destroy(&source);
}

/* Rings that no sound writer wrote. */
static void test_hostile(void)
{
	struct monad_event_snapshot_options options = {.level = -5};
	struct image source, *image;
	int err;

	image_create(&source, 10, 21, 0);
	put_events_up_to(&source, 1024);
	for (uint64_t seqno = 1; seqno <= 1024; seqno++)
		put(&source, slot_offset(&source, seqno) + 12, 0x200000, 4);
	image = must(&source, options);
	check_counts(2, 1022, 1022, 0, 1024);
	ok(get(image, 72, 8) <= 2 * MIB2 + 1024 * 16, "2 GiB of payload in 2 MiB are not copied");
	image_destroy(image);

	put_last_seqno(&source, ~0ULL);
	image = snapshot(&source, options, &err);
	ok(image && stats.copied + stats.missed + stats.not_ready == 1024, "last_seqno 2^64 - 1");
	image_destroy(image);
	image = snapshot(&source, (struct monad_event_snapshot_options){.first_seqno = 1}, &err);
	ok(image && stats.copied + stats.missed + stats.not_ready == ~0ULL, "and from 1");
	image_destroy(image);
	for (unsigned int round = 0; round < 20; round++) {
		srand(round);
		for (uint64_t i = 0; i < 65536; i++)
			source.map[0x200000 + i] = (uint8_t)(rand() >> 8);
		for (uint64_t seqno = 1; seqno <= 1024; seqno++) {
			if (rand() % 4)
				put(&source, slot_offset(&source, seqno), seqno, 8);
			if (rand() % 4)
				put(&source, slot_offset(&source, seqno) + 12, rand() % 10000, 4);
		}
		put_last_seqno(&source, 1024);
		put_window_start(&source, rand() % 2 ? 0 : ~0ULL / 2);
		image = snapshot(&source, options, &err);
		ok(image && stats.copied + stats.missed + stats.not_ready == 1024,
		   "descriptors at random, %u: %s", round, monad_event_ring_get_last_error());
		if (image)
			image_destroy(image);
	}
	image_destroy(&source);
}

static void test_options(void)
{
	struct monad_event_snapshot_options options = {.size = sizeof(options)};
	struct {
		struct monad_event_snapshot_options known;
		uint64_t unknown;
	} newer = {.known.size = sizeof(newer)};
	struct monad_event_snapshot_stats short_stats = {.size = 16}, no_stats = {0};
	int fd = memfd_create("snapshot", MFD_CLOEXEC), null = open("/dev/null", O_RDWR);
	struct monad_event_ring ring, unmapped = {0}, unreadable;
	uint64_t low, high;
	struct image source;

	image_create(&source, 10, 21, 0);
	put_events_up_to(&source, 1000);
	if (monad_event_ring_mmap(&ring, PROT_READ, 0, source.fd, 0, "x"))
		bail_out("mmap");
	eq_int(monad_event_snapshot_write(&ring, null, NULL, NULL), 0, "no options, no statistics");
	eq_int(monad_event_snapshot_write(NULL, fd, NULL, NULL), EFAULT, "no ring");
	eq_int(monad_event_snapshot_write(&unmapped, fd, NULL, NULL), EINVAL, "not mapped");
	unreadable = ring;
	unreadable.mmap_prot = PROT_WRITE;
	eq_int(monad_event_snapshot_write(&unreadable, fd, NULL, NULL), EACCES, "not readable");
	eq_int(monad_event_snapshot_write(&ring, -1, NULL, NULL), EBADF, "no descriptor");
	eq_int(monad_event_snapshot_write(&ring, fd, NULL, &no_stats), EINVAL, "no size");
	eq_int(monad_event_snapshot_write(&ring, null, NULL, &short_stats), 0, "fewer statistics");
	eq_u64(short_stats.last_seqno, 0, "are not written past their size");
	eq_u64(short_stats.first_seqno, 1, "but up to it");
	options.size = 0;
	eq_int(monad_event_snapshot_write(&ring, fd, &options, NULL), EINVAL, "options, no size");
	options.size = 8;
	options.first_seqno = 10;
	options.last_seqno = 5;
	eq_int(monad_event_snapshot_write(&ring, null, &options, NULL), 0, "fewer options");
	options.size = sizeof(options);
	eq_int(monad_event_snapshot_write(&ring, fd, &options, NULL), EINVAL, "last before first");
	ok(says("10") && says("5"), "says so");
	options = (struct monad_event_snapshot_options){
		.size = sizeof(options), .from_epoch_nanos = 2, .to_epoch_nanos = 1};
	eq_int(monad_event_snapshot_write(&ring, fd, &options, NULL), EINVAL, "to before from");
	options = (struct monad_event_snapshot_options){.size = sizeof(options), .level = 23};
	eq_int(monad_event_snapshot_write(&ring, fd, &options, NULL), EINVAL, "level 23");
	options.level = -2000000;
	eq_int(monad_event_snapshot_write(&ring, fd, &options, NULL), EINVAL, "level -2000000");
	eq_int(monad_event_snapshot_write(&ring, null, &newer.known, NULL), 0, "more options");
	newer.unknown = 1;
	eq_int(monad_event_snapshot_write(&ring, fd, &newer.known, NULL), E2BIG,
	       "that are set, and not known");
	eq_u64(lseek(fd, 0, SEEK_END), 0, "none of these wrote anything");
	options.level = 1;
	stats.size = sizeof(stats);
	eq_int(monad_event_snapshot_write(&ring, null, &options, &stats), 0, "level 1");
	low = stats.file_size;
	options.level = 19;
	eq_int(monad_event_snapshot_write(&ring, null, &options, &stats), 0, "level 19");
	high = stats.file_size;
	ok(high < low, "is smaller: %d and %d bytes", (int)high, (int)low);
	close(null);
	null = open("/dev/full", O_WRONLY);
	eq_int(monad_event_snapshot_write(&ring, null, NULL, NULL), ENOSPC, "a full device");
	ok(says("cannot write snapshot"), "says so: %s", monad_event_ring_get_last_error());
	close(null);
	null = open("/dev/null", O_RDONLY);
	eq_int(monad_event_snapshot_write(&ring, null, NULL, NULL), EBADF, "opened to read");
	close(null);
	close(fd);
	monad_event_ring_unmap(&ring);
	image_destroy(&source);
}

static void *drain(void *arg)
{
	static uint8_t data[1 << 20];
	struct frame *got = arg;
	const int fd = (int)got->size;
	ssize_t n;

	got->data = data;
	got->size = 0;
	while ((n = read(fd, data + got->size, 4096)) > 0) {
		got->size += (size_t)n;
		usleep(500);
	}
	return NULL;
}

/* A pipe whose reader is slow, also one that does not block. */
static void test_pipe(int flags)
{
	struct monad_event_ring ring;
	struct frame got;
	struct image source;
	pthread_t thread;
	int fds[2], fd;
	uint8_t *map;

	image_create(&source, 14, 21, 0);
	put_events_up_to(&source, 16384);
	/* What does not compress, so that the pipe becomes full. */
	for (uint64_t i = 0; i < 16384 * 16; i++)
		source.map[source.payload_offset + i] = (uint8_t)(rand() >> 8);
	if (monad_event_ring_mmap(&ring, PROT_READ, 0, source.fd, 0, "x") || pipe2(fds, flags) != 0)
		bail_out("mmap or pipe");
	fcntl(fds[0], F_SETFL, 0);
	got.size = (size_t)fds[0];
	pthread_create(&thread, NULL, drain, &got);
	eq_int(monad_event_snapshot_write(&ring, fds[1], NULL, NULL), 0, "to a pipe");
	close(fds[1]);
	pthread_join(thread, NULL);
	ok(got.size > 65536, "more than fits in it: %zu bytes", got.size);
	eq_int(monad_event_decompress_snapshot_mem(got.data, got.size, 0, "x", &fd), 0, "arrives");
	map = mmap(NULL, CONTEXT, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		bail_out("mmap");
	ok(memcmp(map + PAYLOADS, source.map + source.payload_offset, 16384 * 16) == 0,
	   "every byte of it");
	munmap(map, CONTEXT);
	close(fd);
	close(fds[0]);
	if (pipe(fds) != 0)
		bail_out("pipe");
	close(fds[0]);
	signal(SIGPIPE, SIG_IGN);
	eq_int(monad_event_snapshot_write(&ring, fds[1], NULL, NULL), EPIPE, "nobody reads it");
	close(fds[1]);
	monad_event_ring_unmap(&ring);
	image_destroy(&source);
}

static int count_files(const char *path)
{
	DIR *dir = opendir(path);
	int count = -2; /* . and .. */

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static bool shell(const char *command)
{
	FILE *pipe = popen(command, "re");

	return pipe && pclose(pipe) == 0;
}

static void test_no_space(const struct monad_event_ring *ring, const char *dir)
{
	struct monad_event_snapshot_options options = {.size = sizeof(options)};
	char small[64], path[128], command[256];

	snprintf(small, sizeof(small), "%s/small", dir);
	snprintf(command, sizeof(command), "mount -t tmpfs -o size=64k none %s 2>/dev/null", small);
	if (mkdir(small, 0700) != 0 || !shell(command)) {
		skip("cannot mount a tmpfs");
		rmdir(small);
		return;
	}
	snprintf(path, sizeof(path), "%s/snapshot", small);
	eq_int(monad_event_snapshot_write_file(ring, path, NULL, NULL), ENOSPC,
	       "a file system that is too small");
	ok(says(path), "the message names the file: %s", monad_event_ring_get_last_error());
	eq_int(count_files(small), 0, "nothing is left");
	options.spool_dir = small;
	snprintf(path, sizeof(path), "%s/spooled", dir);
	eq_int(monad_event_snapshot_write_file(ring, path, &options, NULL), ENOSPC,
	       "no space for the spool");
	ok(says("spool"), "says so: %s", monad_event_ring_get_last_error());
	ok(access(path, F_OK) != 0, "no file");
	snprintf(command, sizeof(command), "umount %s", small);
	shell(command);
	rmdir(small);
}

static void die(void)
{
	raise(SIGKILL);
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	handled = number;
}

/* With a limit for it alone: our own output goes to a file, perhaps. */
static int write_limited(const struct monad_event_ring *ring, const char *path, rlim_t bytes)
{
	/* Nearly uncompressed, so that the file is larger than the spool. */
	const struct monad_event_snapshot_options options = {
		.size = sizeof(options), .level = -100000};
	struct rlimit limit, old;
	int err;

	if (getrlimit(RLIMIT_FSIZE, &old) != 0)
		bail_out("getrlimit");
	limit = old;
	limit.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &limit);
	err = monad_event_snapshot_write_file(ring, path, &options, NULL);
	setrlimit(RLIMIT_FSIZE, &old);
	return err;
}

/* With ulimit -f: nothing dies of it, is told, or is left. */
static void test_file_limit(const struct monad_event_ring *ring, const char *dir)
{
	const int files = count_files(dir);
	char path[128];
	sigset_t set;

	snprintf(path, sizeof(path), "%s/limited", dir);
	eq_int(write_limited(ring, path, 4096), EFBIG, "ulimit -f");
	ok(says("spool") && says("ulimit -f"), "message: %s", monad_event_ring_get_last_error());
	eq_int(write_limited(ring, path, 1000000), EFBIG, "enough for the spool");
	ok(says(path) && says("ulimit -f"), "message: %s", monad_event_ring_get_last_error());
	eq_int(count_files(dir), files, "nothing is left");
	ok(sigpending(&set) == 0 && !sigismember(&set, SIGXFSZ), "no signal waits");
	signal(SIGXFSZ, on_signal);
	eq_int(write_limited(ring, path, 4096), EFBIG, "with a handler");
	eq_int(handled, 0, "which is not called");
	/* One that came to who holds signals back is not lost. */
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGXFSZ);
	eq_int(write_limited(ring, path, 4096), EFBIG, "held back");
	eq_int(handled, 0, "the handler was not called");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	eq_int(handled, SIGXFSZ, "it is now");
	handled = 0;
	signal(SIGXFSZ, SIG_DFL);
}

/* The file is on disk before it has its name, and its name is on disk before all is done. */
static void test_synced(const struct monad_event_ring *ring, const char *path)
{
	struct stat before, after;

	if (stat(path, &before) != 0)
		bail_out("stat");
	synced_path = path;
	eq_int(monad_event_snapshot_write_file(ring, path, NULL, NULL), 0, "over another one");
	synced_path = NULL;
	if (stat(path, &after) != 0)
		bail_out("stat");
	ok(when_synced[0] == before.st_ino, "the file is synced while the old one is there");
	ok(when_synced[1] == after.st_ino, "the directory when the new one is");
	memset(when_synced, 0, sizeof(when_synced));
}

/* Who is killed while it writes leaves nothing behind. */
static void test_killed(const struct monad_event_ring *ring, const char *dir, const char *path)
{
	struct stat st, now;
	pid_t child;
	int status;

	if (stat(path, &st) != 0)
		bail_out("stat");
	child = fork();
	if (child == 0) {
		act = die;
		_exit(monad_event_snapshot_write_file(ring, path, NULL, NULL));
	}
	waitpid(child, &status, 0);
	ok(WIFSIGNALED(status), "killed while it writes");
	eq_int(count_files(dir), 1, "nothing is left but what there was before");
	ok(stat(path, &now) == 0 && now.st_ino == st.st_ino, "which is the same");
}

static void test_files(void)
{
	struct monad_event_snapshot_options options = {.size = sizeof(options)};
	char dir[] = "/tmp/monad-test-XXXXXX", path[64], other[64], cwd[4096];
	struct monad_event_ring ring, again;
	struct image source;
	struct stat st;

	image_create(&source, 14, 21, 0);
	put_events_up_to(&source, 16384);
	for (uint64_t i = 0; i < 16384 * 16; i++)
		source.map[source.payload_offset + i] = (uint8_t)(rand() >> 8);
	if (!mkdtemp(dir) || monad_event_ring_mmap(&ring, PROT_READ, 0, source.fd, 0, "x"))
		bail_out("mkdtemp or mmap");
	snprintf(path, sizeof(path), "%s/snapshot", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	eq_int(monad_event_snapshot_write_file(&ring, path, NULL, NULL), 0, "a file");
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "mode 0600");
	eq_int(monad_event_ring_open(&again, path, 0), 0, "is opened as a ring");
	eq_u64(monad_event_ring_last_seqno(&again), 16384, "all of it");
	ok(monad_event_ring_snapshot_info(&again), "says where it comes from");
	/* A snapshot of a snapshot, over the file that is mapped. */
	options.spool_dir = dir;
	eq_int(monad_event_snapshot_write_file(&again, path, &options, NULL), 0,
	       "written again, spooled on disk");
	monad_event_ring_unmap(&again);
	eq_int(monad_event_ring_open(&again, path, 0), 0, "is opened again");
	monad_event_ring_unmap(&again);
	eq_int(count_files(dir), 1, "there is nothing but it");
	test_killed(&ring, dir, path);
	test_synced(&ring, path);
	test_file_limit(&ring, dir);
	no_tmpfile = true;
	test_synced(&ring, path);
	test_file_limit(&ring, dir);
	eq_int(monad_event_snapshot_write_file(&ring, path, NULL, NULL), 0, "without O_TMPFILE");
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "mode 0600");
	eq_int(count_files(dir), 1, "there is nothing but it");
	test_no_space(&ring, dir);
	no_tmpfile = false;
	if (symlink("/dev/null", other) != 0)
		bail_out("symlink");
	eq_int(monad_event_snapshot_write_file(&ring, other, NULL, NULL), EINVAL, "over a device");
	ok(lstat(other, &st) == 0 && S_ISLNK(st.st_mode), "which stays");
	unlink(other);
	eq_int(monad_event_snapshot_write_file(&ring, dir, NULL, NULL), EINVAL, "over a directory");
	eq_int(monad_event_snapshot_write_file(&ring, "", NULL, NULL), EINVAL, "no name");
	eq_int(monad_event_snapshot_write_file(&ring, "/tmp/", NULL, NULL), EINVAL, "a bare slash");
	eq_int(monad_event_snapshot_write_file(&ring, NULL, NULL, NULL), EFAULT, "no path");
	eq_int(monad_event_snapshot_write_file(&ring, "/nonexistent/x", NULL, NULL), ENOENT,
	       "no such directory");
	options.spool_dir = "/nonexistent";
	eq_int(monad_event_snapshot_write_file(&ring, other, &options, NULL), ENOENT,
	       "no such directory for the spool");
	ok(says("`/nonexistent`"), "the message names it");
	if (getcwd(cwd, sizeof(cwd)) && chdir(dir) == 0) {
		eq_int(monad_event_snapshot_write_file(&ring, "other", NULL, NULL), 0,
		       "a name without a directory");
		ok(unlink("other") == 0, "is in this one");
		eq_int(chdir(cwd), 0, "back");
	}
	test_no_space(&ring, dir);
	monad_event_ring_unmap(&ring);
	unlink(path);
	ok(rmdir(dir) == 0, "nothing is left");
	image_destroy(&source);
}

int main(void)
{
	int files = open_files();

	test_bytes();
	test_ranges();
	test_times();
	test_flow_tags();
	test_storage_tags();
	test_missing();
	test_meanwhile();
	test_payloads();
	test_hostile();
	test_options();
	test_pipe(0);
	test_pipe(O_NONBLOCK);
	test_files();
	eq_int(open_files(), files, "no descriptor is left open");
	return done_testing();
}
