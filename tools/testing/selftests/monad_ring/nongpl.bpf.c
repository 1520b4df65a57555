// SPDX-License-Identifier: GPL-2.0
/*
 * A program that does not say it is GPL: it may not call the kfuncs.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "monad_ring.bpf.h"

char LICENSE[] SEC("license") = "Proprietary";

SEC("?syscall")
int not_gpl(void *ctx)
{
	__u64 value = 1;

	return bpf_monad_ring_output(0, 2, &value, sizeof(value), 0);
}
