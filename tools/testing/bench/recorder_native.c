// SPDX-License-Identifier: GPL-2.0
/*
 * What an event of 64 bytes costs in the recorder's core, natively, in one thread: reserve,
 * fill, commit. Beside it what cannot be done without, in the same run and in turns: two
 * atomic additions and a look at the clock. The fast path's slots are as in the kernel, the
 * thread's own.
 *
 *	recorder_native [--json | --both] [PAIRS]
 */
#define RECORDER_NO_STEP
#define RECORDER_OWN_SLOTS
#include "../unit/recorder_port.h"
#include "../../../kmod/recorder.c"
#include "../unit/recorder_memory.h"

#include "bench.h"

#define EVENTS 1000000
#define SIZE 64

/* Nanoseconds an event. */
static double run_recorder(struct memory *m)
{
	double begin = bench_now();
	u64 i, word;

	for (i = 0; i < EVENTS; i++) {
		struct monad_ring_record *rec = recorder_reserve(&m->r, 2, SIZE);

		if (!rec)
			abort();
		for (word = 0; word < SIZE / 8; word++)
			((u64 *)rec->payload)[word] = i + word;
		recorder_commit(rec);
	}
	return (bench_now() - begin) / EVENTS;
}

static double run_bare(void)
{
	static u64 counters[2] __aligned(64);
	double begin = bench_now();
	u64 i;

	for (i = 0; i < EVENTS; i++) {
		port_add(&counters[0], SIZE);
		port_add(&counters[1], 1);
		__asm__ volatile("" : : "r"(port_epoch_nanos()));
	}
	return (bench_now() - begin) / EVENTS;
}

static void measure(const char *key, const char *what, unsigned int pairs,
		    unsigned int desc_shift, unsigned int payload_shift)
{
	struct bench_samples recorder = { .nr = 0 }, bare = { .nr = 0 }, ratio = { .nr = 0 };
	struct memory m;
	unsigned int i;
	char k[64];

	if (memory_init(&m, desc_shift, payload_shift, 1, 0, 0))
		abort();
	memset(m.payload, 1, m.size);
	run_recorder(&m);
	run_bare();
	for (i = 0; i < pairs; i++) {
		double a = run_recorder(&m), b = run_bare();

		bench_add(&recorder, a);
		bench_add(&bare, b);
		bench_add(&ratio, a / b);
	}
	memory_free(&m);
	bench_columns(what);
	snprintf(k, sizeof(k), "%s_recorder_ns", key);
	bench_result(k, "reserve + fill + commit, ns", &recorder);
	snprintf(k, sizeof(k), "%s_bare_ns", key);
	bench_result(k, "two atomic adds + clock, ns", &bare);
	snprintf(k, sizeof(k), "%s_ratio", key);
	bench_result(k, "ratio (goal: at most 3)", &ratio);
}

int main(int argc, char **argv)
{
	int others = bench_begin("recorder_native", argc, argv);
	int pairs = others ? atoi(argv[1]) : 15;

	if (others > 1 || pairs < 10 || pairs >= BENCH_MAX_SAMPLES) {
		fprintf(stderr, "usage: recorder_native [--json | --both] [PAIRS], 10 to %d\n",
			BENCH_MAX_SAMPLES - 1);
		return 2;
	}
	bench_say("recorder core, native, one thread, %d bytes; %d pairs of %d events", SIZE, pairs,
		  EVENTS);
	measure("small", "ring of 256 KiB + 2 MiB", pairs, 12, 21);
	measure("large", "ring of 4 + 128 MiB", pairs, 16, 27);
	return bench_end();
}
