// SPDX-License-Identifier: GPL-2.0
/*
 * One reader that looks all the time, on one CPU, and a writer that never pauses on another,
 * 64 bytes of payload, a time stamp in each event: how many events a second reach the reader,
 * through the library from a ring of ours, and through libbpf from a BPF ring buffer of the
 * same memory. The writers are not the same: here the recorder, compiled in user space; there
 * a BPF program in the kernel, 10000 events a system call. So this compares transports as they
 * are when somebody reads them at full speed, what writers and reader do to each other's
 * caches included; read_native compares readers.
 *
 *	read_live [--json | --both] [PAIRS]
 */
#define RECORDER_NO_STEP
#define RECORDER_OWN_SLOTS
#include "../unit/recorder_port.h"
#include "../../../kmod/recorder.c"

#include "bench.h"
#include "native_ring.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>

#include "read_native.h"
#include "read_native.skel.h"

#define SIZE 64
#define CHUNK 10000
#define RUN_NS 100e6

static struct native_ring ring;
static struct read_native_bpf *skel;
static struct ring_buffer *rb;
static u64 number;
static bool stop;

struct seen {
	u64 delivered, lost, last, wrong;
};

static struct seen seen;

/* Every word is looked at: the numbers, the time, and the rest, which is constant. */
static __always_inline void see(struct seen *s, const u64 *word, u64 *sum)
{
	for (unsigned int i = 2; i < SIZE / 8; i++)
		*sum += word[i];
	if (word[0] <= s->last || !word[1])
		s->wrong++;
	s->lost += word[0] - s->last - 1;
	s->last = word[0];
	s->delivered++;
}

static void *write_ours(void *arg)
{
	bench_pin(0);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (unsigned int i = 0; i < CHUNK; i++) {
			struct monad_ring_record *rec = recorder_reserve(&ring.r, 2, SIZE);

			if (!rec)
				abort();
			((u64 *)rec->payload)[0] = ++number;
			for (unsigned int word = 1; word < SIZE / 8; word++)
				((u64 *)rec->payload)[word] = word;
			recorder_commit(rec);
		}
	}
	return NULL;
}

static void *write_rival(void *arg)
{
	bench_pin(0);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);

		if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.write_events), &opts))
			abort();
	}
	return NULL;
}

static u64 sink;

static void read_ours(struct monad_event_iterator *iter, u64 *missed)
{
	struct monad_event_descriptor event;
	u64 sum = 0;

	for (;;) {
		enum monad_event_iter_result result = monad_event_iterator_try_next(iter, &event);
		const u64 *word;
		struct seen next = seen;

		if (result == MONAD_EVENT_NOT_READY)
			break;
		if (result == MONAD_EVENT_GAP) {
			*missed += monad_event_iterator_recover(iter);
			continue;
		}
		word = monad_event_iterator_payload_peek(iter, &event);
		if (!word)
			abort();
		see(&next, word, &sum);
		if (monad_event_iterator_payload_check(iter, &event))
			seen = next;
		else
			++*missed;
	}
	sink += sum;
}

static int see_rival(void *ctx, void *data, size_t size)
{
	see(&seen, data, &sink);
	return 0;
}

/* Million events a second delivered; @lost: how many per cent were not. */
static double run(bool ours, double *lost)
{
	struct monad_event_iterator iter;
	double begin, took;
	pthread_t writer;
	u64 missed = 0, written;

	seen = (struct seen){ 0 };
	number = 0;
	stop = false;
	skel->bss->number = 0;
	skel->bss->refused = 0;
	monad_event_ring_init_iterator(&ring.reader, &iter);
	monad_event_iterator_set_seqno(&iter, ring.ring.header->control.last_seqno + 1);
	begin = bench_now();
	if (pthread_create(&writer, NULL, ours ? write_ours : write_rival, NULL))
		abort();
	do {
		if (ours)
			read_ours(&iter, &missed);
		else
			ring_buffer__consume(rb);
		took = bench_now() - begin;
	} while (took < RUN_NS);
	took = seen.delivered / took * 1e3;
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(writer, NULL);
	/* The rest, for the account. */
	if (ours)
		read_ours(&iter, &missed);
	else
		ring_buffer__consume(rb);
	written = ours ? number : skel->bss->number;
	seen.lost += written - seen.last;
	if (!ours)
		missed = skel->bss->refused;
	bench_must(seen.wrong == 0 && seen.lost == missed && seen.delivered + missed == written,
		   "%s: %llu written, %llu read (%llu wrong), %llu lacking, %llu counted as lost",
		   ours ? "ours" : "BPF", (unsigned long long)written,
		   (unsigned long long)seen.delivered, (unsigned long long)seen.wrong,
		   (unsigned long long)seen.lost, (unsigned long long)missed);
	*lost = written ? 100.0 * missed / written : 0;
	return took;
}

static int rival_create(void)
{
	skel = read_native_bpf__open();
	if (!skel)
		return errno;
	skel->rodata->payload_size = SIZE;
	skel->rodata->stamp = true;
	if (read_native_bpf__load(skel))
		return errno;
	for (unsigned int word = 2; word < SIZE / 8; word++)
		skel->bss->payload[word] = word;
	skel->bss->events = CHUNK;
	rb = ring_buffer__new(bpf_map__fd(skel->maps.rb), see_rival, NULL, NULL);
	return rb ? 0 : errno;
}

int main(int argc, char **argv)
{
	static struct bench_samples ours, rival, ratio, ours_lost, rival_lost;
	int others = bench_begin("read_live", argc, argv);
	int pairs = others ? atoi(argv[1]) : 15;
	const char *why = NULL;
	int err;

	if (others > 1 || pairs < 10 || pairs >= BENCH_MAX_SAMPLES) {
		fprintf(stderr, "usage: read_live [--json | --both] [PAIRS], 10 to %d\n",
			BENCH_MAX_SAMPLES - 1);
		return 2;
	}
	libbpf_set_print(NULL);
	bench_columns("delivered to a reader while they are written, 64 bytes");
	if (!bench_pin(0) || !bench_pin(1))
		why = "it takes CPUs 0 and 1";
	if (!why)
		why = native_ring_create(&ring, 18, 24, false);
	if (why) {
		bench_not_measured("live", "all of it", "%s", why);
		return bench_end();
	}
	err = rival_create();
	if (err) {
		bench_not_measured("live", "all of it", "bpf(2): %s", strerror(err));
		return bench_end();
	}
	for (int i = 0; i < 3 * pairs && ours.nr < pairs; i++) {
		double lost[2];
		double a = run(true, &lost[0]), b = run(false, &lost[1]);

		/* One to warm up; nor does it count when a writer was not let run at all. */
		if (!i || !a || !b)
			continue;
		bench_add(&ours, a);
		bench_add(&rival, b);
		bench_add(&ratio, a / b);
		bench_add(&ours_lost, lost[0]);
		bench_add(&rival_lost, lost[1]);
	}
	if (!ours.nr) {
		bench_not_measured("live", "all of it", "the CPUs are never free");
		return bench_end();
	}
	bench_result("live_ours", "monad_ring, M/s", &ours);
	bench_result("live_ours_lost", "  lost meanwhile, %", &ours_lost);
	bench_result("live_libbpf", "BPF ring buffer, libbpf, M/s", &rival);
	bench_result("live_libbpf_lost", "  lost meanwhile, %", &rival_lost);
	bench_result("live_ratio", "ratio", &ratio);
	ring_buffer__free(rb);
	read_native_bpf__destroy(skel);
	native_ring_destroy(&ring);
	return bench_end();
}
