// SPDX-License-Identifier: GPL-2.0
/*
 * What is left out under pressure, and lost; and what the transformer says of that.
 */
#include "families.h"
#include "transform_windows.h"

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
	transform_tasks_refused(t, 1);
	transform_families(t, &families);
	families_finish(&families);
#define FAMILY(name) family_value(&families, "monad_storage_telemetry_" name)
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

int main(void)
{
	test_levels();
	test_fewer_events();
	test_low_severities();
	test_lost();
	test_families();
	return done_testing();
}
