// SPDX-License-Identifier: GPL-2.0
/* The monad-storage command, as a reader of ring files. */
#include <sys/file.h>
#include <time.h>

#include "storage_rings.h"

static void make_rings(void)
{
	struct image image;
	uint64_t seqno;

	create(&image);
	image_save(&image, dir, "empty");
	for (seqno = 1; seqno <= 10; seqno++)
		put_read(&image, seqno, EPOCH + seqno * SECOND, seqno == 3 ? "cciss!c9d9" : "sdx",
			 seqno == 7 ? "e\033[2J\302\233m\377\177" : "reader");
	image_save(&image, dir, "small");
	put_window_start(&image, 2 * sizeof(struct monad_storage_complete));
	image_save(&image, dir, "expired");
	put_window_start(&image, 0);
	put(&image, slot_offset(&image, 5), 0, 8);
	image_save(&image, dir, "stalled");
	for (seqno = 1; seqno <= 3000; seqno++)
		put_read(&image, seqno, EPOCH + seqno * SECOND, "sdx", "reader");
	image_save(&image, dir, "full");
	image_destroy(&image);

	/* Two steps, one of no disk, around the end of an operation. */
	create(&image);
	for (seqno = 1; seqno <= 3; seqno++)
		put_read(&image, seqno, EPOCH, "cciss!c9d9", "reader");
	for (seqno = 1; seqno <= 3; seqno += 2)
		put(&image, slot_offset(&image, seqno) + 8, MONAD_STORAGE_RQ_ISSUE, 2);
	put(&image, slot_offset(&image, 1) + 32 + 8 * MONAD_STORAGE_TAG_DEVICE, 0, 8);
	image_save(&image, dir, "steps");
	image_destroy(&image);

	/* Set back by an hour after 100 events, and forth again after 500 more. */
	create(&image);
	for (seqno = 1; seqno <= 600; seqno++)
		put_read(&image, seqno, EPOCH + seqno * SECOND - (seqno > 100 ? HOUR : 0), "sdx",
			 "reader");
	image_save(&image, dir, "set-back");
	for (; seqno <= 610; seqno++)
		put_read(&image, seqno, EPOCH + seqno * SECOND, "sdx", "reader");
	image_save(&image, dir, "set-forth");
	put(&image, 6, 0, 2);
	image_save(&image, dir, "unused");
	image_destroy(&image);
}

static void test_replay(void)
{
	eq_int(run("$T replay -r ./small | wc -l"), 0, "replay");
	eq_str(output, "11\n", "a header and each event");
	eq_int(run("$T replay -r ./full --json | grep -c '\"seqno\"'"), 0, "a full ring");
	eq_str(output, "1024\n", "is replayed from its oldest event on when nobody records");
	eq_int(run("$T replay -r ./empty --json"), 0, "an empty ring");
	eq_str(output,
	       "{\"type\":\"totals\",\"events\":0,\"missed\":0,\"expired\":0,\"unknown\":0}\n",
	       "has totals");
	eq_int(run("$T replay -r ./small --json 2>&1 >/dev/null"), 0, "nothing lost");
	eq_str(output, "", "nothing said");
}

static void test_losses(void)
{
	eq_int(run("$T replay -r ./stalled --json 2>/dev/null"), 0, "an event never written");
	eq_int(count("\"seqno\""), 9, "does not hide those behind it");
	ok(strstr(output, "\n{\"type\":\"gap\",\"missed\":1}\n{\"seqno\":6,"), "is a gap");
	ok(strstr(output, "{\"type\":\"totals\",\"events\":9,\"missed\":1,\"expired\":0,"),
	   "and in the totals");
	eq_int(run("$T replay -r ./stalled 2>/dev/null | grep -c sdx"), 0, "in plain output");
	eq_str(output, "8\n", "too");
	eq_int(run("$T replay -r ./stalled --summary --json | grep '\"missed\"'"), 0, "a summary");
	ok(strstr(output, "\"missed\": 1,"), "counts it");
	eq_int(run("$T replay -r ./expired --json 2>/dev/null"), 0, "payloads that expired");
	ok(strstr(output, "\"events\":8,\"missed\":0,\"expired\":2,"), "are in the totals");
	for (int json = 0; json < 2; json++) {
		eq_int(run(json ? "$T replay -r ./expired --json 2>&1 >/dev/null"
				: "$T replay -r ./expired 2>&1 >/dev/null"), 0, "and on stderr");
		ok(strstr(output, "the payload of 2 more"), "how many");
	}
}

