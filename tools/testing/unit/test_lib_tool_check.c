// SPDX-License-Identifier: GPL-2.0
/* The verbs of monad-ring that measure and check rings: on files. */
#include <fcntl.h>

#include <monad/storage_event.h>
#include <monad_event/event_snapshot.h>

#include "tool_rings.h"

static void test_stat(void)
{
	pid_t pid = start_writer("rate:14:21", 10000);
	double rate, bytes;

	eq_int(run("monad-ring stat --count 3 --interval 0.5 ./rate ./small"), 0, "stat");
	ok(strncmp(output, "RING ", 5) == 0, "a header");
	eq_int(run("monad-ring stat --count 3 --interval 0.5 ./rate ./small | wc -l"), 0, "lines");
	eq_str(output, "7\n", "two a time");
	eq_int(run("monad-ring stat --json --count 2 ./rate | tail -1"), 0, "in JSON");
	/* 112 bytes each: 2 MiB are 18724 events, and there are 16384 descriptors. */
	rate = number_after("\"events_per_s\":");
	ok(rate > 500 && rate < 15000, "events/s are what is written: %g", rate);
	bytes = number_after("\"payload_bytes_per_s\":") / rate;
	ok(bytes > 111 && bytes < 113, "payload bytes as well: %g an event", bytes);
	ok(number_after("\"lap_s\":") * rate > 16383 && number_after("\"lap_s\":") * rate < 16385,
	   "lap time is that of its descriptors");
	has_text("\"lap_by\":\"descriptors\"");
	has_text("\"since_creation\":false");
	eq_int(run("monad-ring stat --json ./rate"), 0, "since it was created");
	rate = number_after("\"events_per_s\":");
	ok(rate > 500 && rate < 15000, "at about the same rate: %g", rate);
	has_text("\"since_creation\":true");
	eq_int(run("monad-ring stat -i 0.2 ./rate & sleep 0.7; kill -INT $!; wait $!"), 0,
	       "an interrupt is a clean end");
	eq_int(run("monad-ring stat -i 0.1 ./rate | head -2 | wc -l"), 0, "so is a reader's");
	stop_writer(pid);
	pid = start_writer("rate2:16:21", 10000);
	eq_int(run("monad-ring stat --json --count 2 ./rate2 | tail -1"), 0, "more descriptors");
	bytes = number_after("\"payload_bytes_per_s\":") * number_after("\"lap_s\":");
	ok(bytes > 2097100 && bytes < 2097200, "lap time is that of its payload: %g", bytes);
	has_text("\"lap_by\":\"payload\"");
	stop_writer(pid);
	eq_int(run("monad-ring stat ./snap.zst 2>&1"), 1, "a snapshot");
	has_text("to which nobody writes");
	eq_int(run("monad-ring stat ./wrapped | tail -1 | tr -s ' '"), 0,
	       "a copy that has wrapped: nobody knows since when");
	has_text("./wrapped - - - ");
}

/* Losses by cause, and discarded events. */
static void test_stat_losses(void)
{
	struct monad_ring_ext ext = {.size = sizeof(ext), .abi_version = 1};
	struct image image;

	memcpy(ext.magic, "MONADEXT", 8);
	ext.lost[MONAD_RING_LOST_STALLED] = UINT64_C(1) << 50;
	ext.lost[MONAD_RING_LOST_RING_GONE] = UINT64_C(1) << 50;
	ext.discarded = UINT64_C(1) << 50;
	image_create(&image, 10, 21, 0);
	memcpy(image.map + MONAD_RING_EXT_OFFSET, &ext, sizeof(ext));
	image_save(&image, dir, "lossy");
	image_destroy(&image);
	eq_int(run("sleep 0.1; monad-ring stat ./lossy | grep -c '  stalled=[0-9]*$'"), 0,
	       "what was lost, by cause");
	eq_int(run("monad-ring stat --json ./lossy"), 0, "in JSON");
	has_text("\"lost_per_s\":{\"stalled\":");
	ok(!strstr(output, "ring_gone") && number_after("\"discarded_per_s\":") > 1e6,
	   "and discarded ones");
}

