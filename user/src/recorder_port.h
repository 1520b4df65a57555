/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The recorder's port to user space: the names of kmod/recorder_port.h over C11
 * atomics. Has that file's guard, and is included before the recorder:
 *
 *	#include "recorder_port.h"
 *	#include "../../kmod/recorder.h"
 *
 * In C11 no operation orders accesses to other memory unless both sides take part.
 * So where the kernel's rules let an unordered load be followed by a full barrier, the
 * load itself acquires here: port_floor, port_window. port_wmb is a release fence, which
 * also orders the load of a window before a reader sees what was written after it.
 *
 * A thread cannot stay on a CPU, so that here a "CPU" is a group of record slots that a
 * thread prefers. Any number of threads share a group, and a signal handler shares its
 * thread's, so port_claim is a real compare-and-swap. A thread that finds its group taken
 * tries all others: no event is refused for want of a slot while there is a free one.
 *
 * Tests bring another idea of CPUs, their own operations or a step between them: see
 * tools/testing/unit/recorder_port.h.
 */
#ifndef MONAD_RECORDER_PORT_H
#define MONAD_RECORDER_PORT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;

#define __aligned(n) __attribute__((aligned(n)))
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ALIGN(x, a) (((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))

#define __percpu

#ifndef PORT_OWN_CPUS
/*
 * The group of this thread, before it is taken modulo the number of groups. Not 0 once the
 * thread has recorded anything. initial-exec: no call to find it, also not in a signal handler.
 */
extern _Thread_local unsigned int monad_recorder_group
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

#define port_nr_groups(r) ((unsigned int)((r)->nr_slots / RECORDER_SLOTS))
#define port_slot(r, i)                                                                      \
	(&(r)->slots[(monad_recorder_group + (i) / RECORDER_SLOTS) & (port_nr_groups(r) - 1)] \
		  .slot[(i) % RECORDER_SLOTS])
#define port_nr_claims(r) ((r)->nr_slots)
#define port_for_each_slots(r, cpu) for ((cpu) = 0; (cpu) < port_nr_groups(r); (cpu)++)
#define port_slots_of(r, cpu) (&(r)->slots[cpu])
#define port_claim(r, i, old, new) port_cas(&port_slot(r, i)->floor, old, new)
#endif

#ifndef PORT_OWN_OPERATIONS

#define port_load(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define port_store(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define port_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define port_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define port_floor(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define port_window(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define port_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)

static __always_inline u64 port_add(u64 *p, u64 n)
{
	return __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST);
}

static __always_inline u64 port_cas(u64 *p, u64 old, u64 new)
{
	__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}

static inline void port_count(u64 *p)
{
	__atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
}

static inline u64 port_epoch_nanos(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

#ifndef PORT_OWN_STEP
#define port_step() do { } while (0)
#endif

#endif /* PORT_OWN_OPERATIONS */
#endif /* MONAD_RECORDER_PORT_H */
