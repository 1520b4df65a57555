// SPDX-License-Identifier: GPL-2.0
/*
 * What reading costs, on this machine at its own speed, in one thread:
 *
 *	events whose payload is read, every word of it, through the library's iterator, beside
 *	libbpf's ring_buffer__consume() on a real BPF ring buffer: the same number of
 *	the same payloads, rings of the same memory, in turns; each side's checksum is
 *	compared with the other's
 *
 *	descriptors alone, beside a pass over the memory they are in
 *
 * The module is not needed, bpf(2) is.
 *
 *	read_native [--json | --both] [PAIRS]
 */
#define RECORDER_NO_STEP
#define RECORDER_OWN_SLOTS
#include "../unit/recorder_port.h"
#include "../../../kmod/recorder.c"

#include "bench.h"
#include "native_ring.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "read_native.h"
#include "read_native.skel.h"

#define SMALL_BATCH 512

static unsigned int pairs = 15;

struct total {
	u64 events, sum;
};

static __always_inline u64 checksum(const void *data, size_t size)
{
	const u64 *word = data;
	u64 sum = 0;

	for (size_t i = 0; i < size / 8; i++)
		sum += word[i];
	return sum;
}

/* The events are numbered in their first word; the others are constant. */
static void fill_payload(u64 *payload, size_t size)
{
	for (size_t i = 1; i < size / 8; i++)
		payload[i] = i * 0x9e3779b97f4a7c15ULL;
}

struct ours {
	struct native_ring ring;
	struct monad_event_iterator iter;
	u64 payload[MAX_PAYLOAD / 8];
	u64 number;
};

static void ours_write(struct ours *o, unsigned int events, size_t size)
{
	while (events--) {
		struct monad_ring_record *rec = recorder_reserve(&o->ring.r, 2, size);

		if (!rec)
			abort();
		o->payload[0] = ++o->number;
		memcpy(rec->payload, o->payload, size);
		recorder_commit(rec);
	}
}

/* Reads until nothing is left; what was lost is not added. */
static __attribute__((noinline)) void ours_read(struct ours *o, struct total *total)
{
	struct monad_event_descriptor event;
	u64 sum = 0, events = 0;

	while (monad_event_iterator_try_next(&o->iter, &event) == MONAD_EVENT_SUCCESS) {
		const void *data = monad_event_iterator_payload_peek(&o->iter, &event);
		u64 part;

		if (!data)
			break;
		part = checksum(data, event.payload_size);
		if (!monad_event_iterator_payload_check(&o->iter, &event))
			break;
		sum += part;
		events++;
	}
	total->sum += sum;
	total->events += events;
}

struct rival {
	struct read_native_bpf *skel;
	struct ring_buffer *rb;
	struct total total;
};

static int rival_event(void *ctx, void *data, size_t size)
{
	struct total *total = ctx;

	total->sum += checksum(data, size);
	total->events++;
	return 0;
}

static void rival_write(struct rival *r, unsigned int events)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	r->skel->bss->events = events;
	if (bpf_prog_test_run_opts(bpf_program__fd(r->skel->progs.write_events), &opts))
		abort();
}

static void rival_destroy(struct rival *r)
{
	ring_buffer__free(r->rb);
	read_native_bpf__destroy(r->skel);
}

static int rival_create(struct rival *r, size_t size)
{
	memset(r, 0, sizeof(*r));
	r->skel = read_native_bpf__open();
	if (!r->skel)
		return errno;
	r->skel->rodata->payload_size = size;
	if (!read_native_bpf__load(r->skel))
		r->rb = ring_buffer__new(bpf_map__fd(r->skel->maps.rb), rival_event, &r->total,
					 NULL);
	if (!r->rb) {
		int err = errno;

		rival_destroy(r);
		return err;
	}
	fill_payload((u64 *)r->skel->bss->payload, size);
	return 0;
}

/* Of times for a batch; the median, since whoever else is here interrupts some of them. */
#define MAX_BATCHES 2048

static double batch_time[MAX_BATCHES];

static double median_batch(unsigned int batches)
{
	qsort(batch_time, batches, sizeof(batch_time[0]), bench_compare);
	return batch_time[batches / 2];
}

