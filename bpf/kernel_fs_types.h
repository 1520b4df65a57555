/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's types above the block layer, as far as the programs of tasks read
 * them; see kernel_types.h.
 */
#ifndef MONAD_KERNEL_FS_TYPES_H
#define MONAD_KERNEL_FS_TYPES_H

#include "kernel_types.h"

typedef __s64 s64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* struct block_device of kernel_types.h once more: libbpf ignores what is behind ___. */
struct block_device___fs {
	u32 bd_dev;
};

struct file_system_type {
	const char *name;
};

struct super_block {
	u32 s_dev;
	struct block_device___fs *s_bdev;
	struct file_system_type *s_type;
};

struct inode {
	u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	u32 i_rdev;
};

struct qstr {
	u32 len;
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

struct kobject {
	const char *name;
};

struct device {
	struct kobject kobj; /* of a disk, its name */
	u32 devt;
};

struct backing_dev_info {
	struct device *owner; /* NULL where there is no disk: NFS, FUSE */
};

struct bdi_writeback {
	struct backing_dev_info *bdi;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct___fs {
	struct files_struct *files;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

/* x86 */
struct pt_regs {
	unsigned long orig_ax; /* number of the system call */
	unsigned long di;      /* its first argument */
};

struct thread_info {
	u32 status;
};

struct task_struct___x86 {
	struct thread_info thread_info;
};

#pragma clang attribute pop

/* include/uapi/linux/stat.h */
#define S_IFMT 00170000
#define S_IFREG 0100000
#define S_IFDIR 0040000
#define S_IFBLK 0060000

/* include/linux/errno.h: it goes on after this, a completion is yet to come */
#define EIOCBQUEUED 529

/* arch/x86/include/asm/thread_info.h: in a system call of 32-bit programs */
#define TS_COMPAT 0x0002

#endif /* MONAD_KERNEL_FS_TYPES_H */
