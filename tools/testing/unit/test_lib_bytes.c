// SPDX-License-Identifier: GPL-2.0
/*
 * The byte format by hand: what a ring file of ours must look like, byte by byte, and what a
 * ring file that is written here, byte by byte, must be read as. All offsets and sizes are
 * numbers, from Documentation/abi.rst; only recording and reading is done by the library.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_recorder.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_ring_writer.h>

#include "tap.h"

static char path[] = "/tmp/monad-test-XXXXXX";

/* Little endian, whatever this machine is. */
static void set(uint8_t *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	for (int i = bytes; i--;)
		value = value << 8 | at[i];
	return value;
}

/* Where two pieces of memory differ first; @size: nowhere. */
static size_t differ(const uint8_t *a, const uint8_t *b, size_t size)
{
	size_t i;

	for (i = 0; i < size && a[i] == b[i]; i++)
		;
	return i;
}

static bool is_zero(const uint8_t *at, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (at[i]) {
			diag("byte %zu is 0x%02x", i, at[i]);
			return false;
		}
	}
	return true;
}

static uint8_t *map_file(const char *name, size_t *size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *map;

	if (fd < 0 || fstat(fd, &st) != 0)
		bail_out("cannot open %s", name);
	*size = (size_t)st.st_size;
	map = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return map;
}

/* One descriptor as it must be; its time is taken from what is there. */
static void check_descriptor(const uint8_t *file, int slot, uint64_t seqno, int type,
			     uint32_t size, uint64_t offset, const uint64_t tags[4])
{
	const uint8_t *have = file + 2097152 + 64 * slot;
	uint8_t want[64];

	set(want, seqno, 8);
	set(want + 8, (uint64_t)type, 2);
	set(want + 10, 0, 2);
	set(want + 12, size, 4);
	set(want + 16, get(have + 16, 8), 8);
	set(want + 24, offset, 8);
	for (int i = 0; i < 4; i++)
		set(want + 32 + 8 * i, tags[i], 8);
	eq_u64(differ(have, want, 64), 64, "descriptor of event %d", (int)seqno);
	ok(get(have + 16, 8) > 1700000000000000000ULL && get(have + 16, 8) < 4000000000000000000ULL,
	   "its time is now, in nanoseconds");
}

