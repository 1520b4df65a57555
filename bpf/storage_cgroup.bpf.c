// SPDX-License-Identifier: GPL-2.0
/*
 * A cgroup is gone for good: whoever held it, bios included, has let go of it. What
 * was charged to it is added to the totals of all that are gone, and its place in
 * the table is free for another.
 */
#include "storage.bpf.h"
#include "storage_metrics.bpf.h"

SEC("tp_btf/cgroup_release")
int BPF_PROG(storage_cgroup_release, struct cgroup *cgroup)
{
	struct monad_storage_cgroup *from, *to;
	u32 i, word, index, gone;
	struct place p;

	/* Its number is one of its hierarchy; that of another one may be the same. */
	if (bpf_core_enum_value_exists(enum cgroup_subsys_id, io_cgrp_id) &&
	    !(cgroup->root->subsys_mask >>
		      bpf_core_enum_value(enum cgroup_subsys_id, io_cgrp_id) & 1))
		return 0;
	table_find(&cgroup_keys, cgroup_shift, cgroup->kn->id, &p);
	if (p.index == TABLE_NONE)
		return 0;
	for (i = 0; i < MONAD_STORAGE_MAX_SHARDS && i < shards; i++) {
		index = p.index * shards + i;
		gone = (nr_cgroups + 1) * shards + i;
		from = bpf_map_lookup_elem(&cgroups, &index);
		to = bpf_map_lookup_elem(&cgroups, &gone);
		if (!from || !to)
			break;
		for (word = 0; word < MONAD_STORAGE_CGROUP_WORDS; word++)
			add((uint64_t *)to + word,
			    __sync_lock_test_and_set((uint64_t *)from + word, 0));
	}
	table_release(&p);
	return 0;
}
