// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export_observe.h"
#include "export_push.h"
#include "export_ring.h"
#include "human.h"
#include "interrupt.h"
#include "monad_storage.h"
#include "pins.h"
#include "pressure.h"
#include "raw.h"
#include "transform_sources.h"

/* How long the last batches may take. */
#define LAST_NS (5 * NSEC_PER_SEC)

struct push {
	struct push_options *options;
	struct transformer *transformer;
	struct transform_sources sources;
	struct export_ring ring;
	struct pressure pressure; /* on those who run tasks */
	uint64_t sequence; /* of the last batch */
	uint64_t next_ns;  /* when the window ends, CLOCK_MONOTONIC */
	uint64_t judged_ns; /* the recording that say_what_is_slow() has seen */
	uint64_t inflight_ns; /* that of what was in flight when it was looked at last */
	char complaint[256]; /* the last one: each is made once */
};

/*
 * A window
 */

static void take_metrics(struct push *push)
{
	char complaint[sizeof(push->complaint)] = "";
	struct families families;
	int err;

	if (!transform_wants_metrics(push->transformer))
		return;
	err = export_observe(&families);
	if (err) {
		export_explain(err, complaint, sizeof(complaint));
		if (strcmp(complaint, push->complaint) != 0)
			error("%s", complaint);
	}
	memcpy(push->complaint, complaint, sizeof(complaint));
	transform_families(push->transformer, &families);
	export_targets_families(&push->options->targets, &families);
	families_finish(&families);
	transform_metrics(push->transformer, &families, clock_ns(CLOCK_REALTIME));
	families_free(&families);
}

/* What hangs is an event as well. */
static void take_inflight(struct push *push)
{
	struct raw_inflight *ios;
	size_t nr;

	if (raw_inflight_read(&ios, &nr)) {
		transform_inflight_unknown(push->transformer);
		return;
	}
	/* What was in flight when another recording was is not looked for in this one. */
	if (push->inflight_ns != push->ring.session_ns)
		transform_inflight_unknown(push->transformer);
	push->inflight_ns = push->ring.session_ns;
	transform_inflight(push->transformer, ios, nr);
	free(ios);
}

static uint64_t lowest(const struct push_options *options)
{
	uint64_t least = 0;

	for (size_t i = 0; i < options->nr_thresholds; i++) {
		const uint64_t slow_ns = options->thresholds[i].slow_ns;

		if (slow_ns && (!least || slow_ns < least))
			least = slow_ns;
	}
	return least;
}

/* Of each recording, once: whether slow I/O can be told at all, and is there to be told of. */
static void say_what_is_slow(struct push *push)
{
	const uint64_t slow_ns = lowest(push->options);
	struct monad_storage_session session;
	char text[HUMAN_LEN];
	bool notable;

	if (push->ring.session_ns == push->judged_ns || pins_read_session(&session))
		return;
	push->judged_ns = push->ring.session_ns;
	notable = session.events == MONAD_STORAGE_EVENTS_NOTABLE;
	if (!slow_ns && (!notable || (!session.slow_ns && !session.slow_devices)))
		warning("no I/O is an event for being slow: say what is, as --slow 50ms (and the "
			"recording marks none)");
	else if (slow_ns && notable && (!session.slow_ns || slow_ns < session.slow_ns))
		warning("the recording keeps only what is notable to it (--events=notable), %s: "
			"--slow has no more to choose from",
			session.slow_ns ? human_duration(session.slow_ns, text) :
					  "not what is slow");
}

/* How far we degrade, and who else has to. */
static void degrade(struct push *push)
{
	transform_pressure(push->transformer, export_targets_pressure(&push->options->targets));
	pressure_set(&push->pressure, transform_refuses_tasks(push->transformer));
	transform_tasks_refused(push->transformer, pressure_refused(&push->pressure));
}

