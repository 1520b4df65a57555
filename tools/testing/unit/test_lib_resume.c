// SPDX-License-Identifier: GPL-2.0
/*
 * Going on with ring files that somebody else made: what a dead writer can have left is
 * repaired, everything else is refused and left as it is, and nothing crashes.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_recorder.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_ring_writer.h>

#include "ring_image.h"
#include "tap.h"

/* Of a 10:21 ring of 6 MiB; descriptors at 2 MiB, payload at 4 MiB. */
#define WINDOW_LIMIT (1ULL << 62)

static char dir[64] = "/tmp/monad-test-XXXXXX";
static char path[PATH_MAX];
static struct monad_event_ring_writer_options options;
static struct image image;

static int keep(struct monad_event_ring_writer **writer)
{
	unlink(path);
	image_save(&image, dir, "ring");
	return monad_event_ring_writer_open("ring", &options, writer);
}

/* A ring of @last events of 16 bytes each, with an extension block. */
static void begin(uint64_t last)
{
	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, last);
	memcpy(image.map + 4096, "MONADEXT", 8);
	put(&image, 4104, 256, 4);
	put(&image, 4108, 1, 4);
}

static bool file_is_image(void)
{
	static uint8_t bytes[6 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = read(fd, bytes, sizeof(bytes));

	close(fd);
	return len == (ssize_t)image.size && memcmp(bytes, image.map, image.size) == 0;
}

static void refused(const char *what, const char *says)
{
	struct monad_event_ring_writer *writer;

	eq_int(keep(&writer), EPROTO, "%s", what);
	ok(strstr(monad_event_ring_get_last_error(), says), "message: %s",
	   monad_event_ring_get_last_error());
	ok(file_is_image(), "the file is as it was");
	image_destroy(&image);
}

/* Goes on, records @events, and finds all of them whole. Events left unfinished. */
static int goes_on(int events)
{
	struct monad_event_ring_writer *writer;
	const struct monad_event_ring *ring;
	struct monad_event_recorder recorder;
	struct monad_event_descriptor event;
	uint64_t first, seqno;
	int repaired = -1, i;

	if (keep(&writer)) {
		diag("%s", monad_event_ring_get_last_error());
		return -1;
	}
	ring = monad_event_ring_writer_ring(writer);
	first = monad_event_ring_last_seqno(ring) + 1;
	if (monad_event_ring_init_recorder(ring, &recorder)) {
		diag("%s", monad_event_ring_get_last_error());
		goto out;
	}
	for (i = 0; i < events; i++) {
		if (monad_event_recorder_output(&recorder, 3, &i, sizeof(i))) {
			diag("event %d of %d is refused", i, events);
			goto out;
		}
	}
	seqno = monad_event_ring_oldest_seqno(ring);
	for (; seqno < first + (uint64_t)events; seqno++) {
		if (!monad_event_ring_try_copy(ring, seqno, &event)) {
			diag("event %d is not there", (int)seqno);
			goto out;
		}
		if (seqno < first)
			continue;
		i = (int)(seqno - first);
		if (!monad_event_ring_payload_check(ring, &event) ||
		    memcmp(monad_event_ring_payload_peek(ring, &event), &i, sizeof(i)) != 0) {
			diag("payload of event %d", (int)seqno);
			goto out;
		}
	}
	repaired = (int)monad_event_ring_writer_repaired(writer);
out:
	monad_event_ring_writer_close(writer);
	return repaired;
}

static void test_sound(void)
{
	static const int lasts[] = {0, 1, 1023, 1024, 1025, 5000};
	struct monad_event_ring ring;

	for (int i = 0; i < 6; i++) {
		begin((uint64_t)lasts[i]);
		eq_int(goes_on(2000), 0, "a ring of %d events", lasts[i]);
		image_destroy(&image);
	}
	begin(0);
	put_next_byte(&image, 64);
	eq_int(goes_on(10), 0, "bytes that were allocated, and no event");
	image_destroy(&image);
	begin(500000);
	eq_int(goes_on(2000), 0, "bytes have gone around");
	/* Other writers raise the window after they allocate. */
	put_window_start(&image, 500000 * 16 - (2 << 20) - 64);
	eq_int(goes_on(0), 0, "a window that was not raised yet");
	eq_int(monad_event_ring_open(&ring, path, 0), 0, "to look at it");
	eq_u64(ring.header->control.buffer_window_start, 500000 * 16 - (2 << 20),
	       "is: readers take nothing for good that was written over");
	monad_event_ring_unmap(&ring);
	eq_int(goes_on(2000), 0, "and goes on");
	image_destroy(&image);
	begin(0);
	put_last_seqno(&image, WINDOW_LIMIT);
	for (uint64_t s = WINDOW_LIMIT - 1023; s <= WINDOW_LIMIT; s++)
		put_event(&image, s, 2, 0, 0);
	eq_int(goes_on(2000), 0, "the highest number there is");
	image_destroy(&image);
}

/* What the event that was unfinished is now. */
static void check_none(uint64_t seqno, uint64_t time)
{
	struct monad_event_descriptor event;
	struct monad_event_ring ring;

	if (monad_event_ring_open(&ring, path, 0))
		bail_out("%s", monad_event_ring_get_last_error());
	ok(monad_event_ring_try_copy(&ring, seqno, &event) && event.event_type == 0 &&
	   event.unused == 0 && event.payload_size == 0 && event.content_ext[0] == 0 &&
	   event.content_ext[3] == 0, "event %d is one of type NONE", (int)seqno);
	eq_u64(event.record_epoch_nanos, time, "with the time of the one before");
	ok(monad_event_ring_payload_check(&ring, &event), "and does not count as expired");
	eq_u64(monad_event_ring_ext(&ring)->discarded, 1, "it is counted as discarded");
	monad_event_ring_unmap(&ring);
}

static void test_unfinished(void)
{
	begin(100);
	put(&image, slot_offset(&image, 50), 0, 8);
	put(&image, slot_offset(&image, 50) + 10, 0x207, 2); /* as while it is written */
	eq_int(goes_on(0), 1, "an event that was being written");
	check_none(50, 1700000000000000000ULL + 49);
	image_destroy(&image);

	begin(3000);
	put(&image, slot_offset(&image, 2999), 2999 - 1024, 8);
	eq_int(goes_on(0), 1, "one whose descriptor was not touched yet");
	check_none(2999, 1700000000000000000ULL + 2998);
	put(&image, slot_offset(&image, 2999), 2999 - 2048, 8);
	eq_int(goes_on(3), 1, "for more than one lap: its slot held an unfinished one before");
	image_destroy(&image);

	begin(3000);
	put(&image, slot_offset(&image, 1977), 0, 8);
	eq_int(goes_on(0), 1, "the oldest");
	check_none(1977, 0);
	image_destroy(&image);

	begin(3000);
	for (uint64_t s = 3000 - 1023; s <= 3000; s++)
		put(&image, slot_offset(&image, s), 0, 8);
	eq_int(goes_on(1), 1024, "all of them");
	image_destroy(&image);
}

static void test_refused(void)
{
	struct monad_event_ring_writer *writer;

	begin(100);
	put_last_seqno(&image, ~0ULL);
	refused("a last event just before numbers wrap",
		"its last event has number 18446744073709551615");
	begin(100);
	put_last_seqno(&image, WINDOW_LIMIT + 1);
	refused("one more than there is", "its last event has number 4611686018427387905");
	begin(100);
	put_next_byte(&image, ~15ULL);
	refused("bytes just before offsets wrap",
		"its next payload is at byte 18446744073709551600");
	begin(100);
	put_next_byte(&image, 1608);
	refused("bytes that are not aligned", "its next payload is at byte 1608");
	begin(100);
	put_window_start(&image, 1601);
	refused("a window after the last byte", "begin at byte 1601 and end at 1600");
	begin(100);
	put_window_start(&image, ~0ULL);
	refused("a window of all ones", "begin at byte 18446744073709551615");
	begin(100);
	put_last_seqno(&image, 99);
	refused("an event after the last", "it has event 100, and the last is 99");
	begin(100);
	put(&image, slot_offset(&image, 1024), 1024, 8);
	refused("one in a slot that was never used", "it has event 1024");
	begin(3000);
	put(&image, slot_offset(&image, 2500), 2500 + 1024, 8);
	refused("an event of the next lap",
		"in the place of event 2500 is one that says it is 3524");
	begin(3000);
	put(&image, slot_offset(&image, 2500), 2501, 8);
	refused("an event in another's place", "says it is 2501");
	begin(3000);
	put(&image, slot_offset(&image, 2500), 5, 8);
	refused("an older one in another's place", "says it is 5");
	begin(3000);
	put_event(&image, 2500, 2, 48000, 1);
	refused("a payload after the last", "event 2500 has a payload that does not exist");
	begin(3000);
	put_event(&image, 2500, 2, 47984, 17);
	refused("a payload that goes on after the last", "event 2500 has a payload");
	begin(3000);
	put_event(&image, 2500, 2, 8, 1);
	refused("a payload that is not aligned", "event 2500 has a payload");
	begin(3000);
	put_event(&image, 2500, 2, ~15ULL, 32);
	refused("a payload that wraps", "event 2500 has a payload");
	begin(500000);
	put_event(&image, 499900, 2, 0, (2 << 20) + 1);
	refused("a payload larger than the buffer", "has a payload");
	begin(100);
	put(&image, 4108, 2, 4);
	refused("a later version of the extension block", "is of version 2, this library writes 1");

	/* The sizes in the header are the mapping's business. */
	begin(100);
	put(&image, 40, 1000, 8);
	eq_int(keep(&writer), EINVAL, "1000 descriptors");
	put(&image, 40, 1 << 20, 8);
	eq_int(keep(&writer), EINVAL, "more descriptors than there are bytes");
	put(&image, 40, 1024, 8);
	put(&image, 48, 1ULL << 40, 8);
	eq_int(keep(&writer), EINVAL, "more payload than there are bytes");
	image_destroy(&image);
	begin(100);
	image.map[5] = '2';
	eq_int(keep(&writer), EEXIST, "another magic: not a ring");
	image_destroy(&image);
}

static uint64_t next_random(uint64_t *rng)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	*rng ^= *rng << 17;
	return *rng >> 8;
}

