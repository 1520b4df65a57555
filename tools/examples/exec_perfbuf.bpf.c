// SPDX-License-Identifier: GPL-2.0
/* The exec tracer with the perf buffer: a buffer for each CPU. */
#include "exec_events.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} pb SEC(".maps");

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct exec_scratch *s = exec_scratch_get();

	if (s)
		bpf_perf_event_output(ctx, &pb, BPF_F_CURRENT_CPU, s, exec_fill_scratch(s, bprm));
	return 0;
}
