// SPDX-License-Identifier: GPL-2.0
/* The monad-storage command and ring files in which anything stands: each reading of one ends. */
#include "storage_rings.h"

static const char *const commands[] = {
	"replay --json --all", "replay --stacks", "replay --summary", "replay --since 1h",
	"replay --blktrace traces", "status", "status --json", "report page",
};

/* How many did not end in time, or were killed. */
static unsigned int read_in_all_ways(const char *what)
{
	unsigned int bad = 0;
	char args[256];

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		int status;

		snprintf(args, sizeof(args),
			 "rm -rf traces page; mkdir traces; timeout -k 1 20 $T %s -r ./hostile "
			 ">output 2>&1; status=$?; head -c 1000 output; exit $status", commands[i]);
		status = run(args);
		if (status != 0 && status != 1) {
			bad++;
			diag("%s: %s: status %d: %.300s", what, commands[i], status, output);
		}
	}
	return bad;
}

/* Numbers have an end, which no writer comes to: but a file may say so. */
static void test_last_number(void)
{
	static const uint64_t last[] = {
		UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 1024, 1ULL << 63,
	};
	struct image image;

	create(&image);
	for (uint64_t seqno = 1; seqno <= 100; seqno++)
		put_read(&image, seqno, EPOCH, "sdx", "reader");
	for (size_t i = 0; i < sizeof(last) / sizeof(*last); i++) {
		put_last_seqno(&image, last[i]);
		image_save(&image, dir, "hostile");
		eq_int(read_in_all_ways("last number"), 0, "the last event is %llu",
		       (unsigned long long)last[i]);
		eq_int(run("timeout -s INT 1 $T trace -r ./hostile 2>/dev/null | wc -l"), 0,
		       "to follow it");
		ok(atoi(output) < 10, "says little: %d lines", atoi(output));
	}
	image_destroy(&image);
}

static uint64_t random_word(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Some words are small, some as they should be in slot @i, some all ones. */
static uint64_t noise(int i)
{
	uint64_t word = random_word();

	switch (word >> 61) {
	case 0:
	case 1:
		return word & 0xffff;
	case 2:
	case 3:
		return i / 8 + 1;
	case 4:
		return UINT64_MAX;
	default:
		return word;
	}
}

static void test_noise(void)
{
	unsigned int bad = 0;
	struct image image;

	create(&image);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 1024 * 8; i++)
			put(&image, MIB2 + 8 * (uint64_t)i, noise(i), 8);
		/* Types that there are, sizes and places that may be right. */
		for (uint64_t seqno = 1; round % 2 && seqno <= 1024; seqno++) {
			put(&image, slot_offset(&image, seqno), seqno, 8);
			put(&image, slot_offset(&image, seqno) + 8, random_word() % 16, 2);
		}
		put_last_seqno(&image, round % 4 ? 1024 : noise(0));
		put_window_start(&image, round % 3 ? 0 : noise(8));
		put_next_byte(&image, noise(16));
		image_save(&image, dir, "hostile");
		bad += read_in_all_ways("noise");
	}
	eq_int(bad, 0, "20 files of noise");
	image_destroy(&image);
}

int main(int argc, char **argv)
{
	find_tool(argc > 0 ? argv[0] : NULL);
	test_last_number();
	test_noise();
	run("rm -rf ../$(basename $PWD)");
	return done_testing();
}
