// SPDX-License-Identifier: GPL-2.0
/*
 * The storage programs as one object. They are one translation unit, as the
 * kernel's kernel/sched/build_policy.c is, because libbpf's static linker (1.1)
 * cannot link objects that call the same kfunc.
 */
#include "storage_start.bpf.c"
#include "storage_issue.bpf.c"
#include "storage_requeue.bpf.c"
#include "storage_complete.bpf.c"
#include "storage_bio.bpf.c"
#include "storage_timeout.bpf.c"
#include "storage_cgroup.bpf.c"
#include "storage_check.bpf.c"
#include "storage_writeback.bpf.c"

char LICENSE[] SEC("license") = "GPL";
