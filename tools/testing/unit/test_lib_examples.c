// SPDX-License-Identifier: GPL-2.0
/* The examples that read any ring, in C and C++, on ring files. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ring_writer.h"

static char bin_dir[PATH_MAX];
static char dir[] = "/tmp/monad-test-XXXXXX";
static char output[65536];
static const char *const programs[] = {"eventwatch", "eventwatch-cc"};

static FILE *begin(const char *program, const char *args)
{
	char command[2 * PATH_MAX];
	FILE *pipe;

	snprintf(command, sizeof(command), "cd %s; timeout 20 %s/%s %s 2>&1", dir, bin_dir,
		 program, args);
	pipe = popen(command, "re");
	if (!pipe)
		bail_out("popen");
	return pipe;
}

static int end(FILE *pipe)
{
	size_t len = fread(output, 1, sizeof(output) - 1, pipe);
	int status = pclose(pipe);

	output[len] = '\0';
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(const char *program, const char *args)
{
	return end(begin(program, args));
}

/* An EXEC ring with a block that begins at 4; no writer. */
static void make_ring(const char *name, uint16_t content_type)
{
	struct image image;

	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 6);
	put(&image, 6, content_type, 2);
	for (uint64_t seqno = 1; seqno <= 6; seqno++) {
		put(&image, slot_offset(&image, seqno) + 32, seqno < 4 ? 1 : seqno < 6 ? 4 : 0, 8);
		put(&image, slot_offset(&image, seqno) + 8, seqno == 4 ? 2 : 10 + seqno, 2);
	}
	put_event(&image, 5, 0, 0, 0);
	put(&image, slot_offset(&image, 5) + 32, 4, 8);
	image_save(&image, dir, name);
	image_destroy(&image);
}

static void test_files(const char *program)
{
	make_ring("exec", MONAD_EVENT_CONTENT_TYPE_EXEC);
	make_ring("other", 40000);
	eq_int(run(program, "./exec exec"), 0, "%s: a ring that nobody writes", program);
	ok(strstr(output, "1700000000.000000004          4 BLOCK_START 16 bytes\n"
			  "1700000000.000000006          6 TXN_PERF_EVM_EXIT 16 bytes\n") == output,
	   "%s: from the block's start, without what was discarded", program);
	ok(strstr(output, "no process writes to this event ring"), "%s: and says so", program);
	eq_int(run(program, "./other"), 0, "%s: a ring of unknown content", program);
	ok(strstr(output, "1700000000.000000006          6 type-16 16 bytes\n") == output,
	   "%s: has no names, and begins with the newest", program);
	eq_int(run(program, "./other exec"), 1, "%s: a ring of other content", program);
	ok(strstr(output, "content type is 40000 (unknown), not 2 (exec)"), "%s: is refused",
	   program);
	ok(run(program, "./exec nonsense") != 0, "%s: an unknown content type", program);
	ok(strstr(output, "there are test, exec, perf and storage"), "%s: names those known",
	   program);
	eq_int(run(program, "./nonexistent"), 1, "%s: no such ring", program);
	ok(strstr(output, "./nonexistent"), "%s: which is named", program);
	eq_int(run(program, ""), 2, "%s: no ring", program);
}

/* A live ring, through its descriptor in /proc; more events than there is room. */
static void test_live(const char *program)
{
	static struct ring_writer w;
	char args[64];
	FILE *pipe;

	ring_writer_create(&w, 10, 21, 1);
	snprintf(args, sizeof(args), "/proc/%d/fd/%d test", (int)getpid(), w.image.fd);
	pipe = begin(program, args);
	usleep(500000);
	for (int i = 1; i <= 3; i++) {
		ring_writer_write(&w, 2, 1);
		usleep(20000);
	}
	ring_writer_unlock(&w);
	eq_int(end(pipe), 0, "%s: events as they come, until the writer ends", program);
	ok(strstr(output, " 1 COUNTER 8 bytes\n"), "%s: the first", program);
	ok(strstr(output, " 2 COUNTER 8 bytes\n"), "%s: the second", program);
	ok(strstr(output, " 3 COUNTER 8 bytes\n"), "%s: the third", program);
	ring_writer_destroy(&w);
}

int main(int argc, char **argv)
{
	char self[PATH_MAX];

	if (argc < 1 || !realpath(argv[0], self))
		skip_all("cannot find the build directory");
	snprintf(bin_dir, sizeof(bin_dir), "%.4000s/../bin", dirname(self));
	if (!mkdtemp(dir))
		bail_out("no directory in /tmp");
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		char path[2 * PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", bin_dir, programs[i]);
		if (access(path, X_OK) != 0) {
			ok(false, "%s is built", path);
			continue;
		}
		test_files(programs[i]);
		test_live(programs[i]);
	}
	if (chdir(dir) == 0) {
		unlink("exec");
		unlink("other");
	}
	rmdir(dir);
	return done_testing();
}
