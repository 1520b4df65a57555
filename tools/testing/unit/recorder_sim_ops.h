/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations of recorder_sim_port.h on the machine of recorder_sim.h, each with the
 * checks of what the recorder must keep to, and with the mutants.
 */
#ifndef MONAD_RECORDER_SIM_OPS_H
#define MONAD_RECORDER_SIM_OPS_H

static bool sim_is_floor(const void *p)
{
	return sim_in(p, sim_slots, sizeof(sim_slots)) &&
	       ((const u8 *)p - (const u8 *)sim_slots) % sizeof(struct monad_ring_record) == 0;
}

static bool sim_is_seqno_floor(const void *p)
{
	return sim_in(p, sim_slots, sizeof(sim_slots)) && sim_is_floor((const u64 *)p - 1);
}

static bool sim_is_desc(const void *p)
{
	return sim_in(p, sim.descs, sizeof(sim.descs));
}

static void sim_nap(u64 steps)
{
	if (sim.current) {
		sim.current->sleep_until = sim.steps + sim_below(steps);
		sim_yield();
	}
}

static u64 sim_early[SIM_CPUS][RECORDER_SLOTS][2];

/* As if the loads of a scan were taken before the loads of next that precede it. */
static void sim_load_floors_early(void)
{
	unsigned int cpu, i;

	for (cpu = 0; cpu < sim.nr_cpus; cpu++)
		for (i = 0; i < RECORDER_SLOTS; i++) {
			sim_early[cpu][i][0] = sim_slots[cpu].slot[i].floor;
			sim_early[cpu][i][1] = sim_slots[cpu].slot[i].seqno_floor;
		}
	sim_nap(300);
}

static u64 sim_load(const u64 *p)
{
	struct sim_context *c = sim_context();
	u64 v;

	sim_point();
	if (sim.mutant == SIM_FLOORS_BEFORE_NEXT && c->reread &&
	    p == &sim.header.control.next_payload_byte)
		sim_load_floors_early();
	v = sim_see(p);
	if (p == &sim.header.control.next_payload_byte) {
		if (!c->claimed) {
			c->first_next = v;
			if (sim.mutant == SIM_NEXT_NOT_REREAD && sim_one_in(4))
				sim_nap(300);
		} else if (!c->reread) {
			c->reread = true;
			if (sim.mutant == SIM_NEXT_NOT_REREAD)
				v = c->first_next;
		}
	}
	return v;
}

/* A window was raised: past nothing that is being written. */
static void sim_raised(bool bytes, u64 old, u64 new)
{
	unsigned int i;

	if (new < old)
		sim_fail("window lowered from %llx to %llx", (unsigned long long)old,
			 (unsigned long long)new);
	for (i = 0; i < SIM_LIVE; i++) {
		const struct sim_live *live = &sim.live[i];

		if (!live->used)
			continue;
		if (bytes ? live->len && live->offset < new : live->has_seqno && live->seqno <= new)
			sim_fail("window raised to %llx past a writer at %llx",
				 (unsigned long long)new,
				 (unsigned long long)(bytes ? live->offset : live->seqno));
	}
}

static u64 sim_load_acquire(const u64 *p)
{
	u64 *window = &sim.header.control.buffer_window_start;
	u64 old = *window, end = *p + sim_recorder.byte_step;

	if (sim.mutant == SIM_WINDOW_BEFORE_SCAN &&
	    p == &sim.header.control.next_payload_byte && end > old + sim_recorder.byte_limit) {
		*window = end - sim_recorder.byte_limit;
		sim_raised(true, old, *window);
	}
	sim_point();
	return sim_see(p);
}

static u64 sim_floor(const u64 *p)
{
	bool byte = sim_is_floor(p);
	unsigned int cpu, i;

	sim_point();
	cpu = ((const u8 *)p - (const u8 *)sim_slots) / sizeof(sim_slots[0]);
	i = ((const u8 *)p - (const u8 *)sim_slots) % sizeof(sim_slots[0]) /
	    sizeof(struct monad_ring_record);
	if ((sim.mutant == SIM_BYTE_FLOORS_IGNORED && byte) ||
	    (sim.mutant == SIM_SEQNO_FLOORS_IGNORED && !byte) ||
	    (sim.mutant == SIM_NESTED_FLOORS_IGNORED && i) ||
	    (sim.mutant == SIM_OTHER_CPUS_IGNORED && cpu != port_cpu))
		return RECORDER_FREE;
	if (sim.mutant == SIM_FLOORS_BEFORE_NEXT)
		return sim_early[cpu][i][!byte];
	return sim_see(p);
}

