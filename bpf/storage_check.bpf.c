// SPDX-License-Identifier: GPL-2.0
/*
 * Has a request that is said to be under way ended, or been given up, and nobody saw it? Not
 * attached to anything: run by those who look at what is in flight (storage_unseen.bpf.h says
 * how it comes about).
 */
#include "storage.bpf.h"

SEC("syscall")
int storage_check(struct monad_storage_check *check)
{
	struct request *rq = (struct request *)address_of_key(check->key);
	enum mq_rq_state state;
	int users;

	if (bpf_probe_read_kernel(&state, sizeof(state), &rq->state))
		return -1;
	check->idle = state == MQ_RQ_IDLE;
	check->unused = bpf_core_field_exists(rq->ref) &&
			!bpf_probe_read_kernel(&users, sizeof(users), &rq->ref.counter) && !users;
	return 0;
}
