// SPDX-License-Identifier: GPL-2.0
/* The writer: one event for each task that ends. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "monad_ring.bpf.h"
#include "first_event.h"

const volatile __u32 ring_id; /* which ring; the loader says */

SEC("tp_btf/sched_process_exit")
int on_exit(void *ctx)
{
	struct monad_ring_record *rec;
	struct first_exit *e;

	e = monad_ring_begin(ring_id, FIRST_EXIT, struct first_exit, &rec);
	if (!e)
		return 0; /* not recorded, and counted by the ring */
	e->pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL"; /* others may not call kfuncs */
