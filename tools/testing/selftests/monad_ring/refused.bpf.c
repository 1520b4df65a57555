// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that misuse a kfunc, each in one way: the verifier must refuse them all. What it
 * must say is in verifier.c.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "monad_ring.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define SIZE 64
#define RESERVE() bpf_monad_ring_reserve(0, 2, SIZE)

/* The verifier knows nothing of what is in here. */
volatile __u64 unknown;
struct monad_ring_record *kept;

/* A record, or out; and its payload, or out. */
#define RECORD(rec) \
	struct monad_ring_record *rec = RESERVE(); \
	if (!(rec)) \
		return 0
#define PAYLOAD(p, rec) \
	__u8 *p = bpf_monad_ring_payload(rec, SIZE); \
	if (!(p)) { \
		bpf_monad_ring_discard(rec, 0); \
		return 0; \
	}

SEC("?syscall")
int no_commit(void *ctx)
{
	RECORD(rec);
	return 0;
}

SEC("?syscall")
int no_commit_on_one_path(void *ctx)
{
	RECORD(rec);
	if (unknown)
		return 0;
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int second_not_committed(void *ctx)
{
	RECORD(rec);
	struct monad_ring_record *other = RESERVE();

	bpf_monad_ring_commit(rec, 0);
	return other ? 1 : 0;
}

static long reserve_only(__u32 i, void *ctx)
{
	struct monad_ring_record *rec = RESERVE();

	return rec ? 1 : 0;
}

SEC("?syscall")
int no_commit_in_callback(void *ctx)
{
	bpf_loop(2, reserve_only, NULL, 0);
	return 0;
}

SEC("?syscall")
int double_commit(void *ctx)
{
	RECORD(rec);
	bpf_monad_ring_commit(rec, 0);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int double_discard(void *ctx)
{
	RECORD(rec);
	bpf_monad_ring_discard(rec, 0);
	bpf_monad_ring_discard(rec, 0);
	return 0;
}

SEC("?syscall")
int commit_after_discard(void *ctx)
{
	RECORD(rec);
	bpf_monad_ring_discard(rec, 0);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int discard_after_commit(void *ctx)
{
	RECORD(rec);
	bpf_monad_ring_commit(rec, 0);
	bpf_monad_ring_discard(rec, 0);
	return 0;
}

SEC("?syscall")
int tag_after_commit(void *ctx)
{
	RECORD(rec);
	bpf_monad_ring_commit(rec, 0);
	bpf_monad_ring_tag(rec, 0, 1);
	return 0;
}

SEC("?syscall")
int tags_after_commit(void *ctx)
{
	RECORD(rec);
	bpf_monad_ring_commit(rec, 0);
	bpf_monad_ring_tags(rec, 1, 2, 3, 4);
	return 0;
}

SEC("?syscall")
int seqno_after_commit(void *ctx)
{
	RECORD(rec);
	bpf_monad_ring_commit(rec, 0);
	return bpf_monad_ring_seqno(rec) > 5;
}

SEC("?syscall")
int write_after_commit(void *ctx)
{
	__u64 value = 1;

	RECORD(rec);
	bpf_monad_ring_commit(rec, 0);
	bpf_monad_ring_write(rec, 0, &value, sizeof(value));
	return 0;
}

SEC("?syscall")
int payload_of_committed(void *ctx)
{
	__u8 *p;

	RECORD(rec);
	bpf_monad_ring_commit(rec, 0);
	p = bpf_monad_ring_payload(rec, SIZE);
	return p ? p[0] : 0;
}

SEC("?syscall")
int payload_written_after_commit(void *ctx)
{
	RECORD(rec);
	PAYLOAD(p, rec);
	bpf_monad_ring_commit(rec, 0);
	p[0] = 1;
	return 0;
}

SEC("?syscall")
int payload_read_after_discard(void *ctx)
{
	RECORD(rec);
	PAYLOAD(p, rec);
	bpf_monad_ring_discard(rec, 0);
	return *(volatile __u8 *)p;
}

SEC("?syscall")
int payload_past_end(void *ctx)
{
	RECORD(rec);
	PAYLOAD(p, rec);
	p[SIZE] = 1;
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int payload_across_end(void *ctx)
{
	RECORD(rec);
	PAYLOAD(p, rec);
	*(__u64 *)(p + SIZE - 4) = 1;
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int payload_before_start(void *ctx)
{
	RECORD(rec);
	PAYLOAD(p, rec);
	p[-1] = 1;
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int payload_index_unbounded(void *ctx)
{
	RECORD(rec);
	PAYLOAD(p, rec);
	p[unknown] = 1;
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int payload_index_one_too_many(void *ctx)
{
	__u64 i = unknown;

	RECORD(rec);
	PAYLOAD(p, rec);
	if (i <= SIZE)
		p[i] = 1;
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int payload_helper_past_end(void *ctx)
{
	RECORD(rec);
	PAYLOAD(p, rec);
	bpf_get_current_comm(p + SIZE - 8, 16);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int payload_of_unknown_size(void *ctx)
{
	__u8 *p;

	RECORD(rec);
	p = bpf_monad_ring_payload(rec, unknown & 63);
	if (p)
		p[0] = 1;
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int payload_not_checked(void *ctx)
{
	__u8 *p;

	RECORD(rec);
	p = bpf_monad_ring_payload(rec, SIZE);
	p[0] = 1;
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int record_not_checked(void *ctx)
{
	struct monad_ring_record *rec = RESERVE();

	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int record_not_checked_payload(void *ctx)
{
	struct monad_ring_record *rec = RESERVE();
	__u8 *p = bpf_monad_ring_payload(rec, SIZE);

	if (p)
		p[0] = 1;
	if (rec)
		bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int record_not_checked_tag(void *ctx)
{
	struct monad_ring_record *rec = RESERVE();

	bpf_monad_ring_tag(rec, 0, 1);
	if (rec)
		bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int record_not_checked_tags(void *ctx)
{
	struct monad_ring_record *rec = RESERVE();

	bpf_monad_ring_tags(rec, 1, 2, 3, 4);
	if (rec)
		bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int record_not_checked_write(void *ctx)
{
	struct monad_ring_record *rec = RESERVE();
	__u64 value = 1;

	bpf_monad_ring_write(rec, 0, &value, sizeof(value));
	if (rec)
		bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int record_not_checked_seqno(void *ctx)
{
	struct monad_ring_record *rec = RESERVE();

	unknown = bpf_monad_ring_seqno(rec);
	if (rec)
		bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int record_not_checked_discard(void *ctx)
{
	struct monad_ring_record *rec = RESERVE();

	bpf_monad_ring_discard(rec, 0);
	return 0;
}

SEC("?syscall")
int record_is_stack(void *ctx)
{
	struct monad_ring_record rec = { 0 };

	bpf_monad_ring_commit(&rec, 0);
	return 0;
}

SEC("?syscall")
int record_is_number(void *ctx)
{
	bpf_monad_ring_commit((void *)(long)unknown, 0);
	return 0;
}

SEC("?syscall")
int record_is_null(void *ctx)
{
	bpf_monad_ring_commit(NULL, 0);
	return 0;
}

SEC("?syscall")
int record_is_null_tag(void *ctx)
{
	bpf_monad_ring_tag(NULL, 0, 1);
	return 0;
}

SEC("?syscall")
int record_is_payload(void *ctx)
{
	RECORD(rec);
	PAYLOAD(p, rec);
	bpf_monad_ring_commit((void *)p, 0);
	return 0;
}

SEC("?syscall")
int record_is_task(void *ctx)
{
	bpf_monad_ring_commit((void *)bpf_get_current_task_btf(), 0);
	return 0;
}

SEC("?syscall")
int record_is_task_tag(void *ctx)
{
	bpf_monad_ring_tag((void *)bpf_get_current_task_btf(), 0, 1);
	return 0;
}

SEC("?syscall")
int record_moved(void *ctx)
{
	RECORD(rec);
	bpf_monad_ring_commit((void *)rec + 64, 0);
	return 0;
}

SEC("?syscall")
int record_kept(void *ctx)
{
	RECORD(rec);
	kept = rec;
	return 0;
}

SEC("?syscall")
int record_from_before(void *ctx)
{
	if (kept)
		bpf_monad_ring_commit(kept, 0);
	return 0;
}

SEC("?syscall")
int record_written(void *ctx)
{
	RECORD(rec);
	*(volatile __u64 *)&rec->floor = 0;
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int output_past_end(void *ctx)
{
	__u64 value = 1;

	return bpf_monad_ring_output(0, 2, &value, sizeof(value) + 1, 0);
}

SEC("?syscall")
int output_of_unknown_size(void *ctx)
{
	__u64 value[2] = { 1, 2 };

	return bpf_monad_ring_output(0, 2, value, unknown, 0);
}

SEC("?syscall")
int output_of_number(void *ctx)
{
	return bpf_monad_ring_output(0, 2, (void *)(long)unknown, 8, 0);
}

SEC("?syscall")
int write_past_end(void *ctx)
{
	__u64 value = 1;

	RECORD(rec);
	bpf_monad_ring_write(rec, 0, &value, sizeof(value) + 1);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?syscall")
int write_of_number(void *ctx)
{
	RECORD(rec);
	bpf_monad_ring_write(rec, 0, (void *)(long)unknown, 8);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

/* A lock that others spin for must not be held while an event is written. */
struct locked {
	struct bpf_spin_lock lock;
	__u64 value;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct locked);
} locks SEC(".maps");

#define LOCKED(name, call) \
	int name(void *ctx) \
	{ \
		struct locked *locked; \
		__u32 key = 0; \
\
		locked = bpf_map_lookup_elem(&locks, &key); \
		if (!locked) \
			return 0; \
		RECORD(rec); \
		bpf_spin_lock(&locked->lock); \
		call; \
		bpf_spin_unlock(&locked->lock); \
		bpf_monad_ring_commit(rec, 0); \
		return 0; \
	}

SEC("?fentry/do_sys_openat2")
LOCKED(locked_reserve, locked->value = !!RESERVE())

SEC("?fentry/do_sys_openat2")
LOCKED(locked_output, bpf_monad_ring_output(0, 2, &key, sizeof(key), 0))

SEC("?fentry/do_sys_openat2")
LOCKED(locked_seqno, locked->value = bpf_monad_ring_seqno(rec))

SEC("?fentry/do_sys_openat2")
LOCKED(locked_query, locked->value = bpf_monad_ring_query(0, 0))

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} tail SEC(".maps");

/* Who is called would not know that there is one. */
SEC("?fentry/do_sys_openat2")
int record_over_tail_call(void *ctx)
{
	RECORD(rec);
	bpf_tail_call(ctx, &tail, 0);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

__attribute__((noinline)) int global_commit(struct monad_ring_record *rec)
{
	if (!rec)
		return 1;
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

SEC("?fentry/do_sys_openat2")
int record_to_global(void *ctx)
{
	RECORD(rec);
	global_commit(rec);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

static long commit_in_callback(__u32 i, struct monad_ring_record **rec)
{
	bpf_monad_ring_commit(*rec, 0);
	return 0;
}

/* It may run twice, or never. */
SEC("?fentry/do_sys_openat2")
int record_to_callback(void *ctx)
{
	RECORD(rec);
	bpf_loop(2, commit_in_callback, &rec, 0);
	return 0;
}

/* Program types that the module does not register for; types.c has those for which it may. */
#define OUTPUT(name) \
	int name(void *ctx) \
	{ \
		__u64 value = 1; \
\
		bpf_monad_ring_output(0, 2, &value, sizeof(value), 0); \
		return 0; \
	}

SEC("?xdp")
OUTPUT(type_xdp)

SEC("?tc")
OUTPUT(type_tc)

SEC("?socket")
OUTPUT(type_socket)

SEC("?cgroup_skb/ingress")
OUTPUT(type_cgroup_skb)

SEC("?sk_skb/stream_verdict")
OUTPUT(type_sk_skb)

SEC("?lwt_in")
OUTPUT(type_lwt)

SEC("?cgroup/connect4")
OUTPUT(type_cgroup_connect)

SEC("?flow_dissector")
OUTPUT(type_flow_dissector)