/* The one number that is at @key in @output. */
static uint64_t number(const char *key)
{
	const char *at = strstr(output, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* What is in a ring that nobody writes to was not a moment ago. */
static void test_reach(void)
{
	const uint64_t now = (uint64_t)time(NULL), oldest = EPOCH / SECOND + 1977,
		       newest = EPOCH / SECOND + 3000;
	unsigned int back, old;
	const char *text;

	run("$T status -r ./full");
	text = strstr(output, "reaches back ");
	ok(text && sscanf(text, "reaches back %ud%*uh; the newest event is %ud%*uh old", &back,
			  &old) == 2 &&
	   back == (now - oldest) / 86400 && old == (now - newest) / 86400,
	   "an idle ring reaches back to its oldest event, from now on");
	run("$T status --json -r ./full");
	ok(number("\"reach_ns\": ") / SECOND - (now - oldest) < 60, "in JSON");
	run("$T status -r ./empty");
	ok(strstr(output, "holds                nothing: no event was written yet\n") &&
	   !strstr(output, "reaches back"), "an empty one does not");
	run("$T status --json -r ./empty");
	ok(!strstr(output, "reach_ns"), "in JSON, too");
}

static void test_clock(void)
{
	eq_int(run("$T replay -r ./set-back --json --since @1700000000 2>/dev/null"), 0,
	       "--since, when the clock was set back later");
	eq_int(count("\"seqno\""), 100, "finds what was before");
	run("$T replay -r ./set-forth --json --since @1700000000 2>/dev/null");
	eq_int(count("\"seqno\""), 110, "and what comes when it was set forth again");
	run("$T replay -r ./set-forth --json --until @1700000000 2>/dev/null");
	eq_int(count("\"seqno\""), 500, "--until");
	eq_int(run("$T replay -r ./set-back --summary"), 0, "a summary");
	ok(strstr(output, "The clock was set back"), "says so");
	ok(strstr(output, "600 operations in 59m59s"), "its span is no nonsense");
	run("$T replay -r ./full --summary");
	ok(!strstr(output, "set back"), "it does not when it was not");
	if (geteuid() == 0) {
		run("$T status -r ./set-back");
		ok(strstr(output, "holds                0.0s, from 2023-11-14 22:13:21 to "
				  "2023-11-14 21:23:20 (the clock was set back meanwhile)"),
		   "status, too");
		run("$T status -r ./full");
		ok(strstr(output, "holds                17m03s, from"), "status");
		test_reach();
		eq_int(run("$T status -r ./unused 2>/dev/null"), 1, "status of a new ring");
		ok(strstr(output, "nothing was ever recorded in it\n"), "is no error");
	} else {
		skip("status takes root");
	}
	eq_int(run("$T replay -r ./full --since @1700000000 2>&1 >/dev/null"), 0, "a full ring");
	ok(strstr(output, "reaches back to 2023-11-14 22:46:17 only"), "says where it begins");
	eq_int(run("$T replay -r ./small --since 2099-01-01 2>&1"), 0, "--since the future");
	ok(strstr(output, "is in the future"), "is said");
}

static void test_disks(void)
{
	static const char *const names[] = {
		"cciss/c9d9", "/dev/cciss/c9d9", "cciss!c9d9",
	};
	char args[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(args, sizeof(args), "$T replay -r ./small --json -d '%s' 2>message",
			 names[i]);
		eq_int(run(args), 0, "-d %s", names[i]);
		ok(count("\"seqno\"") == 1 && strstr(output, "\"seqno\":3,"), "its event");
		run("cat message");
		ok(strstr(output, "there is no disk"), "and a warning");
	}
	run("$T replay -r ./small --json -d sdx 2>/dev/null");
	eq_int(count("\"seqno\""), 9, "another disk that is gone");
	run("$T replay -r ./small --json -d sdx -d cciss/c9d9 2>/dev/null");
	eq_int(count("\"seqno\""), 10, "both");
	run("$T replay -r ./steps --json --all -d cciss/c9d9 2>/dev/null");
	ok(count("\"seqno\"") == 2 && !strstr(output, "\"seqno\":1,"), "steps, by number");
	run("$T replay -r ./small --json -d sd 2>/dev/null");
	eq_int(count("\"seqno\""), 0, "no part of a name");
	eq_int(run("$T replay -r ./small --json -d 99:99 2>&1"), 0, "a number without a disk");
	ok(strstr(output, "there is no disk 99:99 now"), "is said");
	eq_int(run("$T replay -r ./small -d -1:0 2>&1"), 1, "a negative number");
	ok(strstr(output, "neither a disk's name nor MAJOR:MINOR"), "is none");
	eq_int(run("$T replay -r ./small -d 8:1048576 2>&1"), 1, "too large a number");
	eq_int(run("$T replay -r ./small -d /dev/null 2>&1"), 1, "no block device");
}

/* 8:0 was sdx, then cciss!c9d9, then sdx again. */
static void test_number_used_again(void)
{
	eq_int(run("$T replay -r ./small --summary --json"), 0, "a number with two disks");
	ok(strstr(output, "\"disk\": \"sdx\",") && strstr(output, "\"ops\": 9,"),
	   "one had 9 reads");
	ok(strstr(output, "\"disk\": \"cciss!c9d9\",") && strstr(output, "\"ops\": 1,"),
	   "the other one had one");
	eq_int(count("\"dev\": \"8:0\""), 2, "two rows");
	eq_int(count("\"reads\": "), 2, "and two disks in diskstats");
	run("$T replay -r ./small --summary");
	ok(strstr(output, "\nsdx ") && strstr(output, "\ncciss!c9d9 "), "in a table, too");
	eq_int(run("rm -f page && $T report -r ./small page && grep -c '<h2>sdx' page && "
		   "grep -c '<h2>cciss!c9d9' page"), 0, "a report has pictures of each");
	run("$T replay -r ./steps --all");
	ok(count(" cciss!c9d9 ") == 2, "a step has the name of the end before it");
}

static void test_terminal(void)
{
	static const char *const commands[] = {
		"$T replay -r ./small 2>&1", "$T replay -r ./small --summary 2>&1",
		"$T replay -r './\033[2J\302\233' 2>&1",
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		run(commands[i]);
		ok(*output && !strpbrk(output, "\033\177\302\377\233"),
		   "no escape sequences in: %zu", i);
	}
	run("$T replay -r ./small");
	ok(strstr(output, " e?[2J?m?? "), "but question marks");
	eq_int(run("$T replay -r ./nothing 2>&1"), 1, "no such ring");
	ok(!strchr(output, '@') && !strstr(output, ".c:"), "no place in the library's source");
	eq_int(run("$T replay -r no_such_ring 2>&1"), 1, "no such name");
	ok(strstr(output, "no event ring `no_such_ring`: there is") && !strstr(output, ",:"),
	   "is said in one sentence");
	eq_int(run("$T replay -r monad_ring 2>&1 | grep -c modprobe"), 0, "no module");
	eq_str(output, "1\n", "is said once");
}

static void test_output(void)
{
	static const char *const commands[] = {
		"--help", "--version", "replay --help", "replay -r ./small",
		"replay -r ./full --json", "replay -r ./small --summary", "trace -r ./small",
	};
	char args[256];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(args, sizeof(args), "timeout 5 $T %s 2>&1 >/dev/full", commands[i]);
		eq_int(run(args), 1, "%s >/dev/full", commands[i]);
		ok(strstr(output, "output was lost"), "says why");
		ok(count("output was lost") == 1, "once");
	}
	eq_int(run("{ $T replay -r ./full 2>&1; echo status $? >&3; } 3>status | head -n 1; "
		   "cat status"), 0, "a reader that goes away");
	ok(strstr(output, "status 0\n") && !strstr(output, "lost"), "is no failure");
}

/* What is in the files themselves, selftests/monad_storage has blkparse look at. */
static void test_blktrace(void)
{
	struct image image;

	create(&image);
	put_read(&image, 1, EPOCH, "../../up", "reader");
	image_save(&image, dir, "upwards");
	image_destroy(&image);
	eq_int(run("mkdir traces && $T replay -r ./small --blktrace traces 2>&1"), 0, "--blktrace");
	eq_str(output, "sdx: 30 records in traces/sdx.blktrace.0\n",
	       "a beginning and an end for each of ten reads");
	eq_int(run("$T replay -r ./small --blktrace traces 2>&1"), 1, "again");
	ok(strstr(output, "traces/sdx.blktrace.0 exists"), "says what is there");
	eq_int(run("mkdir up && $T replay -r ./upwards --blktrace up && find up -type f"), 0,
	       "a name with directories in it");
	ok(strstr(output, "\nup/.._.._up.blktrace.0\n"), "leads to none");
	eq_int(run("mkdir gap && $T replay -r ./stalled --blktrace gap 2>&1"), 0, "a gap");
	ok(strstr(output, "warning: 1 events, and"), "is said");
	eq_int(run("grep -c '1 events of all disks are missing' gap/sdx.blktrace.0"), 0, "there");
	eq_int(run("$T replay -r ./empty --blktrace gap 2>&1"), 1, "nothing");
	ok(strstr(output, "nothing to write"), "is said");
	eq_int(run("$T replay -r ./small --blktrace gap --json 2>&1"), 2, "--json as well");
	eq_int(run("$T replay -r ./small --blktrace gap --stacks 2>&1"), 2, "--stacks as well");
	eq_int(run("$T replay -r ./small --folded --json 2>&1"), 2, "lines, and JSON");
	eq_int(run("$T replay -r ./small --summary --stacks 2>&1"), 2, "a sum, and stacks");
	ok(strstr(output, "--folded sums up by stack"), "says what there is");
	eq_int(run("chmod 755 . && chmod 644 small && mkdir -m 755 mine && "
		   "setpriv --reuid=65534 --clear-groups "
		   "$T replay -r ./small --blktrace mine 2>&1"),
	       1, "somebody else's directory");
	ok(geteuid() || strstr(output, "mine/sdx.blktrace.0: Permission denied"), "says why");
}

static void within_a_minute(const char *command, const char *what)
{
	time_t until = time(NULL) + 60;
	int status;

	while ((status = run(command)) != 0 && time(NULL) < until)
		usleep(10000);
	eq_int(status, 0, "%s", what);
}

/* A reader that waits for an event that is never written, until it is lapped. */
static void test_lapped(void)
{
	struct image image = {};
	char path[PATH_MAX];
	FILE *pipe;

	run("cp small live");
	snprintf(path, sizeof(path), "%s/live", dir);
	create(&image);
	image.fd = open(path, O_RDWR | O_CLOEXEC);
	munmap(image.map, image.size);
	image.map = mmap(NULL, image.size, PROT_READ | PROT_WRITE, MAP_SHARED, image.fd, 0);
	flock(image.fd, LOCK_EX); /* a writer is at work */
	pipe = begin("$T trace --json -r ./live >lines 2>message & echo $! >pid; wait; "
		     "cat lines message");
	within_a_minute("cd /proc/$(cat pid) && grep -q /live maps && grep -q ^State:.S status",
			"trace waits for an event");
	/* It sees all of it at once, however slow this is. */
	within_a_minute("kill -STOP $(cat pid) && grep -q ^State:.T /proc/$(cat pid)/status",
			"and is stopped");
	for (uint64_t seqno = 12; seqno <= 3000; seqno++) {
		if (seqno % 1024 != 11)
			put_read(&image, seqno, EPOCH, "sdx", "reader");
	}
	run("kill -CONT $(cat pid)");
	within_a_minute("grep -q '\"type\":\"gap\"' lines", "a gap is written at once");
	run("kill $(cat pid)");
	end(pipe);
	ok(strstr(output, "{\"type\":\"gap\",\"missed\":2030}\n{\"seqno\":2041,"),
	   "trace notices that it was lapped");
	ok(strstr(output, "\"missed\":2030,\"expired\":0,"), "totals");
	ok(strstr(output, "2030 events, and the payload of 0 more"), "a message");
	image_destroy(&image);
}

int main(int argc, char **argv)
{
	find_tool(argc > 0 ? argv[0] : NULL);
	make_rings();
	test_replay();
	test_losses();
	test_clock();
	test_disks();
	test_number_used_again();
	test_terminal();
	test_output();
	test_blktrace();
	test_lapped();
	run("rm -rf ../$(basename $PWD)");
	return done_testing();
}
