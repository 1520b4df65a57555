/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recorder's port to user space: the names of kmod/recorder_port.h over C11
 * atomics. Has that file's guard, and is included before the recorder:
 *
 *	#include "recorder_port.h"
 *	#include "../../../kmod/recorder.c"
 *
 * In C11 no operation orders accesses to other memory unless both sides take part.
 * So where the kernel's rules let an unordered load be followed by a full barrier, the
 * load itself acquires here: port_floor, port_window. port_wmb is a release fence, which
 * also orders the load of a window before a reader sees what was written after it.
 *
 * CPUs are simulated: each thread says which one it is on in port_cpu, and as many
 * threads as like share one. They are then like tasks that preempt each other, but really
 * run at once; so port_claim acquires, as a switch of tasks would.
 *
 * What a test may define before it includes this:
 *
 *	RECORDER_SIM       a header that brings the port_* operations instead
 *	RECORDER_NO_STEP   port_step() is nothing, as in the kernel
 *	RECORDER_OWN_SLOTS each thread is a CPU of its own and records in no signal handler:
 *	                   like the kernel's, port_claim then needs no locked operation
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
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define __percpu

/* Set by the test: how many CPUs there are, and which one this thread is on. */
static unsigned int port_nr_cpus __attribute__((unused)) = 1;
static __thread unsigned int port_cpu __attribute__((unused));

#define port_slot(r, i) (&(r)->slots[port_cpu].slot[i])
#define port_for_each_slots(r, cpu) for ((void)(r), (cpu) = 0; (cpu) < port_nr_cpus; (cpu)++)
#define port_slots_of(r, cpu) (&(r)->slots[cpu])

#ifdef RECORDER_SIM
#include RECORDER_SIM
#else

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

#ifdef RECORDER_OWN_SLOTS
static __always_inline u64 port_claim_own(u64 *p, u64 old, u64 new)
{
	u64 seen = port_load(p);

	if (seen == old)
		port_store_release(p, new);
	return seen;
}

#define port_claim(r, i, old, new) port_claim_own(&port_slot(r, i)->floor, old, new)
#else
#define port_claim(r, i, old, new) port_cas(&port_slot(r, i)->floor, old, new)
#endif

static inline u64 port_epoch_nanos(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

#ifdef RECORDER_NO_STEP
#define port_step() do { } while (0)
#else
/* Called before each atomic step of the recorder, when set. */
static void (*port_step_hook)(void);

static inline void port_step(void)
{
	if (port_step_hook)
		port_step_hook();
}
#endif

#endif /* RECORDER_SIM */
#endif /* MONAD_RECORDER_PORT_H */
