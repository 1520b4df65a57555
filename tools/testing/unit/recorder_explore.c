// SPDX-License-Identifier: GPL-2.0
/*
 * Explores the recorder on a simulated machine, one atomic step at a time: at random, with
 * writers stopped anywhere for long, interrupts, tasks that share a CPU and store buffers;
 * and exhaustively, up to a number of preemptions. As designed nothing may ever go wrong;
 * with any one thing taken away (a mutant) something must.
 *
 *	recorder_explore [SEEDS]        default 6000
 *	recorder_explore -s SEED [-m MUTANT]
 */
#define RECORDER_SIM "recorder_sim_port.h"
#include "recorder_port.h"
#include "../../../kmod/recorder.c"
#include "recorder_sim.h"
#include "tap.h"

#define MUTANT_SEEDS 20000

static const struct {
	const char *name;
	bool buffered; /* needs store buffers to be wrong */
	bool crowded;  /* needs many tasks on few CPUs and slots, or seldom is */
} mutants[SIM_MUTANTS] = {
	[SIM_AS_DESIGNED] = { "as designed", false, false },
	[SIM_BYTE_FLOORS_IGNORED] = { "byte floors ignored", false, false },
	[SIM_SEQNO_FLOORS_IGNORED] = { "seqno floors ignored", false, false },
	[SIM_NESTED_FLOORS_IGNORED] = { "floors of slots but the first ignored", false, false },
	[SIM_OTHER_CPUS_IGNORED] = { "floors of other CPUs ignored", false, false },
	[SIM_NO_BYTE_MARGIN] = { "no margin of bytes", false, false },
	[SIM_NO_SEQNO_MARGIN] = { "no margin of seqnos", false, false },
	[SIM_LARGE_BY_ADD] = { "large events take the add", false, false },
	[SIM_NEXT_NOT_REREAD] = { "next not read anew after the claim", false, true },
	[SIM_WINDOW_BEFORE_SCAN] = { "window raised before the scan", false, false },
	[SIM_FLOOR_BEFORE_PUBLISH] = { "floors freed before the payload is written", false, false },
	[SIM_SEQNO_NOT_ZEROED] = { "descriptor's seqno not zeroed", false, false },
	[SIM_FLOORS_BEFORE_NEXT] = { "floors loaded before next: no recorder_advance:A", false,
				     true },
	[SIM_READER_NO_WINDOW] = { "reader does not look at the window", false, false },
	[SIM_READER_NO_SECOND_LOOK] = { "reader does not look at seqno twice", false, false },
	[SIM_ADD_UNORDERED] = { "adds order nothing: no recorder_reserve:A", true, false },
	[SIM_NO_WMB] = { "no recorder_reserve:B", true, false },
	[SIM_PUBLISH_UNORDERED] = { "no recorder_commit:A", true, false },
	[SIM_BYTE_FREE_UNORDERED] = { "no recorder_commit:B at the byte floor", true, false },
	[SIM_SEQNO_FREE_UNORDERED] = { "no recorder_commit:B at the seqno floor", true, false },
};

static struct {
	u64 runs, steps, events, lost[MONAD_RING_LOST_COUNT], discarded, seen, missed, laps;
} total;

static u64 seen, missed;

static u64 pattern(u64 seqno, u64 word)
{
	return (seqno * 0x9e3779b97f4a7c15ULL) ^ (word * 0xc2b2ae3d27d4eb4fULL);
}

static u64 random_size(void)
{
	u64 fast = sim_recorder.max_fast;

	switch (sim_below(10)) {
	case 0:
		return 0;
	case 1:
	case 2:
		return fast + sim_below(sim_recorder.max_size - fast + 1);
	case 3:
		return sim_recorder.max_size + sim_below(3);
	default:
		return 1 + sim_below(fast);
	}
}

