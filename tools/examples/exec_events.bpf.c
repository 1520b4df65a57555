// SPDX-License-Identifier: GPL-2.0
/* The example's writer: an event for each exec. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "monad_ring.bpf.h"
#include <monad/event_ring.h>
#include "exec_events.h"

/* Which ring; the loader says. */
const volatile __u32 ring_id;

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec)
{
	struct monad_ring_record *rec;
	struct exec_event *e;

	rec = bpf_monad_ring_reserve(ring_id, EXEC_EVENT, sizeof(*e));
	if (!rec)
		return 0; /* not recorded, and counted by the ring */
	e = (struct exec_event *)bpf_monad_ring_payload(rec, sizeof(*e));
	if (!e) {
		bpf_monad_ring_discard(rec, 0);
		return 0;
	}
	e->pid = bpf_get_current_pid_tgid() >> 32;
	e->uid = bpf_get_current_uid_gid();
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_monad_ring_tag(rec, 0, e->pid);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

/* The kernel lets only GPL programs call a kfunc. */
char LICENSE[] SEC("license") = "GPL";
