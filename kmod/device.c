// SPDX-License-Identifier: GPL-2.0
/*
 * The character device of a ring: mmap and ioctl. There is nothing to read or write: a
 * reader maps the ring.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "ring.h"

static struct monad_ring *ring_of(struct file *file)
{
	/* The misc core leaves its device there when it opens the file. */
	return monad_ring_of(file->private_data);
}

static int ring_open(struct inode *inode, struct file *file)
{
	return monad_ring_ready() ? 0 : -ENODEV;
}

static int ring_mmap(struct file *file, struct vm_area_struct *vma)
{
	return monad_ring_memory_mmap(&ring_of(file)->memory, vma);
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

static long ring_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct monad_ring *ring = ring_of(file);

	/* Not by the size that is part of the number: structures grow, and carry theirs. */
	switch (cmd & ~IOCSIZE_MASK) {
	case MONAD_RING_IOC_INFO & ~IOCSIZE_MASK:
		return ioctl_info(ring, (void __user *)arg);
	case MONAD_RING_IOC_SET_CONTENT & ~IOCSIZE_MASK:
		return ioctl_set_content(ring, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

const struct file_operations monad_ring_fops = {
	.owner = THIS_MODULE,
	.open = ring_open,
	.mmap = ring_mmap,
	.get_unmapped_area = thp_get_unmapped_area,
	.unlocked_ioctl = ring_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
