// SPDX-License-Identifier: GPL-2.0
/*
 * Events in windows: which are sent, and which others stand for. Whatever comes, what was
 * notable is sent, truncated or dropped.
 */
#include "transform_windows.h"

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
	ok(!strchr(batch->spontaneous_events[3]->message, ';'), "are four for themselves,");
	eq_str(strchr(batch->spontaneous_events[4]->message, ';'), "; 94 more like it",
	       "and one for the rest, in words");
	transform_batch_free(batch);
	for (int i = 0; i < 100; i++)
		add_slow(t, 10 * MS);
	batch = end_window(t);
	eq_int(batch->spontaneous_events[0]->severity, MONAD__SEVERITY__SEVERITY_WARN,
	       "100 times in a window are worse");
	eq_str(strchr(batch->spontaneous_events[0]->message, ';'),
	       "; worse for being one of 100", "in words");
	eq_str(strchr(batch->spontaneous_events[4]->message, ';'),
	       "; worse for being one of 100; 95 more like it", "both");
	transform_batch_free(batch);
	/* What cannot become worse is not said to have. */
	for (int i = 0; i < 100; i++)
		add(t, failed_read(ENODEV));
	batch = end_window(t);
	eq_str(strchr(batch->spontaneous_events[4]->message, ';'), "; 95 more like it",
	       "the worst does not become worse");
	transform_batch_free(batch);
	transformer_free(t);
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
	return done_testing();
}
