/* SPDX-License-Identifier: GPL-2.0 */
/* Only so that kmod/ring.h can be read: config.c uses none of it. */
#ifndef FUZZ_LINUX_MISCDEVICE_H
#define FUZZ_LINUX_MISCDEVICE_H

struct page;
struct vm_area_struct;
struct file_operations {
	int unused;
};

struct attribute_group {
	int unused;
};

struct miscdevice {
	int unused;
};

struct fuzz_atomic64 {
	long long counter;
};

#define atomic64_t struct fuzz_atomic64

#endif /* FUZZ_LINUX_MISCDEVICE_H */
