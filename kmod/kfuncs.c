// SPDX-License-Identifier: GPL-2.0
/*
 * The kfuncs: the recorder as BPF programs see it. Documented for their callers in
 * bpf/monad_ring.bpf.h.
 *
 * Three things that the verifier asks of their shapes, on one kernel or another:
 * the payload comes as u8 *, since void * is a scalar to it from 6.12 on; the record is the
 * first argument of what releases it; and what is acquired is a pointer to a structure, the
 * record slot, never the payload itself.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "compat.h"
#include "kfuncs.h"
#include "ring.h"

/* enum monad_ring_query of bpf/monad_ring.bpf.h */
enum {
	QUERY_CAPACITY,
	QUERY_PAYLOAD_SIZE,
	QUERY_LAST_SEQNO,
	QUERY_NEXT_BYTE,
	QUERY_WINDOW_START,
	QUERY_LOST,
	QUERY_DISCARDED,
	QUERY_MAX_EVENT_SIZE,
	QUERY_SLEEPERS,
};

/* The ring of that id, for as long as the calling program runs; see monad_rings.h */
static __always_inline struct monad_ring *ring_of(u32 id)
{
	struct monad_ring *ring = monad_ring_slot(id);

	/* A destroyed ring's id is not the one of whatever ring has its place now. */
	return likely(ring && ring->id == id) ? ring : NULL;
}

/* For an event: one that is offered to a ring that does not exist is counted. */
static __always_inline struct monad_ring *ring_for_event(u32 id)
{
	struct monad_ring *ring = ring_of(id);

	if (unlikely(!ring))
		atomic64_inc(&monad_ring_gone);
	return ring;
}

/* Wakes readers after the commit of event @seqno with these flags, not 0. */
static noinline void wake_by_flags(struct monad_ring *ring, u64 seqno, u64 flags)
{
	if (flags & MONAD_NOTIFY_FORCE_WAKEUP ||
	    (!(flags & MONAD_NOTIFY_NO_WAKEUP) && monad_notify_wanted(&ring->notify, seqno)))
		monad_notify_raise(&ring->notify, flags);
}

static __always_inline void wake(struct monad_ring *ring, u64 seqno, u64 flags)
{
	if (unlikely(flags))
		wake_by_flags(ring, seqno, flags);
	else if (unlikely(monad_notify_wanted(&ring->notify, seqno)))
		monad_notify_raise(&ring->notify, 0);
}

static __always_inline struct monad_ring *ring_of_record(const struct monad_ring_record *rec)
{
	return container_of(rec->recorder, struct monad_ring, recorder);
}

/* Types 0 and 1 are the format's own, and 16 bits are all there is room for. */
static __always_inline bool type_ok(struct monad_recorder *r, u32 type)
{
	if (likely(type > MONAD_EVENT_RECORD_ERROR_EVENT_TYPE && type <= U16_MAX))
		return true;
	recorder_lost(r, MONAD_RING_LOST_BAD_ARG);
	return false;
}

/* Tells readers of an event that is too large, with the head of its payload if there is one. */
static noinline void too_large(struct monad_ring *ring, u32 type, u64 size, const void *head,
			       u64 head_size)
{
	struct monad_ring_record *rec;

	rec = monad_recorder_too_large(&ring->recorder, type, size, head, head_size);
	if (rec)
		wake(ring, recorder_commit(rec), 0);
}

/*
 * The verifier lets pointers pass that may be NULL, as those of a map's lookup, where there is a
 * size beside them: always on 6.1, without KF_TRUSTED_ARGS on 6.12. It has no objection to
 * programs that do not look.
 */
static __always_inline bool is_null(const void *data, u32 size)
{
	return !data && size;
}

__bpf_kfunc struct monad_ring_record *bpf_monad_ring_reserve(u32 ring, u32 type, u64 size)
{
	struct monad_ring *mr = ring_for_event(ring);

	if (!mr || !type_ok(&mr->recorder, type))
		return NULL;
	if (unlikely(recorder_too_large(&mr->recorder, size))) {
		too_large(mr, type, size, NULL, 0);
		return NULL;
	}
	return recorder_reserve_sized(&mr->recorder, type, size);
}

__bpf_kfunc u8 *bpf_monad_ring_payload(struct monad_ring_record *rec, const u32 rdwr_buf_size)
{
	return likely(rdwr_buf_size <= rec->size) ? rec->payload : NULL;
}

__bpf_kfunc int bpf_monad_ring_write(struct monad_ring_record *rec, u32 offset, void *data,
				     u32 data__sz)
{
	if (unlikely(is_null(data, data__sz)))
		return -EINVAL;
	if (offset > rec->size || data__sz > rec->size - offset)
		return -E2BIG;
	memcpy(rec->payload + offset, data, data__sz);
	return 0;
}

__bpf_kfunc int bpf_monad_ring_tag(struct monad_ring_record *rec, u32 index, u64 value)
{
	if (index >= ARRAY_SIZE(rec->desc->content_ext))
		return -EINVAL;
	recorder_tag(rec, index, value);
	return 0;
}

__bpf_kfunc void bpf_monad_ring_tags(struct monad_ring_record *rec, u64 tag0, u64 tag1, u64 tag2,
				     u64 tag3)
{
	recorder_tag(rec, 0, tag0);
	recorder_tag(rec, 1, tag1);
	recorder_tag(rec, 2, tag2);
	recorder_tag(rec, 3, tag3);
}

