// SPDX-License-Identifier: GPL-2.0
/*
 * What one event costs its writer, here and in the BPF ring buffer: programs that write
 * EVENTS events in a loop and return the nanoseconds it took. In a guest whose clock counts
 * instructions (tools/testing/vm/run --icount) those are instructions.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "monad_ring.bpf.h"
#include "writers.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RINGBUF_SIZE);
} rb SEC(".maps");

/* An event as a program would fill it in: a time stamp, and the rest of it. */
struct event8 {
	__u64 time;
};

struct event64 {
	__u64 time;
	__u64 word[7];
};

struct event256 {
	__u64 time;
	__u64 word[31];
};

struct event4096 {
	__u64 time;
	__u64 word[511];
};

static __always_inline void fill(__u64 *word, int nr, __u64 value)
{
	int i;

	for (i = 0; i < nr; i++)
		word[i] = value;
}

/* The empty loop, and the clock alone: for those who want to subtract them. */
SEC("syscall")
int loop_empty(void *ctx)
{
	__u64 start = bpf_ktime_get_ns();
	int i;

	for (i = 0; i < EVENTS; i++)
		barrier_var(i);
	return bpf_ktime_get_ns() - start;
}

SEC("syscall")
int loop_clock(void *ctx)
{
	__u64 start = bpf_ktime_get_ns();
	__u64 time;
	int i;

	for (i = 0; i < EVENTS; i++) {
		time = bpf_ktime_get_ns();
		barrier_var(time);
	}
	return bpf_ktime_get_ns() - start;
}

/* A filler that writes no more than the time stamp. */
#define nothing() do { } while (0)

/* Reserve and publish, the record's time stamp included. */
#define RINGBUF_RESERVE(name, type, stamp, filler, flags) \
	SEC("syscall") \
	int name(void *ctx) \
	{ \
		__u64 start = bpf_ktime_get_ns(); \
		type *e; \
		int i; \
\
		for (i = 0; i < EVENTS; i++) { \
			e = bpf_ringbuf_reserve(&rb, sizeof(*e), 0); \
			if (!e) \
				return -1; \
			e->time = stamp; \
			filler; \
			bpf_ringbuf_submit(e, flags); \
		} \
		return bpf_ktime_get_ns() - start; \
	}

/* The ring stamps the event itself. */
#define MONAD_RESERVE(name, type, filler) \
	SEC("syscall") \
	int name(void *ctx) \
	{ \
		__u64 start = bpf_ktime_get_ns(); \
		struct monad_ring_record *rec; \
		type *e; \
		int i; \
\
		for (i = 0; i < EVENTS; i++) { \
			rec = bpf_monad_ring_reserve(0, 2, sizeof(*e)); \
			if (!rec) \
				return -1; \
			e = (type *)bpf_monad_ring_payload(rec, sizeof(*e)); \
			if (!e) { \
				bpf_monad_ring_discard(rec, 0); \
				return -1; \
			} \
			e->time = i; \
			filler; \
			bpf_monad_ring_commit(rec, 0); \
		} \
		return bpf_ktime_get_ns() - start; \
	}

RINGBUF_RESERVE(ringbuf_reserve_8, struct event8, bpf_ktime_get_ns(), nothing(), 0)
RINGBUF_RESERVE(ringbuf_reserve_64, struct event64, bpf_ktime_get_ns(), nothing(), 0)
RINGBUF_RESERVE(ringbuf_reserve_64_quiet, struct event64, bpf_ktime_get_ns(), nothing(),
		BPF_RB_NO_WAKEUP)
RINGBUF_RESERVE(ringbuf_reserve_64_untimed, struct event64, i, nothing(), 0)
RINGBUF_RESERVE(ringbuf_reserve_64_filled, struct event64, bpf_ktime_get_ns(),
		fill(e->word, 7, i), 0)
RINGBUF_RESERVE(ringbuf_reserve_256_filled, struct event256, bpf_ktime_get_ns(),
		fill(e->word, 31, i), 0)
RINGBUF_RESERVE(ringbuf_reserve_4096, struct event4096, bpf_ktime_get_ns(), nothing(), 0)

MONAD_RESERVE(monad_reserve_8, struct event8, nothing())
MONAD_RESERVE(monad_reserve_64, struct event64, nothing())
MONAD_RESERVE(monad_reserve_64_filled, struct event64, fill(e->word, 7, i))
MONAD_RESERVE(monad_reserve_256_filled, struct event256, fill(e->word, 31, i))
MONAD_RESERVE(monad_reserve_4096, struct event4096, nothing())

/* The copying forms, from a structure on the stack. */
SEC("syscall")
int ringbuf_output_64(void *ctx)
{
	__u64 start = bpf_ktime_get_ns();
	struct event64 e = {};
	int i;

	for (i = 0; i < EVENTS; i++) {
		e.time = bpf_ktime_get_ns();
		if (bpf_ringbuf_output(&rb, &e, sizeof(e), 0))
			return -1;
	}
	return bpf_ktime_get_ns() - start;
}

SEC("syscall")
int monad_output_64(void *ctx)
{
	__u64 start = bpf_ktime_get_ns();
	struct event64 e = {};
	int i;

	for (i = 0; i < EVENTS; i++) {
		e.time = i;
		if (bpf_monad_ring_output(0, 2, &e, sizeof(e), 0))
			return -1;
	}
	return bpf_ktime_get_ns() - start;
}
