// SPDX-License-Identifier: GPL-2.0
/*
 * vfs-latency: reads and writes by system calls of that name and their pread and
 * readv kin. The last two functions are the kernel's own business, and may be
 * inlined one day.
 */
#include "storage_task_file.bpf.h"

SEC("fentry/vfs_read")
int BPF_PROG(task_read_begin, struct file *file)
{
	call_begin(ctx, file, MONAD_STORAGE_CALL_READ);
	return 0;
}

SEC("fexit/vfs_read")
int BPF_PROG(task_read_end, struct file *file, char *buf, u64 size, s64 *pos, s64 ret)
{
	call_end(ctx, file, MONAD_STORAGE_VFS_IO, ret);
	return 0;
}

SEC("fentry/vfs_write")
int BPF_PROG(task_write_begin, struct file *file)
{
	call_begin(ctx, file, MONAD_STORAGE_CALL_WRITE);
	return 0;
}

SEC("fexit/vfs_write")
int BPF_PROG(task_write_end, struct file *file, const char *buf, u64 size, s64 *pos, s64 ret)
{
	call_end(ctx, file, MONAD_STORAGE_VFS_IO, ret);
	return 0;
}

SEC("fentry/vfs_readv")
int BPF_PROG(task_readv_begin, struct file *file)
{
	call_begin(ctx, file, MONAD_STORAGE_CALL_READ);
	return 0;
}

SEC("fexit/vfs_readv")
int BPF_PROG(task_readv_end, struct file *file, const void *vec, unsigned long n, s64 *pos,
	     int flags, s64 ret)
{
	call_end(ctx, file, MONAD_STORAGE_VFS_IO, ret);
	return 0;
}

SEC("fentry/vfs_writev")
int BPF_PROG(task_writev_begin, struct file *file)
{
	call_begin(ctx, file, MONAD_STORAGE_CALL_WRITE);
	return 0;
}

SEC("fexit/vfs_writev")
int BPF_PROG(task_writev_end, struct file *file, const void *vec, unsigned long n, s64 *pos,
	     int flags, s64 ret)
{
	call_end(ctx, file, MONAD_STORAGE_VFS_IO, ret);
	return 0;
}
