// SPDX-License-Identifier: GPL-2.0
/*
 * What an event of 64 bytes costs in the recorder's core, natively, in one thread: reserve,
 * fill, commit. Beside it what cannot be done without, in the same run and in turns: two
 * atomic additions and a look at the clock. The fast path's slots are as in the kernel, the
 * thread's own.
 *
 *	recorder_native [--json] [PAIRS]
 */
#define RECORDER_NO_STEP
#define RECORDER_OWN_SLOTS
#include "../unit/recorder_port.h"
#include "../../../kmod/recorder.c"
#include "../unit/recorder_memory.h"

#include <stdio.h>

#define EVENTS 1000000
#define MAX_PAIRS 101
#define SIZE 64

struct result {
	double recorder[MAX_PAIRS], bare[MAX_PAIRS], ratio[MAX_PAIRS];
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* Nanoseconds an event. */
static double run_recorder(struct memory *m)
{
	double begin = now();
	u64 i, word;

	for (i = 0; i < EVENTS; i++) {
		struct monad_ring_record *rec = recorder_reserve(&m->r, 2, SIZE);

		if (!rec)
			abort();
		for (word = 0; word < SIZE / 8; word++)
			((u64 *)rec->payload)[word] = i + word;
		recorder_commit(rec);
	}
	return (now() - begin) / EVENTS;
}

static double run_bare(void)
{
	static u64 counters[2] __aligned(64);
	double begin = now();
	u64 i;

	for (i = 0; i < EVENTS; i++) {
		port_add(&counters[0], SIZE);
		port_add(&counters[1], 1);
		__asm__ volatile("" : : "r"(port_epoch_nanos()));
	}
	return (now() - begin) / EVENTS;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct result *result, unsigned int pairs, unsigned int desc_shift,
		    unsigned int payload_shift)
{
	struct memory m;
	unsigned int i;

	if (memory_init(&m, desc_shift, payload_shift, 1, 0, 0))
		abort();
	memset(m.payload, 1, m.size);
	run_recorder(&m);
	run_bare();
	for (i = 0; i < pairs; i++) {
		result->recorder[i] = run_recorder(&m);
		result->bare[i] = run_bare();
		result->ratio[i] = result->recorder[i] / result->bare[i];
	}
	qsort(result->recorder, pairs, sizeof(double), compare);
	qsort(result->bare, pairs, sizeof(double), compare);
	qsort(result->ratio, pairs, sizeof(double), compare);
	memory_free(&m);
}

static void print_row(const char *name, const double *v, unsigned int n, bool json, bool last)
{
	if (json)
		printf("\"%s\":{\"median\":%.3f,\"p10\":%.3f,\"p90\":%.3f}%s", name, v[n / 2],
		       v[n / 10], v[n - 1 - n / 10], last ? "" : ",");
	else
		printf("  %-34s %8.2f %8.2f %8.2f\n", name, v[n / 2], v[n / 10],
		       v[n - 1 - n / 10]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *json;
		unsigned int desc_shift, payload_shift;
	} rings[] = {
		{ "ring of 256 KiB + 2 MiB", "small", 12, 21 },
		{ "ring of 4 + 128 MiB", "large", 16, 27 },
	};
	unsigned int i, pairs = 15;
	static struct result result;
	bool json = false;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			json = true;
		else
			pairs = atoi(argv[i]);
	}
	if (pairs < 10 || pairs > MAX_PAIRS) {
		fprintf(stderr, "usage: recorder_native [--json] [PAIRS], 10 to %d\n", MAX_PAIRS);
		return 2;
	}
	if (json)
		printf("{\"benchmark\":\"recorder_native\",\"payload\":%d,\"pairs\":%u", SIZE,
		       pairs);
	else
		printf("recorder core, native, one thread, %d bytes; %u pairs of %d events\n", SIZE,
		       pairs, EVENTS);
	for (i = 0; i < ARRAY_SIZE(rings); i++) {
		measure(&result, pairs, rings[i].desc_shift, rings[i].payload_shift);
		if (json)
			printf(",\"%s\":{", rings[i].json);
		else
			printf("%-36s %8s %8s %8s\n", rings[i].name, "median", "p10", "p90");
		print_row(json ? "recorder_ns" : "reserve + fill + commit, ns", result.recorder,
			  pairs, json, false);
		print_row(json ? "bare_ns" : "two atomic adds + clock, ns", result.bare,
			  pairs, json, false);
		print_row(json ? "ratio" : "ratio (goal: at most 3)", result.ratio,
			  pairs, json, true);
		if (json)
			putchar('}');
	}
	if (json)
		puts("}");
	return 0;
}
