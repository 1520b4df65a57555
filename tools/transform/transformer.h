/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of a transformer, for those parts. */
#ifndef TRANSFORM_TRANSFORMER_H
#define TRANSFORM_TRANSFORMER_H

#include "kinds.h"
#include "series.h"
#include "stuck.h"
#include "under_way.h"

/* Limits of the configuration. */
#define MAX_PER_WINDOW 10000
#define MAX_VICTIMS 16
#define MAX_THRESHOLDS 4096

/* Of degradation; what each one does is in transform.h. */
enum {
	LEVEL_METRICS = 1,
	LEVEL_EVENTS,
	LEVEL_TASKS,
	LEVEL_SEVERITY,
};

/* From LEVEL_METRICS on, metrics are in one of so many windows that would have them. */
#define METRICS_EVERY 4
/* From LEVEL_EVENTS on, of each kind one in so many of those that would be sent. */
#define EVENTS_LESS 4

struct transformer {
	struct transform_config config; /* thresholds are ours, sorted */
	struct transform_sources sources;
	struct transform_counters counters;
	struct kinds kinds;
	struct held_stacks stacks;
	struct under_way under_way;
	struct stuck stuck;
	struct series series;
	uint64_t began_ns;  /* CLOCK_REALTIME: when it was made */
	uint64_t window_ns; /* ... and when the window began */
	uint64_t windows;             /* that have ended */
	unsigned int without_metrics; /* windows in a row that should have had them */
	bool last;                    /* the last window has begun */
};

struct limits transformer_limits(const struct transformer *transformer, uint32_t dev_major,
				 uint32_t dev_minor);

/* Whether the window is one that has metrics, but for the pressure. */
bool transformer_is_due(const struct transformer *transformer);

/* Counts and perhaps keeps it, if it is notable. */
void transformer_note(struct transformer *transformer, const struct facts *facts);

/* Who has to wait, unless more had to before. */
void transformer_note_victims(struct transformer *transformer, struct noted *noted);

#endif /* TRANSFORM_TRANSFORMER_H */