/* One event, by whoever runs: the current task, or an interrupt on top of it. */
static void write_event(u64 size, bool discard)
{
	struct sim_context *c = sim_context();
	struct monad_ring_record *rec;
	struct sim_event *event;
	u64 word, offset;

	memset(c, 0, sizeof(*c));
	sim.attempts++;
	rec = recorder_reserve(&sim_recorder, 2 + size % 7, size);
	if (!rec) {
		memset(c, 0, sizeof(*c));
		return;
	}
	event = sim_event(rec->seqno);
	event->type = 2 + size % 7;
	event->size = size;
	event->tag = pattern(rec->seqno, ~0ULL);
	recorder_tag(rec, 1, event->tag);
	if (sim.mutant == SIM_FLOOR_BEFORE_PUBLISH) {
		sim_store(&rec->seqno_floor, RECORDER_FREE, true);
		sim_store(&rec->floor, RECORDER_FREE, true);
	}
	offset = (u64 *)rec->payload - sim.payload;
	for (word = 0; word < (size + 7) / 8; word++) {
		sim_point();
		/* mapped twice in a row, had it been mapped */
		sim_put(&sim.payload[(offset + word) & (sim.size / 8 - 1)],
			pattern(rec->seqno, word), event->offset + 8 * word, false);
	}
	if (discard) {
		event->type = MONAD_EVENT_NONE_EVENT_TYPE;
		event->size = 0;
		event->tag = 0;
		sim.discarded++;
		recorder_discard(rec);
	} else {
		sim.committed++;
		recorder_commit(rec);
	}
	memset(c, 0, sizeof(*c));
}

static void sim_interrupt(struct sim_task *task)
{
	struct sim_cpu *cpu = &sim.cpus[task->cpu];
	struct sim_task *owner = cpu->owner;

	cpu->owner = task;
	task->depth++;
	write_event(random_size(), sim_one_in(5));
	task->depth--;
	cpu->owner = owner;
}

static void writer(struct sim_task *task)
{
	unsigned int i;

	for (i = 0; i < task->events; i++) {
		if (sim.mode == SIM_RANDOM)
			write_event(random_size(), sim_one_in(6));
		else
			write_event(i & 1 ? sim_recorder.max_fast + 16 : sim_recorder.max_fast,
				    false);
	}
	sim.writers_left--;
}

/* What part 2 of the format lets a reader rely on, for the event @want. */
static void read_event(u64 want, const u64 *copy)
{
	const struct sim_event *event = sim_event(want);
	u64 payload[SIM_SIZE / 8], word, words, offset = copy[3];

	if (copy[1] != (event->size << 32 | event->type) || offset != event->offset ||
	    copy[4] || copy[5] != event->tag || copy[6] || copy[7])
		sim_fail("wrong descriptor of %llu read", (unsigned long long)want);
	words = (event->size + 7) / 8;
	for (word = 0; word < words; word++)
		payload[word] = sim_load(&sim.payload[(offset / 8 + word) & (sim.size / 8 - 1)]);
	if (sim.mutant != SIM_READER_NO_WINDOW &&
	    offset < sim_load(&sim.header.control.buffer_window_start)) {
		missed++;
		return;
	}
	for (word = 0; word < words; word++)
		if (payload[word] != pattern(want, word))
			sim_fail("wrong payload of %llu read", (unsigned long long)want);
	seen++;
}

static void reader(struct sim_task *task)
{
	struct monad_event_ring_control *control = &sim.header.control;
	u64 want = sim.first_seqno + 1, copy[8], seqno, to;
	unsigned int i;

	for (;;) {
		struct monad_event_descriptor *desc = &sim.descs[(want - 1) & (sim.capacity - 1)];
		bool last_look = !sim.writers_left;

		copy[0] = sim_load_acquire(&desc->seqno);
		if (copy[0] < want) {
			if (sim.mode == SIM_EXHAUSTIVE || (last_look && want > control->last_seqno))
				break;
			if (last_look && !sim.buffered)
				sim_fail("%llu never comes", (unsigned long long)want);
			task->sleep_until = sim.steps + 1 + sim_below(40);
			sim_yield();
			continue;
		}
		seqno = copy[0];
		if (seqno == want) {
			for (i = 1; i < 8; i++)
				copy[i] = sim_load((u64 *)desc + i);
			if (sim.mutant != SIM_READER_NO_SECOND_LOOK)
				seqno = sim_load(&desc->seqno);
		}
		if (seqno == want) {
			read_event(want++, copy);
			continue;
		}
		/* a gap: on with the oldest one still there, and some more */
		to = sim_load(&control->last_seqno);
		to = to > want + sim.capacity ? to - sim.capacity + sim.capacity / 4 : want + 1;
		missed += to - want;
		want = to;
	}
	if (sim.mode != SIM_EXHAUSTIVE && seen + missed + sim.first_seqno != control->last_seqno)
		sim_fail("%llu seen, %llu missed", (unsigned long long)seen,
			 (unsigned long long)missed);
	total.seen += seen;
	total.missed += missed;
}

