// SPDX-License-Identifier: GPL-2.0
/*
 * The exec tracer, second way: put the event together, then copy all of it. What a program that
 * comes from the perf buffer changes is one line.
 */
#include "exec_events.bpf.h"
#include "monad_ring.bpf.h"

const volatile __u32 ring_id;

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct exec_scratch *s = exec_scratch_get();

	if (s)
		bpf_monad_ring_output(ring_id, EXEC_EVENT, s, exec_fill_scratch(s, bprm), 0);
	return 0;
}
