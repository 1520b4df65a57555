/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing events into a monad_ring from a BPF program.
 *
 *	struct monad_ring_record *rec;
 *	struct my_event *e;
 *
 *	e = monad_ring_begin(ring_id, MY_EVENT, struct my_event, &rec);
 *	if (!e)
 *		return 0;		// not recorded, and counted by the ring
 *	e->pid = ...;
 *	bpf_monad_ring_tag(rec, 0, e->pid);
 *	bpf_monad_ring_commit(rec, 0);
 *
 * Includes: either vmlinux.h or <linux/bpf.h>, then <bpf/bpf_helpers.h>, then this one.
 *
 * Where it works: tp_btf, fentry/fexit/fmod_ret, LSM, iterator and syscall programs, sleepable
 * or not, on 6.1 and later; kprobe, uprobe, tracepoint and perf_event programs as well on 6.12
 * and later. In any context those run in: task, softirq, hardirq, NMI, nested; not while a
 * bpf_spin_lock is held. Documentation/writing-events.rst has the table, a tutorial and what
 * each mistake is answered with.
 *
 * The program must be GPL. Loading it with libbpf takes CAP_SYS_ADMIN, because
 * finding a module's kfuncs means enumerating BTF ids.
 *
 * The verifier sees to it that a record is committed or discarded on every path,
 * once, and that its payload is touched only in between and within bounds.
 *
 * The payload is not cleared: it holds bytes of older events of this ring until
 * the program writes it. Write all of it.
 *
 * MONAD_RING_OPTIONAL, defined before this is included, makes the kfuncs weak: the program then
 * loads where the module is not, provided that its calls are behind a constant which its loader
 * sets (const volatile bool in .rodata), so that the verifier sees that nobody gets there.
 * bpf_ksym_exists() says the same without the loader's help, with libbpf 1.2 and Linux 6.4 or
 * later.
 */
#ifndef MONAD_RING_BPF_H
#define MONAD_RING_BPF_H

#ifndef __ksym
#error "include <bpf/bpf_helpers.h> before monad_ring.bpf.h"
#endif

#ifdef MONAD_RING_OPTIONAL
#define MONAD_RING_KFUNC __ksym __weak
#else
#define MONAD_RING_KFUNC __ksym
#endif

/*
 * What a reserve returns. It has to be defined, not only declared, or libbpf
 * cannot match it with the module's; nothing in it is for BPF programs to read.
 */
struct monad_ring_record {
	__u64 floor;
} __attribute__((preserve_access_index));

/* The default ring, /dev/monad_ring; further ones are in struct monad_ring_info. */
#define MONAD_RING_DEFAULT 0

/*
 * Flags of commit, discard and output, those of the BPF ring buffer. Without, readers that
 * sleep are woken once the event that they wait for is there, or as many as their watermark
 * asks for. With NO_WAKEUP not by this event; with FORCE_WAKEUP now, whatever they wait for.
 */
#define MONAD_RING_NO_WAKEUP (1ULL << 0)
#define MONAD_RING_FORCE_WAKEUP (1ULL << 1)

/* What bpf_monad_ring_query() answers; unknown rings and questions give 0. */
enum monad_ring_query {
	MONAD_RING_QUERY_CAPACITY = 0,     /* descriptors */
	MONAD_RING_QUERY_PAYLOAD_SIZE = 1, /* bytes of payload buffer */
	MONAD_RING_QUERY_LAST_SEQNO = 2,
	MONAD_RING_QUERY_NEXT_BYTE = 3,    /* next unwrapped payload offset */
	MONAD_RING_QUERY_WINDOW_START = 4, /* oldest payload byte still there */
	MONAD_RING_QUERY_LOST = 5,         /* events lost, all causes */
	MONAD_RING_QUERY_DISCARDED = 6,
	MONAD_RING_QUERY_MAX_EVENT_SIZE = 7, /* bytes */
	MONAD_RING_QUERY_SLEEPERS = 8,	     /* 1 if a reader waits to be woken */
};

/*
 * Reserves an event with @size bytes of payload (known at run time only is
 * fine, 0 too). NULL when it cannot be recorded: the ring counts why.
 * @type: 2 to 65535; 0 and 1 are the format's own. In place of an event that is larger than
 * the ring takes, readers find one of type RECORD_ERROR.
 */
extern struct monad_ring_record *bpf_monad_ring_reserve(__u32 ring, __u32 type,
							__u64 size) MONAD_RING_KFUNC;

/*
 * The payload of @rec, of which the program may use @rdwr_buf_size bytes, a
 * constant. NULL when that is more than was reserved.
 */
extern __u8 *bpf_monad_ring_payload(struct monad_ring_record *rec,
				    const __u32 rdwr_buf_size) MONAD_RING_KFUNC;

/*
 * Copies @data__sz bytes to @offset of the payload: for data whose length is
 * known at run time only. -E2BIG when it does not fit what was reserved,
 * -EINVAL when @data is NULL.
 */
extern int bpf_monad_ring_write(struct monad_ring_record *rec, __u32 offset,
				void *data, __u32 data__sz) MONAD_RING_KFUNC;

/* Sets content_ext[@index]. -EINVAL for an index above 3. */
extern int bpf_monad_ring_tag(struct monad_ring_record *rec, __u32 index,
			      __u64 value) MONAD_RING_KFUNC;

/* Sets all of content_ext in one call. */
extern void bpf_monad_ring_tags(struct monad_ring_record *rec, __u64 tag0, __u64 tag1,
				__u64 tag2, __u64 tag3) MONAD_RING_KFUNC;

/* The event's own sequence number, to tag later events with. */
extern __u64 bpf_monad_ring_seqno(struct monad_ring_record *rec) MONAD_RING_KFUNC;

/* Publishes @rec. */
extern void bpf_monad_ring_commit(struct monad_ring_record *rec, __u64 flags) MONAD_RING_KFUNC;

/* Publishes @rec as an event of type 0 without payload: readers skip it. */
extern void bpf_monad_ring_discard(struct monad_ring_record *rec, __u64 flags) MONAD_RING_KFUNC;

/*
 * Reserve, write and commit in one. 0, or -ENOENT (no such ring), -EINVAL
 * (event type or flags, or @data is NULL), -E2BIG (size), -EAGAIN (held back by a stalled writer,
 * no record slot, or too contended). Each is counted by the ring.
 */
extern int bpf_monad_ring_output(__u32 ring, __u32 type, void *data, __u32 data__sz,
				 __u64 flags) MONAD_RING_KFUNC;

/* See enum monad_ring_query. */
extern __u64 bpf_monad_ring_query(__u32 ring, __u32 what) MONAD_RING_KFUNC;

/* What monad_ring_begin() does; @size must be a constant. */
static __always_inline void *__monad_ring_begin(__u32 ring, __u32 type, const __u32 size,
						struct monad_ring_record **rec)
{
	void *payload;

	*rec = bpf_monad_ring_reserve(ring, type, size);
	if (!*rec)
		return NULL;
	payload = bpf_monad_ring_payload(*rec, size);
	if (!payload)
		bpf_monad_ring_discard(*rec, 0);
	return payload;
}

/*
 * Reserves an event whose payload is one @event, and returns a pointer to that; NULL when it
 * cannot be recorded, and then there is nothing to commit either.
 * @event: a type, struct my_event say
 * @rec: a struct monad_ring_record **; filled in, for commit or discard
 */
#define monad_ring_begin(ring, type, event, rec) \
	((event *)__monad_ring_begin(ring, type, sizeof(event), rec))

#endif /* MONAD_RING_BPF_H */
