// SPDX-License-Identifier: GPL-2.0
/*
 * Events in windows: which are sent, which are counted, who had to wait, and what is left
 * out under pressure. Whatever comes, what was notable is sent, truncated or dropped.
 */
#include "kinds.h"
#include "families.h"
#include "transform_events.h"
#include "under_way.h"

static const struct transform_threshold thresholds[] = {
	{ 8, 16, 100 * MS, 10 },
	{ 0, 0, 10 * MS, 0 },
	{ 253, 0, 0, 3 },
};

static const struct transform_config config = {
	.thresholds = thresholds,
	.nr_thresholds = 3,
	.stuck_ns = 30 * SECOND,
	.per_kind = 5,
	.per_window = 20,
	.victims = 3,
	.cgroups = 2,
	.attribution = true,
};

static const Monad__EventWrapper *find(const Monad__TelemetryBatch *batch, const char *name)
{
	for (size_t i = 0; i < batch->n_spontaneous_events; i++) {
		if (!strcmp(batch->spontaneous_events[i]->name, name))
			return batch->spontaneous_events[i];
	}
	return NULL;
}

/* The first one with that operation. */
static const Monad__EventWrapper *find_op(const Monad__TelemetryBatch *batch, const char *op)
{
	for (size_t i = 0; i < batch->n_spontaneous_events; i++) {
		if (!strcmp(batch->spontaneous_events[i]->storage->operation, op))
			return batch->spontaneous_events[i];
	}
	return NULL;
}

static void add(struct transformer *t, struct raw_event event)
{
	static uint64_t seqno;

	event.seqno = ++seqno;
	event.time_ns = NOW + seqno;
	transform_event(t, &event);
}

static void add_slow(struct transformer *t, uint64_t ns)
{
	add(t, slow_read(ns));
}

/*
 * Windows
 */

static void test_config(void)
{
	struct transform_config bad[] = { config, config, config, config, config, config };
	struct transform_config defaults = TRANSFORM_DEFAULT_CONFIG;
	struct transformer *t = (struct transformer *)&t;

	bad[0].per_kind = 0;
	bad[1].per_window = 0;
	bad[2].per_window = 10001;
	bad[3].victims = 17;
	bad[4].thresholds = NULL;
	bad[5].nr_thresholds = 4097;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		eq_int(transformer_new(&t, &bad[i], NULL), -EINVAL, "bad configuration %zu", i);
		ok(!t, "and no transformer");
	}
	eq_int(transformer_new(&t, &defaults, NULL), 0, "the defaults are good");
	transformer_free(t);
	transformer_free(NULL);
}

static void test_empty(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;

	batch = transform_batch(t, 1);
	ok(batch && batch->time_ns == 1 && !batch->window_ns, "a clock that is wrong: no window");
	transform_batch_free(batch);
	batch = transform_batch(t, 5001);
	eq_u64(batch->window_ns, 5000, "the window is from batch to batch");
	ok(!batch->n_spontaneous_events && !batch->n_metrics && !batch->dictionary->n_strings &&
	   !batch->dictionary->n_stacks && batch->losses, "with nothing in it");
	transform_batch_free(batch);
	transform_batch_free(NULL);
	transformer_free(t);
}

static void test_classes(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	const struct transform_counters *c = transform_counters(t);
	Monad__TelemetryBatch *batch;
	struct raw_event event;

	add(t, quick_read());
	add_slow(t, 10 * MS);
	event = slow_read(99 * MS);
	event.complete.dev_minor = 16;
	add(t, event);
	event.complete.total_ns = 100 * MS;
	add(t, event);
	event.complete.dev_major = 253;
	event.complete.dev_minor = 0;
	add(t, event);
	event.complete.flags |= MONAD_STORAGE_F_SLOW;
	event.complete.op = MONAD_STORAGE_OP_WRITE;
	add(t, event);
	event = made_call(MONAD_STORAGE_VFS_SYNC, MONAD_STORAGE_CALL_FSYNC, SECOND);
	add(t, event);
	event.call.task_id = 3;
	event.call.op = MONAD_STORAGE_CALL_MSYNC;
	add(t, event);
	event.type = 77;
	add(t, event);
	eq_u64(c->events, 9, "all were taken in");
	eq_u64(c->notable, 4, "by the device's threshold, all devices', or the recorder's mark");
	batch = end_window(t);
	eq_u64(batch->n_spontaneous_events, 4, "those are sent");
	ok(find_op(batch, "fsync") && !find_op(batch, "msync"),
	   "a call, but none that belongs to a task");
	ok(find_op(batch, "write") && adds_up(t), "one that was marked");
	eq_int(find_op(batch, "write")->severity, MONAD__SEVERITY__SEVERITY_WARN,
	       "without a threshold it is a warning");
	transform_batch_free(batch);
	transformer_free(t);
}

