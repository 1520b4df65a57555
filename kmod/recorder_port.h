/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the recorder needs of the machine it runs on: here, of the kernel. User
 * space brings its own, included before this one and with the same guard, that
 * maps the same names to C11 atomics (user/src/recorder_port.h).
 *
 *	port_load, port_store              untorn, no order
 *	port_load_acquire,
 *	port_store_release                 as in the kernel
 *	port_add(p, n)                     fetch-and-add, fully ordered; old value
 *	port_cas(p, old, new)              compare-and-swap, fully ordered; old value
 *	port_count(p)                      adds one, no order
 *	port_claim(r, i, old, new)         compare-and-swap of floor i of this CPU's
 *	                                   slots, atomic against this CPU only; old value
 *	port_slot(r, i)                    slot i of this CPU
 *	port_nr_claims(r)                  how many slots a writer may try to claim
 *	port_floor(p)                      a load of a writer's floor; ordered by the
 *	                                   fully ordered port_cas that follows it
 *	port_window(p)                     a load of a window; ordered by the fully
 *	                                   ordered port_add or port_cas that follows it
 *	port_wmb                           store-store barrier
 *	port_epoch_nanos()                 CLOCK_REALTIME, callable in NMI
 *	port_step()                        where a test may stop a writer; nothing here
 *
 * All pointers are to 64-bit words.
 */
#ifndef MONAD_RECORDER_PORT_H
#define MONAD_RECORDER_PORT_H

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/types.h>

#define port_load(p) READ_ONCE(*(p))
#define port_store(p, v) WRITE_ONCE(*(p), (v))
/* What each of these is for, and what it pairs with, stands where it is used. */
#define port_load_acquire(p) smp_load_acquire(p) /* see its uses */
#define port_store_release(p, v) smp_store_release(p, v) /* see its uses */
#define port_wmb() smp_wmb() /* see its uses */
#define port_epoch_nanos() ktime_get_real_fast_ns()
#define port_floor(p) READ_ONCE(*(p))
#define port_window(p) READ_ONCE(*(p))
#define port_step() do { } while (0)

static __always_inline u64 port_add(u64 *p, u64 n)
{
	return atomic64_fetch_add(n, (atomic64_t *)p);
}

static __always_inline u64 port_cas(u64 *p, u64 old, u64 new)
{
	return atomic64_cmpxchg((atomic64_t *)p, old, new);
}

static inline void port_count(u64 *p)
{
	atomic64_inc((atomic64_t *)p);
}

/*
 * BPF programs run with migration disabled at least, so "this CPU" is one and
 * the same from here to the commit, preempted or not.
 */
#define port_claim(r, i, old, new) this_cpu_cmpxchg((r)->slots->slot[i].floor, old, new)
#define port_slot(r, i) (&raw_cpu_ptr((r)->slots)->slot[i])
#define port_nr_claims(r) RECORDER_SLOTS /* r: as below */
#define port_for_each_slots(r, cpu) for_each_possible_cpu(cpu) /* r: user space's needs it */
#define port_slots_of(r, cpu) per_cpu_ptr((r)->slots, cpu)

#endif /* MONAD_RECORDER_PORT_H */
