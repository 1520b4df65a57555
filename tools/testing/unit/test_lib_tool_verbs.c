// SPDX-License-Identifier: GPL-2.0
/* The verbs of monad-ring that make, keep and print rings: on files. */
#include <sys/stat.h>

#include <monad/storage_event.h>

#include "tool_rings.h"

static void test_create(void)
{
	pid_t pid;

	eq_int(run("monad-ring create --content test --mode 0640 ./made:11:22 2>/dev/null"), 0,
	       "create a file");
	eq_str(output, "./made: 2048 events, 4 MiB of payload\n", "which is told");
	eq_int(run("stat -c %a made; monad-ring info ./made"), 0, "it is a ring");
	ok(strncmp(output, "640\n", 4) == 0, "of that mode");
	has_text("content type:       1 (test)\n");
	has_text("descriptors:        2048\n");
	has_text("state:              gone: no event will follow\n");
	eq_int(run("monad-ring --json create -c 4711 -s $(printf '%064d' 12) ./made:10:21 "
		   "2>/dev/null | tr -d ' \\n'"), 0, "made anew, of a content type of its own");
	eq_str(output,
	       "{\"path\":\"./made\",\"kind\":\"file\",\"content_type\":4711,"
	       "\"descriptor_capacity\":1024,\"payload_buf_size\":2097152}",
	       "in JSON");
	eq_int(run("monad-ring info --json ./made | grep -c "
		   "'\"schema_hash\": \"0*12\"\\|\"generation\": 2\\|\"wakeups\": 0'"), 0, "info");
	eq_str(output, "3\n", "has schema hash, generation and wakeups");
	eq_int(run("monad-ring create -c test ./made:10:21 2>&1 >/dev/null"), 0,
	       "the library's warning");
	has_text("monad-ring: warning: This event ring is not on a hugetlbfs");
	eq_int(run("echo hello >text; monad-ring create -c test ./text:10:21 2>&1"), 1,
	       "a file that is no ring");
	has_text("is not an event ring");
	eq_int(run("cat text"), 0, "is left alone");
	eq_str(output, "hello\n", "it is");
	pid = start_writer("live:10:21", 100);
	eq_int(run("monad-ring create -c test ./live:10:21 2>&1"), 1, "one that is written to");
	has_text("in use by process ");
	eq_int(run("monad-ring list . 2>/dev/null | grep -c ' gone$'"), 0, "list");
	eq_int(run("monad-ring list . 2>/dev/null | sed -n 's/^.\\/live .* //p'"), 0, "list");
	eq_int(atoi(output), pid, "names the writer");
	eq_int(run("monad-ring list --json . | grep -A1 '\"live\"' | tail -1"), 0, "in JSON");
	eq_int((int)number_after("\"writer_pid\": "), pid, "too");
	stop_writer(pid);
	eq_int(run("monad-ring list . 2>/dev/null | grep '^./live.* none$'"), 0, "a dead one");
}

static void test_destroy(void)
{
	pid_t pid;

	eq_int(run("cp made d1; cp made d2; monad-ring destroy ./d1 ./nope ./text ./d2 2>&1"), 1,
	       "destroy goes on");
	has_text("./d1: removed\n");
	has_text("./d2: removed\n");
	has_text("`./nope`: No such file");
	has_text("./text is not an event ring");
	eq_int(run("ls d1 d2 2>/dev/null; cat text"), 0, "what is no ring is there");
	eq_str(output, "hello\n", "and nothing else");
	pid = start_writer("live2:10:21", 100);
	eq_int(run("monad-ring destroy ./live2 2>&1"), 1, "a live one");
	has_text("./live2 is in use by process ");
	ok((pid_t)number_after("process ") == pid && strstr(output, "(test_lib_tool_v"),
	   "of that writer");
	eq_int(run("test -e live2"), 0, "it stays");
	stop_writer(pid);
	eq_int(run("monad-ring destroy --json ./live2 | tr -d ' \\n'"), 0,
	       "when its writer is dead");
	eq_str(output, "{\"destroyed\":[{\"path\":\"./live2\",\"kind\":\"file\"}]}", "in JSON");
	eq_int(run("cp made d1; ln -s d1 link; monad-ring destroy ./link 2>&1"), 1, "a link");
	has_text("symbolic link");
	eq_int(run("test -L link && test -e d1 && rm link d1"), 0, "both are there");
	eq_int(run("zstd -q made -o made.zst 2>/dev/null || cp snap.zst made.zst; "
		   "monad-ring destroy ./made.zst /dev/null /tmp 2>&1"), 1, "what is not for it");
	has_text("is a snapshot");
	has_text("not a monad_ring device");
	has_text("neither a ring device nor a file");
}

