// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include <bpf/bpf.h>

#include "hooks.h"
#include "pins.h"

const char *const hook_names[NR_HOOKS] = {
	"block_io_start", "block_getrq",  "block_rq_issue",  "block_rq_complete",
	"block_rq_requeue", "block_rq_merge", "block_bio_queue", "block_bio_complete",
	"block_bio_backmerge", "block_bio_frontmerge", "blk_mq_handle_expired", "cgroup_release",
	"balance_dirty_pages",
};

static void note_hook(const char *name, int link_fd, void *arg)
{
	struct hook *hooks = arg;
	struct bpf_prog_info info;

	for (size_t i = 0; i < NR_HOOKS; i++) {
		if (strcmp(name, hook_names[i]) != 0 || pins_link_program(link_fd, &info))
			continue;
		hooks[i].attached = true;
		hooks[i].recursion_misses = info.recursion_misses;
		hooks[i].runs = info.run_cnt;
		hooks[i].run_time_ns = info.run_time_ns;
	}
}

int hooks_read(struct hook hooks[NR_HOOKS])
{
	memset(hooks, 0, NR_HOOKS * sizeof(*hooks));
	return pins_visit_links(note_hook, hooks);
}

bool hooks_crippled(const struct hook hooks[NR_HOOKS])
{
	return !hooks[2].attached || !hooks[3].attached;
}

bool hook_missing(const struct hook hooks[NR_HOOKS], size_t which)
{
	return !hooks[which].attached && (which > 1 || !hooks[!which].attached);
}
