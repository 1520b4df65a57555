// SPDX-License-Identifier: GPL-2.0
/* The monad-ring command: what it prints, and its exit status. */
#include <signal.h>
#include <stdint.h>

#include <monad/event_ring.h>
#include <monad/storage_event.h>
#include <monad_event/event_metadata.h>

#include "ring_image.h"
#include "tap.h"
#include "tool_run.h"

/* Runs "monad-ring ARGS" in the shell; its exit status, output in @output. */
static int cmd(const char *args)
{
	char command[2 * PATH_MAX];

	snprintf(command, sizeof(command), "%s %s", tool, args);
	return run(command);
}

/* Five events: 2 was discarded, the payload of 3 has expired. */
static void make_rings(void)
{
	struct monad_ring_ext ext = {.size = sizeof(ext), .magic = "MONADEX"};
	struct image image;

	ext.magic[7] = 'T';
	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 5);
	for (uint64_t seqno = 1; seqno <= 5; seqno++) {
		uint64_t at = image.payload_offset + (seqno - 1) * 16;

		put(&image, at, 7, 8);
		put(&image, at + 8, seqno * 100, 8);
		for (int tag = 0; tag < 4; tag++)
			put(&image, slot_offset(&image, seqno) + 32 + 8 * tag,
			    tag == 2 ? seqno % 2 : 0, 8);
	}
	put_event(&image, 2, 0, 16, 0);
	put(&image, slot_offset(&image, 4) + 8, 3, 2);
	image_save(&image, dir, "small");
	put_window_start(&image, 33);
	image_save(&image, dir, "expired");
	put_events_up_to(&image, 3000);
	image_save(&image, dir, "wrapped");
	put(&image, slot_offset(&image, 2500), 99999, 8);
	image_save(&image, dir, "gap");
	put(&image, slot_offset(&image, 2500), 0, 8);
	image_save(&image, dir, "unwritten");
	put(&image, 6, 256, 2);
	image_save(&image, dir, "other");
	put(&image, 6, 1, 2);
	memcpy(image.map + MONAD_RING_EXT_OFFSET, &ext, sizeof(ext));
	image_save(&image, dir, "no-boot-id");
	ext.boot_id[15] = 1;
	memcpy(image.map + MONAD_RING_EXT_OFFSET, &ext, sizeof(ext));
	image_save(&image, dir, "boot-id");
	put(&image, 48, 1, 8);
	image_save(&image, dir, "broken");
	image_destroy(&image);
}

static void test_dump(void)
{
	eq_int(cmd("dump ./small 2>/dev/null"), 0, "dump");
	eq_str(output,
	       "2023-11-14 22:13:20.000000001          1 COUNTER             16 tag2=1 writer=7 "
	       "counter=100\n"
	       "2023-11-14 22:13:20.000000003          3 COUNTER             16 tag2=1 writer=7 "
	       "counter=300\n"
	       "2023-11-14 22:13:20.000000004          4 VLT                 16 "
	       "bytes=07000000000000009001000000000000\n"
	       "2023-11-14 22:13:20.000000005          5 COUNTER             16 tag2=1 writer=7 "
	       "counter=500\n",
	       "its events");
	eq_int(cmd("dump ./small 2>&1 >/dev/null"), 0, "dump's messages");
	eq_str(output,
	       "4 events, 0 missed, 0 payloads expired, 1 discarded by their writers, 0 filtered "
	       "out\n",
	       "totals");
	eq_int(cmd("dump --json --type VLT --hex ./small"), 0, "dump --json --type --hex");
	eq_str(output,
	       "{\"seqno\":4,\"time_ns\":1700000000000000004,\"time\":\"2023-11-14T22:13:20."
	       "000000004"
	       "+00:00\",\"type\":3,\"name\":\"VLT\",\"size\":16,\"tags\":[0,0,0,0],\"data\":{"
	       "\"bytes\":\"07000000000000009001000000000000\"},\"payload\":"
	       "\"07000000000000009001000000000000\"}\n"
	       "{\"totals\":{\"events\":1,\"missed\":0,\"payloads_expired\":0,\"discarded\":1,"
	       "\"filtered\":3}}\n",
	       "JSON");
	eq_int(cmd("dump ./small --tag 2=0x1 --count 2 --type 2 2>/dev/null | wc -l"), 0,
	       "filters");
	eq_str(output, "2\n", "two events");
	eq_int(cmd("dump --hex ./small --type VLT 2>/dev/null | tail -1"), 0, "dump --hex");
	eq_str(output,
	       "    00000000   07 00 00 00 00 00 00 00  90 01 00 00 00 00 00 00  "
	       "|................|\n",
	       "bytes");
	eq_int(cmd("dump ./expired 2>&1"), 0, "dump of expired payloads");
	ok(strstr(output, " 3 COUNTER             16 tag2=1 (payload expired)\n"), "are marked");
	ok(strstr(output, "2 payloads expired"), "and counted");
	eq_int(cmd("dump --json ./expired | grep -c '\"expired\":true'"), 0, "in JSON, too");
	eq_str(output, "2\n", "both");
	eq_int(cmd("dump ./wrapped 2>/dev/null | wc -l"), 0, "dump of a ring that has wrapped");
	eq_str(output, "1024\n", "all of it");
	eq_int(cmd("dump ./gap 2>&1 | grep -e gap -e missed"), 0, "dump with a gap");
	eq_str(output,
	       "gap: 1 events missed\n"
	       "1023 events, 1 missed, 0 payloads expired, 0 discarded by their writers, 0 "
	       "filtered "
	       "out\n",
	       "says how many");
	eq_int(cmd("dump ./unwritten 2>&1 | grep -c -e 'gap: 1 ' -e '^1023 events, 1 missed'"), 0,
	       "dump with an event that is never written");
	eq_str(output, "2\n", "goes on behind it");
}