/* 2048 descriptors (131072 bytes, padded to 2 MiB), 4 MiB, one page of context: 10 MiB. */
static void test_written(void)
{
	static const uint64_t none[4], tags[4] = {0x1122334455667788, 2, 3, 0xffffffffffffffff};
	struct monad_event_ring_writer_options options = {
		.size = sizeof(options), .content_type = 0x8123, .context_large_pages = 1,
	};
	struct monad_event_ring_writer *writer;
	struct monad_event_descriptor *event;
	struct monad_event_recorder recorder;
	uint8_t want[192], hash[32], *payload, *file, big[4097];
	uint64_t seqno;
	char config[64];
	size_t size;

	for (int i = 0; i < 32; i++)
		hash[i] = (uint8_t)(0xa0 + i);
	memset(big, 0xee, sizeof(big));
	options.schema_hash = hash;
	snprintf(config, sizeof(config), "%s:11:22", path);
	if (monad_event_ring_writer_open(config, &options, &writer) ||
	    monad_event_ring_init_recorder(monad_event_ring_writer_ring(writer), &recorder))
		bail_out("%s", monad_event_ring_get_last_error());

	/* 5 bytes; none; 33 bytes with tags; discarded; 4097, which is more than the fast path. */
	monad_event_recorder_output(&recorder, 0xabcd, "\x01\x02\x03\x04\x05", 5);
	monad_event_recorder_output(&recorder, 2, NULL, 0);
	event = monad_event_recorder_reserve(&recorder, 33, &seqno, &payload);
	event->event_type = 0xffff;
	for (int i = 0; i < 4; i++)
		event->content_ext[i] = tags[i];
	memset(payload, 0x77, 33);
	monad_event_recorder_commit(event, seqno);
	event = monad_event_recorder_reserve_type(&recorder, 3, 16, &seqno, &payload);
	memset(payload, 0x11, 16);
	event->content_ext[0] = 1;
	monad_event_recorder_discard(event, seqno);
	monad_event_recorder_output(&recorder, 4, big, sizeof(big));
	monad_event_recorder_output(&recorder, 5, "12345678", 8);

	file = map_file(path, &size);
	eq_u64(size, 10485760, "size of the file");
	memset(want, 0, sizeof(want));
	memcpy(want, "RING01", 6);
	set(want + 6, 0x8123, 2);
	memcpy(want + 8, hash, 32);
	set(want + 40, 2048, 8);
	set(want + 48, 4194304, 8);
	set(want + 56, 2097152, 8);
	set(want + 64, 6, 8);
	/* 16 + 0 + 48 + 16 + 4112 + 16 */
	set(want + 72, 4208, 8);
	set(want + 128, 0, 8);
	eq_u64(differ(file, want, 192), 192, "the header, up to byte 192");
	ok(is_zero(file, 192, 4096), "zeroes up to the extension block");
	ok(memcmp(file + 4096, "MONADEXT", 8) == 0 && get(file + 4104, 4) == 256 &&
	   get(file + 4108, 4) == 1, "magic, size and version of the extension block");
	ok(!is_zero(file, 4112, 4128) && !is_zero(file, 4128, 4144), "uuid, boot_id");
	eq_u64(get(file + 4144, 8), 1, "generation");
	eq_u64(get(file + 4160, 4), 5, "chunks");
	ok(is_zero(file, 4168, 4288), "state, reserved, lost");
	eq_u64(get(file + 4288, 8), 1, "discarded");
	ok(is_zero(file, 4296, 2097152), "zeroes to the end of the section");

	check_descriptor(file, 0, 1, 0xabcd, 5, 0, none);
	check_descriptor(file, 1, 2, 2, 0, 16, none);
	check_descriptor(file, 2, 3, 0xffff, 33, 16, tags);
	check_descriptor(file, 3, 4, 0, 0, 64, none);
	check_descriptor(file, 4, 5, 4, 4097, 80, none);
	check_descriptor(file, 5, 6, 5, 8, 4192, none);
	ok(is_zero(file, 2097152 + 64 * 6, 4194304), "zeroes after the last descriptor");

	ok(memcmp(file + 4194304, "\1\2\3\4\5\0\0\0\0\0\0\0\0\0\0\0", 16) == 0,
	   "5 bytes of payload, 11 NULs");
	ok(file[4194304 + 16] == 0x77 && file[4194304 + 48] == 0x77 &&
	   is_zero(file, 4194304 + 49, 4194304 + 64), "33 bytes, 15 NULs");
	ok(file[4194304 + 64] == 0x11, "16 bytes that were discarded");
	ok(memcmp(file + 4194304 + 80, big, 4097) == 0 &&
	   is_zero(file, 4194304 + 80 + 4097, 4194304 + 4192), "4097 bytes, 15 NULs");
	ok(memcmp(file + 4194304 + 4192, "12345678\0\0\0\0\0\0\0\0", 16) == 0, "8 bytes, 8 NULs");
	ok(is_zero(file, 4194304 + 4208, size), "zeroes to the end of the file");

	/* Once around both: slots and bytes are taken again. */
	for (uint64_t i = 7; i <= 5000; i++) {
		set(big, i, 8);
		if (monad_event_recorder_output(&recorder, 6, big, 1 + i % 3000))
			bail_out("event %d is refused", (int)i);
	}
	{
		/* the same sum by hand */
		uint64_t next = 4208, offset = 0, nuls = 0, last_size = 1 + 5000 % 3000;

		for (uint64_t i = 7; i <= 5000; i++) {
			offset = next;
			next += (1 + i % 3000 + 15) / 16 * 16;
		}
		eq_u64(get(file + 64, 8), 5000, "last_seqno");
		eq_u64(get(file + 72, 8), next, "next_payload_byte");
		ok(get(file + 128, 8) >= next - 4194304 && get(file + 128, 8) < next - 3145728,
		   "buffer_window_start: less than 4 MiB behind, more than 3");
		/* 5000 is in slot 4999 % 2048 */
		check_descriptor(file, 903, 5000, 6, (uint32_t)last_size, offset, none);
		eq_u64(get(file + 4194304 + offset % 4194304, 8), 5000, "its payload");
		/* 2001 bytes, over older ones */
		ok(file[4194304 + (offset + 2000) % 4194304] == 0xee, "to its last byte");
		for (uint64_t i = 2001; i < 2016; i++)
			nuls += file[4194304 + (offset + i) % 4194304] == 0;
		eq_u64(nuls, 15, "and 15 NULs");
	}
	monad_event_ring_writer_close(writer);
	eq_u64(get(file + 4168, 4), 1, "state of a ring that was closed: 1");
	munmap(file, size);
	unlink(path);
}

