// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that write EVENTS events each, payload_size bytes with a time stamp, in the copying
 * form, which is the one that all transports have. They run when bpf_fentry_test1() does,
 * which BPF_PROG_TEST_RUN calls: a perf buffer cannot be written to from a syscall program.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "monad_ring.bpf.h"
#include "matrix.h"

char LICENSE[] SEC("license") = "GPL";

#define RINGBUF(name) \
	struct { \
		__uint(type, BPF_MAP_TYPE_RINGBUF); \
		__uint(max_entries, RIVAL_BYTES); \
	} name SEC(".maps")

RINGBUF(rb);
/* One for each further reader. */
RINGBUF(rb2);
RINGBUF(rb3);
RINGBUF(rb4);

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} pb SEC(".maps");

__u32 payload_size; /* at most half of MAX_PAYLOAD */
__u64 took;	    /* ns; instructions where the clock counts those */
__u64 failed;	    /* events */
/* For each CPU, so that writers on several do not share what they write. */
struct {
	__u64 word[MAX_PAYLOAD / 8];
} payload[2];

#define PROGRAM(name, stamp, write) \
	SEC("fentry/bpf_fentry_test1") \
	int name(void *ctx) \
	{ \
		__u64 *p = payload[bpf_get_smp_processor_id() & 1].word; \
		__u32 size = payload_size & (MAX_PAYLOAD - 1); \
		__u64 start = bpf_ktime_get_ns(); \
		int i; \
\
		for (i = 0; i < EVENTS; i++) { \
			p[0] = stamp; \
			if (write) \
				__sync_fetch_and_add(&failed, 1); \
		} \
		took = bpf_ktime_get_ns() - start; \
		return 0; \
	}

#define TO(map, flags) bpf_ringbuf_output(&map, p, size, flags)

PROGRAM(clock, bpf_ktime_get_ns(), ({ barrier_var(size); 0; }))

/* The ring stamps its events itself. */
PROGRAM(monad, i, bpf_monad_ring_output(0, 2, p, size, 0))
PROGRAM(monad_forced, i, bpf_monad_ring_output(0, 2, p, size, MONAD_RING_FORCE_WAKEUP))

PROGRAM(ringbuf, bpf_ktime_get_ns(), TO(rb, 0))
PROGRAM(ringbuf_quiet, bpf_ktime_get_ns(), TO(rb, BPF_RB_NO_WAKEUP))
PROGRAM(ringbuf_sampled, bpf_ktime_get_ns(),
	TO(rb, (i + 1) % SAMPLED ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP))
PROGRAM(ringbuf_forced, bpf_ktime_get_ns(), TO(rb, BPF_RB_FORCE_WAKEUP))
PROGRAM(ringbuf_to_2, bpf_ktime_get_ns(),
	TO(rb, BPF_RB_NO_WAKEUP) | TO(rb2, BPF_RB_NO_WAKEUP))
PROGRAM(ringbuf_to_4, bpf_ktime_get_ns(),
	TO(rb, BPF_RB_NO_WAKEUP) | TO(rb2, BPF_RB_NO_WAKEUP) | TO(rb3, BPF_RB_NO_WAKEUP) |
	TO(rb4, BPF_RB_NO_WAKEUP))
PROGRAM(perf, bpf_ktime_get_ns(), bpf_perf_event_output(ctx, &pb, BPF_F_CURRENT_CPU, p, size))