static void test_snapshot(void)
{
	eq_int(run("monad-ring snapshot -o snap.zst ./small"), 0, "snapshot");
	has_text("written:            snap.zst (");
	has_text("decompressed:       134 MiB, the least that all readers of rings take\n");
	has_text("events:             1 to 5\n"
	     "recorded:           2023-11-14 22:13:20.000000001 to 2023-11-14 22:13:20.000000005\n"
	     "copied:             5\n"
	     "missed:             0 (0 for their payload)\n"
	     "not written yet:    0\n");
	eq_int(run("monad-ring dump ./small >a 2>&1; monad-ring dump ./snap.zst >b 2>&1; cmp a b"),
	       0, "it has the same events");
	eq_int(run("monad-ring snapshot --first 2 --last 3 --json -o s2 ./small | "
		   "grep -e seqno -e copied"), 0, "a range, in JSON");
	eq_str(output,
	       "  \"first_seqno\": 2,\n  \"last_seqno\": 3,\n  \"copied\": 2,\n"
	       "  \"base_seqno\": 2,\n", "of two");
	eq_int(run("monad-ring snapshot --first 2 -o - --level 1 ./wrapped 2>msg >s3; cat msg; "
		   "monad-ring info ./s3 | grep 'of these'"), 0, "to a pipe");
	has_text("written:            standard output");
	has_text("missed:             1975 (0 for their payload)");
	has_text("of these:           1024 copied, 1975 missed");
	eq_int(run("monad-ring snapshot --from '2023-11-14 22:13:20' --to '2023-11-14 22:13:21' "
		   "-o s4 ./small | grep copied"), 0, "a time");
	has_text("copied:             5\n");
	eq_int(run("monad-ring snapshot --from '2023-11-14 22:13:19' -o s4 ./wrapped 2>&1"), 0,
	       "a time that is gone");
	has_text("warning: the ring goes back to 2023-11-14 22:13:20.000001977 only");
	eq_int(run("monad-ring snapshot --since 5m -o s4 ./small 2>&1"), 0, "nothing so new");
	has_text("warning: there are no such events");
	eq_int(run("rm -f *-2*.zst; monad-ring snapshot ./small && monad-ring snapshot ./small && "
		   "ls | grep -c '^small-20[0-9]*-[0-9]*\\(-2\\)*.zst$'"), 0, "a name of its own");
	ok(strstr(output, "\n2\n"), "and another one");
	eq_int(run("monad-ring snapshot -o ./small ./small 2>&1"), 2, "onto itself");
	has_text("is the ring itself");
	eq_int(run("monad-ring dump ./small >b 2>&1; cmp a b"), 0, "the ring is as it was");
	eq_int(run("script -qec 'monad-ring snapshot -o - ./small' /dev/null 2>&1"), 2,
	       "to a terminal");
	has_text("not written to a terminal");
	eq_int(run("mkfifo fifo; monad-ring info ./small >/dev/null; cat fifo >s5 & "
		   "monad-ring snapshot -o fifo ./small >/dev/null; wait; cmp s5 snap.zst | "
		   "head -c 0; monad-ring dump ./s5 2>/dev/null | wc -l"), 0, "to a FIFO");
	eq_str(output, "5\n", "all of it");
	eq_int(run("monad-ring snapshot -o - ./small 2>&1 >/dev/full"), 1, "no room");
	has_text("No space left");
	eq_int(run("ulimit -f 1; monad-ring snapshot -o s6 ./small 2>&1"), 1, "ulimit -f");
	has_text("File too large");
	eq_int(run("ulimit -f 1; monad-ring snapshot -o - ./small 2>&1 >s6"), 1, "ulimit -f");
	has_text("File too large");
	eq_int(run("rm s6; ulimit -f 1; monad-ring create -c test ./s6:10:21 2>&1"), 1,
	       "or of a ring");
	has_text("File too large");
	eq_int(run("ls -A | grep -e s6 -e snapshot-"), 1, "nothing is left");
	eq_int(run("ulimit -f 1; monad-ring dump ./wrapped 2>&1 >big"), 1, "or of what is printed");
	has_text("output was lost");
	eq_int(run("monad-ring snapshot -o /nonexistent/x ./small 2>&1"), 1, "no directory");
	has_text("/nonexistent");
}

