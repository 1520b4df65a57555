// SPDX-License-Identifier: GPL-2.0
/*
 * Each kfunc, called as its caller says.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "monad_ring.bpf.h"
#include "kfunc.h"

char LICENSE[] SEC("license") = "GPL";

__u8 data[KFUNC_DATA];

/* Publishes @rec in the way @call says. */
static __always_inline void put(struct monad_ring_record *rec, const struct kfunc_call *call)
{
	if (call->discard)
		bpf_monad_ring_discard(rec, call->flags);
	else
		bpf_monad_ring_commit(rec, call->flags);
}

SEC("syscall")
int output(struct kfunc_call *call)
{
	__u64 size = call->size;

	asm volatile("" : "+r"(size));
	if (size <= KFUNC_DATA)
		call->ret = bpf_monad_ring_output(call->ring, call->type, data, size, call->flags);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} map SEC(".maps");

/* Data that is not there, by programs that do not look: the verifier need not mind. */
SEC("?syscall")
int output_null(struct kfunc_call *call)
{
	__u32 key = 1;

	call->ret = bpf_monad_ring_output(call->ring, call->type, bpf_map_lookup_elem(&map, &key),
					  sizeof(__u64), 0);
	call->got = 1;
	return 0;
}

SEC("?syscall")
int write_null(struct kfunc_call *call)
{
	struct monad_ring_record *rec;
	__u32 key = 1;

	rec = bpf_monad_ring_reserve(call->ring, call->type, call->size);
	if (!rec)
		return 0;
	call->ret = bpf_monad_ring_write(rec, 0, bpf_map_lookup_elem(&map, &key), sizeof(__u64));
	call->got = 1;
	bpf_monad_ring_discard(rec, 0);
	return 0;
}

/* reserve, write, tag, seqno, commit or discard */
SEC("syscall")
int reserve(struct kfunc_call *call)
{
	__u64 length = call->length;
	struct monad_ring_record *rec;

	rec = bpf_monad_ring_reserve(call->ring, call->type, call->size);
	if (!rec)
		return 0;
	call->got = 1;
	call->seqno[0] = bpf_monad_ring_seqno(rec);
	asm volatile("" : "+r"(length));
	if (length <= KFUNC_DATA)
		call->ret = bpf_monad_ring_write(rec, call->offset, data, length);
	put(rec, call);
	return 0;
}

SEC("syscall")
int tag(struct kfunc_call *call)
{
	struct monad_ring_record *rec;

	rec = bpf_monad_ring_reserve(call->ring, call->type, call->size);
	if (!rec)
		return 0;
	call->got = 1;
	call->ret = bpf_monad_ring_tag(rec, call->index, call->value);
	put(rec, call);
	return 0;
}

SEC("syscall")
int tags(struct kfunc_call *call)
{
	struct monad_ring_record *rec;

	rec = bpf_monad_ring_reserve(call->ring, call->type, call->size);
	if (!rec)
		return 0;
	call->got = 1;
	bpf_monad_ring_tags(rec, call->value, call->value + 1, call->value + 2, call->value + 3);
	put(rec, call);
	return 0;
}

#define TRY(bit, size) \
	do { \
		__u8 *p = bpf_monad_ring_payload(rec, size); \
\
		if (p) { \
			call->got |= 1 << (bit); \
			p[0] = (bit) + 1; \
			p[(size) - 1] = (bit) + 1; \
		} \
	} while (0)

/* Which sizes the payload can be had with, by bit; writes the ends of each that it can. */
SEC("syscall")
int payload(struct kfunc_call *call)
{
	struct monad_ring_record *rec;

	rec = bpf_monad_ring_reserve(call->ring, call->type, call->size);
	if (!rec)
		return 0;
	TRY(0, 1);
	TRY(1, 16);
	TRY(2, 17);
	TRY(3, 64);
	TRY(4, 100);
	TRY(5, 4096);
	TRY(6, 65536);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

/* Two at a time, published in either order. */
SEC("syscall")
int two(struct kfunc_call *call)
{
	struct monad_ring_record *first, *second;
	__u64 *p;

	first = bpf_monad_ring_reserve(call->ring, call->type, 16);
	if (!first)
		return 0;
	call->got |= 1;
	call->seqno[0] = bpf_monad_ring_seqno(first);
	second = bpf_monad_ring_reserve(call->ring, call->type + 1, 16);
	if (!second) {
		bpf_monad_ring_discard(first, 0);
		return 0;
	}
	call->got |= 2;
	call->seqno[1] = bpf_monad_ring_seqno(second);
	p = (__u64 *)bpf_monad_ring_payload(second, 16);
	if (p) {
		p[0] = 0x2222222222222222ULL;
		p[1] = p[0];
	}
	p = (__u64 *)bpf_monad_ring_payload(first, 16);
	if (p) {
		p[0] = 0x1111111111111111ULL;
		p[1] = p[0];
	}
	bpf_monad_ring_tag(second, 0, call->seqno[0]);
	bpf_monad_ring_tag(first, 1, call->seqno[1]);
	if (call->order) {
		put(second, call);
		put(first, call);
	} else {
		put(first, call);
		put(second, call);
	}
	return 0;
}

SEC("syscall")
int query(struct kfunc_call *call)
{
	call->answer = bpf_monad_ring_query(call->ring, call->index);
	return 0;
}
