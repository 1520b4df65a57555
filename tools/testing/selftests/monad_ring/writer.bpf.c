// SPDX-License-Identifier: GPL-2.0
/*
 * Writers of checkable events (pattern.h): from syscall programs, as many as asked for in
 * one run, and one at a time from whatever interrupts those. One stalls on purpose, and
 * one takes more records at once than there are.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "monad_ring.bpf.h"
#include "pattern.h"
#include "writer.h"

char LICENSE[] SEC("license") = "GPL";

#define WORDS (WRITER_MAX_LEN / 8)
#define DIRECT 64 /* bytes; events of just this size are written through the pointer */

struct writer writers[WRITERS];

/* The payload in the making, for each writer. */
__u64 scratch[WRITERS][WORDS];

/* of every commit and discard of burst */
__u64 commit_flags;

/* stall: who is told to go on, 1: all, 2 << n: writer n; how far the last one is that stalled */
volatile __u32 stall_go;
volatile __u32 stall_state; /* 1: reserved and stalled, 2: committed, 3: refused */
volatile __u64 stall_seqno;

/* hold: which records it got, by bit */
__u32 hold_got;

struct fill {
	__u64 seqno;
	__u32 len;
	__u32 writer;
};

static long fill_words(__u32 i, struct fill *fill)
{
	__u64 *words = &scratch[fill->writer & (WRITERS - 1)][i * 8 & (WORDS - 8)];
	__u32 j;

#pragma unroll
	for (j = 0; j < 8; j++)
		words[j] = pattern_word(fill->seqno, fill->len, i * 8 + j);
	return 0;
}

static __always_inline __u32 pick_len(struct writer *w)
{
	__u32 span = w->max_len - w->min_len + 1;

	if (w->big_every && w->tried % w->big_every == 0)
		return w->big_len;
	/* xorshift64: lengths need not be more random than this. */
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->min_len + (span ? (__u32)(w->random >> 32) % span : 0);
}

/* Tags, payload: all but the commit. False when a kfunc failed that must not. */
static __always_inline bool write_event(struct monad_ring_record *rec, __u32 writer, __u64 count,
					__u32 len)
{
	struct fill fill = { .len = len, .writer = writer };
	bool good = true;
	__u64 *direct, size = len;
	__u32 i;

	fill.seqno = bpf_monad_ring_seqno(rec);
	good &= !bpf_monad_ring_tag(rec, 0, count);
	good &= !bpf_monad_ring_tag(rec, 1, ~fill.seqno);
	good &= !bpf_monad_ring_tag(rec, 2, (__u64)writer << 32 | len);
	good &= !bpf_monad_ring_tag(rec, 3, pattern_word(fill.seqno, len, PATTERN_TAG));
	if (len == DIRECT) {
		direct = (__u64 *)bpf_monad_ring_payload(rec, DIRECT);
		if (!direct)
			return false;
#pragma unroll
		for (i = 0; i < DIRECT / 8; i++)
			direct[i] = pattern_word(fill.seqno, len, i);
		return good;
	}
	bpf_loop((len + 63) / 64, fill_words, &fill, 0);
	/* The verifier must see the register that was checked, not a copy. */
	asm volatile("" : "+r"(size));
	if (size <= WRITER_MAX_LEN)
		good &= !bpf_monad_ring_write(rec, 0, scratch[writer & (WRITERS - 1)], size);
	return good;
}

static __always_inline long write_one(__u32 writer)
{
	struct writer *w = &writers[writer & (WRITERS - 1)];
	struct monad_ring_record *rec;
	__u32 len, ring;
	bool discard;

	len = pick_len(w);
	w->tried++;
	/* Once: user space may change it meanwhile. */
	ring = *(volatile __u32 *)&w->ring;
	rec = bpf_monad_ring_reserve(ring, PATTERN_TYPE + writer, len);
	if (!rec) {
		w->refused++;
		return 0;
	}
	w->bytes += (len + 15) & ~15;
	discard = w->discard_every && w->tried % w->discard_every == 0;
	if (!write_event(rec, writer, w->tag_ring ? ring : w->committed, len)) {
		w->errors++;
		discard = true;
	}
	if (discard) {
		w->discarded++;
		bpf_monad_ring_discard(rec, commit_flags);
	} else {
		w->committed++;
		bpf_monad_ring_commit(rec, commit_flags);
	}
	return 0;
}