static void sim_store(u64 *p, u64 v, bool release)
{
	struct sim_context *c = sim_context();
	u64 tag = 0;

	sim_point();
	if (sim_is_desc(p)) {
		if (!c->live || !c->live->has_seqno) {
			sim_fail("a descriptor is written by whom it was not given to");
			return;
		}
		tag = c->live->seqno;
		if (sim.mutant == SIM_SEQNO_NOT_ZEROED && !v &&
		    p == &sim.descs[(tag - 1) & (sim.capacity - 1)].seqno)
			return;
		if (sim.mutant == SIM_PUBLISH_UNORDERED)
			release = false;
	} else if ((sim_is_floor(p) && sim.mutant == SIM_BYTE_FREE_UNORDERED) ||
		   (sim_is_seqno_floor(p) && sim.mutant == SIM_SEQNO_FREE_UNORDERED)) {
		release = false;
	}
	sim_put(p, v, tag, release);
}

/* A writer was given @len bytes at @offset. */
static void sim_allocated(u64 offset, u64 len)
{
	u64 window = sim.header.control.buffer_window_start;
	struct sim_live *free = NULL;
	unsigned int i;

	if (offset < window || offset + len > window + sim.size)
		sim_fail("%llu bytes at %llx given out, window at %llx", (unsigned long long)len,
			 (unsigned long long)offset, (unsigned long long)window);
	for (i = 0; i < SIM_LIVE; i++) {
		struct sim_live *live = &sim.live[i];
		u64 after = (offset - live->offset) & (sim.size - 1);
		u64 before = (live->offset - offset) & (sim.size - 1);

		if (!live->used)
			free = live;
		else if (len && live->len && (after < live->len || before < len))
			sim_fail("bytes %llx and %llx overlap", (unsigned long long)offset,
				 (unsigned long long)live->offset);
	}
	if (!free) {
		sim_fail("too many live events");
		return;
	}
	*free = (struct sim_live){ .offset = offset, .len = len, .used = true };
	sim_context()->live = free;
}

static void sim_numbered(u64 seqno)
{
	u64 window = sim_recorder.seqno_window;
	struct sim_live *mine = sim_context()->live;
	unsigned int i;

	if (seqno <= window || seqno > window + sim.capacity)
		sim_fail("seqno %llu given out, window at %llu", (unsigned long long)seqno,
			 (unsigned long long)window);
	for (i = 0; i < SIM_LIVE; i++) {
		const struct sim_live *live = &sim.live[i];

		if (live->used && live->has_seqno &&
		    ((live->seqno - seqno) & (sim.capacity - 1)) == 0)
			sim_fail("descriptors of %llu and %llu are one", (unsigned long long)seqno,
				 (unsigned long long)live->seqno);
	}
	if (!mine || !mine->used || mine->has_seqno) {
		sim_fail("seqno %llu given to nobody", (unsigned long long)seqno);
		return;
	}
	mine->seqno = seqno;
	mine->has_seqno = true;
	*sim_event(seqno) = (struct sim_event){ .offset = mine->offset };
}

static void sim_full_barrier(void)
{
	struct sim_cpu *cpu = sim_this_cpu();

	if (cpu && sim.mutant != SIM_ADD_UNORDERED)
		sim_flush(cpu);
}

static u64 sim_add(u64 *p, u64 n)
{
	u64 old;

	sim_point();
	sim_full_barrier();
	old = *p;
	*p = old + n;
	if (p == &sim.header.control.next_payload_byte)
		sim_allocated(old, n);
	else
		sim_numbered(old + n);
	return old;
}

static u64 sim_cas(u64 *p, u64 old, u64 new)
{
	u64 seen;

	sim_point();
	seen = *p;
	if (seen != old)
		return seen; /* as in the kernel, no barrier when it fails */
	sim_full_barrier();
	*p = new;
	if (p == &sim.header.control.next_payload_byte)
		sim_allocated(old, new - old);
	else
		sim_raised(p == &sim.header.control.buffer_window_start, old, new);
	return seen;
}

/* Atomic against this CPU only, so the store goes through its buffer. */
static u64 sim_claim(u64 *p, u64 old, u64 new)
{
	struct sim_context *c = sim_context();
	u64 seen;

	sim_point();
	seen = sim_see(p);
	if (seen == old) {
		sim_put(p, new, 0, false);
		c->claimed = true;
		c->reread = false;
	}
	return seen;
}

static void sim_wmb(void)
{
	struct sim_cpu *cpu = sim_this_cpu();

	if (cpu && sim.mutant != SIM_NO_WMB)
		cpu->epoch++;
}

static u64 sim_clock(void)
{
	return ++sim.clock;
}

#endif /* MONAD_RECORDER_SIM_OPS_H */
