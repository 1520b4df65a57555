// SPDX-License-Identifier: GPL-2.0
/* The exec tracer with the BPF ring buffer, whose reserve knows no length but constants. */
#include "exec_events.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} rb SEC(".maps");

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct exec_scratch *s = exec_scratch_get();

	if (s)
		bpf_ringbuf_output(&rb, s, exec_fill_scratch(s, bprm), 0);
	return 0;
}