/* Rings of each content type: names, flow tags, payloads, and errors of all. */
static void make_content(void)
{
	static const uint8_t sample[40] = "\x88\x77\x66\x55\x44\x33\xff\xff\x07\0\0\0\x08\0\0\0"
					  "\x03\0\0\0\x02\0\0\0work\x1b\0";
	struct image image;

	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 2);
	put(&image, 6, MONAD_EVENT_CONTENT_TYPE_STORAGE, 2);
	memcpy(image.map + 8, g_monad_storage_event_schema_hash, 32);
	put_event(&image, 1, 1, 0, 16 + 40);
	for (int tag = 0; tag < 4; tag++) {
		put(&image, slot_offset(&image, 1) + 32 + 8 * tag, 0, 8);
		put(&image, slot_offset(&image, 2) + 32 + 8 * tag, tag == 1 ? 0 : 7 + tag, 8);
	}
	put(&image, image.payload_offset, 2 | 8 << 16, 4); /* error, dropped type */
	put(&image, image.payload_offset + 4, 40, 4);
	put(&image, image.payload_offset + 8, 5000000000, 8);
	for (int i = 0; i < 40; i++)
		image.map[image.payload_offset + 16 + i] = (uint8_t)(0xa0 + i);
	put_event(&image, 2, 4, 64, 0);
	for (int tag = 0; tag < 4; tag++)
		put(&image, slot_offset(&image, 2) + 32 + 8 * tag, tag == 1 ? 0 : 7 + tag, 8);
	image_save(&image, dir, "storage");
	image.map[8] ^= 1;
	image_save(&image, dir, "storage-other");

	put(&image, 6, MONAD_EVENT_CONTENT_TYPE_PERF, 2);
	memcpy(image.map + 8, g_monad_perf_event_schema_hash, 32);
	put_event(&image, 1, 2, 0, 40);
	memcpy(image.map + image.payload_offset, sample, 40);
	put_event(&image, 2, 1, 48, 8); /* an error cut short */
	for (int tag = 0; tag < 4; tag++)
		put(&image, slot_offset(&image, 2) + 32 + 8 * tag, 0, 8);
	image_save(&image, dir, "perf");
	image_destroy(&image);
}

