/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A machine on which to run the recorder one atomic step at a time: the port_*
 * operations of recorder_sim_port.h over simulated CPUs. Included after the recorder.
 *
 * Tasks are coroutines. Each operation of the recorder first lets the scheduler choose
 * who goes on (sim_point), then takes effect at once. A CPU may have a store buffer that
 * is weaker than that of any machine Linux runs on: stores become visible in any order,
 * save that those to one address keep theirs, a release store waits for all before it,
 * and none passes a port_wmb. Fully ordered operations and switches of tasks empty it.
 * Loads are taken in program order.
 *
 * Whatever becomes visible is checked: see sim_land.
 */
#ifndef MONAD_RECORDER_SIM_H
#define MONAD_RECORDER_SIM_H

#include <stdarg.h>
#include <stdio.h>
#include <ucontext.h>

#define SIM_TASKS 8
#define SIM_CPUS 8
#define SIM_LIVE 128
#define SIM_BUFFER 48
#define SIM_CAPACITY 64
#define SIM_SIZE 4096
#define SIM_EVENTS 4096
#define SIM_STACK (64 << 10)

/* What is broken, to see that the checks notice. */
enum sim_mutant {
	SIM_AS_DESIGNED,
	SIM_BYTE_FLOORS_IGNORED,
	SIM_SEQNO_FLOORS_IGNORED,
	SIM_NESTED_FLOORS_IGNORED,
	SIM_OTHER_CPUS_IGNORED,
	SIM_NO_BYTE_MARGIN,
	SIM_NO_SEQNO_MARGIN,
	SIM_LARGE_BY_ADD,
	SIM_NEXT_NOT_REREAD,
	SIM_WINDOW_BEFORE_SCAN,
	SIM_FLOOR_BEFORE_PUBLISH,
	SIM_SEQNO_NOT_ZEROED,
	SIM_FLOORS_BEFORE_NEXT,
	SIM_READER_NO_WINDOW,
	SIM_READER_NO_SECOND_LOOK,
	/* from here on only wrong with store buffers */
	SIM_ADD_UNORDERED,
	SIM_NO_WMB,
	SIM_PUBLISH_UNORDERED,
	SIM_BYTE_FREE_UNORDERED,
	SIM_SEQNO_FREE_UNORDERED,
	SIM_MUTANTS,
};

enum sim_mode { SIM_DIRECT, SIM_RANDOM, SIM_EXHAUSTIVE };

struct sim_event { /* what a reader must find */
	u64 offset;
	u64 size;
	u64 tag;
	u16 type;
	bool published;
};

struct sim_live { /* allocated, not yet published */
	u64 offset, len, seqno;
	bool used, has_seqno;
};

struct sim_store {
	u64 *p;
	u64 v, tag;
	unsigned int epoch;
	bool release;
};

struct sim_cpu {
	struct sim_store buffer[SIM_BUFFER];
	unsigned int nr, epoch;
	struct sim_task *last;  /* who ran here */
	struct sim_task *owner; /* who runs an interrupt here, and must go on first */
};

struct sim_context { /* a task's, or an interrupt's on top of it */
	struct sim_live *live;
	u64 first_next;
	bool claimed, reread;
};

struct sim_task {
	ucontext_t context;
	void (*run)(struct sim_task *task);
	int cpu; /* -1: a reader, in user space */
	unsigned int events;
	bool done;
	u64 sleep_until;
	unsigned int depth;
	struct sim_context contexts[4];
};

static struct {
	/* the ring */
	struct monad_event_ring_header header;
	struct monad_ring_ext ext;
	struct monad_event_descriptor descs[SIM_CAPACITY];
	u64 payload[SIM_SIZE / 8];
	/* who wrote there last: a descriptor's sequence number, a word's unwrapped offset */
	u64 desc_owner[SIM_CAPACITY];
	u64 payload_owner[SIM_SIZE / 8];
	u64 capacity, size, first_seqno, first_byte;
	struct sim_event events[SIM_EVENTS];
	struct sim_live live[SIM_LIVE];
	u64 attempts, committed, discarded;
	/* the machine */
	enum sim_mutant mutant;
	enum sim_mode mode;
	bool buffered;
	struct sim_cpu cpus[SIM_CPUS];
	struct sim_task tasks[SIM_TASKS];
	unsigned int nr_tasks, nr_cpus, slots_per_cpu, writers_left;
	struct sim_task *current;
	ucontext_t main;
	u64 rng, clock;
	u64 steps; /* the time; jumps when all sleep */
	u64 taken; /* steps that were taken */
	/* one in so many */
	unsigned int switch_rate, sleep_rate, interrupt_rate, flush_rate, max_depth;
	/* exhaustive: what was chosen of how many at each point of decision */
	struct { u8 choice, options; } path[1 << 16];
	unsigned int path_len, path_pos, preemptions, max_preemptions;
	bool failed;
	char why[256];
} sim;

