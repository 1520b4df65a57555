/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between kernel versions, 6.1 and later, with the commit or version
 * that made it. Nothing else in the module looks at LINUX_VERSION_CODE.
 */
#ifndef MONAD_RING_COMPAT_H
#define MONAD_RING_COMPAT_H

#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/version.h>

/* 6.3, 57e7c169cd6a ("bpf: Add __bpf_kfunc tag for marking kernel functions as kfuncs") */
#ifndef __bpf_kfunc
#define __bpf_kfunc __used noinline
#endif

/*
 * 6.9, a05e90427ef6 ("bpf: btf: Add BTF_KFUNCS_START/END macro pair"); 6f3189f38a3e ("bpf:
 * treewide: Annotate BPF kfuncs in BTF") refuses a set made without from then on.
 */
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START BTF_SET8_START
#define BTF_KFUNCS_END BTF_SET8_END
#endif

/* The default since 7.0, when the flag was removed. */
#ifndef KF_TRUSTED_ARGS
#define KF_TRUSTED_ARGS 0
#endif

/*
 * kprobe, tracepoint and perf_event programs may call kfuncs of the KPROBE hook (and of
 * TRACING) since 6.12. Before, registering for them fails and takes the registrations for
 * the other hooks along.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define COMPAT_KPROBE_KFUNCS 1
#else
#define COMPAT_KPROBE_KFUNCS 0
#endif

/* 6.3, bc292ab00f6c ("mm: introduce vma->vm_flags wrapper functions") */
static inline void compat_vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				       unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* 6.17 took pfn_t away. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#include <linux/pfn_t.h>

static inline vm_fault_t compat_insert_pfn_pmd(struct vm_fault *vmf, unsigned long pfn)
{
	return vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(pfn, PFN_DEV), false);
}
#else
static inline vm_fault_t compat_insert_pfn_pmd(struct vm_fault *vmf, unsigned long pfn)
{
	return vmf_insert_pfn_pmd(vmf, pfn, false);
}
#endif

/*
 * huge_fault takes an order since 6.6, 1d024e7a8dab ("mm: remove enum page_entry_size"),
 * and is called for a character device's mapping since then too. Before, it never is: the
 * PMD goes in from fault().
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define COMPAT_HUGE_FAULT 1
#else
#define COMPAT_HUGE_FAULT 0
#endif

/* 6.13, 908a1d775422 ("hrtimers: Introduce hrtimer_setup() to replace hrtimer_init()") */
static inline void compat_hrtimer_setup(struct hrtimer *timer,
					enum hrtimer_restart (*function)(struct hrtimer *),
					clockid_t clock, enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

#endif /* MONAD_RING_COMPAT_H */