/* One fault each in a ring that is sound otherwise. */
static void test_check_faults(void)
{
	static const struct {
		uint64_t offset, value;
		int bytes;
		const char *kind, *text;
		int status;
	} faults[] = {
		{64, UINT64_C(1) << 63, 8, "control", "number 9223372036854775808", 1},
		{72, 81, 8, "control", "no multiple of 16", 1},
		{128, 96, 8, "control", "good from byte 96 on and end at 80", 1},
		{72, UINT64_C(1) << 40, 8, "control", "more than the buffer has", 1},
		{80, 1, 1, "reserved", "1 bytes of the header section from 80 to 128", 1},
		{136, 1, 1, "reserved", "from 136 to 4096", 1},
		{4095, 1, 1, "reserved", "from 136 to 4096", 1},
		{4352, 1, 1, "reserved", "from 4352 to 8192", 1},
		{MIB2 - 1, 7, 1, "reserved", "from 8192 to 2097152", 1},
		{4096 + 8, 8, 4, "reserved", "from 4096 to 8192", 1}, /* it is none then */
		{4096 + 8, 5000, 4, "extension", "says that it has 5000 bytes", 1},
		{4096 + 12, 9, 4, "extension", "version 9", 1},
		{4096 + 16, 0, 1, "extension", "no UUID", 1},
		{4096 + 68, 9, 4, "extension", "9 chunks of 0 are huge", 1},
		{4096 + 72, 2, 4, "extension", "state 2", 1},
		{4096 + 76, 2, 4, "reserved", "reserved field of the extension block is 2", 1},
		{4096 + 128 + 56, 2, 8, "extension", "cause that is not known", 1},
		{MIB2 + 64, 3, 8, "seqno", "event 3 at 0x200040: the slot of event 2 has", 1},
		{MIB2 + 64, 1026, 8, "seqno", "event 1026 at 0x200040", 1},
		{MIB2 + 5 * 64, 6, 8, "seqno", "event 6 will be in the slot", 1},
		{MIB2 + 64 + 10, 5, 2, "reserved", "event 2 at 0x20004a: unused field", 1},
		{MIB2 + 64 + 8, 77, 2, "type", "no type 77", 1},
		{MIB2 + 3 * 64 + 8, 1, 2, "record_error", "unknown type 4", 1},
		{MIB2 + 64 + 24, 17, 8, "payload", "byte 17, which is no multiple", 1},
		{MIB2 + 64 + 24, 96, 8, "payload", "ends after 80", 1},
		{MIB2 + 64 + 24, UINT64_C(0) - 16, 8, "payload", "ends after 80", 1},
		{MIB2 + 64 + 12, 0x300000, 4, "payload", "has 3145728 bytes", 1},
		{MIB2 + 64 + 12, 65, 4, "payload", "65 bytes from byte 16", 1},
		{MIB2 + 64 + 12, 17, 4, "overlap", "event 3 at 0x200080: its payload, from byte "
		 "32 on, is within that of event 2", 1},
		{MIB2 + 64 + 24, 64, 8, "overlap", "within that of event 2", 1},
		{MIB2 + 64, 0, 8, "unfinished", "event 2 at 0x200040: its writer died", 0},
		{MIB2 + 64 + 16, 0, 8, "time", "long ago", 0},
		{MIB2 + 64 + 16, UINT64_C(9) << 60, 8, "time", "in the future", 0},
		{MIB2 + 64 + 16, 1600000000000000000, 8, "time", "the clock was set back", 0},
		{4096 + 72, 0, 4, "writer", "died without closing", 0},
	};
	char line[80];

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		char path[PATH_MAX];
		int fd;

		run("cp --sparse=always small bad");
		path_of(path, "bad");
		fd = open(path, O_RDWR);
		for (int j = 0; j < faults[i].bytes; j++) {
			uint8_t byte = (uint8_t)(faults[i].value >> (8 * j));

			if (pwrite(fd, &byte, 1, (off_t)faults[i].offset + j) != 1)
				bail_out("pwrite");
		}
		close(fd);
		eq_int(run("monad-ring check ./bad 2>&1"), faults[i].status,
		       "%d bytes at %llu: %s", faults[i].bytes,
		       (unsigned long long)faults[i].offset, faults[i].text);
		snprintf(line, sizeof(line), "%-5s %-12s ", faults[i].status ? "WRONG" : "note",
			 faults[i].kind);
		if (!ok(strstr(output, line) && strstr(output, faults[i].text), "is found"))
			diag("%s", output);
	}
}

