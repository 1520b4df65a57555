// SPDX-License-Identifier: GPL-2.0
/* The end of a window: what is sent of it (7), how bad it was (8), all in one batch (9). */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "text.h"
#include "transformer.h"

/* What becomes of the events of a window, which is only true once all of it is made. */
struct outcome {
	uint64_t sent;
	uint64_t truncated;
	uint64_t sampled;
	uint64_t dropped;
};

struct making {
	struct transformer *transformer;
	Monad__TelemetryBatch *batch;
	struct outcome outcome;
};

/*
 * What is in flight
 */

struct noting {
	struct transformer *transformer;
	uint64_t now_ns;
};

static void note_stuck(void *arg, const struct raw_inflight *io, enum stuck_news news)
{
	const struct noting *noting = arg;
	struct facts facts;

	facts_of_inflight(&facts, io, noting->now_ns);
	facts.gone = news == STUCK_GONE;
	transformer_note(noting->transformer, &facts);
}

static void note_congestion(struct transformer *transformer, uint64_t now_ns)
{
	const struct under_way *under_way = &transformer->under_way;
	struct facts facts;

	for (size_t i = 0; i < UNDER_WAY_DEVICES; i++) {
		const struct under_way_device *device = &under_way->devices[i];

		if (!device->count)
			continue;
		facts_of_congestion(&facts, device->major, device->minor, device->count, now_ns);
		transformer_note(transformer, &facts);
	}
}

/* Once for each time it was looked at, also where no batch could be made before. */
static void note_under_way(struct transformer *transformer, uint64_t now_ns)
{
	struct noting noting = { transformer, now_ns };

	if (!transformer->under_way.fresh)
		return;
	transformer->under_way.fresh = false;
	stuck_look(&transformer->stuck, transformer->under_way.ios, transformer->under_way.nr,
		   transformer->under_way.whole, transformer->config.stuck_ns, note_stuck, &noting);
	note_congestion(transformer, now_ns);
	for (size_t i = 0; i < transformer->kinds.nr; i++) {
		for (struct noted *noted = transformer->kinds.kinds[i].first; noted;
		     noted = noted->next)
			transformer_note_victims(transformer, noted);
	}
}

/*
 * Events
 */

static Monad__Severity severity_of(const struct kind *kind, const struct noted *noted)
{
	/* Where there is everything, nothing is frequent. */
	return reason_severity(noted->reason, &noted->facts, &noted->limits,
			       kind->catch_all ? 1 : kind->count);
}

/* Where that is what made it worse. */
static uint64_t frequency_of(const struct kind *kind, const struct noted *noted)
{
	return severity_of(kind, noted) > reason_severity(noted->reason, &noted->facts,
							  &noted->limits, 1) ? kind->count : 0;
}

static bool add_event(struct making *making, const struct kind *kind, const struct noted *noted)
{
	const struct transformer *transformer = making->transformer;
	const struct wire_event event = {
		.facts = &noted->facts,
		.limits = &noted->limits,
		.reason = noted->reason,
		.severity = severity_of(kind, noted),
		.frequency = frequency_of(kind, noted),
		.attribution = transformer->config.attribution,
		.mount_namespace = noted->mount_namespace,
		.stack = noted->stack ? &noted->stack->what : NULL,
		.victims = noted->victims,
		.nr_victims = noted->nr_victims,
		.affected = noted->affected,
	};
	Monad__TelemetryBatch *batch = making->batch;
	Monad__EventWrapper **events, *made;

	events = array_grow(batch->spontaneous_events, batch->n_spontaneous_events);
	if (!events)
		return false;
	batch->spontaneous_events = events;
	made = wire_make(&event, &transformer->sources, batch->dictionary);
	if (!made)
		return false;
	events[batch->n_spontaneous_events++] = made;
	return true;
}

static bool is_dropped(const struct making *making, const struct kind *kind,
		       const struct noted *noted)
{
	return making->transformer->counters.level >= LEVEL_SEVERITY &&
	       severity_of(kind, noted) < MONAD__SEVERITY__SEVERITY_ERROR;
}

/* Of those that are always sent, how many are there? */
static unsigned int count_kept(const struct making *making, const struct kind *kind)
{
	unsigned int kept = 0;

	for (const struct noted *noted = kind->first; noted; noted = noted->next)
		kept += kind_must_keep(kind, noted) && !is_dropped(making, kind, noted);
	return kept;
}

/* How many may be sent; under pressure, fewer. */
static unsigned int allowed(const struct making *making, unsigned int kept)
{
	unsigned int per_kind = making->transformer->config.per_kind;

	if (making->transformer->counters.level >= LEVEL_EVENTS)
		per_kind /= EVENTS_LESS;
	return per_kind > kept ? per_kind : kept;
}

