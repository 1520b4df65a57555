// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that use the kfuncs as they may be used, in each way that a verifier could be wrong
 * about. types.bpf.c has the program types.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "monad_ring.bpf.h"
#include "accepted.h"

char LICENSE[] SEC("license") = "GPL";

/* For reload.c: one that goes on running. */
SEC("?tp_btf/sys_enter")
int runs_on(void *ctx)
{
	__u64 value = 1;

	bpf_monad_ring_output(0, 2, &value, sizeof(value), 0);
	return 0;
}

volatile __u64 unknown = 5;

static __attribute__((noinline)) void fill(__u64 *p, __u64 value)
{
	p[1] = value;
	p[2] = value + 1;
}

/* All that can be done with one payload; the event is checked byte for byte. */
SEC("?syscall")
int ways(void *ctx)
{
	struct monad_ring_record *rec;
	__u64 i = unknown, value = 0x77;
	__u8 *p;

	rec = bpf_monad_ring_reserve(0, TYPE_WAYS, WAYS_SIZE);
	if (!rec)
		return 1;
	p = bpf_monad_ring_payload(rec, WAYS_SIZE);
	if (!p) {
		bpf_monad_ring_discard(rec, 0);
		return 2;
	}
	__builtin_memset(p, 0xaa, WAYS_SIZE);
	/* by a function; by an index that is masked, and one that is checked */
	fill((__u64 *)p, 0x1111);
	p[24 + (i & 7)] = 0x22;
	if (i < 8)
		p[32 + i] = 0x33;
	/* by helpers */
	bpf_get_current_comm(p + 40, 16);
	bpf_probe_read_kernel(p + 56, sizeof(value), &value);
	/* atomically */
	*(__u64 *)(p + 64) = 40;
	__sync_fetch_and_add((__u64 *)(p + 64), 2);
	/* by the kfunc, of a length known at run time only */
	if (i <= sizeof(value))
		bpf_monad_ring_write(rec, 72, &value, i);
	bpf_monad_ring_tag(rec, 3, bpf_monad_ring_seqno(rec));
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

/* Lengths known at run time only, of the event too. */
SEC("?syscall")
int variable(void *ctx)
{
	__u64 value[2] = { 0x0807060504030201ULL, 0x100f0e0d0c0b0a09ULL };
	struct monad_ring_record *rec;
	__u64 len = unknown;

	asm volatile("" : "+r"(len));
	if (len > sizeof(value))
		return 1;
	rec = bpf_monad_ring_reserve(0, TYPE_VARIABLE, len);
	if (!rec)
		return 2;
	bpf_monad_ring_write(rec, 0, value, len);
	bpf_monad_ring_commit(rec, 0);
	return bpf_monad_ring_output(0, TYPE_VARIABLE, value, len, 0);
}

static __attribute__((noinline)) struct monad_ring_record *begin(__u64 size)
{
	return bpf_monad_ring_reserve(0, TYPE_SUBPROG, size);
}

static __attribute__((noinline)) int end(struct monad_ring_record *rec)
{
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

/* Reserved in one function, committed in another. */
SEC("?syscall")
int subprogs(void *ctx)
{
	struct monad_ring_record *rec = begin(8);

	if (!rec)
		return 1;
	return end(rec);
}