static void task_main(int i)
{
	struct sim_task *task = &sim.tasks[i];

	task->run(task);
	task->done = true;
	sim_yield();
}

static void add_task(void (*run)(struct sim_task *task), int cpu, unsigned int events)
{
	struct sim_task *task = &sim.tasks[sim.nr_tasks];

	memset(task, 0, sizeof(*task));
	task->run = run;
	task->cpu = cpu;
	task->events = events;
	getcontext(&task->context);
	task->context.uc_stack.ss_sp = sim_stacks[sim.nr_tasks];
	task->context.uc_stack.ss_size = SIM_STACK;
	makecontext(&task->context, (void (*)(void))task_main, 1, sim.nr_tasks);
	sim.nr_tasks++;
	if (cpu >= 0)
		sim.writers_left++;
}

/* As monad_recorder_init() does for rings large enough, which these are not. */
static void init_ring(u64 capacity, u64 size, u64 nr_slots, u64 fast, u64 seqno, u64 byte)
{
	struct monad_recorder *r = &sim_recorder;
	unsigned int i, j;

	sim.capacity = capacity;
	sim.size = size;
	sim.first_seqno = seqno;
	sim.first_byte = byte;
	memset(&sim.ext, 0, sizeof(sim.ext));
	memset(sim.descs, 0, capacity * sizeof(sim.descs[0]));
	memset(sim.desc_owner, 0, sizeof(sim.desc_owner));
	memset(sim.payload_owner, 0, size);
	memset(sim.live, 0, sizeof(sim.live));
	for (i = 0; i < SIM_CPUS; i++) {
		sim.cpus[i].nr = 0;
		sim.cpus[i].last = NULL;
		sim.cpus[i].owner = NULL;
		monad_recorder_init_slots(r, &sim_slots[i]);
		/* the others are never free, and hold nothing back */
		for (j = sim.slots_per_cpu; j < RECORDER_SLOTS; j++)
			sim_slots[i].slot[j].floor = RECORDER_FREE - 1;
	}
	sim.header.control = (struct monad_event_ring_control){
		.last_seqno = seqno, .next_payload_byte = byte, .buffer_window_start = byte,
	};
	sim.attempts = 0;
	sim.committed = 0;
	sim.discarded = 0;
	sim.nr_tasks = 0;
	sim.writers_left = 0;
	sim.preemptions = 0;
	sim.current = NULL;
	sim.steps = 0;
	sim.taken = 0;
	sim.clock = 0;
	seen = 0;
	missed = 0;
	sim.failed = false;

	memset(r, 0, sizeof(*r));
	r->control = &sim.header.control;
	r->descs = sim.descs;
	r->payload = (u8 *)sim.payload;
	r->slots = sim_slots;
	r->desc_mask = capacity - 1;
	r->payload_mask = size - 1;
	r->seqno_limit = capacity - (sim.mutant == SIM_NO_SEQNO_MARGIN ? 0 : nr_slots);
	r->byte_limit = size - (sim.mutant == SIM_NO_BYTE_MARGIN ? 0 : nr_slots * fast);
	r->max_size = size / 4;
	r->max_fast = sim.mutant == SIM_LARGE_BY_ADD ? r->max_size : fast;
	r->seqno_step = capacity / 16 ? capacity / 16 : 1;
	r->byte_step = size / 16;
	r->ext = &sim.ext;
	r->seqno_window = seqno;
}

