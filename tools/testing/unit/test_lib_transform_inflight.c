// SPDX-License-Identifier: GPL-2.0
/*
 * What is in flight: who had to wait, what is stuck, where there is too much; and the stacks
 * that events came from.
 */
#include "held_stacks.h"
#include "transform_windows.h"
#include "under_way.h"

/*
 * In flight
 */

static uint64_t mount_namespace(void *arg, uint32_t pid)
{
	return 1000 + pid;
}

static const struct transform_sources sources = { .mount_namespace = mount_namespace };

static void test_victims(void)
{
	struct transformer *t = new_transformer(&config, &sources);
	struct raw_inflight ios[] = {
		made_inflight(100, 9 * SECOND), /* the actor */
		made_inflight(1, 1 * SECOND), made_inflight(2, 2 * SECOND),
		made_inflight(3, 3 * SECOND), made_inflight(4, 4 * SECOND),
		made_inflight(2, 5 * SECOND), /* again, longer */
		made_inflight(5, 20 * SECOND), made_inflight(6, 20 * SECOND),
		made_inflight(0, 20 * SECOND), /* nobody knows who */
	};
	Monad__TelemetryBatch *batch;
	const Monad__StorageEvent *s;

	ios[6].dev_minor = 99; /* of the same cgroup */
	ios[7].dev_minor = 99; /* of neither */
	ios[7].cgroup_id = 1;
	transform_inflight(t, ios, sizeof(ios) / sizeof(*ios));
	add_slow(t, 10 * MS);
	batch = end_window(t);
	if (!eq_u64(batch->n_spontaneous_events, 1, "one event"))
		return;
	s = batch->spontaneous_events[0]->storage;
	eq_u64(s->affected, 5, "five processes wait for the same, but for the actor");
	if (eq_u64(s->n_victims, 3, "three of them are there")) {
		ok(s->victims[0]->tgid == 5 && s->victims[1]->tgid == 2 && s->victims[2]->tgid == 4,
		   "those that wait longest");
		eq_str(s->victims[0]->comm, "victim5", "by name");
		ok(s->victims[0]->mount_namespace == 1005 && s->victims[0]->cgroup_id == 71,
		   "with their mounts and cgroups");
	}
	eq_str(strchr(batch->spontaneous_events[0]->message, ';'), "; 5 other processes wait",
	       "in words");
	transform_batch_free(batch);
	/* All that was said before is no more. */
	transform_inflight(t, NULL, 0);
	add_slow(t, 10 * MS);
	batch = end_window(t);
	ok(!batch->spontaneous_events[0]->storage->affected, "and not for longer than it is so");
	transform_batch_free(batch);
	/* The event comes first, then it is seen who waits. */
	add_slow(t, 10 * MS);
	transform_inflight(t, ios, 3);
	batch = end_window(t);
	eq_u64(batch->spontaneous_events[0]->storage->affected, 2, "also if seen later");
	transform_batch_free(batch);
	transform_inflight(t, ios, 5);
	add_slow(t, 10 * MS);
	transform_inflight(t, ios, 2);
	batch = end_window(t);
	ok(batch->spontaneous_events[0]->storage->affected == 4 &&
	   batch->spontaneous_events[0]->storage->n_victims == 3, "or earlier, if that was more");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_stuck(void)
{
	struct raw_event stack = { .type = MONAD_STORAGE_STACK,
				   .stack = { .id = 4, .kernel = { 0xabc } } };
	struct transformer *t = new_transformer(&config, NULL);
	struct raw_inflight ios[] = {
		made_inflight(1, 30 * SECOND - 1), made_inflight(2, 30 * SECOND),
		made_inflight(3, 120 * SECOND),
	};
	const Monad__EventWrapper *event;
	Monad__TelemetryBatch *batch;

	add(t, stack);
	ios[1].stack = 4;
	ios[1].actor_cgroup_id = 88;
	ios[1].requeues_issued = 2;
	transform_inflight(t, ios, 3);
	batch = end_window(t);
	eq_u64(batch->n_spontaneous_events, 2, "what is stuck is an event");
	event = find(batch, "io_stuck");
	if (ok(event, "by name")) {
		ok(event->time_ns == batch->time_ns && !event->storage->seqno, "of now");
		eq_str(event->message, "write of 4 KiB at sector 8 on 8:0 by victim2[2], under way "
		       "for 30 s; 2 other processes wait", "in words");
		eq_u64(event->storage->affected, 2, "and the others are its victims");
		ok(event->storage->stack == 1 && batch->dictionary->n_stacks == 1 &&
		   batch->dictionary->stacks[0]->frames[0]->address == 0xabc,
		   "it is known where it comes from");
		ok(event->storage->actor->cgroup_id == 88 && event->storage->requeues == 2 &&
		   event->storage->charged_cgroup_id == 70, "of whom, and how often");
	}
	ok(batch->spontaneous_events[1]->severity == MONAD__SEVERITY__SEVERITY_CRITICAL,
	   "four times as long is critical");
	transform_batch_free(batch);
	batch = end_window(t);
	ok(!batch->n_spontaneous_events && adds_up(t), "once for each time it was looked at");
	transform_batch_free(batch);
	transform_inflight(t, ios, 3);
	transform_inflight(t, ios, 3);
	batch = end_window(t);
	ok(!batch->n_spontaneous_events && transform_counters(t)->notable == 2 && adds_up(t),
	   "and once for as long as it is so");
	transform_batch_free(batch);
	transformer_free(t);
}

/* Which events there are in a window with @io, or with nothing, in flight. */
static void look(struct transformer *t, const struct raw_inflight *io, unsigned int nr_stuck,
		 unsigned int nr_ends, const char *what)
{
	Monad__TelemetryBatch *batch;
	unsigned int nr[2] = {};

	transform_inflight(t, io, !!io);
	batch = end_window(t);
	for (size_t i = 0; i < batch->n_spontaneous_events; i++) {
		if (!strncmp(batch->spontaneous_events[i]->name, "io_stuck", 8))
			nr[!strcmp(batch->spontaneous_events[i]->name, "io_stuck_end")]++;
	}
	if (!ok(nr[0] == nr_stuck && nr[1] == nr_ends, "%s", what))
		diag("stuck %u, ended %u", nr[0], nr[1]);
	transform_batch_free(batch);
}

/* One that ends after as long as @io has been in flight. */
static struct raw_event end_of(const struct raw_inflight *io)
{
	struct raw_event event = slow_read(io->age_ns);

	event.complete.op = io->op;
	event.complete.sector = io->sector;
	event.complete.tgid = io->tgid;
	return event;
}

static void test_stuck_again(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	struct raw_inflight io = made_inflight(1, 29 * SECOND), other;
	Monad__TelemetryBatch *batch;

	io.start_ns = 7;
	look(t, &io, 0, 0, "at 29 s nothing is stuck");
	for (unsigned int age = 31; age < 400; age++) {
		io.age_ns = age * SECOND;
		if (age == 31)
			look(t, &io, 1, 0, "at 31 s it is");
		else if (age == 60 || age == 120 || age == 240)
			look(t, &io, 1, 0, "again when it is twice as long");
		else if (age % 10 == 9)
			look(t, &io, 0, 0, "not in between");
	}
	/* In its place, one that began later. */
	other = io;
	other.start_ns = 8;
	other.age_ns = 31 * SECOND;
	look(t, &other, 1, 1, "another one at the same place is another, and the first one gone");
	add(t, end_of(&other));
	look(t, NULL, 0, 1, "its end is told once: as an event");
	look(t, NULL, 0, 0, "and that is all");
	look(t, &io, 1, 0, "one whose end is not seen");
	look(t, NULL, 0, 1, "is told to be gone");
	look(t, &io, 1, 0, "one more");
	other = io;
	other.age_ns = 5 * SECOND;
	add(t, end_of(&other));
	look(t, NULL, 0, 1, "does not end by what ends at its place, and is gone");
	look(t, &io, 1, 0, "the last one");
	transform_inflight_unknown(t);
	batch = end_window(t);
	ok(!batch->n_spontaneous_events, "of what was another recording's no end is told");
	transform_batch_free(batch);
	look(t, &io, 1, 0, "what is there in this one is new");
	ok(adds_up(t), "all are accounted for");
	transformer_free(t);
}

static void test_stuck_in_words(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	struct raw_inflight io = made_inflight(1, 40 * SECOND);
	const Monad__EventWrapper *event;
	Monad__TelemetryBatch *batch;

	transform_inflight(t, &io, 1);
	transform_batch_free(end_window(t));
	transform_inflight(t, NULL, 0);
	batch = end_window(t);
	event = find(batch, "io_stuck_end");
	if (ok(event, "it is gone")) {
		eq_str(event->message, "write of 4 KiB at sector 8 on 8:0 by victim1[1] is not "
		       "under way any more, after more than 40 s", "in words");
		eq_str(event->storage->reason_class, "stuck", "its class");
		eq_str(event->storage->reason, "end not seen", "and why there is no more to say");
	}
	transform_batch_free(batch);
	transform_inflight(t, &io, 1);
	transform_batch_free(end_window(t));
	add(t, end_of(&io));
	batch = end_window(t);
	event = find(batch, "io_stuck_end");
	if (ok(event, "it ended")) {
		ok(strstr(event->message, " took 40 s (queue 10 s, device 30 s)"), "in words");
		eq_str(event->storage->reason, "slow device", "and who was slow");
	}
	transform_batch_free(batch);
	io.age_ns = 50 * SECOND;
	transform_inflight(t, &io, 1);
	transform_batch_free(end_window(t));
	transform_inflight(t, NULL, 0);
	add(t, failed_read(EIO));
	batch = end_window(t);
	ok(find(batch, "io_error") && find(batch, "io_stuck_end"), "an error elsewhere is no end");
	transform_batch_free(batch);
	transformer_free(t);
}

/* Many that hang do not stand for one that does not any more. */
static void test_end_among_many(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	struct raw_inflight ios[10];
	Monad__TelemetryBatch *batch;

	for (unsigned int i = 0; i < 10; i++)
		ios[i] = made_inflight(1 + i, (50 - i) * SECOND);
	/* It comes last, and is the youngest. */
	transform_inflight(t, ios + 9, 1);
	transform_batch_free(end_window(t));
	transform_inflight(t, ios, 9);
	batch = end_window(t);
	ok(find(batch, "io_stuck_end") && !find(batch, "io_stuck_end")->truncated_count,
	   "the end of one of many is told");
	ok(find(batch, "io_stuck") && stands_for(batch) == 10 && adds_up(t), "and all the others");
	transform_batch_free(batch);
	transformer_free(t);
}

/* Where nobody made cgroups, all are in one: that is nothing to wait for. */
static void test_root_cgroup(void)
{
	struct transformer *t = new_transformer(&config, &sources);
	struct raw_inflight ios[] = {
		made_inflight(1, SECOND), made_inflight(2, SECOND), made_inflight(3, SECOND),
	};
	struct raw_event event = slow_read(10 * MS);
	Monad__TelemetryBatch *batch;

	for (int i = 0; i < 3; i++)
		ios[i].cgroup_id = 1;
	ios[1].dev_minor = 99;
	ios[2].dev_minor = 98;
	event.complete.cgroup_id = 1;
	transform_inflight(t, ios, 3);
	add(t, event);
	batch = end_window(t);
	if (eq_u64(batch->n_spontaneous_events, 1, "one event"))
		eq_u64(batch->spontaneous_events[0]->storage->affected, 1,
		       "of the root cgroup only those of the same device wait for the same");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_congestion(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	static struct raw_inflight ios[UNDER_WAY_MAX + 100];
	const Monad__EventWrapper *event;
	Monad__TelemetryBatch *batch;

	for (int i = 0; i < 10; i++) {
		ios[i] = made_inflight(1 + i / 2, SECOND);
		ios[i].dev_minor = 16;
	}
	transform_inflight(t, ios, 9);
	batch = end_window(t);
	eq_u64(batch->n_spontaneous_events, 0, "nine are no congestion, where ten are");
	transform_batch_free(batch);
	transform_inflight(t, ios, 10);
	batch = end_window(t);
	event = find(batch, "congestion");
	if (ok(event && batch->n_spontaneous_events == 1, "ten are one")) {
		eq_u64(event->storage->count, 10, "which says how many");
		eq_u64(event->storage->affected, 5, "and of how many processes");
		ok(!event->storage->actor && !event->storage->has_latency, "it is nobody's");
		eq_str(event->message, "10 I/Os under way on 8:16, 10 is the limit; 5 processes "
		       "wait", "in words");
	}
	transform_batch_free(batch);
	/* What is stuck is seen, wherever it stands. */
	for (size_t i = 0; i < UNDER_WAY_MAX + 100; i++)
		ios[i] = made_inflight(1, SECOND);
	for (size_t i = UNDER_WAY_MAX; i < UNDER_WAY_MAX + 100; i++) {
		ios[i].age_ns = 31 * SECOND;
		ios[i].dev_minor = 16;
	}
	transform_inflight(t, ios, UNDER_WAY_MAX + 100);
	batch = end_window(t);
	ok(find(batch, "io_stuck"), "of more than can be kept, what is stuck is");
	ok(find(batch, "congestion") && find(batch, "congestion")->storage->count == 100,
	   "and all are counted");
	ok(stands_for(batch) == 101 && adds_up(t), "exactly");
	transform_batch_free(batch);
	transformer_free(t);
}

/* More that are stuck than can be looked at: of those that are not, it is not known why. */
static void test_too_many_stuck(void)
{
	static struct raw_inflight ios[UNDER_WAY_MAX + 2];
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;

	for (size_t i = 0; i < UNDER_WAY_MAX + 2; i++) {
		ios[i] = made_inflight(1, 31 * SECOND);
		ios[i].start_ns = i;
	}
	transform_inflight(t, ios, UNDER_WAY_MAX + 1);
	batch = end_window(t);
	ok(find(batch, "io_stuck") && stands_for(batch) == UNDER_WAY_MAX, "as many as may be");
	transform_batch_free(batch);
	transform_inflight(t, ios + 1, UNDER_WAY_MAX + 1);
	batch = end_window(t);
	ok(!find(batch, "io_stuck_end"), "one that is not among them may still be there");
	ok(stands_for(batch) == 1 && adds_up(t), "and another one is new");
	transform_batch_free(batch);
	transform_inflight(t, ios + 2, UNDER_WAY_MAX);
	batch = end_window(t);
	ok(find(batch, "io_stuck_end") && stands_for(batch) == 2 && adds_up(t),
	   "once all are there, one that is not is gone");
	transform_batch_free(batch);
	transformer_free(t);
}

/* Devices without end: there is an end to those that are counted. */
static void test_many_devices(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	static struct raw_inflight ios[2 * UNDER_WAY_DEVICES];
	Monad__TelemetryBatch *batch;

	for (size_t i = 0; i < 2 * UNDER_WAY_DEVICES; i++) {
		ios[i] = made_inflight(i, 0);
		ios[i].dev_minor = 1000 + i;
	}
	transform_inflight(t, ios, 2 * UNDER_WAY_DEVICES);
	batch = end_window(t);
	ok(!batch->n_spontaneous_events, "nothing is wrong with them");
	transform_batch_free(batch);
	transformer_free(t);
}

/*
 * Stacks
 */

static const struct monad_storage_stack *no_stack(void *arg, uint32_t id, uint64_t seqno)
{
	++*(unsigned int *)arg;
	return NULL;
}

static void test_stacks(void)
{
	unsigned int asked = 0;
	const struct transform_sources with = { .stack = no_stack, .arg = &asked };
	struct transformer *t = new_transformer(&config, &with);
	struct raw_event stack = { .type = MONAD_STORAGE_STACK };
	struct raw_event event = slow_read(10 * MS);
	Monad__TelemetryBatch *batch;

	stack.stack = (struct monad_storage_stack){ .id = 9, .kernel = { 0xa } };
	add(t, stack);
	event.complete.stack = 9;
	add(t, event);
	/* The number is another one's now; what was before keeps its own. */
	stack.stack.kernel[0] = 0xb;
	add(t, stack);
	add(t, event);
	for (uint32_t id = 100; id < 100 + 4 * HELD_STACKS; id++) {
		stack.stack.id = id;
		add(t, stack);
	}
	event.complete.stack = 100 + 4 * HELD_STACKS - 1;
	add(t, event);
	eq_u64(asked, 0, "the sources were not asked for what came as an event");
	event.complete.stack = 5;
	add(t, event);
	eq_u64(asked, 1, "but for what did not");
	batch = end_window(t);
	if (eq_u64(batch->n_spontaneous_events, 4, "four events") &&
	    eq_u64(batch->dictionary->n_stacks, 2, "of two different stacks")) {
		const Monad__EventWrapper *const *e =
			(const Monad__EventWrapper *const *)batch->spontaneous_events;
		const Monad__Stack *first = batch->dictionary->stacks[e[0]->storage->stack - 1];
		const Monad__Stack *second = batch->dictionary->stacks[e[1]->storage->stack - 1];

		ok(first->frames[0]->address == 0xa && second->frames[0]->address == 0xb,
		   "each has the one that came before it");
		eq_u64(e[2]->storage->stack, e[1]->storage->stack, "the same stack is one");
		eq_u64(e[3]->storage->stack, 0, "one that is not known is none");
	}
	transform_batch_free(batch);
	transformer_free(t);
}

int main(void)
{
	test_victims();
	test_stuck();
	test_stuck_again();
	test_stuck_in_words();
	test_end_among_many();
	test_root_cgroup();
	test_congestion();
	test_too_many_stuck();
	test_many_devices();
	test_stacks();
	return done_testing();
}
