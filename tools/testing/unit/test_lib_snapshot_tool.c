// SPDX-License-Identifier: GPL-2.0
/* The commands on snapshots, and the zstd command on ours, as users run them. */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_snapshot.h>

#include "snapshot_frame.h"
#include "tap.h"
#include "tool_run.h"

static void write_snapshot(const struct image *image, const char *name)
{
	struct monad_event_ring ring;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (monad_event_ring_mmap(&ring, PROT_READ, 0, image->fd, 0, name) ||
	    monad_event_snapshot_write_file(&ring, path, NULL, NULL))
		bail_out("%s", monad_event_ring_get_last_error());
	monad_event_ring_unmap(&ring);
}

static void make_files(void)
{
	struct image image;

	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 1200);
	image_save(&image, dir, "ring");
	write_snapshot(&image, "snapshot");
	put(&image, 6, 256, 2);
	memcpy(image.map + 8, g_monad_storage_event_schema_hash, 32);
	put_last_seqno(&image, 0);
	write_snapshot(&image, "storage");
	image_destroy(&image);
}

static void test_zstd(void)
{
	static const char *const ways[] = {
		"-1", "-19 --no-check", "--ultra -22 --check", "--long=27", "--fast=5 --no-check",
	};
	char command[256];

	if (run("zstd --version") != 0) {
		skip("no zstd command");
		return;
	}
	eq_int(run("zstd -tq ./snapshot && zstd -dqc snapshot >unpacked && wc -c <unpacked"), 0,
	       "zstd decompresses a snapshot of ours");
	eq_str(output, "140509184\n", "to a ring file");
	eq_int(run("monad-ring dump ./unpacked >a 2>&1 && monad-ring dump ./snapshot >b 2>&1 &&"
		   " cmp a b && wc -l <a"), 0, "with the same events");
	eq_str(output, "1025\n", "and totals");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		snprintf(command, sizeof(command),
			 "zstd -qf %s ring -o by-zstd && monad-ring dump ./by-zstd >a 2>&1 &&"
			 " monad-ring dump ./ring >b 2>&1 && cmp a b", ways[i]);
		eq_int(run(command), 0, "what zstd %s makes is read", ways[i]);
		snprintf(command, sizeof(command),
			 "cat ring | zstd -q %s >by-zstd && monad-ring dump ./by-zstd >a 2>&1 &&"
			 " cmp a b", ways[i]);
		eq_int(run(command), 0, "and from a pipe");
	}
	/* Windows of 2 GiB: tables for that take zstd some memory. */
	eq_int(run("cat ring | zstd -q -1 --long=31 >by-zstd && monad-ring dump ./by-zstd"
		   " >a 2>&1 && cmp a b"), 0, "zstd --long=31");
	eq_int(run("head -c -15 ring | zstd -q >by-zstd && monad-ring dump ./by-zstd >a 2>&1 &&"
		   " cmp a b"), 0, "15 bytes short");
	eq_int(run("cat snapshot ./snapshot >twice; monad-ring info ./twice 2>&1"), 1, "twice");
	ok(strstr(output, "something follows the zstd frame"), "says so");
	eq_int(run("zstd -q <b >text; monad-ring info ./text 2>&1"), 1, "some text by zstd");
	ok(strstr(output, "./text` is compressed by zstd"), "says so: %s", output);
	run("rm -f unpacked a b by-zstd twice");
}

static void test_monad_ring(void)
{
	eq_int(run("head -c 1000 snapshot >broken; monad-ring list . 2>&1"), 1, "list");
	ok(strstr(output, "./snapshot                       snapshot test            65536"),
	   "shows a snapshot");
	ok(strstr(output, "./ring                           file     test             1024"),
	   "and a file");
	ok(strstr(output, "`./broken` is truncated"), "and says of a broken one what is wrong");
	ok(!strstr(output, "text"), "passes over others");
	eq_int(run("monad-ring list --json . | grep -c '\"kind\": \"snapshot\"'"), 0, "in JSON");
	eq_int(run("rm broken text; monad-ring info ./snapshot"), 0, "info");
	ok(strstr(output, "./snapshot (snapshot)\n"), "its kind");
	ok(strstr(output, "events 177 to 1200; event 1 here was 177 there"), "its place");
	ok(strstr(output, "1024 copied, 0 missed (0 for their payload), 0 not"), "its losses");
	eq_int(run("monad-ring info --json ./snapshot | grep -A8 '\"snapshot\": {'"), 0, "JSON");
	ok(strstr(output, "\"base_seqno\": 177") && strstr(output, "\"copied\": 1024"), "has them");
	eq_int(run("timeout 20 monad-ring watch --from 1020 ./snapshot 2>&1"), 0,
	       "watch ends at the end");
	ok(strstr(output, "end: a snapshot has no writer"), "and says why");
	ok(strstr(output, "5 events, 0 missed"), "after all events");
	eq_int(run("timeout 20 monad-ring watch --json --from 1025 ./snapshot"), 0, "in JSON");
	ok(strstr(output, "{\"note\":\"end\"}\n"), "a note");
	eq_int(run("cat snapshot | monad-ring dump /dev/stdin 2>&1"), 1, "a pipe is no ring");
}

static void test_monad_storage(void)
{
	if (run("command -v monad-storage") != 0) {
		skip("monad-storage is not built");
		return;
	}
	eq_int(run("monad-storage replay -r ./storage --summary 2>&1"), 0, "monad-storage replay");
	eq_int(run("monad-storage replay -r ./snapshot 2>&1"), 1, "of another content type");
	ok(strstr(output, "content type is 1 (test)"), "says so: %s", output);
}

int main(int argc, char **argv)
{
	tool_begin(argc, argv);
	make_files();
	test_zstd();
	test_monad_ring();
	test_monad_storage();
	return tool_end();
}