/* What became of a kind: the last one that is sent says how many there were. */
static bool account(struct making *making, const struct kind *kind, unsigned int sent,
		    unsigned int dropped)
{
	Monad__TelemetryBatch *batch = making->batch;
	struct outcome *outcome = &making->outcome;
	const uint64_t truncated = kind->count - sent - dropped;

	if (!sent) {
		/* Nobody is left to say it. */
		outcome->dropped += kind->count;
		return true;
	}
	outcome->sent += sent;
	outcome->dropped += dropped;
	outcome->truncated += truncated;
	outcome->sampled += kind->nr - sent - dropped;
	return message_add_truncated(batch->spontaneous_events[batch->n_spontaneous_events - 1],
				     truncated);
}

/* Sends the first ones, and those that have to be. */
static bool add_kind(struct making *making, const struct kind *kind)
{
	unsigned int kept = count_kept(making, kind), left = allowed(making, kept);
	unsigned int sent = 0, dropped = 0;

	for (const struct noted *noted = kind->first; noted; noted = noted->next) {
		if (is_dropped(making, kind, noted)) {
			dropped++;
			continue;
		}
		if (kind_must_keep(kind, noted))
			kept--;
		else if (left <= kept)
			continue;
		if (!add_event(making, kind, noted))
			return false;
		left--;
		sent++;
	}
	return account(making, kind, sent, dropped);
}

static int compare_times(const void *a, const void *b)
{
	const Monad__EventWrapper *x = *(Monad__EventWrapper *const *)a;
	const Monad__EventWrapper *y = *(Monad__EventWrapper *const *)b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->storage->seqno > y->storage->seqno) - (x->storage->seqno < y->storage->seqno);
}

static bool add_events(struct making *making)
{
	const struct kinds *kinds = &making->transformer->kinds;
	Monad__TelemetryBatch *batch = making->batch;

	for (size_t i = 0; i < kinds->nr; i++) {
		if (!add_kind(making, &kinds->kinds[i]))
			return false;
	}
	if (batch->n_spontaneous_events)
		qsort(batch->spontaneous_events, batch->n_spontaneous_events,
		      sizeof(void *), compare_times);
	return true;
}

/*
 * The batch
 */

static bool add_losses(struct making *making)
{
	const struct transform_counters *counters = &making->transformer->counters;
	Monad__Losses *losses = making->batch->losses = malloc(sizeof(*losses));

	if (!losses)
		return false;
	monad__losses__init(losses);
	losses->events_dropped = counters->dropped + making->outcome.dropped;
	losses->events_truncated = counters->truncated + making->outcome.truncated;
	losses->events_lost = counters->lost;
	losses->degradation = counters->level;
	return true;
}

static bool fill_in(struct making *making, uint64_t now_ns)
{
	const struct transformer *transformer = making->transformer;
	Monad__TelemetryBatch *batch = making->batch;

	batch->time_ns = now_ns;
	batch->window_ns = now_ns > transformer->window_ns ? now_ns - transformer->window_ns : 0;
	batch->dictionary = malloc(sizeof(*batch->dictionary));
	if (!batch->dictionary)
		return false;
	monad__dictionary__init(batch->dictionary);
	return add_events(making) && add_losses(making);
}

/* From here on nothing can fail. */
static void end_window(struct making *making, uint64_t now_ns)
{
	struct transformer *transformer = making->transformer;
	struct transform_counters *counters = &transformer->counters;
	struct series *series = &transformer->series;
	const bool has_metrics = series->now, is_due = transformer_is_due(transformer);

	counters->sent += making->outcome.sent;
	counters->truncated += making->outcome.truncated;
	counters->sampled += making->outcome.sampled;
	counters->dropped += making->outcome.dropped;
	counters->series_left_out += series_left_out(series);
	if (is_due && !has_metrics && !transform_wants_metrics(transformer))
		counters->metrics_skipped++;
	if (has_metrics)
		transformer->without_metrics = 0;
	else if (is_due)
		transformer->without_metrics++;
	transformer->windows++;
	making->batch->metrics = series->metrics;
	making->batch->n_metrics = series->nr_metrics;
	series->metrics = NULL;
	series->nr_metrics = 0;
	series_sent(series);
	kinds_clear(&transformer->kinds);
	transformer->window_ns = now_ns;
}

Monad__TelemetryBatch *transform_batch(struct transformer *transformer, uint64_t now_ns)
{
	struct making making = { .transformer = transformer };

	note_under_way(transformer, now_ns);
	making.batch = malloc(sizeof(*making.batch));
	if (!making.batch)
		return NULL;
	monad__telemetry_batch__init(making.batch);
	if (!fill_in(&making, now_ns)) {
		transform_batch_free(making.batch);
		return NULL;
	}
	end_window(&making, now_ns);
	return making.batch;
}

void transform_batch_free(Monad__TelemetryBatch *batch)
{
	if (batch)
		monad__telemetry_batch__free_unpacked(batch, NULL);
}