static struct monad_recorder sim_recorder;
static struct monad_recorder_slots sim_slots[SIM_CPUS];
static u8 sim_stacks[SIM_TASKS][SIM_STACK] __aligned(64);

static void sim_interrupt(struct sim_task *task);

static inline u64 sim_random(void)
{
	sim.rng ^= sim.rng << 13;
	sim.rng ^= sim.rng >> 7;
	sim.rng ^= sim.rng << 17;
	return sim.rng;
}

static inline u64 sim_below(u64 n)
{
	return (sim_random() >> 11) % n;
}

static inline bool sim_one_in(unsigned int n)
{
	return n && sim_below(n) == 0;
}

/* The first violation is what counts: the run ends there. */
__attribute__((format(printf, 1, 2))) static void sim_fail(const char *fmt, ...)
{
	va_list ap;

	if (!sim.failed) {
		va_start(ap, fmt);
		vsnprintf(sim.why, sizeof(sim.why), fmt, ap);
		va_end(ap);
		sim.failed = true;
	}
	if (sim.current)
		setcontext(&sim.main);
}

static struct sim_context *sim_context(void)
{
	static struct sim_context direct;

	return sim.current ? &sim.current->contexts[sim.current->depth] : &direct;
}

static inline struct sim_event *sim_event(u64 seqno)
{
	return &sim.events[(seqno - sim.first_seqno) % SIM_EVENTS];
}

static inline bool sim_in(const void *p, const void *base, size_t size)
{
	return (const u8 *)p >= (const u8 *)base && (const u8 *)p < (const u8 *)base + size;
}

static void sim_publish(u64 seqno)
{
	unsigned int i;

	if (seqno <= sim.first_seqno || seqno > sim.header.control.last_seqno)
		sim_fail("seqno %llu published but not allocated", (unsigned long long)seqno);
	if (sim_event(seqno)->published)
		sim_fail("seqno %llu published twice", (unsigned long long)seqno);
	sim_event(seqno)->published = true;
	for (i = 0; i < SIM_LIVE; i++)
		if (sim.live[i].used && sim.live[i].has_seqno && sim.live[i].seqno == seqno)
			sim.live[i].used = false;
}

/*
 * A store becomes visible. It must be within what the permit allows, and not on top of
 * what was written for a younger event.
 */
static void sim_land(const struct sim_store *s)
{
	u64 window, slot;

	if (sim_in(s->p, sim.payload, sim.size)) {
		window = sim.header.control.buffer_window_start;
		slot = s->p - sim.payload;
		if (s->tag < sim.payload_owner[slot])
			sim_fail("byte %llx written over byte %llx", (unsigned long long)s->tag,
				 (unsigned long long)sim.payload_owner[slot]);
		if (s->tag < window || s->tag + 8 > window + sim.size)
			sim_fail("byte %llx written outside of window %llx",
				 (unsigned long long)s->tag, (unsigned long long)window);
		sim.payload_owner[slot] = s->tag;
	} else if (sim_in(s->p, sim.descs, sim.capacity * sizeof(sim.descs[0]))) {
		window = sim_recorder.seqno_window;
		slot = (s->tag - 1) & (sim.capacity - 1);
		if (s->tag < sim.desc_owner[slot])
			sim_fail("descriptor of %llu written over that of %llu",
				 (unsigned long long)s->tag,
				 (unsigned long long)sim.desc_owner[slot]);
		if (s->tag <= window || s->tag > window + sim.capacity)
			sim_fail("descriptor of %llu written outside of window %llu",
				 (unsigned long long)s->tag, (unsigned long long)window);
		sim.desc_owner[slot] = s->tag;
		*s->p = s->v;
		if (s->p == &sim.descs[slot].seqno && s->v)
			sim_publish(s->v);
	}
	*s->p = s->v;
}

static bool sim_may_land(const struct sim_cpu *cpu, unsigned int i)
{
	const struct sim_store *s = &cpu->buffer[i];
	unsigned int j;

	if (s->release)
		return i == 0;
	for (j = 0; j < i; j++)
		if (cpu->buffer[j].p == s->p || cpu->buffer[j].epoch != s->epoch)
			return false;
	return true;
}

static void sim_land_one(struct sim_cpu *cpu, unsigned int i)
{
	struct sim_store s = cpu->buffer[i];

	memmove(&cpu->buffer[i], &cpu->buffer[i + 1], (cpu->nr - i - 1) * sizeof(s));
	cpu->nr--;
	sim_land(&s);
}

static void sim_flush(struct sim_cpu *cpu)
{
	while (cpu->nr)
		sim_land_one(cpu, 0);
}

static struct sim_cpu *sim_this_cpu(void)
{
	return sim.current && sim.current->cpu >= 0 ? &sim.cpus[sim.current->cpu] : NULL;
}

static bool sim_runnable(const struct sim_task *task)
{
	if (task->done || task->sleep_until > sim.steps)
		return false;
	return task->cpu < 0 || !sim.cpus[task->cpu].owner || sim.cpus[task->cpu].owner == task;
}

