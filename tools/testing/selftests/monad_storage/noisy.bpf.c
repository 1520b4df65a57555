// SPDX-License-Identifier: GPL-2.0
/*
 * A neighbour that is a nuisance: kprobe programs all along the way of an I/O, which
 * take their time. While one of them runs on a CPU the kernel skips any other program
 * of a kprobe or a "tp/" tracepoint there; ours must be of those that it does not skip.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

__u64 hits;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, __u64);
} seen SEC(".maps");

static __always_inline int dawdle(void)
{
	__u64 key, one = 1;
	int i;

	__sync_fetch_and_add(&hits, 1);
	for (i = 0; i < 8; i++) {
		key = bpf_get_prandom_u32() % 1024;
		bpf_map_update_elem(&seen, &key, &one, BPF_ANY);
	}
	return 0;
}

SEC("kprobe/submit_bio_noacct") int submit(void *ctx) { return dawdle(); }
SEC("kprobe/blk_mq_start_request") int start(void *ctx) { return dawdle(); }
SEC("kprobe/blk_update_request") int update(void *ctx) { return dawdle(); }
SEC("kprobe/blk_mq_free_request") int release(void *ctx) { return dawdle(); }
SEC("kprobe/ktime_get") int time(void *ctx) { return dawdle(); }