/*
 * Truncation
 */

static void test_per_kind(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;
	bool first_four = true;
	uint64_t previous = 0;

	for (unsigned int i = 0; i < 50; i++)
		add_slow(t, i == 30 ? 25 * MS : 10 * MS + i);
	batch = end_window(t);
	if (eq_u64(batch->n_spontaneous_events, 5, "five of fifty are sent")) {
		for (unsigned int i = 0; i < 5; i++) {
			const Monad__EventWrapper *event = batch->spontaneous_events[i];

			if (i < 4)
				first_four &= event->storage->latency_ns == 10 * MS + i &&
					      !event->truncated_count;
			first_four &= event->time_ns > previous;
			previous = event->time_ns;
		}
		ok(first_four, "the first four, in order");
		eq_u64(batch->spontaneous_events[4]->storage->latency_ns, 25 * MS, "and the worst");
		eq_u64(batch->spontaneous_events[4]->truncated_count, 45, "which counts the rest");
	}
	ok(stands_for(batch) == 50 && adds_up(t), "that is all of them");
	eq_u64(batch->losses->events_truncated, 45, "which is a loss");
	transform_batch_free(batch);
	add_slow(t, 10 * MS);
	batch = end_window(t);
	ok(batch->n_spontaneous_events == 1 && !batch->spontaneous_events[0]->truncated_count,
	   "a new window begins anew");
	eq_u64(batch->losses->events_truncated, 45, "but for losses");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_kinds_apart(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	struct raw_event event = slow_read(10 * MS);
	Monad__TelemetryBatch *batch;

	for (int i = 0; i < 3; i++) {
		add_slow(t, 10 * MS);
		event.complete.dev_minor = 32;
		add(t, event);
		event.complete.op = MONAD_STORAGE_OP_WRITE;
		add(t, event);
		event.complete.error = EIO;
		add(t, event);
		event.complete.error = ENODATA;
		add(t, event);
		event = slow_read(10 * MS);
	}
	batch = end_window(t);
	eq_u64(batch->n_spontaneous_events, 15, "three of each of five kinds");
	ok(stands_for(batch) == 15 && adds_up(t), "none is truncated");
	transform_batch_free(batch);
	/* What somebody asked for, what the kernel did for all, and a call of the same number. */
	for (int i = 0; i < 5; i++) {
		event = slow_read(10 * MS);
		event.complete.op = MONAD_STORAGE_OP_FLUSH;
		add(t, event);
		event.type = MONAD_STORAGE_FLUSH_COMPLETE;
		add(t, event);
		add_slow(t, 10 * MS);
		event = made_call(MONAD_STORAGE_VFS_IO, MONAD_STORAGE_CALL_READ, 10 * MS);
		event.call.dev_minor = 0;
		add(t, event);
	}
	batch = end_window(t);
	eq_u64(batch->n_spontaneous_events, 20, "five of each of four kinds");
	ok(find_op(batch, "cache_flush") && find_op(batch, "flush"), "flushes apart");
	transform_batch_free(batch);
	transformer_free(t);
}

/* One that is worse without having taken longer. */
static void test_gravest(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	struct raw_event event = failed_read(EIO), grave;
	Monad__TelemetryBatch *batch;

	event.complete.op = MONAD_STORAGE_OP_WRITE;
	grave = event;
	grave.complete.total_ns = 5;
	grave.complete.flags |= MONAD_STORAGE_F_META;
	for (unsigned int level = 0; level <= 2; level += 2) {
		const Monad__EventWrapper *const *e;
		unsigned int n = level ? 2 : 5;

		for (unsigned int i = 0; i < 40; i++) {
			event.complete.total_ns = i == 30 ? 2 * MS : MS;
			add(t, i == 20 ? grave : event);
		}
		transform_pressure(t, level ? 600 : 0);
		batch = end_window(t);
		e = (const Monad__EventWrapper *const *)batch->spontaneous_events;
		if (eq_u64(batch->n_spontaneous_events, n, "%u of 40", n)) {
			ok(e[n - 2]->severity == MONAD__SEVERITY__SEVERITY_CRITICAL &&
			   e[n - 2]->storage->latency_ns == 5, "one is the gravest");
			ok(e[n - 1]->storage->latency_ns == 2 * MS &&
			   e[n - 1]->truncated_count == 40 - n, "and one the longest");
			ok(level || e[2]->storage->seqno == e[0]->storage->seqno + 2,
			   "the first ones are there as well");
		}
		ok(stands_for(batch) == 40 && adds_up(t), "of all of them");
		transform_batch_free(batch);
	}
	/* The gravest one first, then longer and longer ones. */
	transform_pressure(t, 0);
	add(t, grave);
	for (unsigned int i = 0; i < 40; i++) {
		event.complete.total_ns = MS + i;
		add(t, event);
	}
	batch = end_window(t);
	ok(batch->spontaneous_events[0]->severity == MONAD__SEVERITY__SEVERITY_CRITICAL &&
	   batch->spontaneous_events[3]->storage->latency_ns == MS + 2 &&
	   batch->spontaneous_events[4]->storage->latency_ns == MS + 39, "it stays where it was");
	transform_batch_free(batch);
	transformer_free(t);
}

/* What is sent of these, in their order, with so many per kind and that pressure. */
static size_t count_sent(unsigned int per_kind, unsigned int permille,
			 const struct raw_event *events, size_t nr, uint64_t *first_ns)
{
	struct transform_config other = config;
	struct transformer *t;
	Monad__TelemetryBatch *batch;
	size_t sent;

	other.per_kind = per_kind;
	t = new_transformer(&other, NULL);
	for (size_t i = 0; i < nr; i++)
		add(t, events[i]);
	transform_pressure(t, permille);
	batch = end_window(t);
	sent = batch->n_spontaneous_events;
	*first_ns = sent ? batch->spontaneous_events[0]->storage->latency_ns : 0;
	ok(stands_for(batch) + transform_counters(t)->dropped == nr && adds_up(t),
	   "%zu are accounted for", nr);
	transform_batch_free(batch);
	transformer_free(t);
	return sent;
}

static void test_which_are_sent(void)
{
	struct raw_event events[6];
	uint64_t first;

	for (unsigned int i = 0; i < 6; i++) {
		events[i] = failed_read(EIO);
		events[i].complete.op = MONAD_STORAGE_OP_WRITE;
	}
	events[0].complete.total_ns = 2 * MS;
	events[1].complete.flags |= MONAD_STORAGE_F_META;
	eq_u64(count_sent(1, 0, events, 2, &first), 1, "where there is one only, ...");
	eq_u64(first, 2 * MS, "... it is the longest");
	eq_u64(count_sent(5, 600, events, 6, &first), 2, "under pressure these two, ...");
	eq_u64(first, 2 * MS, "... also if others come behind them");
	events[1].complete.flags = events[0].complete.flags;
	events[2].complete.total_ns = 3 * MS;
	eq_u64(count_sent(5, 600, events, 6, &first), 1, "one, if it is both, ...");
	eq_u64(first, 3 * MS, "... wherever it is");
	/* The longest is a warning, which is not sent any more. */
	events[0].complete.flags |= MONAD_STORAGE_F_RAHEAD;
	events[0].complete.total_ns = 9 * MS;
	eq_u64(count_sent(8, 900, events, 6, &first), 2, "what is not sent takes no place");
}

/* A window full of kinds of which each has one that is grave and one that took long. */
static void test_no_room_but_for_the_gravest(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;
	unsigned int slowest = 0;
	struct raw_event event;

	for (unsigned int i = 0; i < 20; i++) {
		event = failed_read(EIO);
		event.complete.op = MONAD_STORAGE_OP_WRITE;
		event.complete.dev_minor = 32 + i % 10;
		event.complete.flags |= i < 10 ? 0 : MONAD_STORAGE_F_META;
		event.complete.total_ns = i < 10 ? 3 * MS : MS;
		add(t, event);
	}
	for (unsigned int i = 0; i < 9; i++) {
		event = slow_read(10 * MS);
		event.complete.dev_minor = 64 + i;
		add(t, event);
	}
	batch = end_window(t);
	eq_u64(batch->n_spontaneous_events, 20, "19 kinds in 20 places");
	for (size_t i = 0; i < batch->n_spontaneous_events; i++)
		slowest += batch->spontaneous_events[i]->storage->latency_ns == 3 * MS;
	eq_u64(slowest, 10, "each has the one that took longest");
	ok(stands_for(batch) == 29 && adds_up(t), "all are accounted for");
	transform_batch_free(batch);
	transformer_free(t);
}

/* 4 kinds of 5 fill the window; then comes another. */
static void test_room_for_the_rare(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;
	struct raw_event event;

	for (unsigned int i = 0; i < 40; i++) {
		event = slow_read(10 * MS + i);
		event.complete.dev_minor = 32 + i % 4;
		add(t, event);
	}
	add(t, failed_read(EIO));
	add(t, failed_read(EIO));
	add_slow(t, 15 * MS);
	batch = end_window(t);
	eq_u64(batch->n_spontaneous_events, 20, "the window is full");
	ok(stands_for(batch) == 43 && adds_up(t), "all are accounted for");
	ok(find(batch, "io_error"), "the error that came last is there");
	for (unsigned int i = 0; i < 4; i++) {
		bool has_worst = false;

		for (size_t k = 0; k < batch->n_spontaneous_events; k++)
			has_worst |= batch->spontaneous_events[k]->storage->device->minor ==
				     32 + i && batch->spontaneous_events[k]->storage->latency_ns ==
				     10 * MS + 36 + i;
		ok(has_worst, "the worst of disk %u is, too", i);
	}
	transform_batch_free(batch);
	transformer_free(t);
}

/* A window that is full of what is worse, then of what is less bad. */
static void test_room_for_the_severe(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	unsigned int errors = 0, slow = 0;
	Monad__TelemetryBatch *batch;
	struct raw_event event;

	for (unsigned int i = 0; i < 40; i++) {
		event = failed_read(EIO);
		event.complete.dev_minor = 32 + i % 4;
		add(t, event);
	}
	for (unsigned int i = 0; i < 5; i++)
		add_slow(t, 10 * MS);
	batch = end_window(t);
	for (size_t i = 0; i < batch->n_spontaneous_events; i++) {
		errors += !strcmp(batch->spontaneous_events[i]->name, "io_error");
		slow += !strcmp(batch->spontaneous_events[i]->name, "slow_io");
	}
	ok(slow == 1 && errors == 19, "a new kind has one event, if it is less bad no more");
	transform_batch_free(batch);
	for (unsigned int i = 0; i < 45; i++) {
		event = failed_read(EIO);
		event.complete.dev_minor = 32 + (i < 40 ? i % 4 : 4);
		add(t, event);
	}
	batch = end_window(t);
	for (size_t i = errors = 0; i < batch->n_spontaneous_events; i++)
		errors += batch->spontaneous_events[i]->storage->device->minor == 36;
	eq_u64(errors, 1, "nor if it is as bad");
	transform_batch_free(batch);
	for (unsigned int i = 0; i < 40; i++) {
		event = slow_read(10 * MS);
		event.complete.dev_minor = 32 + i % 4;
		add(t, event);
	}
	for (unsigned int i = 0; i < 5; i++)
		add(t, failed_read(EIO));
	batch = end_window(t);
	for (size_t i = errors = 0; i < batch->n_spontaneous_events; i++)
		errors += !strcmp(batch->spontaneous_events[i]->name, "io_error");
	eq_u64(errors, 5, "if it is worse, it has all of its own");
	ok(batch->n_spontaneous_events == 20 && adds_up(t), "in a window that is full");
	transform_batch_free(batch);
	transformer_free(t);
}

/* More kinds than there can be: the last one is for all that come then. */
static void test_catch_all(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;
	unsigned int truncated = 0;
	struct raw_event event;

	for (unsigned int i = 0; i < 100; i++) {
		event = slow_read(10 * MS);
		event.complete.dev_minor = 100 + i;
		add(t, event);
	}
	add(t, failed_read(EIO));
	batch = end_window(t);
	eq_u64(batch->n_spontaneous_events, 20, "one of each kind that has room");
	for (size_t i = 0; i < 20; i++)
		truncated += batch->spontaneous_events[i]->truncated_count != 0;
	eq_u64(truncated, 1, "the last stands for all others");
	ok(find(batch, "io_error") && find(batch, "io_error")->truncated_count == 81,
	   "which is the worst of them");
	ok(stands_for(batch) == 101 && adds_up(t), "all are accounted for");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_smallest(void)
{
	const struct transform_config one = { .per_kind = 1, .per_window = 1 };
	struct transformer *t = new_transformer(&one, NULL);
	Monad__TelemetryBatch *batch;

	add(t, failed_read(EIO));
	add(t, failed_read(ENODEV));
	add(t, failed_read(EIO));
	batch = end_window(t);
	if (eq_u64(batch->n_spontaneous_events, 1, "a window of one event"))
		ok(batch->spontaneous_events[0]->storage->error == ENODEV &&
		   batch->spontaneous_events[0]->truncated_count == 2, "has the worst");
	ok(!batch->spontaneous_events[0]->storage->actor, "not who it was: nobody asked for it");
	ok(adds_up(t), "all are accounted for");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_frequency(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;

	for (int i = 0; i < 99; i++)
		add_slow(t, 10 * MS);
	batch = end_window(t);
	eq_int(batch->spontaneous_events[0]->severity, MONAD__SEVERITY__SEVERITY_INFO, "99 times");
	transform_batch_free(batch);
	for (int i = 0; i < 100; i++)
		add_slow(t, 10 * MS);
	batch = end_window(t);
	eq_int(batch->spontaneous_events[0]->severity, MONAD__SEVERITY__SEVERITY_WARN,
	       "100 times in a window are worse");
	transform_batch_free(batch);
	transformer_free(t);
}

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
	event = find(batch, "io_timeout");
	if (ok(event, "a timeout")) {
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
	ok(batch->n_spontaneous_events == 2 && transform_counters(t)->notable == 4 && adds_up(t),
	   "and once in a window");
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
	ok(find(batch, "io_timeout"), "of more than can be kept, what is stuck is");
	ok(find(batch, "congestion") && find(batch, "congestion")->storage->count == 100,
	   "and all are counted");
	ok(stands_for(batch) == 101 && adds_up(t), "exactly");
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

/*
 * Pressure
 */

static void test_levels(void)
{
	static const struct {
		unsigned int permille, level;
	} steps[] = {
		{ 0, 0 }, { 399, 0 }, { 400, 1 }, { 250, 1 }, { 249, 0 }, { 600, 2 }, { 450, 2 },
		{ 449, 1 }, { 750, 3 }, { 600, 3 }, { 599, 2 }, { 900, 4 }, { 750, 4 }, { 749, 3 },
		{ 1000, 4 }, { 0, 3 }, { 0, 2 }, { 0, 1 }, { 0, 0 }, { 0, 0 }, { 4000000000U, 4 },
	};
	struct transformer *t = new_transformer(&config, NULL);

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		transform_pressure(t, steps[i].permille);
		eq_u64(transform_counters(t)->level, steps[i].level, "at %u", steps[i].permille);
		ok(transform_refuses_tasks(t) == (steps[i].level >= 3), "tasks are%s refused",
		   steps[i].level >= 3 ? "" : " not");
	}
	transformer_free(t);
}

static void test_fewer_events(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	const struct transform_counters *c = transform_counters(t);
	Monad__TelemetryBatch *batch;

	for (unsigned int i = 0; i < 10; i++)
		add_slow(t, i == 6 ? 20 * MS : 10 * MS);
	transform_pressure(t, 600);
	batch = end_window(t);
	if (eq_u64(batch->n_spontaneous_events, 1, "one of five is sent"))
		ok(batch->spontaneous_events[0]->storage->latency_ns == 20 * MS &&
		   batch->spontaneous_events[0]->truncated_count == 9, "the worst");
	ok(c->truncated == 9 && c->sampled == 4 && adds_up(t), "four because of the pressure");
	eq_u64(batch->losses->degradation, 2, "which the batch says");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_low_severities(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	const struct transform_counters *c = transform_counters(t);
	Monad__TelemetryBatch *batch;
	struct raw_event event;

	transform_pressure(t, 900);
	for (unsigned int i = 0; i < 10; i++)
		add_slow(t, 99 * MS);
	add(t, failed_read(EIO));
	/* One kind, with both. */
	for (unsigned int i = 0; i < 8; i++) {
		event = slow_read(i == 6 ? 100 * MS : 10 * MS);
		event.complete.op = MONAD_STORAGE_OP_WRITE;
		add(t, event);
	}
	batch = end_window(t);
	eq_u64(batch->n_spontaneous_events, 2, "errors are sent, warnings are not");
	ok(find(batch, "io_error") && find(batch, "slow_io") &&
	   find(batch, "slow_io")->severity == MONAD__SEVERITY__SEVERITY_ERROR, "as they are");
	eq_u64(c->dropped, 14, "a kind of which none is left, and four of one of which one is");
	eq_u64(find(batch, "slow_io")->truncated_count, 3, "which counts those not looked at");
	ok(c->truncated == 3 && adds_up(t), "all are accounted for");
	eq_u64(batch->losses->events_dropped, 14, "also in the batch");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_lost(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;

	transform_lost(t, 5);
	transform_lost(t, 7);
	batch = end_window(t);
	ok(batch->losses->events_lost == 12 && transform_counters(t)->lost == 12,
	   "what was lost is told");
	transform_batch_free(batch);
	transformer_free(t);
}

static uint64_t value_of(const struct families *families, const char *name)
{
	for (size_t i = 0; i < families->nr; i++) {
		if (!strcmp(families->family[i].name, name))
			return families->family[i].samples[0].value;
	}
	return UINT64_MAX;
}

static void test_families(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	const struct transform_counters *c = transform_counters(t);
	struct families families = {};

	for (unsigned int i = 0; i < 12; i++)
		add_slow(t, 10 * MS);
	add(t, quick_read());
	transform_lost(t, 3);
	transform_pressure(t, 600);
	transform_batch_free(end_window(t));
	transform_pressure(t, 950);
	add_slow(t, 10 * MS);
	transform_batch_free(end_window(t));
	transform_task_refused(t);
	transform_families(t, &families);
	families_finish(&families);
#define FAMILY(name) value_of(&families, "monad_storage_telemetry_" name)
	eq_u64(FAMILY("events"), 14, "events taken in");
	eq_u64(FAMILY("notable_events"), 13, "notable");
	eq_u64(FAMILY("sent_events"), 1, "sent");
	eq_u64(FAMILY("truncated_events"), 11, "truncated");
	eq_u64(FAMILY("sampled_events"), 4, "of those, under pressure");
	eq_u64(FAMILY("dropped_events"), 1, "dropped");
	eq_u64(FAMILY("lost_events"), 3, "lost");
	eq_u64(FAMILY("skipped_metrics"), 2, "windows without metrics");
	eq_u64(FAMILY("refused_tasks"), 1, "tasks refused");
	eq_u64(FAMILY("left_out_series"), 0, "series left out");
	eq_u64(FAMILY("degradation"), 4, "the level");
	eq_u64(families.nr, 11, "and no others");
	ok(c->level == 4 && families.family[0].since_ns, "they count since it was made");
	families_free(&families);
	transformer_free(t);
}

/*
 * Anything
 */

static uint64_t seed = 0x5eed;

static uint64_t random_below(uint64_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

static struct raw_event random_event(void)
{
	struct raw_event event = slow_read(random_below(4) ? random_below(40 * MS) :
					   random_below(200 * SECOND));

	event.type = random_below(8) ? MONAD_STORAGE_RQ_COMPLETE : random_below(16);
	if (event.type == MONAD_STORAGE_STACK || event.type > MONAD_STORAGE_FLUSH_COMPLETE)
		return event;
	event.complete.dev_minor = random_below(12) * 16;
	event.complete.op = random_below(5);
	event.complete.error = random_below(6) ? 0 : random_below(8);
	event.complete.requeues_issued = random_below(9) ? 0 : random_below(5);
	event.complete.stack = random_below(3) ? 0 : random_below(50);
	event.complete.tgid = random_below(5);
	event.complete.cgroup_id = random_below(10);
	event.complete.actor_cgroup_id = random_below(10);
	event.complete.flags ^= random_below(30) ? 0 : 1U << random_below(32);
	return event;
}

static void random_scan(struct transformer *t)
{
	struct raw_inflight ios[64];
	size_t nr = random_below(65);

	for (size_t i = 0; i < nr; i++) {
		ios[i] = made_inflight(random_below(8), random_below(40 * SECOND));
		ios[i].dev_minor = random_below(4) * 16;
	}
	transform_inflight(t, ios, nr);
}

/* Of each kind, is the worst that came among what is sent? */
static bool has_worst(const Monad__TelemetryBatch *batch, const uint64_t worst[16][5])
{
	for (unsigned int disk = 0; disk < 16; disk++) {
		for (unsigned int op = 0; op < 5; op++) {
			bool found = !worst[disk][op];

			for (size_t i = 0; i < batch->n_spontaneous_events; i++)
				found |= batch->spontaneous_events[i]->storage->latency_ns ==
					 worst[disk][op];
			if (!found)
				return false;
		}
	}
	return true;
}

static void test_worst_is_sent(void)
{
	const struct transform_config wide = { .per_kind = 3, .per_window = 81,
					       .stuck_ns = 1000 * SECOND };
	struct transformer *t = new_transformer(&wide, NULL);
	bool all = true;

	for (int window = 0; window < 100; window++) {
		uint64_t worst[16][5] = {};
		Monad__TelemetryBatch *batch;

		for (uint64_t n = random_below(500); n; n--) {
			unsigned int disk = random_below(16), op = random_below(5);
			struct raw_event event = slow_read(1 + random_below(100 * SECOND));

			event.complete.flags |= MONAD_STORAGE_F_SLOW;
			event.complete.dev_minor = disk;
			event.complete.op = op;
			if (event.complete.total_ns > worst[disk][op])
				worst[disk][op] = event.complete.total_ns;
			add(t, event);
		}
		transform_pressure(t, window % 2 ? 650 : 0);
		batch = end_window(t);
		all = all && has_worst(batch, worst) && adds_up(t);
		transform_batch_free(batch);
	}
	ok(all, "the worst of each of 80 kinds is among what is sent, in 100 windows");
	transformer_free(t);
}

/*
 * The dictionary
 */

static const char *some_path(void *arg, uint64_t id)
{
	static char path[32];

	snprintf(path, sizeof(path), "/cgroup-%llu", (unsigned long long)id);
	return id % 3 ? path : NULL;
}

static const char *some_symbol(void *arg, const struct monad_storage_stack *stack,
			       uint64_t address, bool user, const char **module, uint64_t *offset)
{
	static const char *const names[] = { "bpf_prog_1", "submit_bio", "read", "write", NULL };

	*module = address % 3 ? "module" : NULL;
	return names[address % 5];
}

static const struct transform_sources all_sources = {
	.mount_namespace = mount_namespace,
	.cgroup_path = some_path,
	.symbol = some_symbol,
};

struct used {
	bool strings[1000];
	bool stacks[1000];
};

static void use_actor(struct used *used, const Monad__StorageActor *actor)
{
	if (actor)
		used->strings[actor->cgroup] = true;
}

/* Is each text and stack of the dictionary used, and is each that is used there? */
static bool dictionary_is_exact(const Monad__TelemetryBatch *batch)
{
	const Monad__Dictionary *d = batch->dictionary;
	struct used used = {};
	size_t strings = 0, stacks = 0;

	for (size_t i = 0; i < batch->n_spontaneous_events; i++) {
		const Monad__StorageEvent *s = batch->spontaneous_events[i]->storage;

		used.stacks[s->stack] = true;
		used.strings[s->charged_cgroup] = true;
		use_actor(&used, s->actor);
		for (size_t k = 0; k < s->n_victims; k++)
			use_actor(&used, s->victims[k]);
	}
	for (size_t i = 0; i < d->n_stacks; i++) {
		for (size_t k = 0; k < d->stacks[i]->n_frames; k++) {
			used.strings[d->stacks[i]->frames[k]->symbol] = true;
			used.strings[d->stacks[i]->frames[k]->module] = true;
		}
	}
	for (size_t i = 1; i < 1000; i++) {
		strings += used.strings[i];
		stacks += used.stacks[i];
		if (used.strings[i] && (i > d->n_strings || d->strings[i - 1]->id != i))
			return false;
		if (used.stacks[i] && (i > d->n_stacks || d->stacks[i - 1]->id != i))
			return false;
	}
	return strings == d->n_strings && stacks == d->n_stacks;
}

static void test_any_stream(void)
{
	for (unsigned int run = 0; run < 20; run++) {
		const struct transform_config any = {
			.thresholds = thresholds,
			.nr_thresholds = random_below(4),
			.stuck_ns = random_below(2) * 20 * SECOND,
			.per_kind = 1 + random_below(7),
			.per_window = 1 + random_below(60),
			.victims = random_below(5),
			.attribution = random_below(4),
		};
		struct transformer *t = new_transformer(&any, &all_sources);
		uint64_t events = 0, stood_for = 0, sent = 0;
		bool sums = true, bounded = true, exact = true;

		for (unsigned int window = 0; window < 30; window++) {
			uint64_t was_dropped = transform_counters(t)->dropped;
			Monad__TelemetryBatch *batch;

			for (uint64_t n = random_below(400); n; n--, events++)
				add(t, random_event());
			for (uint32_t id = random_below(60); id; id--, events++) {
				struct raw_event stack = { .type = MONAD_STORAGE_STACK };

				stack.stack.id = id;
				for (int i = 0; i < 6; i++)
					stack.stack.kernel[i] = random_below(100);
				stack.stack.user[0] = random_below(100);
				add(t, stack);
			}
			if (random_below(3))
				random_scan(t);
			transform_pressure(t, random_below(1001));
			batch = end_window(t);
			sums = sums && adds_up(t);
			bounded = bounded && batch->n_spontaneous_events <= any.per_window;
			exact = exact && dictionary_is_exact(batch);
			sent += batch->n_spontaneous_events;
			stood_for += stands_for(batch) + transform_counters(t)->dropped -
				     was_dropped;
			transform_batch_free(batch);
		}
		ok(sums && bounded && exact && transform_counters(t)->events == events &&
		   transform_counters(t)->sent == sent &&
		   transform_counters(t)->notable == stood_for,
		   "run %u: %llu events, %llu notable, %llu sent", run,
		   (unsigned long long)events,
		   (unsigned long long)transform_counters(t)->notable, (unsigned long long)sent);
		transformer_free(t);
	}
}

int main(void)
{
	test_config();
	test_empty();
	test_classes();
	test_per_kind();
	test_kinds_apart();
	test_gravest();
	test_which_are_sent();
	test_no_room_but_for_the_gravest();
	test_room_for_the_rare();
	test_room_for_the_severe();
	test_catch_all();
	test_smallest();
	test_frequency();
	test_victims();
	test_stuck();
	test_congestion();
	test_many_devices();
	test_stacks();
	test_levels();
	test_fewer_events();
	test_low_severities();
	test_lost();
	test_families();
	test_worst_is_sent();
	test_any_stream();
	return done_testing();
}