/* Whatever stands in a file: it is gone on with as it should be, or refused. */
static void test_random(int rounds)
{
	static const uint64_t values[] = {0, 1, 15, 16, 1023, 1024, 2 << 20, (2 << 20) - 16,
					  1ULL << 32, 1ULL << 62, 1ULL << 63, ~0ULL, ~15ULL};
	int taken = 0, refusals = 0, other = 0;
	uint64_t rng = 88172645463325252ULL;

	for (int round = 0; round < rounds; round++) {
		struct monad_event_ring_writer *writer;
		int changes = 1 + (int)(next_random(&rng) % 3), err;

		begin(next_random(&rng) % 4 ? next_random(&rng) % 4000 : 0);
		while (changes--) {
			uint64_t value = values[next_random(&rng) % 13];
			uint64_t at = next_random(&rng) % 3 == 0 ? 8 * (8 + next_random(&rng) % 9)
				      : next_random(&rng) % 4 == 0
					      ? 4096 + 8 * (next_random(&rng) % 32)
					      : MIB2 + 8 * (next_random(&rng) % 8192);

			if (next_random(&rng) % 3 == 0)
				value = next_random(&rng);
			else if (next_random(&rng) % 2)
				value = get(&image, at, 8) + next_random(&rng) % 5 - 2;
			put(&image, at, value, 8);
		}
		err = keep(&writer);
		if (!err) {
			monad_event_ring_writer_close(writer);
			if (goes_on(1500) < 0)
				other++;
			taken++;
		} else if (err == EPROTO || err == EINVAL || err == EEXIST) {
			refusals++;
		} else {
			diag("round %d: %s", round, monad_event_ring_get_last_error());
			other++;
		}
		image_destroy(&image);
	}
	eq_int(other, 0, "%d files with random changes: %d gone on with, %d refused", rounds, taken,
	       refusals);
	ok(taken > rounds / 10 && refusals > rounds / 10, "both happen");
}

