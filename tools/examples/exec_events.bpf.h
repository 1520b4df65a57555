/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the exec tracer's programs share. The kernel tells an exec by a struct linux_binprm;
 * its file name is somewhere in kernel memory, and how long it is shows when it is copied.
 */
#ifndef EXEC_EVENTS_BPF_H
#define EXEC_EVENTS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "exec_events.h"

struct task_struct;

struct linux_binprm {
	const char *filename;
} __attribute__((preserve_access_index));

/* An event with the longest name: more than the stack of a BPF program holds. */
struct exec_scratch {
	struct exec_event event;
	char filename[EXEC_FILENAME_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct exec_scratch);
} scratch SEC(".maps");

static __always_inline struct exec_scratch *exec_scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch, &zero);
}

/* The name's length with its NUL, in 1 to EXEC_FILENAME_MAX. */
static __always_inline __u32 exec_read_filename(struct exec_scratch *s,
						const struct linux_binprm *bprm)
{
	long len = bpf_probe_read_kernel_str(s->filename, sizeof(s->filename), bprm->filename);

	if (len < 1 || len > EXEC_FILENAME_MAX) {
		s->filename[0] = '\0';
		return 1;
	}
	return len;
}

/* All of an event but its file name. */
static __always_inline void exec_fill(struct exec_event *e)
{
	e->pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
}

/* All of it, for those that copy it as a whole: how long it is. */
static __always_inline __u32 exec_fill_scratch(struct exec_scratch *s,
					       const struct linux_binprm *bprm)
{
	exec_fill(&s->event);
	return sizeof(s->event) + exec_read_filename(s, bprm);
}

char LICENSE[] SEC("license") = "GPL";

#endif /* EXEC_EVENTS_BPF_H */
