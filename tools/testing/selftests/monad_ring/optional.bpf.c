// SPDX-License-Identifier: GPL-2.0
/*
 * A program that does without the module where it has to.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

#define MONAD_RING_OPTIONAL
#include "monad_ring.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile bool have_ring;

struct optional_event {
	__u64 value;
};

/* 1: recorded, 2: not, 0: the kernel's verifier has not even seen the calls */
SEC("syscall")
int optional(void *ctx)
{
	struct monad_ring_record *rec;
	struct optional_event *e;

	if (!have_ring)
		return 0;
	e = monad_ring_begin(MONAD_RING_DEFAULT, 2, struct optional_event, &rec);
	if (!e)
		return 2;
	e->value = 77;
	bpf_monad_ring_commit(rec, 0);
	return 1;
}
