// SPDX-License-Identifier: GPL-2.0
/* Writing snapshots: every byte of the image, by its place in the format. */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <monad_event/event_metadata.h>

#include "snapshot_taking.h"

#define EPOCH		1700000000000000000ULL
#define RECORD_ERROR_16 (1 | 16ULL << 32) /* type and size of such an event */

static struct monad_event_snapshot_stats stats;

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
	ok(image && stats.copied + stats.missed + stats.not_ready == ~1ULL, "and from 1");
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
	eq_int(open_files(), files, "no descriptor is left open");
	return done_testing();
}