__bpf_kfunc u64 bpf_monad_ring_seqno(struct monad_ring_record *rec)
{
	return rec->seqno;
}

__bpf_kfunc void bpf_monad_ring_commit(struct monad_ring_record *rec, u64 flags)
{
	struct monad_ring *ring = ring_of_record(rec);

	wake(ring, recorder_commit(rec), flags);
}

__bpf_kfunc void bpf_monad_ring_discard(struct monad_ring_record *rec, u64 flags)
{
	struct monad_ring *ring = ring_of_record(rec);

	wake(ring, recorder_discard(rec), flags);
}

__bpf_kfunc int bpf_monad_ring_output(u32 ring, u32 type, void *data, u32 data__sz, u64 flags)
{
	struct monad_ring *mr = ring_for_event(ring);
	struct monad_ring_record *rec;

	if (!mr)
		return -ENOENT;
	if (unlikely(flags & ~MONAD_NOTIFY_FLAGS) || unlikely(is_null(data, data__sz))) {
		recorder_lost(&mr->recorder, MONAD_RING_LOST_BAD_ARG);
		return -EINVAL;
	}
	if (!type_ok(&mr->recorder, type))
		return -EINVAL;
	if (unlikely(recorder_too_large(&mr->recorder, data__sz))) {
		too_large(mr, type, data__sz, data, data__sz);
		return -E2BIG;
	}
	rec = recorder_reserve_sized(&mr->recorder, type, data__sz);
	if (!rec)
		return -EAGAIN;
	memcpy(rec->payload, data, data__sz);
	wake(mr, recorder_commit(rec), flags);
	return 0;
}

__bpf_kfunc u64 bpf_monad_ring_query(u32 ring, u32 what)
{
	struct monad_ring *mr = ring_of(ring);
	struct monad_recorder *r;
	u64 lost = 0;
	u32 i;

	if (!mr)
		return 0;
	r = &mr->recorder;
	switch (what) {
	case QUERY_CAPACITY:
		return r->desc_mask + 1;
	case QUERY_PAYLOAD_SIZE:
		return r->payload_mask + 1;
	case QUERY_LAST_SEQNO:
		return READ_ONCE(r->control->last_seqno);
	case QUERY_NEXT_BYTE:
		return READ_ONCE(r->control->next_payload_byte);
	case QUERY_WINDOW_START:
		return READ_ONCE(r->control->buffer_window_start);
	case QUERY_LOST:
		for (i = 0; i < MONAD_RING_LOST_COUNT; i++)
			lost += READ_ONCE(r->ext->lost[i]);
		return lost;
	case QUERY_DISCARDED:
		return READ_ONCE(r->ext->discarded);
	case QUERY_MAX_EVENT_SIZE:
		return r->max_size;
	case QUERY_SLEEPERS:
		return READ_ONCE(mr->notify.wake_at) != MONAD_NOTIFY_NEVER;
	default:
		return 0;
	}
}

BTF_KFUNCS_START(monad_ring_kfunc_ids)
BTF_ID_FLAGS(func, bpf_monad_ring_reserve, KF_ACQUIRE | KF_RET_NULL)
BTF_ID_FLAGS(func, bpf_monad_ring_payload, KF_RET_NULL | KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_monad_ring_write, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_monad_ring_tag, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_monad_ring_tags, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_monad_ring_seqno, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_monad_ring_commit, KF_RELEASE)
BTF_ID_FLAGS(func, bpf_monad_ring_discard, KF_RELEASE)
BTF_ID_FLAGS(func, bpf_monad_ring_output)
BTF_ID_FLAGS(func, bpf_monad_ring_query)
BTF_KFUNCS_END(monad_ring_kfunc_ids)

static const struct btf_kfunc_id_set monad_ring_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &monad_ring_kfunc_ids,
};

/*
 * Whether the build resolved the kfuncs' BTF ids. Without, registering them succeeds and
 * does nothing.
 */
bool monad_ring_kfuncs_usable(void)
{
	const struct btf_id_set8 *set = monad_ring_kfunc_set.set;

	return set->cnt && set->pairs[0].id;
}

/*
 * Once for each hook: a registration that fails takes those that succeeded before along.
 * TRACING stands for LSM too, and from 6.12 on for tracepoint and perf_event programs.
 */
int monad_ring_register_kfuncs(void)
{
	int err;

	if (!monad_ring_kfuncs_usable()) {
		pr_warn("built without module BTF: rings can be read, but BPF programs cannot write to them; build with pahole and resolve_btfids, see Documentation/building.rst\n");
		return 0;
	}
	err = register_btf_kfunc_id_set(BPF_PROG_TYPE_TRACING, &monad_ring_kfunc_set);
	if (!err)
		err = register_btf_kfunc_id_set(BPF_PROG_TYPE_SYSCALL, &monad_ring_kfunc_set);
	if (!err && COMPAT_KPROBE_KFUNCS)
		err = register_btf_kfunc_id_set(BPF_PROG_TYPE_KPROBE, &monad_ring_kfunc_set);
	if (err)
		pr_err("kfuncs cannot be registered: %d\n", err);
	return err;
}
