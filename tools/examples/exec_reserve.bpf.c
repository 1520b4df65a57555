// SPDX-License-Identifier: GPL-2.0
/*
 * The exec tracer, first way: reserve as much as this event takes, write it in place, commit.
 * Only the name is copied, and where there is no room nothing is done in vain.
 */
#include "exec_events.bpf.h"
#include "monad_ring.bpf.h"

const volatile __u32 ring_id;

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct exec_scratch *s = exec_scratch_get();
	struct monad_ring_record *rec;
	struct exec_event *e;
	__u32 len;

	if (!s)
		return 0; /* cannot happen */
	len = exec_read_filename(s, bprm);
	rec = bpf_monad_ring_reserve(ring_id, EXEC_EVENT, sizeof(*e) + len);
	if (!rec)
		return 0; /* not recorded, and counted by the ring */
	e = (struct exec_event *)bpf_monad_ring_payload(rec, sizeof(*e));
	if (!e) {
		bpf_monad_ring_discard(rec, 0);
		return 0;
	}
	exec_fill(e);
	bpf_monad_ring_write(rec, sizeof(*e), s->filename, len);
	bpf_monad_ring_tag(rec, 0, e->pid);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}
