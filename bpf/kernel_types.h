/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's types, as far as the storage programs read them. libbpf adjusts
 * every access to the running kernel (CO-RE): only names and types matter here,
 * not order or size. What was moved or renamed between the kernels supported is
 * in no file but this one and tools/monad-storage/kernel_compat.c.
 */
#ifndef MONAD_KERNEL_TYPES_H
#define MONAD_KERNEL_TYPES_H

#include <linux/types.h>
#include <linux/bpf.h>
#include <stdbool.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

enum cgroup_subsys_id { io_cgrp_id = 1 }; /* CONFIG_BLK_CGROUP; the number is the kernel's */

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct cgroup_root {
	unsigned int subsys_mask;
};

struct bio;

struct block_device_operations {
	/* set where the driver takes bios and there are no requests */
	void (*submit_bio)(struct bio *bio);
};

struct list_head {
	struct list_head *next;
};

struct gendisk {
	int major;
	int first_minor;
	char disk_name[32];
	u64 diskseq; /* since 5.15 */
	const struct block_device_operations *fops;
	struct list_head slave_bdevs; /* those of /sys/block/NAME/slaves; since 5.16 */
};

struct block_device {
	struct gendisk *bd_disk;
};

struct bvec_iter {
	u64 bi_sector;
	unsigned int bi_size;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	u8 bi_status;
	struct bvec_iter bi_iter;
	void (*bi_end_io)(struct bio *bio);
	void *bi_private;
	struct blkcg_gq *bi_blkg; /* CONFIG_BLK_CGROUP */
};

struct request_queue {
	struct gendisk *disk; /* NULL for admin queues; in here since 5.17 */
};

struct request;

/* atomic_t */
struct counter {
	int counter;
};

struct blk_flush_queue {
	struct request *flush_rq;
};

struct blk_mq_hw_ctx {
	struct blk_flush_queue *fq;
};

enum mq_rq_state {
	MQ_RQ_IDLE = 0, /* with no device */
	MQ_RQ_IN_FLIGHT = 1,
};

struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	unsigned int cmd_flags;
	unsigned int rq_flags;
	unsigned int __data_len;
	u64 __sector;
	struct bio *bio;
	u64 start_time_ns;
	enum mq_rq_state state;
	struct counter ref; /* 0: it is free */
	unsigned long deadline; /* jiffies */
};

struct blk_expired_data {
	unsigned long timeout_start; /* jiffies */
};

struct task_struct {
	unsigned int flags;
	struct task_struct *group_leader;
	int pid;
	int tgid;
	char comm[16];
};

#pragma clang attribute pop

/* include/linux/sched.h; the same in every kernel so far */
#define PF_KTHREAD 0x00200000
/* a thread of io_uring in a process, called iou-wrk- or iou-sqp- and a number; since 5.12 */
#define PF_IO_WORKER 0x00000010

/* Whose name says what runs: of io_uring's threads it is their process. */
static inline __attribute__((always_inline)) const u64 *task_name(const struct task_struct *task)
{
	if (task->flags & PF_IO_WORKER)
		task = task->group_leader;
	return (const u64 *)task->comm;
}

#endif /* MONAD_KERNEL_TYPES_H */
