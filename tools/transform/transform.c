// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transformer.h"

/*
 * Thresholds
 */

static int compare_thresholds(const void *a, const void *b)
{
	const struct transform_threshold *x = a, *y = b;

	if (x->dev_major != y->dev_major)
		return x->dev_major < y->dev_major ? -1 : 1;
	return (x->dev_minor > y->dev_minor) - (x->dev_minor < y->dev_minor);
}

static const struct transform_threshold *find_threshold(const struct transform_config *config,
							uint32_t dev_major, uint32_t dev_minor)
{
	const struct transform_threshold key = { .dev_major = dev_major, .dev_minor = dev_minor };

	if (!config->nr_thresholds)
		return NULL;
	return bsearch(&key, config->thresholds, config->nr_thresholds, sizeof(key),
		       compare_thresholds);
}

struct limits transformer_limits(const struct transformer *transformer, uint32_t dev_major,
				 uint32_t dev_minor)
{
	const struct transform_config *config = &transformer->config;
	const struct transform_threshold *threshold;
	struct limits limits = { .stuck_ns = config->stuck_ns };

	threshold = find_threshold(config, dev_major, dev_minor);
	if (!threshold)
		threshold = find_threshold(config, 0, 0);
	if (threshold) {
		limits.slow_ns = threshold->slow_ns;
		limits.inflight = threshold->inflight;
	}
	return limits;
}

/*
 * From beginning to end
 */

static bool is_valid(const struct transform_config *config)
{
	return config->per_kind && config->per_window && config->per_window <= MAX_PER_WINDOW &&
	       config->victims <= MAX_VICTIMS && config->nr_thresholds <= MAX_THRESHOLDS &&
	       (config->thresholds || !config->nr_thresholds);
}

static int copy_thresholds(struct transform_config *config)
{
	const size_t nr = config->nr_thresholds;
	struct transform_threshold *copy = NULL;

	if (nr)
		copy = calloc(nr, sizeof(*copy));
	if (copy)
		memcpy(copy, config->thresholds, nr * sizeof(*copy));
	/* The caller's is not ours to give back. */
	config->thresholds = copy;
	if (!copy)
		return nr ? -ENOMEM : 0;
	qsort(copy, nr, sizeof(*copy), compare_thresholds);
	return 0;
}

static int init(struct transformer *transformer)
{
	struct transform_config *config = &transformer->config;
	struct timespec now;
	int err;

	clock_gettime(CLOCK_REALTIME, &now);
	transformer->began_ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
	transformer->window_ns = transformer->began_ns;
	transformer->series.cgroups = config->cgroups;
	err = copy_thresholds(config);
	if (!err)
		err = under_way_init(&transformer->under_way);
	if (!err)
		err = kinds_init(&transformer->kinds, config->per_kind, config->per_window,
				 config->victims);
	return err;
}

int transformer_new(struct transformer **made, const struct transform_config *config,
		    const struct transform_sources *sources)
{
	struct transformer *transformer;
	int err;

	*made = NULL;
	if (!is_valid(config))
		return -EINVAL;
	transformer = calloc(1, sizeof(*transformer));
	if (!transformer)
		return -ENOMEM;
	transformer->config = *config;
	if (sources)
		transformer->sources = *sources;
	err = init(transformer);
	if (err)
		transformer_free(transformer);
	else
		*made = transformer;
	return err;
}

void transformer_free(struct transformer *transformer)
{
	if (!transformer)
		return;
	series_free(&transformer->series);
	kinds_free(&transformer->kinds);
	under_way_free(&transformer->under_way);
	stuck_forget(&transformer->stuck);
	held_stacks_free(&transformer->stacks);
	free((void *)transformer->config.thresholds);
	free(transformer);
}

/*
 * What comes in
 */

static struct held_stack *stack_of(struct transformer *transformer, const struct facts *facts)
{
	const struct transform_sources *sources = &transformer->sources;
	struct held_stack *stack = held_stacks_get(&transformer->stacks, facts->stack);
	const struct monad_storage_stack *what;

	if (stack || !facts->stack || !sources->stack)
		return stack;
	what = sources->stack(sources->arg, facts->stack, facts->seqno);
	if (!what || what->id != facts->stack)
		return NULL;
	held_stacks_add(&transformer->stacks, what);
	return held_stacks_get(&transformer->stacks, facts->stack);
}

static uint64_t mount_namespace(const struct transformer *transformer, uint32_t pid)
{
	const struct transform_sources *sources = &transformer->sources;

	if (!pid || !sources->mount_namespace)
		return 0;
	return sources->mount_namespace(sources->arg, pid);
}

