// SPDX-License-Identifier: GPL-2.0
/*
 * The programs of tasks, which nobody pins: they are gone with the process that
 * loaded them. As one object, see monad_storage.bpf.c.
 */
#include "storage_task.bpf.h"
#include "storage_task_file.bpf.h"

#include "storage_task_vfs.bpf.c"
#include "storage_task_fsync.bpf.c"
#include "storage_task_writeback.bpf.c"
#include "storage_task_unfinished.bpf.c"

char LICENSE[] SEC("license") = "GPL";