static void sim_switch(struct sim_task *to)
{
	struct sim_task *from = sim.current;
	struct sim_cpu *cpu;

	if (to == from)
		return;
	sim.current = to;
	cpu = sim_this_cpu();
	if (cpu) {
		if (cpu->last != to)
			sim_flush(cpu); /* a switch of tasks is a full barrier */
		cpu->last = to;
		port_cpu = to->cpu;
	}
	if (from)
		swapcontext(&from->context, &to->context);
	else
		swapcontext(&sim.main, &to->context);
}

/* One of those that can run, other than @not; NULL: none. */
static struct sim_task *sim_other(const struct sim_task *not, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < sim.nr_tasks; i++)
		if (&sim.tasks[i] != not && sim_runnable(&sim.tasks[i]) && n-- == 0)
			return &sim.tasks[i];
	return NULL;
}

static unsigned int sim_others(const struct sim_task *not)
{
	unsigned int n = 0;

	while (sim_other(not, n))
		n++;
	return n;
}

/* Which of @options: what was chosen in this place before, or the first. */
static unsigned int sim_decide(unsigned int options)
{
	if (sim.path_pos == sim.path_len) {
		if (sim.path_len == ARRAY_SIZE(sim.path)) {
			sim_fail("too many decisions");
			return 0;
		}
		sim.path[sim.path_len].choice = 0;
		sim.path[sim.path_len++].options = options;
	}
	return sim.path[sim.path_pos++].choice;
}

/* Goes on with somebody else: the current task sleeps, waits, or has ended. */
static void sim_yield(void)
{
	unsigned int i, n = sim_others(sim.current);
	u64 wake = ~0ULL;

	if (n) {
		if (sim.mode == SIM_EXHAUSTIVE)
			sim_switch(sim_other(sim.current, sim_decide(n)));
		else
			sim_switch(sim_other(sim.current, sim_below(n)));
		return;
	}
	if (sim_runnable(sim.current))
		return;
	/* all asleep: until the first wakes */
	for (i = 0; i < sim.nr_tasks; i++) {
		struct sim_task *task = &sim.tasks[i];
		struct sim_cpu *cpu = task->cpu < 0 ? NULL : &sim.cpus[task->cpu];

		if (!task->done && task->sleep_until < wake &&
		    (!cpu || !cpu->owner || cpu->owner == task))
			wake = task->sleep_until;
	}
	if (wake == ~0ULL)
		setcontext(&sim.main);
	sim.steps = wake;
	if (!sim_runnable(sim.current))
		sim_switch(sim_other(sim.current, 0));
}

static void sim_buffers(void)
{
	unsigned int i;

	for (i = 0; i < sim.nr_cpus; i++) {
		struct sim_cpu *cpu = &sim.cpus[i];

		if (cpu->nr && sim_one_in(sim.flush_rate)) {
			unsigned int n = sim_below(cpu->nr);

			if (sim_may_land(cpu, n))
				sim_land_one(cpu, n);
		}
	}
}

/* A step is about to be taken. */
static void sim_point(void)
{
	struct sim_task *task = sim.current;

	if (!task)
		return;
	sim.steps++;
	if (++sim.taken > 10000000)
		sim_fail("no end");
	if (sim.mode == SIM_EXHAUSTIVE) {
		unsigned int choice, n;

		if (sim.preemptions == sim.max_preemptions)
			return;
		n = sim_others(task);
		choice = n ? sim_decide(n + 1) : 0;
		if (choice) {
			sim.preemptions++;
			sim_switch(sim_other(task, choice - 1));
		}
		return;
	}
	if (sim.buffered)
		sim_buffers();
	if (task->cpu >= 0 && task->depth < sim.max_depth && sim_one_in(sim.interrupt_rate))
		sim_interrupt(task);
	if (sim_one_in(sim.sleep_rate)) {
		task->sleep_until = sim.steps + sim_below(4000);
		sim_yield();
	} else if (sim_one_in(sim.switch_rate)) {
		sim_yield();
	}
}

/* What this CPU sees: its own stores before they are visible to others. */
static u64 sim_see(const u64 *p)
{
	struct sim_cpu *cpu = sim_this_cpu();
	unsigned int i;

	if (cpu)
		for (i = cpu->nr; i-- > 0;)
			if (cpu->buffer[i].p == p)
				return cpu->buffer[i].v;
	return *p;
}

static void sim_put(u64 *p, u64 v, u64 tag, bool release)
{
	struct sim_cpu *cpu = sim_this_cpu();
	struct sim_store s = { p, v, tag, cpu ? cpu->epoch : 0, release };

	if (!cpu || !sim.buffered) {
		sim_land(&s);
		return;
	}
	if (cpu->nr == SIM_BUFFER)
		sim_land_one(cpu, 0);
	cpu->buffer[cpu->nr++] = s;
}

#include "recorder_sim_ops.h"

#endif /* MONAD_RECORDER_SIM_H */