static long burst_one(__u32 i, __u32 *writer)
{
	return write_one(*writer);
}

SEC("syscall")
int burst(struct writer_run *run)
{
	__u32 writer = run->writer & 7;

	bpf_loop(writers[writer].events, burst_one, &writer, 0);
	return 0;
}

static __always_inline void write_in(__u32 base)
{
	__u32 cpu = bpf_get_smp_processor_id() & (WRITER_CPUS - 1);

	if (writers[base + cpu].on)
		write_one(base + cpu);
}

/* hardirq */
SEC("tp_btf/hrtimer_expire_entry")
int timer(void *ctx)
{
	write_in(WRITER_TIMER);
	return 0;
}

/* task, with interrupts off */
SEC("tp_btf/sched_switch")
int sched(void *ctx)
{
	write_in(WRITER_SWITCH);
	return 0;
}

/* hardirq in a guest; NMI where there are hardware counters */
SEC("perf_event")
int perf(void *ctx)
{
	write_in(WRITER_PERF);
	return 0;
}

static long spin(__u32 i, __u32 *mask)
{
	return stall_go & *mask ? 1 : 0;
}

static long spin_more(__u32 i, __u32 *mask)
{
	bpf_loop(1 << 16, spin, mask, 0);
	return stall_go & *mask ? 1 : 0;
}

/*
 * Reserves and writes, then waits, for long but not for ever, until user space lets it
 * commit.
 */
static __always_inline void stall_once(__u32 writer)
{
	struct writer *w = &writers[writer & 7];
	struct monad_ring_record *rec;
	__u32 len, mask = 1 | 2 << writer;

	len = pick_len(w);
	w->tried++;
	rec = bpf_monad_ring_reserve(w->ring, PATTERN_TYPE + writer, len);
	if (!rec) {
		w->refused++;
		stall_state = 3;
		return;
	}
	w->bytes += (len + 15) & ~15;
	if (!write_event(rec, writer, w->committed, len))
		w->errors++;
	stall_seqno = bpf_monad_ring_seqno(rec);
	stall_state = 1;
	bpf_loop(1 << 13, spin_more, &mask, 0);
	w->committed++;
	bpf_monad_ring_commit(rec, 0);
	stall_state = 2;
}

/* In a program that is allowed to sleep */
SEC("syscall")
int stall(struct writer_run *run)
{
	stall_once(run->writer & 7);
	return 0;
}

/* and in one that is not, run by itself: by BPF_PROG_TEST_RUN once it is attached. */
SEC("fentry/bpf_fentry_test1")
int stall_atomic(void *ctx)
{
	stall_once(0);
	return 0;
}

#define HOLD(n) \
	rec##n = bpf_monad_ring_reserve(w->ring, PATTERN_TYPE + writer, 8)
#define PUT(n) \
	do { \
		w->tried++; \
		if (rec##n) { \
			bpf_monad_ring_discard(rec##n, 0); \
			w->discarded++; \
			w->bytes += 16; \
			hold_got |= 1 << (n); \
		} else { \
			w->refused++; \
		} \
	} while (0)

/* One record more than a CPU has slots. */
SEC("syscall")
int hold(struct writer_run *run)
{
	struct monad_ring_record *rec0, *rec1, *rec2, *rec3, *rec4, *rec5, *rec6, *rec7, *rec8;
	__u32 writer = run->writer & 7;
	struct writer *w = &writers[writer];

	hold_got = 0;
	HOLD(0);
	HOLD(1);
	HOLD(2);
	HOLD(3);
	HOLD(4);
	HOLD(5);
	HOLD(6);
	HOLD(7);
	HOLD(8);
	/* The last first, and the outermost in the middle. */
	PUT(8);
	PUT(3);
	PUT(7);
	PUT(0);
	PUT(6);
	PUT(1);
	PUT(5);
	PUT(2);
	PUT(4);
	return 0;
}
