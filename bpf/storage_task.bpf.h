/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of a task share: its filters, its sums, and how a call is timed
 * and written to the ring.
 *
 * A call is known by its thread and by where on the kernel's stack its arguments
 * are: a trampoline hands the programs at the beginning and at the end of a call the
 * same context. A call that begins below one that has not ended is within it
 * (overlayfs: the fsync of the file below), and its time is a part of that one's; one
 * that begins beside or above it shows that the end of that one was not seen.
 *
 * Sums hold all that matches. Only after that it is decided what becomes an event.
 */
#ifndef MONAD_STORAGE_TASK_BPF_H
#define MONAD_STORAGE_TASK_BPF_H

#include "kernel_fs_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "latency_bucket.h"
#include "monad_ring.bpf.h"
#include "storage_task.h"

/* Filled in by tools/monad-storage/task_programs.c */
const volatile uint32_t ring_id;
const volatile uint32_t task_id;
const volatile uint32_t reader; /* the process that reads: its output is not looked at ... */
const volatile uint32_t self;   /* ... nor that of who asked for it, which is told of it */
const volatile bool filter_devices;
const volatile bool filter_pids;
const volatile uint32_t ops; /* a bit for each enum monad_storage_call_op */
const volatile uint64_t min_latency_ns;
const volatile uint64_t slow_ns;
const volatile uint64_t sample_rate = 1;
const volatile uint64_t max_events;
/* enum monad_task_syscall */
const volatile uint8_t syscalls[MONAD_TASK_SYSCALLS];
const volatile uint64_t tick_ns;
const volatile uint64_t page_size;

/*
 * The window: CLOCK_MONOTONIC. 0 until everything is attached; and once it is over,
 * nothing is counted even if the reader is stopped or stuck.
 */
uint64_t deadline_ns;

uint64_t nr_sampled;
uint64_t nr_events; /* that were to be written */

struct call {
	u64 frame; /* 0: none under way */
	u64 file;  /* its address, to be compared, and read as memory */
	u64 start_ns;
	u32 op;
	u32 dev;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct monad_task_counters);
} counters SEC(".maps");

/* By enum monad_storage_call_op. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MONAD_STORAGE_CALL_COUNT);
	__type(key, u32);
	__type(value, struct monad_task_totals);
} totals SEC(".maps");

/* Major << 20 | minor, here and below. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MONAD_TASK_DEVICES);
	__type(key, u32);
	__type(value, struct monad_task_device);
} device_totals SEC(".maps");

/* The filters: wanted devices, with their partitions; processes and threads. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MONAD_TASK_DEVICES);
	__type(key, u32);
	__type(value, u8);
} devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MONAD_TASK_PIDS);
	__type(key, u32);
	__type(value, u8);
} pids SEC(".maps");

/* Atomic although per CPU: these programs can be preempted where the kernel can. */
static __always_inline void count(u32 which)
{
	struct monad_task_counters *c;
	u32 zero = 0;

	c = bpf_map_lookup_elem(&counters, &zero);
	if (c)
		__sync_fetch_and_add(&c->value[which], 1);
}

static __always_inline bool wanted_op(u32 op)
{
	return ops >> op & 1;
}

static __always_inline bool wanted_task(struct task_struct *task)
{
	u32 pid = task->pid, tgid = task->tgid;

	if (tgid == self || tgid == reader)
		return false;
	return !filter_pids || bpf_map_lookup_elem(&pids, &tgid) ||
	       bpf_map_lookup_elem(&pids, &pid);
}

static __always_inline bool wanted_device(u32 dev)
{
	return !filter_devices || bpf_map_lookup_elem(&devices, &dev);
}

/* What an event says besides who and when. */
struct call_end {
	struct file *file; /* or NULL */
	u64 latency_ns;
	u64 bytes;
	u32 type;
	u32 op;
	u32 dev;
	u32 error;
};

static __always_inline void add_up(const struct call_end *end)
{
	struct monad_task_device new = {}, *d;
	struct monad_task_totals *t;
	u32 op = end->op, dev = end->dev, bucket;

	count(MONAD_TASK_ENDED);
	t = bpf_map_lookup_elem(&totals, &op);
	if (t) {
		__sync_fetch_and_add(&t->ops, 1);
		__sync_fetch_and_add(&t->bytes, end->bytes);
		if (end->error)
			__sync_fetch_and_add(&t->errors, 1);
		if (end->latency_ns >= slow_ns)
			__sync_fetch_and_add(&t->slow, 1);
		__sync_fetch_and_add(&t->sum_ns, end->latency_ns);
		if (end->latency_ns > t->max_ns)
			t->max_ns = end->latency_ns;
		bucket = latency_bucket(end->latency_ns);
		/* The verifier cannot know. */
		if (bucket < MONAD_STORAGE_BUCKETS)
			__sync_fetch_and_add(&t->bucket[bucket], 1);
	}
	d = bpf_map_lookup_elem(&device_totals, &dev);
	if (!d) {
		/* Whether this one or another CPU's. */
		bpf_map_update_elem(&device_totals, &dev, &new, BPF_NOEXIST);
		d = bpf_map_lookup_elem(&device_totals, &dev);
	}
	if (!d) {
		count(MONAD_TASK_DEVICES_FULL);
		return;
	}
	__sync_fetch_and_add(&d->ops, 1);
	__sync_fetch_and_add(&d->bytes, end->bytes);
	if (end->error)
		__sync_fetch_and_add(&d->errors, 1);
	__sync_fetch_and_add(&d->sum_ns, end->latency_ns);
}

