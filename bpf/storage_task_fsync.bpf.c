// SPDX-License-Identifier: GPL-2.0
/*
 * fsync-latency: vfs_fsync_range(), which fsync, fdatasync, msync, io_uring and the
 * writes to files with O_SYNC or O_DSYNC all come to; or would, if compilers did not
 * have it inlined into those who are above it: vfs_fsync(), and on 6.1 the system call
 * fdatasync. So these are hooked as well. Where they do call it, it is the same call.
 *
 * Which of them it is follows from what is asked of it and from the system call that
 * its thread is in; what fits no pattern is no guess but OTHER_SYNC.
 */
#include "storage_task_file.bpf.h"

#define LLONG_MAX 0x7fffffffffffffffLL

/* enum monad_task_syscall of the system call that the current task is in. */
static __always_inline u32 current_syscall(struct task_struct *task)
{
	struct task_struct___x86 *x86 = (void *)task;
	struct pt_regs *regs = NULL;
	u64 nr;

	/* Other numbers, and no place for them known on other architectures. */
	if (!bpf_core_field_exists(regs->orig_ax) || !bpf_core_field_exists(x86->thread_info) ||
	    BPF_CORE_READ(x86, thread_info.status) & TS_COMPAT)
		return MONAD_TASK_SYSCALL_OTHER;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	nr = regs->orig_ax;
	return nr < MONAD_TASK_SYSCALLS ? syscalls[nr] : MONAD_TASK_SYSCALL_OTHER;
}

static __always_inline u32 sync_op(s64 start, s64 end, int datasync)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool whole = !start && end == LLONG_MAX;

	/* The sync of a write ends where the write does. */
	if (task->flags & PF_IO_WORKER)
		return whole ? MONAD_STORAGE_CALL_IO_URING_SYNC : MONAD_STORAGE_CALL_OTHER_SYNC;
	if (task->flags & PF_KTHREAD)
		return MONAD_STORAGE_CALL_OTHER_SYNC;
	switch (current_syscall(task)) {
	case MONAD_TASK_SYSCALL_FSYNC:
		if (whole && !datasync)
			return MONAD_STORAGE_CALL_FSYNC;
		break;
	case MONAD_TASK_SYSCALL_FDATASYNC:
		if (whole && datasync)
			return MONAD_STORAGE_CALL_FDATASYNC;
		break;
	case MONAD_TASK_SYSCALL_MSYNC:
		return MONAD_STORAGE_CALL_MSYNC;
	case MONAD_TASK_SYSCALL_WRITE:
		if (!whole)
			return datasync ? MONAD_STORAGE_CALL_DSYNC_WRITE :
					  MONAD_STORAGE_CALL_SYNC_WRITE;
		break;
	}
	return MONAD_STORAGE_CALL_OTHER_SYNC;
}

SEC("fentry/vfs_fsync_range")
int BPF_PROG(task_fsync_begin, struct file *file, s64 start, s64 end, int datasync)
{
	call_begin(ctx, file, sync_op(start, end, datasync));
	return 0;
}

SEC("fexit/vfs_fsync_range")
int BPF_PROG(task_fsync_end, struct file *file, s64 start, s64 end, int datasync, int ret)
{
	call_end(ctx, file, MONAD_STORAGE_VFS_SYNC, ret);
	return 0;
}

SEC("fentry/vfs_fsync")
int BPF_PROG(task_vfs_fsync_begin, struct file *file, int datasync)
{
	call_begin(ctx, file, sync_op(0, LLONG_MAX, datasync));
	return 0;
}

SEC("fexit/vfs_fsync")
int BPF_PROG(task_vfs_fsync_end, struct file *file, int datasync, int ret)
{
	call_end(ctx, file, MONAD_STORAGE_VFS_SYNC, ret);
	return 0;
}

/* The file that a system call of the current task has as its first argument, or NULL. */
static __always_inline struct file *file_of(const struct pt_regs *regs)
{
	struct task_struct___fs *task = (void *)bpf_get_current_task();
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file *file = NULL;
	u32 fd = regs->di;

	if (fd < BPF_CORE_READ(fdt, max_fds))
		bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(fdt, fd) + fd);
	return file;
}

SEC("fentry/__x64_sys_fsync")
int BPF_PROG(task_sys_fsync_begin, const struct pt_regs *regs)
{
	call_begin(ctx, file_of(regs), MONAD_STORAGE_CALL_FSYNC);
	return 0;
}

SEC("fexit/__x64_sys_fsync")
int BPF_PROG(task_sys_fsync_end, const struct pt_regs *regs, s64 ret)
{
	call_end(ctx, file_of(regs), MONAD_STORAGE_VFS_SYNC, ret);
	return 0;
}

SEC("fentry/__x64_sys_fdatasync")
int BPF_PROG(task_sys_fdatasync_begin, const struct pt_regs *regs)
{
	call_begin(ctx, file_of(regs), MONAD_STORAGE_CALL_FDATASYNC);
	return 0;
}

SEC("fexit/__x64_sys_fdatasync")
int BPF_PROG(task_sys_fdatasync_end, const struct pt_regs *regs, s64 ret)
{
	call_end(ctx, file_of(regs), MONAD_STORAGE_VFS_SYNC, ret);
	return 0;
}