static void test_check(void)
{
	struct image image;
	pid_t pid;

	eq_int(run("monad-ring check ./small"), 0, "check");
	eq_str(output,
	       "./small: 5 events (0 discarded, 0 payloads expired, 0 overwritten meanwhile): "
	       "sound\n",
	       "sound");
	eq_int(run("monad-ring check ./snap.zst && monad-ring check ./s3 && monad-ring check "
		   "./wrapped && monad-ring check ./made"), 0, "so are all the others");
	eq_int(run("monad-ring check --json ./small | tr -d ' \\n'"), 0, "in JSON");
	eq_str(output,
	       "{\"path\":\"./small\",\"kind\":\"file\",\"findings\":[],\"counts\":{},\"events\":5,"
	       "\"discarded\":0,\"payloads_expired\":0,\"overwritten\":0,\"complete\":true,"
	       "\"wrong\":0,\"sound\":true}",
	       "all of it");
	test_check_faults();

	/* Many of one kind. */
	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 100);
	for (uint64_t seqno = 1; seqno <= 50; seqno++)
		put(&image, slot_offset(&image, seqno) + 10, 1, 2);
	image_save(&image, dir, "many");
	eq_int(run("monad-ring check ./many | grep -c 'WRONG reserved *event'"), 0, "50 faults");
	eq_str(output, "20\n", "20 are told");
	eq_int(run("monad-ring check ./many | tail -2"), 0, "and the others");
	has_text("WRONG reserved     30 more\n");
	has_text("50 things WRONG\n");
	eq_int(run("monad-ring check --json ./many | grep -c '\"reserved\": 50'"), 0, "counted");

	/* Flow tags of the storage events: 0 is the number of the first event. */
	for (uint64_t seqno = 1; seqno <= 100; seqno++) {
		put(&image, slot_offset(&image, seqno) + 10, 0, 2);
		put(&image, slot_offset(&image, seqno) + 32, seqno == 7 ? 8 : seqno, 8);
	}
	put(&image, 6, MONAD_EVENT_CONTENT_TYPE_STORAGE, 2);
	memcpy(image.map + 8, g_monad_storage_event_schema_hash, 32);
	image_save(&image, dir, "flow");
	eq_int(run("monad-ring check ./flow"), 1, "a flow that begins later");
	has_text("WRONG tag          event 7 at 0x200180: its start is event 8, which is a later "
		 "one\n");
	has_text(": 1 thing WRONG\n");

	/* A snapshot's own description. */
	put(&image, slot_offset(&image, 7) + 32, 7, 8);
	memcpy(image.map + MONAD_EVENT_SNAPSHOT_INFO_OFFSET, MONAD_EVENT_SNAPSHOT_INFO_MAGIC, 8);
	put(&image, 8192 + 8, 80, 4);
	put(&image, 8192 + 24, 11, 8);
	put(&image, 8192 + 32, 11, 8);
	put(&image, 8192 + 40, 110, 8);
	put(&image, 8192 + 48, 99, 8);
	put(&image, 8192 + 56, 1, 8);
	image_save(&image, dir, "info");
	eq_int(run("monad-ring check ./info"), 0, "where a snapshot comes from");
	put(&image, 8192 + 56, 2, 8);
	image_save(&image, dir, "info");
	eq_int(run("monad-ring check ./info"), 1, "does not add up");
	has_text("WRONG snapshot     at 0x2000: of events 11 to 110");
	put(&image, 8192 + 56, 1, 8);
	put(&image, 8192 + 64, 2, 8);
	image_save(&image, dir, "info");
	eq_int(run("monad-ring check ./info"), 1, "more expired than missed");
	put(&image, 8192 + 64, 0, 8);
	put(&image, 8192 + 24, 12, 8);
	image_save(&image, dir, "info");
	eq_int(run("monad-ring check ./info"), 1, "more events than there were");
	image_destroy(&image);

	eq_int(run("cp small long; truncate -s +1M long; monad-ring check ./long"), 1, "too long");
	has_text("WRONG size");
	eq_int(run("cp small short; truncate -s -1 short; monad-ring check ./short 2>&1"), 1,
	       "too short");
	has_text("./short");
	eq_int(run("monad-ring check ./text 2>&1"), 1, "no ring");
	eq_int(run("cp snap.zst cut; truncate -s -1 cut; monad-ring check ./cut 2>&1"), 1,
	       "a snapshot that is cut short");

	pid = start_writer("busy:10:21", 50000);
	eq_int(run("for i in 1 2 3 4 5; do monad-ring check ./busy || exit; done"), 0,
	       "a live ring, which wraps meanwhile, is sound");
	eq_int(run("monad-ring snapshot -o busy.zst ./busy >/dev/null && monad-ring check "
		   "./busy.zst && monad-ring copy ./busy busy2 >/dev/null && monad-ring check "
		   "./busy2"), 0, "and so is what is copied from it");
	stop_writer(pid);
	eq_int(run("monad-ring check ./busy"), 0, "and when its writer has died");
	has_text("note  writer");
}