static void test_copy(void)
{
	struct stat st;
	char path[PATH_MAX];
	pid_t pid;

	eq_int(run("monad-ring copy ./small ./c1"), 0, "copy a file to a file");
	has_text("written:            ./c1 (134 MiB)\n");
	has_text("copied:             5\n");
	eq_int(run("monad-ring dump ./c1 >b 2>&1; cmp a b && monad-ring check ./c1"), 0,
	       "the same events, sound");
	path_of(path, "c1");
	ok(stat(path, &st) == 0 && st.st_blocks * 512 < 1 << 20, "sparse: %ld blocks",
	   (long)st.st_blocks);
	eq_int(run("monad-ring copy ./small c2.zst && monad-ring copy ./c2.zst c3.zst && "
		   "cmp c2.zst c3.zst && monad-ring copy ./c2.zst c4 && monad-ring dump ./c4 "
		   ">b 2>&1; cmp a b"), 0, "to a snapshot, a snapshot of that, and back");
	eq_int(run("zstd -dqc c2.zst >c5 && cmp c4 c5 || ! zstd --version >/dev/null"), 0,
	       "what zstd makes of it");
	eq_int(run("monad-ring copy --snapshot ./wrapped c6 && monad-ring info ./c6 | "
		   "grep -c snapshot"), 0, "--snapshot");
	eq_int(run("monad-ring copy ./s3 c7 --json | grep -e copied -e missed -e first_seqno"), 0,
	       "of a snapshot that missed some");
	eq_str(output, "  \"first_seqno\": 2,\n  \"copied\": 1024,\n  \"missed\": 1975,\n",
	       "tells that");
	eq_int(run("monad-ring copy ./wrapped ./c1 2>&1"), 1, "what is there");
	has_text("./c1 exists; --force");
	eq_int(run("monad-ring copy --force ./wrapped ./c1 && monad-ring dump ./c1 2>/dev/null | "
		   "wc -l | grep 1024"), 0, "--force");
	eq_int(run("ln c1 c8; monad-ring copy -f ./c1 ./c8 2>&1"), 1, "to itself");
	has_text("same file");
	eq_int(run("monad-ring copy -f ./small . 2>&1"), 1, "to a directory");
	has_text("no regular file");
	pid = start_writer("live3:10:21", 100);
	eq_int(run("monad-ring copy -f ./small live3 2>&1"), 1, "over a live ring");
	has_text("process ");
	has_text("writes to live3");
	/* Where /proc/locks does not have its lock. */
	if (run("unshare -pf --mount-proc true 2>&1")) {
		skip("no PID namespace");
	} else {
		eq_int(run("unshare -pf --mount-proc monad-ring copy -f ./small live3 2>&1"), 1,
		       "over a live ring, from another PID namespace");
		has_text("writes to live3");
	}
	stop_writer(pid);
	eq_int(run("monad-ring copy -f ./small live3"), 0, "over a ring whose writer is gone");
	eq_int(run("monad-ring snapshot --to @0 -o early.zst ./small && "
		   "monad-ring info ./early.zst | grep -E 'copied.* 0'"), 0,
	       "up to 1970: nothing");
	eq_int(run("monad-ring copy ./small /nonexistent/x 2>&1"), 1, "no directory");
	eq_int(run("ulimit -f 1; monad-ring copy ./small c9 2>&1"), 1, "no room");
	has_text("File too large");
	eq_int(run("ls -A | grep -e c9 -e .copy-"), 1, "leaves nothing behind");
	run("for s in 0.005 0.01 0.02 0.03 0.05 0.08; do timeout -s KILL $s monad-ring copy "
	    "./small k$s; timeout -s KILL $s monad-ring copy -f ./small c1; done");
	eq_int(run("ls -A | grep -e .copy-"), 1, "nor does who is killed");
}

/* dump --raw; --hex and decoded, of each content type. */
static void test_dump(void)
{
	static const struct {
		uint16_t content_type;
		const uint8_t *hash;
	} types[] = {
		{MONAD_EVENT_CONTENT_TYPE_TEST, g_monad_test_event_schema_hash},
		{MONAD_EVENT_CONTENT_TYPE_EXEC, NULL},
		{MONAD_EVENT_CONTENT_TYPE_PERF, g_monad_perf_event_schema_hash},
		{MONAD_EVENT_CONTENT_TYPE_STORAGE, g_monad_storage_event_schema_hash},
		{40000, NULL},
	};
	struct image image;

	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 4);
	for (uint64_t seqno = 1; seqno <= 4; seqno++)
		put(&image, image.payload_offset + 16 * (seqno - 1), 3 | 2 << 16, 4);
	put_event(&image, 2, 1, 16, 16);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		put(&image, 6, types[i].content_type, 2);
		memset(image.map + 8, 0, 32);
		if (types[i].hash)
			memcpy(image.map + 8, types[i].hash, 32);
		image_save(&image, dir, "any");
		eq_int(run("monad-ring dump --hex ./any 2>/dev/null | grep -c '  00000000  '"), 0,
		       "dump --hex, content type %u", types[i].content_type);
		eq_str(output, "4\n", "of all four");
		eq_int(run("monad-ring dump --json --hex ./any | grep -c '\"payload\":\"030002'"),
		       0, "in JSON");
		eq_str(output, "4\n", "of all four");
		eq_int(run("monad-ring dump ./any 2>/dev/null | grep -c "
			   "'RECORD_ERROR .* error=missing_event dropped_type=2'"), 0,
		       "an error is decoded");
	}
	image_destroy(&image);
	eq_int(run("monad-ring dump --raw ./any 2>/dev/null | tail -c +33 | head -c 4 | "
		   "od -An -tx1"), 0, "dump --raw");
	eq_str(output, " 03 00 02 00\n", "bytes");
	eq_int(run("monad-ring dump --raw --type 1 ./any 2>/dev/null | wc -c"), 0, "of one event");
	eq_str(output, "16\n", "and no more");
}