void transformer_note_victims(struct transformer *transformer, struct noted *noted)
{
	struct victim victims[MAX_VICTIMS];
	uint64_t affected;
	size_t nr;

	/* It is not known whether it took long. */
	if (!transformer->config.attribution || noted->reason == REASON_UNSEEN)
		return;
	affected = under_way_victims(&transformer->under_way, &noted->facts, victims,
				     transformer->config.victims, &nr);
	if (affected <= noted->affected)
		return;
	for (size_t i = 0; i < nr; i++)
		victims[i].mount_namespace = mount_namespace(transformer, victims[i].pid);
	noted->affected = affected;
	noted->nr_victims = nr;
	if (nr)
		memcpy(noted->victims, victims, nr * sizeof(*victims));
}

void transformer_note(struct transformer *transformer, const struct facts *facts)
{
	const struct limits limits = transformer_limits(transformer, facts->dev_major,
							facts->dev_minor);
	const enum reason reason = reason_of(facts, &limits);
	struct noted *noted;

	if (reason == REASON_NONE)
		return;
	transformer->counters.notable++;
	noted = kinds_add(&transformer->kinds, facts, &limits, reason);
	if (!noted || !transformer->config.attribution)
		return;
	/* Now, as it may have ended or be another one by the end of the window. */
	noted->mount_namespace = mount_namespace(transformer, facts->pid);
	noted->stack = stack_of(transformer, facts);
	transformer_note_victims(transformer, noted);
}

void transform_event(struct transformer *transformer, const struct raw_event *event)
{
	struct facts facts;

	transformer->counters.events++;
	if (event->type == MONAD_STORAGE_STACK) {
		held_stacks_add(&transformer->stacks, &event->stack);
		return;
	}
	/* What belongs to a task goes to who asked for it. */
	if (!facts_of_event(&facts, event) || facts.task)
		return;
	if (facts_are_of_end(&facts))
		stuck_note_end(&transformer->stuck, &facts, transformer->config.stuck_ns);
	transformer_note(transformer, &facts);
}

void transform_inflight(struct transformer *transformer, const struct raw_inflight *ios, size_t nr)
{
	under_way_set(&transformer->under_way, ios, nr, transformer->config.stuck_ns);
}

void transform_inflight_unknown(struct transformer *transformer)
{
	under_way_set(&transformer->under_way, NULL, 0, 0);
	stuck_forget(&transformer->stuck);
}

void transform_metrics(struct transformer *transformer, const struct families *families,
		       uint64_t time_ns)
{
	if (transform_wants_metrics(transformer))
		series_take(&transformer->series, families, time_ns);
}

void transform_lost(struct transformer *transformer, uint64_t events)
{
	transformer->counters.lost += events;
}

/*
 * Pressure
 */

/* Each level begins at one, and ends below the other: so that it does not come and go. */
static const struct {
	unsigned int begins;
	unsigned int ends;
} levels[] = {
	{ 0, 0 },
	[LEVEL_METRICS] = { 400, 250 },
	[LEVEL_EVENTS] = { 600, 450 },
	[LEVEL_TASKS] = { 750, 600 },
	[LEVEL_SEVERITY] = { 900, 750 },
};

void transform_pressure(struct transformer *transformer, unsigned int permille)
{
	unsigned int level = transformer->counters.level;

	if (level && permille < levels[level].ends) {
		/* One at a time: what it eases must be seen first. */
		level--;
	} else {
		while (level < LEVEL_SEVERITY && permille >= levels[level + 1].begins)
			level++;
	}
	transformer->counters.level = level;
}

bool transformer_is_due(const struct transformer *transformer)
{
	const unsigned int every = transformer->config.metrics_every;

	return every && (transformer->last || transformer->windows % every == 0);
}

bool transform_wants_metrics(const struct transformer *transformer)
{
	return transformer_is_due(transformer) &&
	       (transformer->counters.level < LEVEL_METRICS || transformer->last ||
		transformer->without_metrics + 1 >= METRICS_EVERY);
}

void transform_last_window(struct transformer *transformer)
{
	transformer->last = true;
}

bool transform_refuses_tasks(const struct transformer *transformer)
{
	return transformer->counters.level >= LEVEL_TASKS;
}

void transform_tasks_refused(struct transformer *transformer, uint64_t tasks)
{
	transformer->counters.tasks_refused = tasks;
}

const struct transform_counters *transform_counters(const struct transformer *transformer)
{
	return &transformer->counters;
}
