// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the programs of writers.bpf.c and prints what one event cost: the best of ROUNDS
 * rounds of EVENTS events each. Meant for a guest started with --icount, where the clock
 * counts instructions; elsewhere the figures are nanoseconds and vary.
 *
 *	writers [--json | --both]
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "writers.h"
#include "writers.skel.h"

struct result {
	const char *program;
	const char *what;
	double cost;
};

static struct result results[] = {
	{ "loop_empty", "the loop alone", 0 },
	{ "loop_clock", "bpf_ktime_get_ns() alone", 0 },
	{ "ringbuf_reserve_8", "BPF ring buffer, reserve + submit, 8 bytes, time stamp", 0 },
	{ "ringbuf_reserve_64", "BPF ring buffer, reserve + submit, 64 bytes, time stamp", 0 },
	{ "ringbuf_reserve_64_quiet", "  the same, BPF_RB_NO_WAKEUP", 0 },
	{ "ringbuf_reserve_64_untimed", "  the same, without time stamp", 0 },
	{ "ringbuf_reserve_64_filled", "  the same, time stamp, all 64 bytes written", 0 },
	{ "ringbuf_reserve_256_filled", "  the same, time stamp, all 256 bytes written", 0 },
	{ "ringbuf_reserve_4096", "  the same, time stamp, 4096 bytes, the first word written", 0 },
	{ "ringbuf_output_64", "BPF ring buffer, output, 64 bytes, time stamp", 0 },
	{ "monad_reserve_8", "monad_ring, reserve + commit, 8 bytes, time stamp", 0 },
	{ "monad_reserve_64", "monad_ring, reserve + commit, 64 bytes, time stamp", 0 },
	{ "monad_reserve_64_filled", "  the same, all 64 bytes written", 0 },
	{ "monad_reserve_256_filled", "  the same, all 256 bytes written", 0 },
	{ "monad_reserve_4096", "  the same, 4096 bytes, the first word written", 0 },
	{ "monad_output_64", "monad_ring, output, 64 bytes, time stamp", 0 },
};

static const struct {
	const char *ours, *theirs, *what;
} ratios[] = {
	{ "monad_reserve_8", "ringbuf_reserve_8", "reserve + commit, 8 bytes" },
	{ "monad_reserve_64", "ringbuf_reserve_64", "reserve + commit, 64 bytes" },
	{ "monad_reserve_64_filled", "ringbuf_reserve_64_filled",
	  "reserve + commit, 64 bytes written" },
	{ "monad_reserve_256_filled", "ringbuf_reserve_256_filled",
	  "reserve + commit, 256 bytes written" },
	{ "monad_reserve_4096", "ringbuf_reserve_4096", "reserve + commit, 4096 bytes" },
	{ "monad_output_64", "ringbuf_output_64", "output, 64 bytes" },
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static int drop(void *ctx, void *data, size_t size)
{
	return 0;
}

static double cost_of(const char *program)
{
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		if (!strcmp(results[i].program, program))
			return results[i].cost;
	return 0;
}

static int measure(struct writers_bpf *skel, struct ring_buffer *rb, struct result *result)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(skel->obj, result->program);
	int best = 0;

	for (int round = 0; round < ROUNDS; round++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);
		int err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
		int cost = opts.retval;

		if (err || cost < 0) {
			fprintf(stderr, "writers: %s: %s\n", result->program,
				err ? strerror(-err) : "an event could not be written");
			return 1;
		}
		if (!round || cost < best)
			best = cost;
	}
	result->cost = (double)best / EVENTS;
	ring_buffer__consume(rb);
	return 0;
}

static void print_plain(void)
{
	printf("per event, best of %d rounds of %d (instructions under --icount, else ns)\n\n",
	       ROUNDS, EVENTS);
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		printf("%8.1f  %s\n", results[i].cost, results[i].what);
	printf("\nmonad_ring to BPF ring buffer, time stamp in both\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(ratios); i++)
		printf("%8.2f  %s\n", cost_of(ratios[i].ours) / cost_of(ratios[i].theirs),
		       ratios[i].what);
}

static void print_json(void)
{
	printf("{\"benchmark\":\"writers\",\"events\":%d,\"rounds\":%d", EVENTS, ROUNDS);
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		printf(",\"%s\":%.1f", results[i].program, results[i].cost);
	printf("}\n");
}

int main(int argc, char **argv)
{
	bool both = argc > 1 && !strcmp(argv[1], "--both");
	bool json = argc > 1 && !strcmp(argv[1], "--json");
	struct writers_bpf *skel = writers_bpf__open_and_load();
	struct ring_buffer *rb = NULL;
	int err = 1;

	if (!skel) {
		fprintf(stderr, "writers: cannot load: %s (is monad_ring loaded?)\n",
			strerror(errno));
		return 1;
	}
	rb = ring_buffer__new(bpf_map__fd(skel->maps.rb), drop, NULL, NULL);
	if (!rb) {
		fprintf(stderr, "writers: ring_buffer__new: %s\n", strerror(errno));
		goto out;
	}
	err = 0;
	for (size_t i = 0; i < ARRAY_SIZE(results) && !err; i++)
		err = measure(skel, rb, &results[i]);
	if (!err && !json)
		print_plain();
	if (!err && both)
		printf("#json ");
	if (!err && (both || json))
		print_json();
out:
	ring_buffer__free(rb);
	writers_bpf__destroy(skel);
	return err;
}