static void test_errors(void)
{
	static const struct tool_case cases[] = {
		{"create", "wants the name of one ring", 2},
		{"create -c nope ./x", "not 'nope'", 2},
		{"create -c 0 ./x", "not '0'", 2},
		{"create -c 65536 ./x", "not '65536'", 2},
		{"create ./x", "needs --content", 2},
		{"create -F x", "needs --content", 2},
		{"create -c exec ./x", "--schema", 2},
		{"create -s 00 ./x", "64 hexadecimal digits", 2},
		{"create -s $(printf %064d 1) ./x", "goes with --content", 2},
		{"create -c test -N 0 ./x", "--node is for kernel rings", 2},
		{"create -m 640 x", "--mode is for ring files", 2},
		{"create -c test -m 0 ./x", "--mode wants", 2},
		{"create -c test -m 1777 ./x", "--mode wants", 2},
		{"create -c test -m 689 ./x", "--mode wants", 2},
		{"create -N x y", "not 'x'", 2},
		{"create x:1", "NAME:DESCRIPTORS-SHIFT:PAYLOAD-SHIFT", 2},
		{"create x:9:21", "descriptors shift 9 is not from 10", 2},
		{"create x:10:41", "payload shift 41 is not from 21", 2},
		{"create bad/", "a ring file needs --content", 2},
		{"create -- -x", "cannot be the name", 1},
		{"create --bogus x", "--bogus", 2},
		{"destroy", "wants the name of a ring", 2},
		{"destroy --bogus x", "--bogus", 2},
		{"snapshot", "wants the name of one ring", 2},
		{"snapshot --since soon ./small", "not 'soon'", 2},
		{"snapshot --from never ./small", "not 'never'", 2},
		{"snapshot --to never ./small", "not 'never'", 2},
		{"snapshot --from 1m --to 2m ./small", "--from is later", 2},
		{"snapshot --since 1m --to 2m ./small", "does not go with", 2},
		{"snapshot --first 0 ./small", "not '0'", 2},
		{"snapshot --last x ./small", "not 'x'", 2},
		{"snapshot --first 3 --last 2 ./small", "--first is after", 2},
		{"snapshot --level 0 ./small", "not '0'", 2},
		{"snapshot --level 99 -o x ./small", "level 99 is not from", 1},
		{"snapshot --bogus ./small", "--bogus", 2},
		{"snapshot ./nonexistent", "./nonexistent", 1},
		{"stat", "wants the name of a ring", 2},
		{"stat --interval 0 ./small", "not '0'", 2},
		{"stat --interval x ./small", "not 'x'", 2},
		{"stat --count 0 ./small", "not '0'", 2},
		{"stat ./nonexistent", "./nonexistent", 1},
		{"stat ./small >/dev/full", "output was lost", 1},
		{"check", "wants the name of one ring", 2},
		{"check --bogus", "--bogus", 2},
		{"check ./nonexistent", "./nonexistent", 1},
		{"check ./small >/dev/full", "output was lost", 1},
		{"copy ./small", "wants two names", 2},
		{"copy --bogus a b", "--bogus", 2},
		{"copy ./nonexistent b", "./nonexistent", 1},
		{"dump --raw --hex ./small", "does not go with", 2},
		{"dump --raw --json ./small", "does not go with", 2},
		{"create --help", "EXAMPLES", 0},
		{"destroy --help", "EXAMPLES", 0},
		{"snapshot --help", "EXAMPLES", 0},
		{"stat --help", "EXAMPLES", 0},
		{"check --help", "EXAMPLES", 0},
		{"copy --help", "EXAMPLES", 0},
	};

	tool_check(cases, sizeof(cases) / sizeof(cases[0]));
	eq_int(run("ls x 2>/dev/null"), 2, "none of these made anything");
}

int main(int argc, char **argv)
{
	tool_begin(argc, argv);
	make_rings();
	test_create();
	test_snapshot();
	test_destroy();
	test_copy();
	test_dump();
	test_errors();
	return tool_end();
}
