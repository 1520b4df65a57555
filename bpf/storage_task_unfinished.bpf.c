// SPDX-License-Identifier: GPL-2.0
/*
 * What has begun and not ended: run over all threads when a task is over, to say whose calls
 * hang. Writes a struct monad_storage_call for each, whose latency is that so far.
 */
#include "storage_task_file.bpf.h"

SEC("iter/task")
int task_unfinished(struct bpf_iter__task *ctx)
{
	struct monad_storage_call e = {};
	struct task_struct *task = ctx->task;
	u64 now = bpf_ktime_get_ns();
	struct call *call;

	if (!task)
		return 0;
	call = bpf_task_storage_get(&calls, task, NULL, 0);
	if (!call || !call->frame)
		return 0;
	e.dev_major = call->dev >> 20;
	e.dev_minor = call->dev & 0xfffff;
	e.latency_ns = now > call->start_ns ? now - call->start_ns : 0;
	e.task_id = task_id;
	e.op = call->op;
	set_caller(&e, task);
	describe_file(&e, (struct file *)call->file);
	bpf_seq_write(ctx->meta->seq, &e, sizeof(e));
	return 0;
}