static __always_inline u32 file_type(struct file *file)
{
	return BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT;
}

#define PATH_LEN MONAD_STORAGE_FILE_LEN
/* How many directories are looked at, at most. */
#define PATH_PARTS 16
#define DOTS 4 /* as long is ".../" */

/*
 * The path of @dentry up to the root of its file system, as much of it as fits; what is before
 * that is "...". Nothing keeps directories from being renamed meanwhile.
 */
static __always_inline void copy_path(char *to, struct dentry *dentry)
{
	char path[2 * PATH_LEN] = {}; /* the second half for what the verifier cannot know */
	struct dentry *parent;
	u32 begin = PATH_LEN - 1, length;
	int i;

	for (i = 0; i < PATH_PARTS; i++) {
		parent = BPF_CORE_READ(dentry, d_parent);
		/* The root, which is called "/". */
		if (parent == dentry && i)
			break;
		length = BPF_CORE_READ(dentry, d_name.len);
		/* With a slash behind it, and ".../" before it. */
		if (begin < length + 1 + DOTS)
			break;
		if (i)
			path[--begin & (PATH_LEN - 1)] = '/';
		begin -= length;
		bpf_probe_read_kernel(&path[begin & (PATH_LEN - 1)], length & (PATH_LEN - 1),
				      BPF_CORE_READ(dentry, d_name.name));
		if (parent == dentry)
			break;
		dentry = parent;
	}
	if (!i) {
		/* Too long even alone. */
		bpf_probe_read_kernel_str(to, PATH_LEN, BPF_CORE_READ(dentry, d_name.name));
		return;
	}
	if (BPF_CORE_READ(dentry, d_parent) != dentry) {
		path[--begin & (PATH_LEN - 1)] = '/';
		for (i = 0; i < DOTS - 1; i++)
			path[--begin & (PATH_LEN - 1)] = '.';
	}
	bpf_probe_read_kernel_str(to, PATH_LEN, &path[begin & (PATH_LEN - 1)]);
}

static __always_inline void describe_file(struct monad_storage_call *e, struct file *file)
{
	e->inode = BPF_CORE_READ(file, f_inode, i_ino);
	if (file_type(file) == S_IFBLK)
		__builtin_memcpy(e->fs, "bdev", 5);
	else
		bpf_probe_read_kernel_str(e->fs, sizeof(e->fs),
					  BPF_CORE_READ(file, f_inode, i_sb, s_type, name));
	copy_path(e->file, BPF_CORE_READ(file, f_path.dentry));
}

/* Who it is that calls. */
static __always_inline void set_caller(struct monad_storage_call *e, struct task_struct *task)
{
	const u64 *comm = task_name(task);

	e->flags = task->flags & PF_KTHREAD ? MONAD_STORAGE_F_KTHREAD : 0;
	e->pid = task->pid;
	e->tgid = task->tgid;
	((u64 *)e->comm)[0] = comm[0];
	((u64 *)e->comm)[1] = comm[1];
}

static __always_inline void write_call(const struct call_end *end)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct monad_ring_record *rec;
	struct monad_storage_call *e;

	e = monad_ring_begin(ring_id, end->type, struct monad_storage_call, &rec);
	if (!e) {
		count(MONAD_TASK_NOT_RECORDED);
		return;
	}
	e->dev_major = end->dev >> 20;
	e->dev_minor = end->dev & 0xfffff;
	e->latency_ns = end->latency_ns;
	e->bytes = end->bytes;
	e->cgroup_id = bpf_get_current_cgroup_id();
	e->task_id = task_id;
	e->op = end->op;
	e->error = end->error;
	e->cpu = bpf_get_smp_processor_id();
	e->reserved = 0;
	set_caller(e, task);
	e->inode = 0;
	__builtin_memset(e->fs, 0, sizeof(e->fs));
	__builtin_memset(e->file, 0, sizeof(e->file));
	if (end->file)
		describe_file(e, end->file);
	/* in the order of MONAD_STORAGE_TAG_*, TASK instead of START */
	bpf_monad_ring_tags(rec, task_id,
			    (u64)end->dev << MONAD_STORAGE_TAG_DEVICE_SHIFT |
				    (end->error ? MONAD_STORAGE_TAG_FAILED : 0) | end->op,
			    e->cgroup_id, end->latency_ns);
	bpf_monad_ring_commit(rec, 0);
	count(MONAD_TASK_RECORDED);
}

/* Adds up what has ended, and makes an event of it if it is to be one. */
static __always_inline void call_ended(const struct call_end *end)
{
	add_up(end);
	if (end->latency_ns < min_latency_ns)
		count(MONAD_TASK_QUICK);
	else if (sample_rate > 1 && __sync_fetch_and_add(&nr_sampled, 1) % sample_rate)
		count(MONAD_TASK_SAMPLED_OUT);
	else if (__sync_fetch_and_add(&nr_events, 1) >= max_events)
		count(MONAD_TASK_BEYOND_MAX);
	else
		write_call(end);
}

#endif /* MONAD_STORAGE_TASK_BPF_H */
