// SPDX-License-Identifier: GPL-2.0
/*
 * The character device of a ring: mmap, poll and ioctl. There is nothing to read or write: a
 * reader maps the ring.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "ring.h"

/* An open file. It keeps its ring, also when that is destroyed. */
struct ring_file {
	struct monad_ring *ring;
	spinlock_t lock; /* of the rest */
	struct monad_wanted wanted; /* what poll waits for */
	u64 edge; /* see monad_notify_poll() */
	wait_queue_head_t repoll; /* woken when what it waits for is changed */
};

static struct monad_ring *ring_of(struct file *file)
{
	struct ring_file *rf = file->private_data;

	return rf->ring;
}

static int ring_open(struct inode *inode, struct file *file)
{
	/* The misc core leaves its device there, and lets nobody deregister it meanwhile. */
	struct monad_ring *ring = monad_ring_of(file->private_data);
	struct ring_file *rf;

	if (!monad_ring_ready())
		return -ENODEV;
	rf = kzalloc(sizeof(*rf), GFP_KERNEL);
	if (!rf)
		return -ENOMEM;
	kref_get(&ring->ref);
	rf->ring = ring;
	spin_lock_init(&rf->lock);
	init_waitqueue_head(&rf->repoll);
	/* As a new iterator does. The newest event may still be being written. */
	rf->wanted.seqno = READ_ONCE(ring->header->control.last_seqno) ?: 1;
	rf->wanted.count = 1;
	file->private_data = rf;
	return 0;
}

static int ring_release(struct inode *inode, struct file *file)
{
	struct ring_file *rf = file->private_data;

	monad_ring_put(rf->ring);
	kfree(rf);
	return 0;
}

static int ring_mmap(struct file *file, struct vm_area_struct *vma)
{
	return monad_ring_memory_mmap(&ring_of(file)->memory, vma);
}

static __poll_t ring_poll(struct file *file, struct poll_table_struct *wait)
{
	struct ring_file *rf = file->private_data;
	struct monad_notify *notify = &rf->ring->notify;
	struct monad_wanted wanted;
	__poll_t mask;
	u64 edge;

	poll_wait(file, &notify->wait, wait);
	poll_wait(file, &rf->repoll, wait);
	spin_lock(&rf->lock);
	wanted = rf->wanted;
	edge = rf->edge;
	spin_unlock(&rf->lock);
	mask = monad_notify_poll(notify, &wanted, &edge);
	spin_lock(&rf->lock);
	rf->edge = max(rf->edge, edge);
	spin_unlock(&rf->lock);
	return mask;
}

/* Copies as much as the caller knows of, and says how much that was. */
static long ioctl_info(struct monad_ring *ring, struct monad_ring_info __user *arg)
{
	struct monad_ring_info info;
	u32 size;

	if (get_user(size, &arg->size))
		return -EFAULT;
	if (size < MONAD_RING_INFO_SIZE_V1)
		return -EINVAL;
	monad_ring_info(ring, &info);
	info.size = min_t(u32, size, sizeof(info));
	if (copy_to_user(arg, &info, info.size))
		return -EFAULT;
	return 0;
}

static long ioctl_set_content(struct monad_ring *ring, struct monad_ring_content __user *arg)
{
	struct monad_ring_content content;

	if (!perfmon_capable())
		return -EPERM;
	if (copy_from_user(&content, arg, sizeof(content)))
		return -EFAULT;
	/* A larger structure says something that this module does not know of. */
	if (content.size != sizeof(content) || content.reserved16 ||
	    content.content_type == MONAD_EVENT_CONTENT_TYPE_NONE)
		return -EINVAL;
	return monad_ring_set_content(ring, content.content_type, content.schema_hash);
}

/* Puts together what a reader waits for. */
static int to_wanted(const struct monad_ring *ring, u64 seqno, u64 count,
		     struct monad_wanted *wanted)
{
	wanted->seqno = seqno;
	wanted->count = count ?: 1;
	/* More than half, and it would be overwritten before it is read. */
	if (!seqno || wanted->count > (ring->recorder.desc_mask + 1) / 2 ||
	    seqno + wanted->count < seqno)
		return -EINVAL;
	return 0;
}

static long ioctl_wait(struct monad_ring *ring, struct monad_ring_wait __user *arg)
{
	struct monad_ring_wait wait;
	struct monad_wanted wanted;
	int err;

	if (copy_from_user(&wait, arg, sizeof(wait)))
		return -EFAULT;
	if (wait.size != sizeof(wait) || wait.flags ||
	    to_wanted(ring, wait.seqno, wait.batch, &wanted))
		return -EINVAL;
	err = monad_notify_wait(&ring->notify, &wanted, wait.timeout_ns);
	if (put_user(READ_ONCE(ring->header->control.last_seqno), &arg->last_seqno))
		return -EFAULT;
	return err;
}