/* Nanoseconds to read an event: @batches times @batch of them. */
static double ours_sample(struct ours *o, unsigned int batches, unsigned int batch, size_t size,
			  struct total *total)
{
	for (unsigned int i = 0; i < batches; i++) {
		double begin;

		ours_write(o, batch, size);
		begin = bench_now();
		ours_read(o, total);
		batch_time[i] = bench_now() - begin;
	}
	return median_batch(batches) / batch;
}

static double rival_sample(struct rival *r, unsigned int batches, unsigned int batch)
{
	for (unsigned int i = 0; i < batches; i++) {
		double begin;

		rival_write(r, batch);
		begin = bench_now();
		ring_buffer__consume(r->rb);
		batch_time[i] = bench_now() - begin;
	}
	return median_batch(batches) / batch;
}

struct comparison {
	struct bench_samples ours, rival, ratio;
};

static void compare(struct ours *o, struct rival *r, size_t size, unsigned int batches,
		    unsigned int batch, const char *key, const char *what)
{
	struct comparison c = { .ours.nr = 0 };
	struct total total = { 0, 0 };
	char k[64], w[80];

	/* The same numbers on both sides; a round to warm up. */
	o->number = 0;
	r->skel->bss->number = 0;
	r->total = total;
	ours_sample(o, batches, batch, size, &total);
	rival_sample(r, batches, batch);
	for (unsigned int i = 0; i < pairs; i++) {
		double ours = ours_sample(o, batches, batch, size, &total);
		double rival = rival_sample(r, batches, batch);

		bench_add(&c.ours, 1e3 / ours);
		bench_add(&c.rival, 1e3 / rival);
		bench_add(&c.ratio, rival / ours);
	}
	bench_must(r->skel->bss->refused == 0, "%zu bytes: the BPF ring buffer was full", size);
	bench_must(total.events == (pairs + 1ULL) * batches * batch &&
		   total.events == r->total.events && total.sum == r->total.sum,
		   "%zu bytes: %llu events with sum %llx were read here, %llu with %llx there",
		   size, (unsigned long long)total.events, (unsigned long long)total.sum,
		   (unsigned long long)r->total.events, (unsigned long long)r->total.sum);
	snprintf(k, sizeof(k), "%s_%zu_ours", key, size);
	snprintf(w, sizeof(w), "%zu bytes, %s: monad_ring, M/s", size, what);
	bench_result(k, w, &c.ours);
	snprintf(k, sizeof(k), "%s_%zu_libbpf", key, size);
	bench_result(k, "  BPF ring buffer, libbpf, M/s", &c.rival);
	snprintf(k, sizeof(k), "%s_%zu_ratio", key, size);
	bench_result(k, "  ratio", &c.ratio);
}

static void payloads(bool huge)
{
	static const size_t sizes[] = { 8, 64, 256, 4096 };
	static struct ours o;
	const char *why;

	bench_columns(huge ? "events read with payload, huge pages here" :
			     "events read with payload");
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t size = sizes[i];
		/* What both rings hold of it, with a quarter to spare for ours. */
		unsigned int all = 12 * 1024 * 1024 / (size < 64 ? 64 : size);
		unsigned int batch = size > 1024 ? 64 : SMALL_BATCH;
		unsigned int batches = 4 * all / batch;
		struct rival r;
		int err;

		why = native_ring_create(&o.ring, 18, 24, huge);
		if (why) {
			bench_not_measured(huge ? "payloads_huge" : "payloads", "all sizes", "%s",
					   why);
			return;
		}
		err = rival_create(&r, size);
		if (err) {
			bench_not_measured("payloads", "all sizes", "bpf(2): %s", strerror(err));
			native_ring_destroy(&o.ring);
			return;
		}
		fill_payload(o.payload, size);
		monad_event_ring_init_iterator(&o.ring.reader, &o.iter);
		compare(&o, &r, size, batches, batch, huge ? "keeping_up_huge" : "keeping_up",
			"keeping up");
		compare(&o, &r, size, 5, all, huge ? "history_huge" : "history",
			"12 MiB of history");
		rival_destroy(&r);
		native_ring_destroy(&o.ring);
	}
}