/* After a run in which nothing was found: has everything been accounted for? */
static void check_end(void)
{
	u64 seqno, lost = 0, last = sim.header.control.last_seqno;
	unsigned int i, j;

	sim.current = NULL;
	for (i = 0; i < SIM_CPUS; i++) {
		sim_flush(&sim.cpus[i]);
		for (j = 0; j < sim.slots_per_cpu; j++)
			if (sim_slots[i].slot[j].floor != RECORDER_FREE ||
			    sim_slots[i].slot[j].seqno_floor != RECORDER_FREE)
				sim_fail("a slot is left claimed");
	}
	for (seqno = sim.first_seqno + 1; seqno <= last; seqno++)
		if (!sim_event(seqno)->published)
			sim_fail("%llu never published", (unsigned long long)seqno);
	for (i = 0; i < MONAD_RING_LOST_COUNT; i++) {
		lost += sim.ext.lost[i];
		total.lost[i] += sim.ext.lost[i];
	}
	if (sim.attempts != sim.committed + sim.discarded + lost ||
	    last != sim.first_seqno + sim.committed + sim.discarded ||
	    sim.discarded != sim.ext.discarded)
		sim_fail("%llu offered, %llu committed, %llu discarded, %llu lost",
			 (unsigned long long)sim.attempts, (unsigned long long)sim.committed,
			 (unsigned long long)sim.discarded, (unsigned long long)lost);
	total.runs++;
	total.steps += sim.taken;
	total.events += sim.committed;
	total.discarded += sim.discarded;
	total.laps += (last - sim.first_seqno) / sim.capacity;
}

static void run(struct sim_task *first)
{
	sim_switch(first);
	sim.current = NULL;
	if (!sim.failed)
		check_end();
}

static void set_nr_cpus(unsigned int nr)
{
	sim.nr_cpus = nr;
	port_nr_cpus = nr;
}

/* True when nothing was wrong. */
static bool run_random(u64 seed, enum sim_mutant mutant)
{
	static const u64 first[] = { 0, 0, 1ULL << 20, (1ULL << 32) - 16, 1ULL << 40 };
	static const unsigned int rates[] = { 1, 2, 3, 8, 30 };
	unsigned int i, tasks, readers;
	u64 size, capacity, slots, fast;

	sim.rng = seed * 0x9e3779b97f4a7c15ULL + 88172645463325252ULL;
	for (i = 0; i < 8; i++)
		sim_random();
	sim.mutant = mutant;
	sim.mode = SIM_RANDOM;
	sim.buffered = mutants[mutant].buffered || sim_one_in(2);
	set_nr_cpus(1 + sim_below(4));
	sim.switch_rate = rates[sim_below(ARRAY_SIZE(rates))];
	sim.sleep_rate = 50 << sim_below(6);
	sim.interrupt_rate = 20 << sim_below(5);
	sim.flush_rate = 1 << sim_below(8);
	sim.max_depth = sim_below(4);
	readers = sim_below(2);
	tasks = sim.nr_cpus + sim_below(3);
	if (mutants[mutant].crowded) {
		set_nr_cpus(1 + sim_below(2));
		tasks = 5;
		sim.max_depth = 0;
	}
	/* enough for all contexts at once, or too few */
	sim.slots_per_cpu = !mutants[mutant].crowded && sim_one_in(2) ? 6 : 1 + sim_below(2);
	slots = sim.nr_cpus * sim.slots_per_cpu;
	fast = 16 << sim_below(2);
	for (capacity = 8; capacity < 2 * slots; capacity *= 2)
		;
	for (size = 128; size < 2 * slots * fast; size *= 2)
		;
	i = sim_below(ARRAY_SIZE(first));
	init_ring(capacity, size, slots, fast, first[i] + (i ? sim_below(9) : 0), first[i]);
	for (i = 0; i < tasks; i++)
		add_task(writer, i % sim.nr_cpus, 10 + sim_below(40));
	for (i = 0; i < readers; i++)
		add_task(reader, -1, 0);
	run(&sim.tasks[sim_below(sim.nr_tasks)]);
	return !sim.failed;
}

struct shape {
	const char *name;
	int cpus[3];
	unsigned int writers, events, preemptions, filled;
	bool reader;
};