static long ioctl_set_poll(struct ring_file *rf, struct monad_ring_poll __user *arg)
{
	struct monad_ring_poll poll;
	struct monad_wanted wanted;

	if (copy_from_user(&poll, arg, sizeof(poll)))
		return -EFAULT;
	if (poll.size != sizeof(poll) || poll.flags ||
	    to_wanted(rf->ring, poll.seqno, poll.watermark, &wanted))
		return -EINVAL;
	spin_lock(&rf->lock);
	rf->wanted = wanted;
	spin_unlock(&rf->lock);
	monad_notify_repoll(&rf->ring->notify, &rf->repoll, &wanted);
	return 0;
}

/* A name from user space: terminated within its field. */
static bool name_ends(const char *name)
{
	return strnlen(name, MONAD_RING_NAME_MAX) < MONAD_RING_NAME_MAX;
}

static long ioctl_create(struct monad_ring_create __user *arg)
{
	struct monad_ring_config config = { .account = true };
	struct monad_ring_create create;
	u32 id;
	int err;

	if (!perfmon_capable())
		return -EPERM;
	if (copy_from_user(&create, arg, sizeof(create)))
		return -EFAULT;
	if (create.size != sizeof(create) || create.flags || create.reserved16 ||
	    create.reserved32 || !name_ends(create.name))
		return -EINVAL;
	/* A schema of nothing. */
	if (create.content_type == MONAD_EVENT_CONTENT_TYPE_NONE &&
	    memchr_inv(create.schema_hash, 0, sizeof(create.schema_hash)))
		return -EINVAL;
	if (create.numa_node != NUMA_NO_NODE &&
	    (create.numa_node < 0 || create.numa_node >= MAX_NUMNODES ||
	     !node_online(create.numa_node)))
		return -ENODEV;
	strscpy(config.name, create.name, sizeof(config.name));
	config.desc_shift = create.descriptors_shift ?: MONAD_RING_DEFAULT_DESC_SHIFT;
	config.payload_shift = create.payload_shift ?: MONAD_RING_DEFAULT_PAYLOAD_SHIFT;
	config.node = create.numa_node;
	config.content_type = create.content_type;
	memcpy(config.schema_hash, create.schema_hash, sizeof(config.schema_hash));
	err = monad_ring_check_name(config.name) ?:
	      monad_ring_check_shifts(config.name, config.desc_shift, config.payload_shift);
	if (err)
		return err;
	/* No ring for a maker who cannot be told its id. */
	if (put_user(create.ring_id, &arg->ring_id))
		return -EFAULT;
	err = monad_rings_create(&config, &id);
	if (err)
		return err;
	return put_user(id, &arg->ring_id);
}

static long ioctl_destroy(struct monad_ring_destroy __user *arg)
{
	struct monad_ring_destroy destroy;

	if (!perfmon_capable())
		return -EPERM;
	if (copy_from_user(&destroy, arg, sizeof(destroy)))
		return -EFAULT;
	if (destroy.size != sizeof(destroy) || destroy.flags || !name_ends(destroy.name))
		return -EINVAL;
	return monad_rings_destroy(destroy.name);
}

static long ring_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct monad_ring *ring = ring_of(file);
	void __user *argp = (void __user *)arg;

	/* Not by the size that is part of the number: structures grow, and carry theirs. */
	switch (cmd & ~IOCSIZE_MASK) {
	case MONAD_RING_IOC_INFO & ~IOCSIZE_MASK:
		return ioctl_info(ring, argp);
	case MONAD_RING_IOC_SET_CONTENT & ~IOCSIZE_MASK:
		return ioctl_set_content(ring, argp);
	case MONAD_RING_IOC_WAIT & ~IOCSIZE_MASK:
		return ioctl_wait(ring, argp);
	case MONAD_RING_IOC_SET_POLL & ~IOCSIZE_MASK:
		return ioctl_set_poll(file->private_data, argp);
	case MONAD_RING_IOC_CREATE & ~IOCSIZE_MASK:
		return ioctl_create(argp);
	case MONAD_RING_IOC_DESTROY & ~IOCSIZE_MASK:
		return ioctl_destroy(argp);
	default:
		return -ENOTTY;
	}
}

const struct file_operations monad_ring_fops = {
	.owner = THIS_MODULE,
	.open = ring_open,
	.release = ring_release,
	.mmap = ring_mmap,
	.poll = ring_poll,
	.get_unmapped_area = thp_get_unmapped_area,
	.unlocked_ioctl = ring_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