static __attribute__((noinline)) u64 iterate(struct monad_event_iterator *iter)
{
	struct monad_event_descriptor event;
	u64 events = 0;

	while (monad_event_iterator_try_next(iter, &event) == MONAD_EVENT_SUCCESS) {
		/* Somebody wants it. */
		__asm__ volatile("" : : "m"(event));
		events++;
	}
	return events;
}

/* As fast as it goes without looking at what it means, every word of it. */
static __attribute__((noinline)) u64 pass(const u64 *word, size_t words)
{
	u64 a = 0, b = 0, c = 0, d = 0;

	for (size_t i = 0; i < words; i += 8) {
		a += word[i] + word[i + 4];
		b += word[i + 1] + word[i + 5];
		c += word[i + 2] + word[i + 6];
		d += word[i + 3] + word[i + 7];
	}
	/* Nor may anybody think the next pass gives the same. */
	__asm__ volatile("" : : : "memory");
	return a + b + c + d;
}

static void descriptors(const char *key, const char *what, unsigned int shift, bool huge)
{
	struct bench_samples ours = { .nr = 0 }, plain = { .nr = 0 }, ratio = { .nr = 0 };
	const unsigned int all = 1U << shift;
	unsigned int repeat = shift < 18 ? 1U << (20 - shift) : 3;
	struct monad_event_iterator iter;
	static struct ours o;
	char k[64], w[80];
	u64 sink = 0;
	const char *why = native_ring_create(&o.ring, shift, shift + 4 > 21 ? shift + 4 : 21, huge);

	snprintf(w, sizeof(w), "%s%s", what, huge ? ", huge pages" : "");
	if (why) {
		snprintf(k, sizeof(k), "%s%s", key, huge ? "_huge" : "");
		bench_not_measured(k, w, "%s", why);
		return;
	}
	monad_event_ring_init_iterator(&o.ring.reader, &iter);
	ours_write(&o, all / 4 * 3, 8);
	for (unsigned int i = 0; i <= pairs; i++) {
		double begin, iterated, passed;
		u64 events = 0;

		for (unsigned int n = 0; n < repeat; n++) {
			monad_event_iterator_set_seqno(&iter, 1);
			begin = bench_now();
			events += iterate(&iter);
			batch_time[n] = bench_now() - begin;
		}
		iterated = median_batch(repeat);
		for (unsigned int n = 0; n < repeat; n++) {
			begin = bench_now();
			sink += pass((const void *)o.ring.reader.descriptors, all / 4 * 3 * 8UL);
			batch_time[n] = bench_now() - begin;
		}
		passed = median_batch(repeat);
		__asm__ volatile("" : : "r"(sink));
		bench_must(events == (u64)repeat * (all / 4 * 3), "%s: %llu events read", what,
			   (unsigned long long)events);
		if (!i)
			continue;
		bench_add(&ours, all / 4 * 3 / iterated * 1e3);
		bench_add(&plain, all / 4 * 3 / passed * 1e3);
		bench_add(&ratio, passed / iterated);
	}
	snprintf(k, sizeof(k), "%s%s_ours", key, huge ? "_huge" : "");
	strcat(w, ": iterator, M/s");
	bench_result(k, w, &ours);
	snprintf(k, sizeof(k), "%s%s_pass", key, huge ? "_huge" : "");
	bench_result(k, "  a pass over that memory, M/s", &plain);
	snprintf(k, sizeof(k), "%s%s_ratio", key, huge ? "_huge" : "");
	bench_result(k, "  ratio", &ratio);
	native_ring_destroy(&o.ring);
}

int main(int argc, char **argv)
{
	int others = bench_begin("read_native", argc, argv);

	if (others)
		pairs = atoi(argv[1]);
	if (others > 1 || pairs < 10 || pairs >= BENCH_MAX_SAMPLES) {
		fprintf(stderr, "usage: read_native [--json | --both] [PAIRS], 10 to %d\n",
			BENCH_MAX_SAMPLES - 1);
		return 2;
	}
	libbpf_set_print(NULL);
	bench_pin(0);
	payloads(false);
	payloads(true);
	bench_columns("descriptors alone (goal: 150 M/s, or 0.8)");
	for (int huge = 0; huge < 2; huge++) {
		descriptors("descriptors_l2", "384 KiB of them", 13, huge);
		descriptors("descriptors_ram", "96 MiB of them", 21, huge);
	}
	return bench_end();
}
