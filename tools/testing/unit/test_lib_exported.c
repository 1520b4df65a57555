// SPDX-License-Identifier: GPL-2.0
/*
 * Each metric that an exporter can send is made to be something else than 0 by a test: which
 * one is in a table here. A new metric fails this until there is one for it, too.
 */
#include "export_targets.h"
#include "monad_storage.h"
#include "samples.h"
#include "tap.h"
#include "transform.h"

#define GUEST "tools/testing/selftests/monad_storage/"
#define UNIT "tools/testing/unit/"

/* In which there is the name, without what all have in front. */
static const struct {
	const char *name, *test;
} tests[] = {
	{ "build_info", UNIT "test_lib_samples.c" },
	{ "recording", GUEST "test_export.sh" },
	{ "recording_filtered", GUEST "test_export.sh" },
	{ "start_time_seconds", UNIT "test_lib_samples.c" },
	{ "device_info", GUEST "test_export.sh" },
	{ "operations", GUEST "test_export.sh" },
	{ "bytes", GUEST "test_export.sh" },
	{ "latency_seconds", GUEST "test_export.sh" },
	{ "failed_operations", GUEST "test_export.sh" },
	{ "errors", GUEST "test_export.sh" },
	{ "timeouts", GUEST "test_export.sh" },
	{ "requeues", GUEST "test_export.sh" },
	{ "merges", GUEST "test_export.sh" },
	{ "partial_completions", UNIT "test_lib_samples.c" },
	{ "writeback_throttles", GUEST "test_writeback.sh" },
	{ "writeback_throttled_seconds", GUEST "test_writeback.sh" },
	{ "writeback_dirtied_bytes", GUEST "test_writeback.sh" },
	{ "inflight", GUEST "test_export.sh" },
	{ "inflight_oldest_seconds", GUEST "test_export.sh" },
	{ "cgroup_operations", GUEST "test_export.sh" },
	{ "cgroup_bytes", GUEST "test_export.sh" },
	{ "cgroup_seconds", GUEST "test_exported.sh" },
	{ "cgroup_failed_operations", GUEST "test_exported.sh" },
	{ "program_events", GUEST "test_export.sh" },
	{ "program_losses", GUEST "test_export.sh" },
	{ "hook_attached", GUEST "test_export.sh" },
	{ "hook_recursion_misses", UNIT "test_lib_samples.c" },
	{ "ring_events", GUEST "test_export.sh" },
	{ "ring_bytes", GUEST "test_exported.sh" },
	{ "ring_lost_events", UNIT "test_lib_samples.c" },
	{ "ring_discarded_events", UNIT "test_lib_samples.c" },
	{ "ring_capacity_events", GUEST "test_export.sh" },
	{ "ring_capacity_bytes", GUEST "test_exported.sh" },
	{ "ring_fill_ratio", GUEST "test_exported.sh" },

	{ "telemetry_events", GUEST "test_exported.sh" },
	{ "telemetry_notable_events", GUEST "test_exported.sh" },
	{ "telemetry_sent_events", GUEST "test_exported.sh" },
	{ "telemetry_truncated_events", GUEST "test_exported.sh" },
	{ "telemetry_sampled_events", GUEST "test_exported.sh" },
	{ "telemetry_dropped_events", GUEST "test_exported.sh" },
	{ "telemetry_lost_events", GUEST "test_exported.sh" },
	{ "telemetry_skipped_metrics", GUEST "test_exported.sh" },
	{ "telemetry_refused_tasks", GUEST "test_back_pressure.sh" },
	{ "telemetry_left_out_series", UNIT "test_lib_transform_metrics.c" },
	{ "telemetry_degradation", GUEST "test_exported.sh" },

	{ "telemetry_export_added_batches", GUEST "test_exported.sh" },
	{ "telemetry_export_sent_batches", GUEST "test_exported.sh" },
	{ "telemetry_export_sent_metrics", GUEST "test_exported.sh" },
	{ "telemetry_export_sent_events", GUEST "test_exported.sh" },
	{ "telemetry_export_dropped_batches", GUEST "test_exported.sh" },
	{ "telemetry_export_dropped_metrics", GUEST "test_exported.sh" },
	{ "telemetry_export_dropped_events", GUEST "test_exported.sh" },
	{ "telemetry_export_failures", GUEST "test_exported.sh" },
	{ "telemetry_export_waiting_batches", GUEST "test_exported.sh" },
	{ "telemetry_export_waiting_bytes", GUEST "test_exported.sh" },
	{ "telemetry_export_up", GUEST "test_exported.sh" },
};

static bool found[ARRAY_SIZE(tests)];

static char *read_all(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *in = fopen(path, "r");

	if (!in)
		bail_out("%s is not there: this is to run where the sources are", path);
	if (!text || fread(text, 1, (1 << 20) - 1, in) == (1 << 20) - 1)
		bail_out("%s is too large", path);
	fclose(in);
	return text;
}

static bool is_part_of_word(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* As a word; counters have _total behind it when they are scraped, histograms _count. */
static bool has_name(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
		const char *end = at + length;

		if (at > text && is_part_of_word(at[-1]) &&
		    (at < text + 14 || strncmp(at - 14, "monad_storage_", 14) != 0))
			continue;
		if (!strncmp(end, "_total", 6))
			end += 6;
		else if (!strncmp(end, "_count", 6))
			end += 6;
		if (!is_part_of_word(*end))
			return true;
	}
	return false;
}

/* What the helpers of its own call it, which begin where others end. */
static const char *short_name(const char *name, const char *test)
{
	if (!strcmp(test, GUEST "test_back_pressure.sh"))
		return name + strlen("telemetry_");
	return name;
}

static void look_for(const char *full)
{
	const char *name = full + strlen("monad_storage_");
	char *text;

	if (strncmp(full, "monad_storage_", 14) != 0) {
		ok(false, "%s begins as all do", full);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		if (strcmp(tests[i].name, name) != 0)
			continue;
		found[i] = true;
		text = read_all(tests[i].test);
		ok(has_name(text, short_name(name, tests[i].test)), "%s is tested by %s", full,
		   strrchr(tests[i].test, '/') + 1);
		free(text);
		return;
	}
	ok(false, "%s is tested, by a test that is in the table here", full);
}

static void look_at(struct families *families)
{
	for (size_t i = 0; i < families->nr; i++)
		look_for(families->family[i].name);
	families_free(families);
}

static void test_recording(void)
{
	struct observation seen = { .recording = true, .has_ring = true };
	struct families families;

	samples_make(&families, &seen);
	look_at(&families);
}

static void test_transformer(void)
{
	struct transform_config config = TRANSFORM_DEFAULT_CONFIG;
	struct families families = {};
	struct transformer *t;

	if (transformer_new(&t, &config, NULL))
		bail_out("no memory");
	transform_families(t, &families);
	transformer_free(t);
	look_at(&families);
}

static void test_targets(void)
{
	static struct export_targets targets;
	struct families families = {};

	if (!export_targets_add(&targets, EXPORT_JSON, "/dev/null") ||
	    export_targets_start(&targets))
		bail_out("no target");
	export_targets_families(&targets, &families);
	export_targets_stop(&targets, 0);
	look_at(&families);
}

/* A table that is longer than what there is says less than it seems to. */
static void test_table(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		ok(found[i], "monad_storage_%s is something that is exported", tests[i].name);
}

int main(void)
{
	test_recording();
	test_transformer();
	test_targets();
	test_table();
	return done_testing();
}