static void test_content(void)
{
	make_content();
	eq_int(cmd("dump ./storage 2>/dev/null | cut -c 41-"), 0, "dump of storage events");
	eq_str(output,
	       " RECORD_ERROR        56 error=overflow_expire dropped_type=8 dropped=RQ_COMPLETE "
	       "truncated=40 requested=5000000000 head="
	       "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf...\n"
	       " RQ_ISSUE             0 start=7 cgroup=9 latency=10\n",
	       "an error, and flow tags by name");
	eq_int(cmd("dump ./storage --json | head -2 | cut -d, -f 4-"), 0, "in JSON");
	eq_str(output,
	       "\"type\":1,\"name\":\"RECORD_ERROR\",\"size\":56,\"tags\":[0,0,0,0],\"flow\":{},"
	       "\"data\":{\"error\":\"overflow_expire\",\"error_type\":2,\"dropped_type\":8,"
	       "\"dropped_name\":\"RQ_COMPLETE\",\"truncated_payload_size\":40,"
	       "\"requested_payload_size\":5000000000,\"truncated_head\":"
	       "\"a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7"
	       "\"}}\n"
	       "\"type\":4,\"name\":\"RQ_ISSUE\",\"size\":0,\"tags\":[7,0,9,10],"
	       "\"flow\":{\"start\":7,\"cgroup\":9,\"latency\":10}}\n",
	       "both");
	eq_int(cmd("dump ./storage --tag Cgroup=9 --tag 3=10 2>/dev/null | wc -l"), 0,
	       "a tag by name, one by number");
	eq_str(output, "1\n", "one event");
	eq_int(cmd("dump ./storage --tag nope=9 2>&1"), 2, "a tag there is not");
	ok(strstr(output, "no flow tag 'nope'") && strstr(output, "  latency "), "those there are");
	eq_int(cmd("dump ./storage-other 2>/dev/null | cut -c 41-"), 0, "another schema");
	eq_str(output,
	       " RECORD_ERROR        56 error=overflow_expire dropped_type=8 truncated=40 "
	       "requested=5000000000 head="
	       "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf...\n"
	       " type-4               0 tag0=7 tag2=9 tag3=10\n",
	       "has numbers");
	eq_int(cmd("dump ./storage-other --type RQ_ISSUE 2>&1"), 2, "no names to ask for");
	ok(strstr(output, "no event type 'RQ_ISSUE'; give a number"), "says so");
	eq_int(cmd("dump ./storage-other --tag start=7 2>&1"), 2, "nor tags");
	eq_int(cmd("dump ./storage-other --type 4 --type record_error 2>/dev/null | wc -l"), 0,
	       "but numbers");
	eq_str(output, "2\n", "two events");
	eq_int(cmd("dump ./perf 2>/dev/null | cut -c 41-"), 0, "dump of a sampler's events");
	eq_str(output,
	       " SAMPLE              40 pid=10 tid=11 cpu_id=12 tag3=13 cpu=3 task=7/8 comm=work? "
	       "ip=0xffff334455667788 mode=kernel\n"
	       " RECORD_ERROR         8\n",
	       "a sample; an error that is cut short");
	eq_int(cmd("dump ./perf --json | head -1 | grep -o '\"data.*'"), 0, "in JSON");
	eq_str(output,
	       "\"data\":{\"cpu\":3,\"pid\":7,\"tid\":8,\"comm\":\"work\\u001b\","
	       "\"ip\":\"0xffff334455667788\",\"mode\":\"kernel\",\"flags\":2}}\n",
	       "a sample");
}

static void test_watch(void)
{
	eq_int(cmd("watch ./small --from 3 --timeout 0.1 2>/dev/null | cut -c 37-50 | "
		   "sed 's/$/|/'"), 0, "watch");
	eq_str(output, "   3 COUNTER  |\n   4 VLT      |\n   5 COUNTER  |\n", "from 3 on");
	eq_int(cmd("watch ./small --timeout 0.1 2>/dev/null | wc -l"), 0, "watch from newest");
	eq_str(output, "1\n", "is one event");
	eq_int(cmd("watch ./wrapped --from oldest -n 1 2>/dev/null | cut -c 30-40"), 0,
	       "watch --from oldest");
	eq_str(output, "       2041\n", "keeps a margin");
	eq_int(cmd("watch ./wrapped --from 1 -n 1 --json | head -1"), 0, "watch from what is gone");
	eq_str(output, "{\"gap\":2040}\n", "is a gap");
	eq_int(cmd("watch ./small --json --timeout 0 --from 100"), 0, "nothing to see");
	eq_str(output,
	       "{\"totals\":{\"events\":0,\"missed\":0,\"payloads_expired\":0,\"discarded\":0,"
	       "\"filtered\":0}}\n",
	       "but totals");
	eq_int(cmd("watch ./small --from 1 2>&1 & sleep ${PAUSE:-0.3}; kill -INT $!; wait $!"), 0,
	       "an interrupt is a clean end");
	ok(strstr(output, "4 events, 0 missed"), "with totals");
	eq_int(cmd("watch ./wrapped --from oldest 2>&1 | head -1 | wc -l"), 0,
	       "ends when nobody reads");
}

