// SPDX-License-Identifier: GPL-2.0
/*
 * Two writers on two CPUs that write as fast as they can, 64 bytes and a time stamp, and nobody
 * who reads: events a second, here and in the BPF ring buffer, in turns. It gets the
 * better of it: no wakeups, and it is emptied by moving its consumer's position. Meant for a
 * guest of two CPUs without --icount.
 *
 *	two_writers [--json | --both] [PAIRS]
 */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "matrix.h"
#include "matrix.skel.h"

#define SIZE 64
#define RUN_NS 300e6

static struct matrix_bpf *skel;
static volatile unsigned long *consumer, *producer; /* positions of the BPF ring buffer */

struct writer {
	pthread_t thread;
	unsigned int cpu;
	struct bpf_program *prog;
	double until;
	unsigned long events;
};

static void *write_until(void *arg)
{
	struct writer *w = arg;

	if (!bench_pin(w->cpu))
		abort();
	while (bench_now() < w->until) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);

		if (bpf_prog_test_run_opts(bpf_program__fd(w->prog), &opts))
			abort();
		w->events += EVENTS;
		if (w->cpu == 0)
			*consumer = *producer;
	}
	return NULL;
}

/* Nanoseconds for which an event keeps one of @writers writers busy. */
static double run(const char *name, unsigned int writers)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(skel->obj, name);
	struct bpf_link *link = bpf_program__attach(prog);
	struct writer w[2] = { { .prog = prog }, { .prog = prog, .cpu = 1 } };
	double begin = bench_now();
	unsigned long events = 0;

	if (!link)
		abort();
	for (unsigned int i = 0; i < writers; i++) {
		w[i].until = begin + RUN_NS;
		if (pthread_create(&w[i].thread, NULL, write_until, &w[i]))
			abort();
	}
	for (unsigned int i = 0; i < writers; i++) {
		pthread_join(w[i].thread, NULL);
		events += w[i].events;
	}
	begin = bench_now() - begin;
	bpf_link__destroy(link);
	bench_must(skel->bss->failed == 0, "%s: %llu events could not be written", name,
		   (unsigned long long)skel->bss->failed);
	skel->bss->failed = 0;
	return begin * writers / events;
}

static void measure(unsigned int writers, int pairs)
{
	struct bench_samples ours = { .nr = 0 }, rival = { .nr = 0 }, ratio = { .nr = 0 };
	struct bench_samples clock = { .nr = 0 }, bare = { .nr = 0 };
	char key[64];

	for (int i = 0; i <= pairs; i++) {
		double a = run("monad", writers), b = run("ringbuf_quiet", writers);
		double c = run("clock", writers);

		if (!i)
			continue;
		bench_add(&ours, writers * 1e3 / a);
		bench_add(&rival, writers * 1e3 / b);
		bench_add(&ratio, b / a);
		bench_add(&clock, c);
		bench_add(&bare, (b - c) / (a - c));
	}
	bench_columns(writers == 1 ? "one writer, 64 bytes, time stamp in both" :
				     "two writers on two CPUs, 64 bytes, time stamp in both");
	snprintf(key, sizeof(key), "writers_%u_ours", writers);
	bench_result(key, "monad_ring, M/s", &ours);
	snprintf(key, sizeof(key), "writers_%u_ringbuf", writers);
	bench_result(key, "BPF ring buffer, M/s", &rival);
	snprintf(key, sizeof(key), "writers_%u_ratio", writers);
	bench_result(key, "ratio", &ratio);
	/* Whoever else is on this machine takes from both, but not from their best. */
	snprintf(key, sizeof(key), "writers_%u_ratio_best", writers);
	bench_value(key, "ratio of the 90th percentiles",
		    bench_quantile(&ours, 0.9) / bench_quantile(&rival, 0.9));
	snprintf(key, sizeof(key), "writers_%u_clock_ns", writers);
	bench_result(key, "loop and clock alone, ns", &clock);
	snprintf(key, sizeof(key), "writers_%u_ratio_bare", writers);
	bench_result(key, "ratio without those", &bare);
}

int main(int argc, char **argv)
{
	int others = bench_begin("two_writers", argc, argv);
	int pairs = others ? atoi(argv[1]) : 11;

	if (others > 1 || pairs < 10 || pairs >= BENCH_MAX_SAMPLES) {
		fprintf(stderr, "usage: two_writers [--json | --both] [PAIRS], 10 to %d\n",
			BENCH_MAX_SAMPLES - 1);
		return 2;
	}
	skel = matrix_bpf__open_and_load();
	if (!skel) {
		fprintf(stderr, "two_writers: cannot load: %s (is monad_ring loaded?)\n",
			strerror(errno));
		return 1;
	}
	skel->bss->payload_size = SIZE;
	consumer = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(skel->maps.rb), 0);
	producer = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, bpf_map__fd(skel->maps.rb),
			getpagesize());
	if (consumer == MAP_FAILED || producer == MAP_FAILED) {
		perror("two_writers: mmap");
		return 1;
	}
	measure(1, pairs);
	if (bench_pin(1))
		measure(2, pairs);
	else
		bench_not_measured("writers_2", "two writers", "it takes two CPUs");
	matrix_bpf__destroy(skel);
	return bench_end();
}
