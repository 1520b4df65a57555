/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recorder in user space, for tests of it: user/src/recorder_port.h with simulated
 * CPUs. Included before the recorder:
 *
 *	#include "recorder_port.h"
 *	#include "../../../kmod/recorder.c"
 *
 * Each thread says which CPU it is on in port_cpu, and as many threads as like share one.
 * They are then like tasks that preempt each other, but really run at once; so port_claim
 * acquires, as a switch of tasks would.
 *
 * What a test may define before it includes this:
 *
 *	RECORDER_SIM       a header that brings the port_* operations instead
 *	RECORDER_NO_STEP   port_step() is nothing, as in the kernel
 *	RECORDER_OWN_SLOTS each thread is a CPU of its own and records in no signal handler:
 *	                   like the kernel's, port_claim then needs no locked operation
 */
#ifndef MONAD_TEST_RECORDER_PORT_H
#define MONAD_TEST_RECORDER_PORT_H

/* Set by the test: how many CPUs there are, and which one this thread is on. */
static unsigned int port_nr_cpus __attribute__((unused)) = 1;
static __thread unsigned int port_cpu __attribute__((unused));

#define PORT_OWN_CPUS
#define port_slot(r, i) (&(r)->slots[port_cpu].slot[i])
#define port_nr_claims(r) ((void)(r), RECORDER_SLOTS)
#define port_for_each_slots(r, cpu) for ((void)(r), (cpu) = 0; (cpu) < port_nr_cpus; (cpu)++)
#define port_slots_of(r, cpu) (&(r)->slots[cpu])

#ifdef RECORDER_SIM
#define PORT_OWN_OPERATIONS
#elif !defined(RECORDER_NO_STEP)
#define PORT_OWN_STEP
/* Called before each atomic step of the recorder, when set. */
static void (*port_step_hook)(void);

static inline void port_step(void)
{
	if (port_step_hook)
		port_step_hook();
}
#endif

#include "../../../user/src/recorder_port.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#ifdef RECORDER_SIM
#include RECORDER_SIM
#elif defined(RECORDER_OWN_SLOTS)
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

#endif /* MONAD_TEST_RECORDER_PORT_H */