/* Every schedule of @shape with no more preemptions than it says; the number of them. */
static u64 run_exhaustive(const struct shape *shape, enum sim_mutant mutant, u64 most)
{
	unsigned int i;
	u64 runs = 0;

	sim.mutant = mutant;
	sim.buffered = false;
	set_nr_cpus(3);
	sim.max_preemptions = shape->preemptions;
	sim.slots_per_cpu = shape->writers;
	sim.path_len = 0;
	do {
		init_ring(8, 256, shape->writers, 16, 0, 0);
		sim.mode = SIM_DIRECT;
		for (i = 0; i < shape->filled; i++)
			write_event(32, false);
		sim.mode = SIM_EXHAUSTIVE;
		sim.path_pos = 0;
		for (i = 0; i < shape->writers; i++)
			add_task(writer, shape->cpus[i], shape->events);
		if (shape->reader)
			add_task(reader, -1, 0);
		run(&sim.tasks[sim_decide(sim.nr_tasks)]);
		runs++;
		while (sim.path_len && sim.path[sim.path_len - 1].choice + 1 ==
					       sim.path[sim.path_len - 1].options)
			sim.path_len--;
		if (sim.path_len)
			sim.path[sim.path_len - 1].choice++;
	} while (!sim.failed && sim.path_len && runs < most);
	return runs;
}

static void explore_random(u64 seeds)
{
	u64 seed, bad = 0;

	for (seed = 1; seed <= seeds; seed++)
		if (!run_random(seed, SIM_AS_DESIGNED)) {
			diag("seed %llu: %s", (unsigned long long)seed, sim.why);
			if (++bad == 5)
				break;
		}
	ok(!bad, "as designed: %llu seeds at random", (unsigned long long)seeds);
	diag("%llu steps, %llu events, %llu discarded, %llu laps; lost: %llu too large, "
	     "%llu stalled, %llu no slot, %llu contended; readers saw %llu, missed %llu",
	     (unsigned long long)total.steps, (unsigned long long)total.events,
	     (unsigned long long)total.discarded, (unsigned long long)total.laps,
	     (unsigned long long)total.lost[MONAD_RING_LOST_TOO_LARGE],
	     (unsigned long long)total.lost[MONAD_RING_LOST_STALLED],
	     (unsigned long long)total.lost[MONAD_RING_LOST_NO_SLOT],
	     (unsigned long long)total.lost[MONAD_RING_LOST_CONTENDED],
	     (unsigned long long)total.seen, (unsigned long long)total.missed);
	ok(total.lost[MONAD_RING_LOST_STALLED] > seeds && total.laps > 3 * seeds &&
	   total.seen > seeds && total.missed > seeds / 10,
	   "writers were held back, rings lapped, readers outrun");
}

static void explore_exhaustive(void)
{
	static const struct shape shapes[] = {
		{ "2 CPUs, 2 events each", { 0, 1 }, 2, 2, 3, 5, false },
		{ "2 tasks on a CPU, 3 events each", { 0, 0 }, 2, 3, 2, 5, false },
		{ "3 CPUs, 2 events each", { 0, 1, 2 }, 3, 2, 2, 4, false },
		{ "3 tasks on 2 CPUs, 1 event each", { 0, 0, 1 }, 3, 1, 2, 6, false },
		{ "1 writer of 5 events, 1 reader", { 0 }, 1, 5, 2, 6, true },
		{ "2 CPUs, 2 events each, 1 reader", { 0, 1 }, 2, 2, 2, 6, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		u64 runs, most = 4000000;

		runs = run_exhaustive(&shapes[i], SIM_AS_DESIGNED, most);
		ok(!sim.failed && runs < most,
		   "as designed: %s, all %llu schedules of up to %u preemptions%s%s",
		   shapes[i].name, (unsigned long long)runs, shapes[i].preemptions,
		   sim.failed ? ": " : "", sim.failed ? sim.why : "");
	}
}

static void explore_mutants(void)
{
	enum sim_mutant m;
	u64 seed;

	for (m = SIM_AS_DESIGNED + 1; m < SIM_MUTANTS; m++) {
		for (seed = 1; seed <= MUTANT_SEEDS; seed++)
			if (!run_random(seed, m))
				break;
		ok(seed <= MUTANT_SEEDS, "caught: %s", mutants[m].name);
		if (seed <= MUTANT_SEEDS)
			diag("seed %llu: %s", (unsigned long long)seed, sim.why);
	}
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "-s") == 0) {
		enum sim_mutant m = argc > 4 ? atoi(argv[4]) : SIM_AS_DESIGNED;

		ok(run_random(strtoull(argv[2], NULL, 0), m), "%s: %s",
		   mutants[m % SIM_MUTANTS].name, sim.why);
		return done_testing();
	}
	explore_random(argc > 1 ? strtoull(argv[1], NULL, 0) : 6000);
	explore_mutants();
	explore_exhaustive();
	return done_testing();
}
