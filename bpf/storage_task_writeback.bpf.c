// SPDX-License-Identifier: GPL-2.0
/*
 * writeback-pressure: whoever dirties memory is looked at now and then, and if there is
 * too much of it put to sleep for a while. The tracepoint comes each time; only with a
 * pause it is pressure.
 *
 * Two programs, of which the loader takes the one that fits: the tracepoint has 12
 * arguments up to 6.14 and 8 since 6.18, where five of them became one structure.
 */
#include "storage_task.bpf.h"

static __always_inline int throttled(struct bdi_writeback *wb, u64 dirtied, s64 pause)
{
	struct device *owner = wb->bdi->owner;
	struct call_end end = {
		.type = MONAD_STORAGE_DIRTY_THROTTLE,
		.op = MONAD_STORAGE_CALL_THROTTLE,
		.bytes = dirtied * page_size,
		.dev = owner ? owner->devt : 0,
	};

	if (bpf_ktime_get_ns() >= deadline_ns)
		return 0;
	if (!wanted_task(bpf_get_current_task_btf()) || !wanted_device(end.dev))
		return 0;
	if (pause <= 0) {
		count(MONAD_TASK_NOT_PAUSED);
		return 0;
	}
	end.latency_ns = pause * tick_ns;
	call_ended(&end);
	return 0;
}

SEC("tp_btf/balance_dirty_pages")
int task_throttle_12(u64 *ctx)
{
	return throttled((struct bdi_writeback *)ctx[0], ctx[8], ctx[10]);
}

SEC("tp_btf/balance_dirty_pages")
int task_throttle_8(u64 *ctx)
{
	return throttled((struct bdi_writeback *)ctx[0], ctx[4], ctx[6]);
}
