/* SPDX-License-Identifier: GPL-2.0 */
/*
 * By which way through kernel and program an I/O was asked for.
 *
 * A stack becomes an event when it is new, and again when that event has come near the
 * end of the ring: so a ring, or a snapshot of it, has the stacks of its I/O in itself,
 * and each I/O has only a number. Kept are the hashes of stacks, not the stacks: two
 * with the same 64 bits would be taken for one.
 */
#ifndef MONAD_STORAGE_STACK_BPF_H
#define MONAD_STORAGE_STACK_BPF_H

#include "storage.bpf.h"
#include "storage_table.bpf.h"

const volatile bool record_stacks;
const volatile uint32_t stack_shift;
/* upper bits of all numbers, so that those of an earlier recording are others */
const volatile uint32_t stack_salt;
/* Where the kernel's code begins (_stext): another place at each boot. */
const volatile uint64_t kernel_text;
/* a stack is written again after so many events */
const volatile uint64_t stack_refresh;

/* By hash, and the seqno of the event that has the stack. */
TABLE_MAP(stack_keys, struct monad_storage_bucket);
TABLE_MAP(stack_seqnos, uint64_t);

/* Programs that may interrupt each other each have their own. */
enum stack_user {
	STACK_OF_REQUEST,
	STACK_OF_BIO,
	STACK_USERS,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_USERS);
	__type(key, u32);
	__type(value, struct monad_storage_stack);
} stack_scratch SEC(".maps");

static __always_inline u64 hash_frames(u64 hash, const uint64_t *frames, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (!frames[i])
			break;
		hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 29;
	}
	return hash;
}

static __always_inline u64 write_stack(const struct monad_storage_stack *stack)
{
	struct monad_storage_stack *e;
	struct monad_ring_record *rec;
	u64 seqno;

	e = monad_ring_begin(ring_id, MONAD_STORAGE_STACK, struct monad_storage_stack, &rec);
	if (!e) {
		count(MONAD_STORAGE_NOT_RECORDED);
		return 0;
	}
	__builtin_memcpy(e, stack, sizeof(*e));
	seqno = bpf_monad_ring_seqno(rec);
	bpf_monad_ring_tag(rec, MONAD_STORAGE_TAG_START, stack->id);
	bpf_monad_ring_commit(rec, MONAD_RING_NO_WAKEUP);
	return seqno;
}

/* The number of the stack that the running task is on; 0: not known. */
static __noinline u32 take_stack(void *ctx, u32 user)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct monad_storage_stack *stack;
	struct place p;
	u64 hash, *seqno;

	stack = bpf_map_lookup_elem(&stack_scratch, &user);
	if (!stack)
		return 0;
	/* What is not used of it is set to 0. */
	bpf_get_stack(ctx, stack->kernel, sizeof(stack->kernel), 0);
	bpf_get_stack(ctx, stack->user, sizeof(stack->user), BPF_F_USER_STACK);
	stack->tgid = stack->user[0] ? task->tgid : 0;
	hash = hash_frames(stack->tgid + 1, stack->kernel, MONAD_STORAGE_STACK_DEPTH);
	hash = hash_frames(hash, stack->user, MONAD_STORAGE_STACK_DEPTH) | 1;
	table_claim(&stack_keys, stack_shift, hash, &p);
	if (p.index == TABLE_NONE) {
		count(MONAD_STORAGE_STACKS_FULL);
		return 0;
	}
	stack->id = stack_salt | (p.index + 1);
	seqno = bpf_map_lookup_elem(&stack_seqnos, &p.index);
	if (!seqno)
		return 0;
	if (!*seqno || bpf_monad_ring_query(ring_id, MONAD_RING_QUERY_LAST_SEQNO) - *seqno >
			       stack_refresh) {
		stack->text = kernel_text;
		*seqno = write_stack(stack);
	}
	return stack->id;
}

#endif /* MONAD_STORAGE_STACK_BPF_H */
