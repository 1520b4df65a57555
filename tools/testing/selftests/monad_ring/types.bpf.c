// SPDX-License-Identifier: GPL-2.0
/*
 * A program of each type that a kernel may let call the kfuncs, in each context there is; each
 * calls all of them. And the ways a program can be put together of several.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "monad_ring.bpf.h"
#include "types.h"

char LICENSE[] SEC("license") = "GPL";

/* Where the CPU's count stands: 6.2 to 6.13 in a structure, else by itself. */
struct pcpu_hot {
	int preempt_count;
} __attribute__((preserve_access_index));

extern const struct pcpu_hot pcpu_hot __ksym __weak;
extern const int __preempt_count __ksym __weak;

__u32 runs;
__u32 bad; /* answers that are not what they must be, by bit */
__u32 length = 5;
const void *user; /* memory of the process... */
__u32 pid;        /* ...of this number */

static __always_inline __u32 preempt_count(void)
{
	if (&__preempt_count)
		return *(int *)bpf_this_cpu_ptr(&__preempt_count);
	if (&pcpu_hot)
		return ((struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count;
	return -1;
}

#define EXPECT(bit, condition) \
	do { \
		if (!(condition)) \
			bad |= 1 << (bit); \
	} while (0)

/* All kfuncs, all flags. */
static __always_inline void every(void)
{
	struct types_event out = { .cookie = TYPES_COOKIE, .text = "abcdefghijklmno" }, *e;
	struct monad_ring_record *rec;
	__u64 len = length;

	if (runs >= TYPES_RUNS)
		return;
	runs++;
	out.last_seqno = bpf_monad_ring_query(0, MONAD_RING_QUERY_LAST_SEQNO);
	out.preempt_count = preempt_count();
	EXPECT(0, !bpf_monad_ring_output(0, TYPES_OUTPUT, &out, sizeof(out), 0));
	EXPECT(1, bpf_monad_ring_output(0, TYPES_OUTPUT, &out, sizeof(out), 4) == -22);

	e = monad_ring_begin(0, TYPES_COMMIT, struct types_event, &rec);
	if (!e) {
		bad |= 1 << 2;
		return;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->cookie = ~TYPES_COOKIE;
	e->seqno = bpf_monad_ring_seqno(rec);
	e->last_seqno = bpf_monad_ring_query(0, MONAD_RING_QUERY_LAST_SEQNO);
	e->preempt_count = out.preempt_count;
	e->length = len;
	asm volatile("" : "+r"(len));
	if (len <= sizeof(out.text))
		EXPECT(3, !bpf_monad_ring_write(rec, __builtin_offsetof(struct types_event, text),
						out.text, len));
	bpf_monad_ring_tags(rec, 11, 12, 13, 14);
	EXPECT(4, !bpf_monad_ring_tag(rec, 2, e->seqno));
	EXPECT(5, bpf_monad_ring_tag(rec, 4, 1) == -22);
	bpf_monad_ring_commit(rec, MONAD_RING_FORCE_WAKEUP);

	rec = bpf_monad_ring_reserve(0, TYPES_COMMIT, 8);
	if (rec)
		bpf_monad_ring_discard(rec, MONAD_RING_NO_WAKEUP);
	else
		bad |= 1 << 6;
}

#define EVERY(section, name) \
	SEC(section) \
	int name(void *ctx) \
	{ \
		every(); \
		return 0; \
	}

EVERY("?tp_btf/sys_enter", tp_btf)
EVERY("?tp_btf/softirq_entry", tp_btf_softirq)
EVERY("?tp_btf/hrtimer_expire_entry", tp_btf_hardirq)
EVERY("?tp_btf/nmi_handler", tp_btf_nmi)
EVERY("?fentry/do_sys_openat2", fentry)
EVERY("?fentry.s/__x64_sys_openat", fentry_sleepable)
EVERY("?fexit/do_sys_openat2", fexit)
EVERY("?fmod_ret/security_file_open", fmod_ret)
EVERY("?lsm/file_open", lsm)
EVERY("?lsm.s/file_open", lsm_sleepable)
EVERY("?iter/task", iter)
EVERY("?iter.s/task", iter_sleepable)
EVERY("?syscall", syscall)
EVERY("?kprobe/do_sys_openat2", kprobe)
EVERY("?kretprobe/do_sys_openat2", kretprobe)
EVERY("?kprobe.multi/do_sys_openat2", kprobe_multi)
EVERY("?uprobe//proc/self/exe:uprobed", uprobe)
EVERY("?uprobe.s//proc/self/exe:uprobed", uprobe_sleepable)
EVERY("?uretprobe//proc/self/exe:uprobed", uretprobe)
EVERY("?tp/raw_syscalls/sys_enter", tracepoint)
EVERY("?tp/irq/softirq_entry", tracepoint_softirq)
EVERY("?tp/timer/hrtimer_expire_entry", tracepoint_hardirq)
EVERY("?tp/nmi/nmi_handler", tracepoint_nmi)
EVERY("?perf_event", perf_event)
EVERY("?raw_tp/sys_enter", raw_tp)

/* Allows what the hook decides about. */
SEC("?lsm_cgroup/file_open")
int lsm_cgroup(void *ctx)
{
	every();
	return 1;
}

static long every_loop(__u32 i, void *ctx)
{
	every();
	return 0;
}

SEC("?fentry/do_sys_openat2")
int loop_callback(void *ctx)
{
	bpf_loop(1, every_loop, NULL, 0);
	return 0;
}

struct element {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct element);
} elements SEC(".maps");

static long every_element(void *map, __u32 *key, struct element *element, void *ctx)
{
	every();
	return 0;
}

SEC("?fentry/do_sys_openat2")
int map_callback(void *ctx)
{
	bpf_for_each_map_elem(&elements, every_element, NULL, 0);
	return 0;
}

static int every_timer(void *map, __u32 *key, struct element *element)
{
	every();
	return 0;
}

SEC("?syscall")
int timer_callback(void *ctx)
{
	struct element *element;
	__u32 key = 0;

	element = bpf_map_lookup_elem(&elements, &key);
	if (!element)
		return 1;
	/* -EBUSY from the second time on */
	bpf_timer_init(&element->timer, &elements, 1 /* CLOCK_MONOTONIC */);
	if (bpf_timer_set_callback(&element->timer, every_timer))
		return 2;
	return bpf_timer_start(&element->timer, 0, 0) ? 3 : 0;
}

/* Global functions are verified by themselves, for any argument. */
__attribute__((noinline)) int global_every(int unused)
{
	every();
	return unused;
}

SEC("?fentry/do_sys_openat2")
int global_function(void *ctx)
{
	global_every(0);
	return 0;
}

__attribute__((noinline)) int global_fill(struct types_event *e)
{
	if (!e)
		return 1;
	__builtin_memset(e, 0, sizeof(*e));
	e->cookie = ~TYPES_COOKIE;
	e->last_seqno = ~0ULL;
	e->length = 5;
	__builtin_memcpy(e->text, "abcde", 5);
	return 0;
}

/* A payload may be handed to a global function, a record may not (see refused.bpf.c). */
SEC("?fentry/do_sys_openat2")
int global_payload(void *ctx)
{
	struct monad_ring_record *rec;
	struct types_event *e;

	every();
	e = monad_ring_begin(0, TYPES_COMMIT, struct types_event, &rec);
	if (!e)
		return 0;
	EXPECT(7, !global_fill(e));
	e->seqno = bpf_monad_ring_seqno(rec);
	e->preempt_count = preempt_count();
	bpf_monad_ring_tags(rec, 11, 12, e->seqno, 14);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

EVERY("?fentry/do_sys_openat2", tail_called)

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} tail SEC(".maps");

SEC("?fentry/do_sys_openat2")
int tail_call(void *ctx)
{
	bpf_tail_call(ctx, &tail, 0);
	bad |= 1 << 8;
	return 0;
}

/* Straight from the process, which may have to be waited for: others may write meanwhile. */
SEC("?lsm.s/file_open")
int copy_from_user(void *ctx)
{
	struct monad_ring_record *rec;
	struct types_event *e;

	if (bpf_get_current_pid_tgid() >> 32 != pid)
		return 0;
	every();
	e = monad_ring_begin(0, TYPES_COMMIT, struct types_event, &rec);
	if (!e)
		return 0;
	if (bpf_copy_from_user(e, sizeof(*e), user)) {
		bpf_monad_ring_discard(rec, 0);
		bad |= 1 << 9;
		return 0;
	}
	e->seqno = bpf_monad_ring_seqno(rec);
	e->preempt_count = preempt_count();
	bpf_monad_ring_tags(rec, 11, 12, e->seqno, 14);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;

/* 6.2 and later; older ones do not run sleepable programs so. */
SEC("?lsm.s/file_open")
int rcu_section(void *ctx)
{
	bpf_rcu_read_lock();
	every();
	bpf_rcu_read_unlock();
	return 0;
}