/* A ring that is replaced while it is watched is followed. */
static void test_replaced(void)
{
	eq_int(cmd("--version >/dev/null; cp small moving"), 0, "a ring to replace");
	eq_int(cmd("watch ./moving --json --from 1 --timeout ${WATCH:-2.5} >out & cp small next; "
		   "sleep ${PAUSE:-0.5};"
		   " mv next moving; wait; grep -c COUNTER out; grep -c recreated out"),
	       0, "a file that is replaced");
	eq_str(output, "6\n1\n", "is followed");
	eq_int(cmd("--version >/dev/null; cp small moving; cp other next"), 0, "a ring to replace");
	eq_int(cmd("watch ./moving --type COUNTER --timeout ${WATCH:-5} 2>&1 & watch=$!; "
		   "sleep ${PAUSE:-0.5};"
		   " mv next moving; wait $watch"), 1,
	       "one that is replaced by another type's is not");
	ok(strstr(output, "made anew, and is not what was asked for"), "and why is said");
}

static void test_list_info(void)
{
	eq_int(cmd("list . 2>/dev/null"), 1, "list, with a broken ring");
	ok(strstr(output, "./small") && strstr(output, "./wrapped"), "lists the others");
	eq_int(cmd("list . 2>&1 >/dev/null | grep -c 'payload buffer of 1 bytes'"), 0, "says what");
	eq_int(cmd("list /nonexistent 2>/dev/null"), 1, "list of no directory");
	eq_int(cmd("--json list . | grep -c '\"path\"'"), 0, "list --json");
	eq_int(cmd("info ./wrapped"), 0, "info");
	ok(strstr(output, "last seqno:         3000\n"), "last seqno");
	ok(strstr(output, "oldest event:       1977, recorded 2023-11-14 22:13:20.000001977\n"),
	   "oldest event");
	ok(strstr(output, "content type:       1 (test)\n"), "content type");
	eq_int(cmd("info --json ./small | grep -e last_seqno -e kind"), 0, "info --json");
	eq_str(output, "  \"kind\": \"file\",\n  \"last_seqno\": 5,\n", "fields");
	eq_int(cmd("info ./boot-id | grep -c 'boot id'"), 0, "info: boot id");
	eq_int(cmd("info ./no-boot-id | grep -e 'boot id' -e uuid | wc -l"), 0, "none");
	eq_str(output, "1\n", "is left out");
	eq_int(cmd("info --json ./no-boot-id | grep -e boot_id -e uuid | wc -l"), 0, "in JSON");
	eq_str(output, "1\n", "too");
}

/* Names of files can hold escape sequences. */
static void test_terminal(void)
{
	cmd("--version >/dev/null; mkdir evil; cp small \"$(printf 'evil/\\033[2J\\302\\233')\";"
	    " cp broken \"$(printf 'evil/\\033[3J')\"");
	cmd("list evil 2>&1");
	ok(strstr(output, "evil/?[2J? "), "list");
	ok(strstr(output, "evil/?[3J"), "and its messages");
	ok(!strpbrk(output, "\033\302"), "write no escape sequences");
	cmd("info evil/*2J* 2>&1");
	ok(strstr(output, "evil/?[2J? ") && !strpbrk(output, "\033\302"), "info neither");
}

static void test_errors(void)
{
	static const struct tool_case cases[] = {
		{"", "Usage:", 2},
		{"bogus", "unknown command 'bogus'", 2},
		{"--bogus", "unknown option '--bogus'", 2},
		{"dump", "wants the name of one ring", 2},
		{"dump a b", "wants the name of one ring", 2},
		{"dump --bogus ./small", "--bogus", 2},
		{"dump --tag 4=1 ./small", "not '4=1'", 2},
		{"dump --tag 0=-1 ./small", "not '0=-1'", 2},
		{"dump --count 0 ./small", "not '0'", 2},
		{"dump --type NOPE ./small", "COUNTER", 2},
		{"dump --type 65536 ./small", "65536", 2},
		{"watch --from middle ./small", "not 'middle'", 2},
		{"watch --timeout soon ./small", "not 'soon'", 2},
		{"info", "wants the name of one ring", 2},
		{"info --bogus", "--bogus", 2},
		{"dump ./nonexistent", "./nonexistent", 1},
		{"info ./broken", "payload buffer of 1 bytes", 1},
		{"info /dev/null", "not an event ring", 1},
		{"info /tmp", "neither a file nor a device", 1},
		{"dump ./small >/dev/full", "output was lost", 1},
		{"--help", "EXAMPLES", 0},
		{"dump --help", "EXAMPLES", 0},
		{"watch --help", "EXAMPLES", 0},
		{"list --help", "EXAMPLES", 0},
		{"info --help", "EXAMPLES", 0},
		{"--version", "monad-ring ", 0},
	};

	tool_check(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(int argc, char **argv)
{
	tool_begin(argc, argv);
	make_rings();
	test_dump();
	test_content();
	test_watch();
	test_list_info();
	test_terminal();
	test_errors();
	test_replaced();
	return tool_end();
}
