// SPDX-License-Identifier: GPL-2.0
/*
 * Writes events to a BPF ring buffer for read_native.c and read_live.c to consume; needs no module.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "read_native.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RIVAL_BYTES);
} rb SEC(".maps");

const volatile __u32 payload_size = 64;
const volatile bool stamp; /* the second word is the time */
__u64 number;   /* of the last event */
__u64 refused;
__u32 events;   /* to write in a run */
__u64 payload[MAX_PAYLOAD / 8];

static long write_one(__u32 index, void *ctx)
{
	payload[0] = ++number;
	if (stamp)
		payload[1] = bpf_ktime_get_ns();
	if (bpf_ringbuf_output(&rb, payload, payload_size, BPF_RB_NO_WAKEUP))
		refused++;
	return 0;
}

SEC("syscall")
int write_events(void *ctx)
{
	bpf_loop(events, write_one, NULL, 0);
	return 0;
}
