/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The port_* operations, as calls into a simulated machine: recorder_sim.h, included
 * after the recorder.
 */
#ifndef MONAD_RECORDER_SIM_PORT_H
#define MONAD_RECORDER_SIM_PORT_H

static u64 sim_load(const u64 *p);
static u64 sim_load_acquire(const u64 *p);
static u64 sim_floor(const u64 *p);
static void sim_store(u64 *p, u64 v, bool release);
static u64 sim_add(u64 *p, u64 n);
static u64 sim_cas(u64 *p, u64 old, u64 new);
static u64 sim_claim(u64 *p, u64 old, u64 new);
static void sim_wmb(void);
static u64 sim_clock(void);

#define port_load(p) ((__typeof__(*(p)))sim_load((const u64 *)(p)))
#define port_store(p, v) sim_store((u64 *)(p), (u64)(v), false)
#define port_load_acquire(p) sim_load_acquire(p)
#define port_store_release(p, v) sim_store(p, v, true)
#define port_floor(p) sim_floor(p)
#define port_window(p) sim_load(p)
#define port_wmb() sim_wmb()
#define port_add(p, n) sim_add(p, n)
#define port_cas(p, old, new) sim_cas(p, old, new)
#define port_count(p) ((void)(*(p) += 1))
#define port_claim(r, i, old, new) sim_claim(&port_slot(r, i)->floor, old, new)
#define port_epoch_nanos() sim_clock()
#define port_step() do { } while (0)

#endif /* MONAD_RECORDER_SIM_PORT_H */