static void end_window(struct push *push)
{
	struct export_targets *targets = &push->options->targets;
	Monad__TelemetryBatch *batch;

	degrade(push);
	if (!push->options->no_events) {
		export_ring_update(&push->ring, push->transformer);
		export_ring_read(&push->ring, push->transformer);
		say_what_is_slow(push);
		take_inflight(push);
	}
	take_metrics(push);
	batch = transform_batch(push->transformer, clock_ns(CLOCK_REALTIME));
	if (!batch) {
		warning("no memory for a batch: the window is sent with the next one");
		return;
	}
	batch->sequence = ++push->sequence;
	export_targets_sign(targets, batch);
	export_targets_send(targets, batch);
	transform_batch_free(batch);
}

/* The next end of a window; those that were slept through, as with a machine, are left out. */
static void plan_next(struct push *push)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), interval = push->options->interval_ns;

	push->next_ns += interval;
	if (push->next_ns <= now)
		push->next_ns = now + interval;
}

/* Until the window ends, events are read as they come: the ring does not wait. */
static void wait_for_window(struct push *push)
{
	uint64_t now;

	while (!interrupted && (now = clock_ns(CLOCK_MONOTONIC)) < push->next_ns) {
		if (export_targets_stdout_gone(&push->options->targets))
			return;
		export_ring_wait(&push->ring, push->next_ns - now);
		if (push->options->no_events)
			continue;
		export_ring_update(&push->ring, push->transformer);
		export_ring_read(&push->ring, push->transformer);
	}
}

/*
 * Beginning and end
 */

/* In one of how many windows metrics are; 0: in none. */
static unsigned int metrics_every(const struct push_options *options)
{
	if (options->metrics_ns == UINT64_MAX)
		return 0;
	if (options->metrics_ns <= options->interval_ns)
		return 1;
	return (options->metrics_ns + options->interval_ns - 1) / options->interval_ns;
}

static int begin(struct push *push)
{
	struct transform_config config = TRANSFORM_DEFAULT_CONFIG;
	const struct push_options *options = push->options;
	int err;

	config.thresholds = options->thresholds;
	config.nr_thresholds = options->nr_thresholds;
	config.metrics_every = metrics_every(options);
	if (options->stuck_ns)
		config.stuck_ns = options->stuck_ns;
	err = transform_sources_open(&push->sources);
	if (!err)
		err = transformer_new(&push->transformer, &config, &push->sources);
	if (err) {
		error("transforming: %s", strerror(-err));
		return EXIT_FAILED;
	}
	export_ring_init(&push->ring, options->since_ns);
	err = pressure_open(&push->pressure, PRESSURE_DIR);
	if (err)
		warning("tasks are not refused when receivers do not keep up: " PRESSURE_DIR
			": %s", strerror(-err));
	push->next_ns = clock_ns(CLOCK_MONOTONIC);
	return EXIT_OK;
}

static void say_what_was_lost(const struct push *push)
{
	const struct transform_counters *c = transform_counters(push->transformer);

	if (c->lost)
		warning("%" PRIu64 " events were overwritten before they were read", c->lost);
	if (c->dropped)
		warning("%" PRIu64 " events of low severity were left out, since receivers did not "
			"keep up", c->dropped);
	if (push->ring.unknown)
		warning("%" PRIu64 " events were of types that this program does not know",
			push->ring.unknown);
}

int push_run(struct push_options *options)
{
	struct push push = { .options = options };
	int status = begin(&push);

	while (status == EXIT_OK && !interrupted &&
	       !export_targets_stdout_gone(&options->targets)) {
		end_window(&push);
		plan_next(&push);
		wait_for_window(&push);
	}
	if (status == EXIT_OK) {
		/* The last one is shorter, and where everything came to. */
		transform_last_window(push.transformer);
		end_window(&push);
		say_what_was_lost(&push);
	}
	if (!export_targets_stop(&options->targets, LAST_NS))
		status = EXIT_FAILED;
	pressure_close(&push.pressure);
	export_ring_close(&push.ring);
	transformer_free(push.transformer);
	transform_sources_close(&push.sources);
	return status;
}
