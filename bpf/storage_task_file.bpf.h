/* SPDX-License-Identifier: GPL-2.0 */
/* Timing calls on files, from a program at their beginning and one at their end. */
#ifndef MONAD_STORAGE_TASK_FILE_BPF_H
#define MONAD_STORAGE_TASK_FILE_BPF_H

#include "storage_task.bpf.h"

/* The verifier lets nobody keep an address; a difference of two is a number. */
static const volatile u64 here = 1;

#define frame_of(ctx) ((u64)(ctx) - (u64)&here)

/*
 * What the file is on. Files are read as memory, not as arguments that the verifier
 * knows: some are found by their number.
 */
static __always_inline u32 file_dev(struct file *file, u32 type)
{
	struct block_device___fs *bdev;

	if (type == S_IFBLK)
		return BPF_CORE_READ(file, f_inode, i_rdev);
	/* Of file systems with several devices, s_dev is none of them. */
	bdev = BPF_CORE_READ(file, f_inode, i_sb, s_bdev);
	return bdev ? BPF_CORE_READ(bdev, bd_dev) : BPF_CORE_READ(file, f_inode, i_sb, s_dev);
}

/* Pipes, sockets, terminals and their like are no storage. */
static __always_inline bool is_storage(u32 type)
{
	return type == S_IFREG || type == S_IFBLK || type == S_IFDIR;
}

static __always_inline void call_begin(void *ctx, struct file *file, u32 op)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 frame = frame_of(ctx), now;
	struct call *call;
	u32 type, dev;

	if (!wanted_op(op) || !wanted_task(task))
		return;
	type = file_type(file);
	if (!is_storage(type))
		return;
	dev = file_dev(file, type);
	if (!wanted_device(dev))
		return;
	now = bpf_ktime_get_ns();
	if (now >= deadline_ns)
		return;
	call = bpf_task_storage_get(&calls, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!call) {
		count(MONAD_TASK_NOT_KEPT);
		return;
	}
	if (call->frame) {
		if ((s64)(frame - call->frame) < 0) {
			/* Of the same file, it is the same thing one function further. */
			if (call->file != (u64)file)
				count(MONAD_TASK_NESTED);
			return;
		}
		count(MONAD_TASK_ENDS_UNSEEN);
	}
	count(MONAD_TASK_BEGUN);
	call->frame = frame;
	call->file = (u64)file;
	call->op = op;
	call->dev = dev;
	call->start_ns = now;
}

/* @file: or NULL, if it is gone. @ret: bytes, or an error. */
static __always_inline void call_end(void *ctx, struct file *file, u32 type, s64 ret)
{
	struct call_end end = { .type = type };
	u64 now = bpf_ktime_get_ns();
	struct call *call;

	call = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), NULL, 0);
	/* Filtered out, within another, or begun before this was attached. */
	if (!call || call->frame != frame_of(ctx))
		return;
	call->frame = 0;
	if (now >= deadline_ns)
		return;
	if (ret == -EIOCBQUEUED) {
		count(MONAD_TASK_ASYNC);
		return;
	}
	/* What a number meant at the beginning may be closed meanwhile. */
	if (call->file == (u64)file)
		end.file = file;
	end.op = call->op;
	end.latency_ns = now > call->start_ns ? now - call->start_ns : 0;
	end.dev = call->dev;
	if (ret < 0)
		end.error = -ret;
	else
		end.bytes = ret;
	call_ended(&end);
}

#endif /* MONAD_STORAGE_TASK_FILE_BPF_H */
