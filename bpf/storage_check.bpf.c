// SPDX-License-Identifier: GPL-2.0
/*
 * Has a request that is said to be with its device ended, and nobody saw it? Not attached to
 * anything: run by those who look at what is in flight (storage_unseen.bpf.h says how it comes
 * about).
 */
#include "storage.bpf.h"

SEC("syscall")
int storage_check(struct monad_storage_check *check)
{
	u64 key = object_key(bpf_get_current_task_btf());
	struct request *rq;
	enum mq_rq_state state;

	/* Its address is to its key what the task's is to that one's. */
	barrier_var(key);
	rq = (struct request *)(check->key + bpf_get_current_task() - key);
	if (bpf_probe_read_kernel(&state, sizeof(state), &rq->state))
		return -1;
	check->ended = state == MQ_RQ_IDLE;
	return 0;
}
