// SPDX-License-Identifier: GPL-2.0
/*
 * Where the CPU is, at each tick of a perf event: in a hardware interrupt for the event
 * cpu-clock, in an NMI for cycles.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "monad_ring.bpf.h"
#include <monad_event/perf_event_ctypes.h>

const volatile __u32 ring_id;

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct monad_ring_record *rec;
	struct monad_perf_sample *s;

	s = monad_ring_begin(ring_id, MONAD_PERF_SAMPLE, struct monad_perf_sample, &rec);
	if (!s)
		return 0;
	s->ip = PT_REGS_IP(&ctx->regs);
	s->pid = pid_tgid >> 32;
	s->tid = pid_tgid;
	s->cpu = bpf_get_smp_processor_id();
	/* The kernel is in the upper half of the addresses. */
	s->flags = (__s64)s->ip < 0 ? MONAD_PERF_SAMPLE_KERNEL : MONAD_PERF_SAMPLE_USER;
	if (!s->tid)
		s->flags |= MONAD_PERF_SAMPLE_IDLE;
	bpf_get_current_comm(s->comm, sizeof(s->comm));
	bpf_monad_ring_tags(rec, s->pid, s->tid, s->cpu + 1, 0);
	bpf_monad_ring_commit(rec, 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
