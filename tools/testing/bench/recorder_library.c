// SPDX-License-Identifier: GPL-2.0
/*
 * What an event of 64 bytes costs a program that records into a ring file through the
 * library, in one thread: reserve, fill, commit. Beside it what cannot be done without, in
 * the same run and in turns: two atomic additions and a look at the clock.
 *
 *	recorder_library [--json | --both] [PAIRS]
 */
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_recorder.h>
#include <monad_event/event_ring_util.h>

#include "bench.h"

#define EVENTS 1000000
#define SIZE 64

/* Nanoseconds an event. */
static double run_recorder(struct monad_event_recorder *recorder)
{
	struct monad_event_descriptor *event;
	double begin = bench_now();
	uint64_t seqno, i, word;
	uint8_t *payload;

	for (i = 0; i < EVENTS; i++) {
		event = monad_event_recorder_reserve(recorder, SIZE, &seqno, &payload);
		if (!event)
			abort();
		event->event_type = MONAD_TEST_EVENT_VLT;
		for (word = 0; word < SIZE / 8; word++)
			((uint64_t *)payload)[word] = i + word;
		monad_event_recorder_commit(event, seqno);
	}
	return (bench_now() - begin) / EVENTS;
}

static double run_bare(void)
{
	static uint64_t counters[2] __attribute__((aligned(64)));
	double begin = bench_now();
	struct timespec ts;
	uint64_t i;

	for (i = 0; i < EVENTS; i++) {
		__atomic_fetch_add(&counters[0], SIZE, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&counters[1], 1, __ATOMIC_SEQ_CST);
		clock_gettime(CLOCK_REALTIME, &ts);
		__asm__ volatile("" : : "r"(ts.tv_sec * 1000000000ULL + ts.tv_nsec));
	}
	return (bench_now() - begin) / EVENTS;
}

int main(int argc, char **argv)
{
	struct bench_samples recorder_ns = { .nr = 0 }, bare_ns = { .nr = 0 }, ratio = { .nr = 0 };
	struct monad_event_ring_simple_config config = {
		.descriptors_shift = 16,
		.payload_buf_shift = 27,
		.content_type = MONAD_EVENT_CONTENT_TYPE_TEST,
		.schema_hash = g_monad_test_event_schema_hash,
	};
	int others = bench_begin("recorder_library", argc, argv);
	int pairs = others ? atoi(argv[1]) : 15, i, fd;
	struct monad_event_recorder recorder;
	struct monad_event_ring ring;

	if (others > 1 || pairs < 10 || pairs >= BENCH_MAX_SAMPLES) {
		fprintf(stderr, "usage: recorder_library [--json | --both] [PAIRS], 10 to %d\n",
			BENCH_MAX_SAMPLES - 1);
		return 2;
	}
	fd = memfd_create("ring", MFD_CLOEXEC);
	if (monad_event_ring_init_simple(&config, fd, 0, "ring") ||
	    monad_event_ring_mmap(&ring, PROT_READ | PROT_WRITE, MAP_POPULATE, fd, 0, "ring") ||
	    monad_event_ring_init_recorder(&ring, &recorder)) {
		fprintf(stderr, "recorder_library: %s\n", monad_event_ring_get_last_error());
		return 1;
	}
	run_recorder(&recorder);
	run_bare();
	for (i = 0; i < pairs; i++) {
		double a = run_recorder(&recorder), b = run_bare();

		bench_add(&recorder_ns, a);
		bench_add(&bare_ns, b);
		bench_add(&ratio, a / b);
	}
	bench_say("recorder of the library, one thread, %d bytes; %d pairs of %d events", SIZE,
		  pairs, EVENTS);
	bench_columns("ring of 4 + 128 MiB");
	bench_result("recorder_ns", "reserve + fill + commit, ns", &recorder_ns);
	bench_result("bare_ns", "two atomic adds + clock, ns", &bare_ns);
	bench_result("ratio", "ratio (goal: at most 3)", &ratio);
	monad_event_ring_unmap(&ring);
	close(fd);
	return bench_end();
}