/* 1024 descriptors, 2 MiB; events 3 to 1026 are there, one payload goes past the end. */
static void test_read(void)
{
	static uint8_t bytes[3 * 2097152];
	struct monad_event_descriptor event;
	struct monad_event_iterator iter;
	struct monad_event_ring ring;
	const uint8_t *payload;
	uint64_t seqno;
	int fd, n = 0;

	memcpy(bytes, "RING01", 6);
	set(bytes + 6, 1, 2);
	set(bytes + 40, 1024, 8);
	set(bytes + 48, 2097152, 8);
	set(bytes + 64, 1026, 8);
	/* Event s has 2048 bytes at (s - 1) * 2048 - 16; 1 and 2 are gone. */
	set(bytes + 72, 1026 * 2048, 8);
	set(bytes + 128, 1026 * 2048 - 2097152, 8);
	for (uint64_t s = 3; s <= 1026; s++) {
		uint8_t *slot = bytes + 2097152 + 64 * ((s - 1) % 1024);
		uint64_t offset = (s - 1) * 2048 - 16;

		set(slot, s, 8);
		set(slot + 8, 2 + s % 60000, 2);
		set(slot + 12, 2048, 4);
		set(slot + 16, 1700000000000000000ULL + s, 8);
		set(slot + 24, offset, 8);
		set(slot + 32, s * 10, 8);
		set(slot + 56, s * 10 + 3, 8);
		for (int i = 0; i < 2048; i++)
			bytes[4194304 + (offset + i) % 2097152] = (uint8_t)(s + i);
	}
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		bail_out("cannot write %s", path);
	close(fd);
	eq_int(monad_event_ring_open(&ring, path, 0), 0, "a ring made by hand");
	eq_int(monad_event_ring_init_iterator(&ring, &iter), 0, "an iterator");
	eq_u64(iter.next_seqno, 1026, "at the newest");
	monad_event_iterator_set_seqno(&iter, 2);
	eq_int(monad_event_iterator_try_next(&iter, &event), MONAD_EVENT_GAP, "event 2 is gone");
	monad_event_iterator_set_seqno(&iter, 3);
	for (seqno = 3; !monad_event_iterator_try_next(&iter, &event); seqno++) {
		payload = monad_event_ring_payload_peek(&ring, &event);
		if (event.seqno != seqno || event.event_type != 2 + seqno % 60000 ||
		    event.payload_size != 2048 ||
		    event.record_epoch_nanos != 1700000000000000000ULL + seqno ||
		    event.content_ext[0] != seqno * 10 || event.content_ext[1] ||
		    event.content_ext[2] || event.content_ext[3] != seqno * 10 + 3)
			break;
		/* 3 begins 16 bytes below the window: descriptor there, payload expired */
		if (monad_event_ring_payload_check(&ring, &event) ? seqno == 3 : seqno != 3)
			break;
		for (int i = 0; i < 2048 && seqno > 3; i++)
			n += payload[i] != (uint8_t)(seqno + i);
	}
	eq_u64(seqno, 1027, "all from 3 to 1026 are read as they are");
	eq_int(n, 0, "and each byte of their payloads");
	eq_int(monad_event_iterator_try_next(&iter, &event), MONAD_EVENT_NOT_READY, "1027 is not");
	monad_event_ring_unmap(&ring);
	unlink(path);
}

int main(void)
{
	int fd = mkstemp(path);

	close(fd);
	unlink(path);
	test_written();
	test_read();
	return done_testing();
}