/* Nothing that stands in a file crashes it. */
static void test_check_hostile(void)
{
	struct image image;
	uint64_t state = 88172645463325252ULL;
	int bad = 0;

	image_create(&image, 10, 21, 0);
	memcpy(image.map + 8, g_monad_storage_event_schema_hash, 32);
	for (int round = 0; round < 40; round++) {
		put(&image, 6, round % 2 ? MONAD_EVENT_CONTENT_TYPE_STORAGE : 1, 2);
		for (int i = 0; i < 1024 * 8 + 8; i++) {
			uint64_t word;

			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			/* Some words are small, some as they should be, some all ones. */
			word = state >> 60 < 4	? state & 0xffff
			       : state >> 60 < 8 ? (uint64_t)(i / 8 + 1)
			       : state >> 60 < 9 ? UINT64_MAX
						 : state;
			if (i < 8)
				put(&image, i < 3 ? 64 + 8 * (uint64_t)i + (i == 2 ? 48 : 0)
						  : 4096 + 8 * (uint64_t)i, word, 8);
			else
				put(&image, MIB2 + 8 * (uint64_t)(i - 8), word, 8);
		}
		image_save(&image, dir, "hostile");
		if (run("timeout 20 monad-ring check ./hostile; echo $?") != 0 ||
		    strcmp(output + strlen(output) - 2, "1\n") != 0) {
			bad++;
			diag("round %d: %.200s", round, output + strlen(output) - 20);
		}
	}
	eq_int(bad, 0, "40 files of noise are wrong, and that is all");
	image_destroy(&image);
}

int main(int argc, char **argv)
{
	tool_begin(argc, argv);
	make_rings();
	if (run("monad-ring create -c test ./made:10:21 2>/dev/null && "
		"monad-ring snapshot -o snap.zst ./small && "
		"monad-ring snapshot --first 2 -o s3 ./wrapped && echo hello >text") != 0)
		bail_out("nothing to check: %s", output);
	test_stat();
	test_stat_losses();
	test_check();
	test_check_hostile();
	return tool_end();
}
