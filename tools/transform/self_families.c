// SPDX-License-Identifier: GPL-2.0
/* What a transformer has to say of itself, as metrics. */
#include "transformer.h"

#define PREFIX "monad_storage_telemetry_"

static void add(const struct transformer *transformer, struct families *families,
		enum family_type type, const char *name, uint64_t value, const char *help)
{
	const struct family family = {
		.name = name,
		.help = help,
		.unit = "",
		.type = type,
		.since_ns = transformer->began_ns,
	};

	families_add(families, &family);
	families_sample(families, value, 0);
}

void transform_families(const struct transformer *t, struct families *families)
{
	const struct transform_counters *c = &t->counters;

	add(t, families, FAMILY_COUNTER, PREFIX "events", c->events,
	    "Events that were read and looked at.");
	add(t, families, FAMILY_COUNTER, PREFIX "notable_events", c->notable,
	    "Events, and states of what was in flight, that are more than a number.");
	add(t, families, FAMILY_COUNTER, PREFIX "sent_events", c->sent,
	    "Notable events that were put into batches.");
	add(t, families, FAMILY_COUNTER, PREFIX "truncated_events", c->truncated,
	    "Notable events for which others of their kind were sent.");
	add(t, families, FAMILY_COUNTER, PREFIX "sampled_events", c->sampled,
	    "Truncated events that would have been sent without the pressure.");
	add(t, families, FAMILY_COUNTER, PREFIX "dropped_events", c->dropped,
	    "Notable events of low severity that were left out under pressure.");
	add(t, families, FAMILY_COUNTER, PREFIX "lost_events", c->lost,
	    "Events that were overwritten before they were read.");
	add(t, families, FAMILY_COUNTER, PREFIX "skipped_metrics", c->metrics_skipped,
	    "Windows without metrics, because of the pressure.");
	add(t, families, FAMILY_COUNTER, PREFIX "refused_tasks", c->tasks_refused,
	    "Tasks that were refused, or ended, because of the pressure.");
	add(t, families, FAMILY_COUNTER, PREFIX "left_out_series", c->series_left_out,
	    "Series that were left out of metrics, as there were too many.");
	add(t, families, FAMILY_GAUGE, PREFIX "degradation", c->level,
	    "How much is left out under pressure, 0 to 4.");
}
