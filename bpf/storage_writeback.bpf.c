// SPDX-License-Identifier: GPL-2.0
/*
 * Writeback pressure: whoever dirties more memory than the disks keep up with is put to
 * sleep. No I/O has to wait for that, and no event comes of it; it is added up as if it
 * were operations of a device, MONAD_STORAGE_OP_THROTTLE: how often, how much had been
 * dirtied since the last time, and how long was slept. "monad-storage task
 * writeback-pressure" says who it was.
 *
 * The tracepoint comes each time that it is looked at, mostly without a pause. Of two
 * programs the loader takes the one that fits: there are 12 arguments up to 6.14 and 8
 * since 6.18, where five of them became one structure.
 */
#include "storage.bpf.h"
#include "storage_metrics.bpf.h"
#include "kernel_fs_types.h"

const volatile uint64_t tick_ns; /* of the kernel, which sleeps whole ones */
const volatile uint64_t page_size;

static __always_inline int throttled(struct bdi_writeback *wb, u64 dirtied, s64 pause)
{
	struct device *owner = wb->bdi->owner;
	u32 dev = owner ? owner->devt : 0;
	struct monad_storage_disk_name name = {};
	struct monad_storage_metrics *m;

	if (pause <= 0)
		return 0;
	if (owner)
		bpf_probe_read_kernel_str(name.text, sizeof(name.text), owner->kobj.name);
	if (filter_devices && !is_asked_for(dev, &name))
		return 0;
	m = metrics_of(find_series_of(dev, MONAD_STORAGE_OP_THROTTLE, owner ? &name : NULL,
				      NULL, 0));
	if (m) {
		add(&m->ops, 1);
		add(&m->bytes, dirtied * page_size);
		add_time(m, MONAD_STORAGE_PHASE_TOTAL, pause * tick_ns);
	}
	return 0;
}

SEC("tp_btf/balance_dirty_pages")
int storage_throttle_12(u64 *ctx)
{
	return throttled((struct bdi_writeback *)ctx[0], ctx[8], ctx[10]);
}

SEC("tp_btf/balance_dirty_pages")
int storage_throttle_8(u64 *ctx)
{
	return throttled((struct bdi_writeback *)ctx[0], ctx[4], ctx[6]);
}