/* The same check stands before the recorder of programs that map rings themselves. */
static void test_init_recorder(void)
{
	struct monad_event_recorder recorder;
	struct monad_event_descriptor event;
	struct monad_event_ring ring;

	begin(100);
	put(&image, slot_offset(&image, 7), 0, 8);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ | PROT_WRITE, 0, image.fd, 0, "ring"), 0,
	       "mmap");
	eq_int(monad_event_ring_init_recorder(&ring, &recorder), 0, "init_recorder");
	ok(monad_event_ring_try_copy(&ring, 7, &event) && event.event_type == 0, "repairs");
	eq_u64(monad_event_recorder_counters(&recorder)->discarded, 1, "counts");
	monad_event_ring_unmap(&ring);
	put_last_seqno(&image, 3);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ | PROT_WRITE, 0, image.fd, 0, "ring"), 0,
	       "mmap");
	eq_int(monad_event_ring_init_recorder(&ring, &recorder), EPROTO, "refuses");
	put_last_seqno(&image, 100);
	put(&image, 40, 1ULL << 20, 8);
	eq_int(monad_event_ring_init_recorder(&ring, &recorder), EPROTO, "sizes changed meanwhile");
	monad_event_ring_unmap(&ring);
	image_destroy(&image);
}

int main(void)
{
	if (!mkdtemp(dir))
		bail_out("no directory in /tmp");
	snprintf(path, sizeof(path), "%s/ring", dir);
	options.size = sizeof(options);
	options.content_type = MONAD_EVENT_CONTENT_TYPE_TEST;
	options.schema_hash = g_monad_test_event_schema_hash;
	options.default_dir = dir;
	options.flags = MONAD_EVENT_WRITER_KEEP;
	test_sound();
	test_unfinished();
	test_refused();
	test_random(150);
	test_init_recorder();
	unlink(path);
	eq_int(rmdir(dir), 0, "nothing is left in the directory");
	return done_testing();
}
