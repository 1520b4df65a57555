// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "export_targets.h"
#include "jsonl_exporter.h"
#include "monad_storage.h"
#include "otlp_exporter.h"
#include "stream_exporter.h"

#define PREFIX "monad_storage_telemetry_export_"

/* What in payloads refers to the dictionary; see storage.proto. */
static const struct otlp_reference references[] = {
	{ "monad.StorageActor", "cgroup", false },
	{ "monad.StorageEvent", "charged_cgroup", false },
	{ "monad.StorageEvent", "stack", true },
	{}
};

bool export_targets_add(struct export_targets *targets, enum export_kind kind, const char *where)
{
	if (targets->nr == EXPORT_TARGETS_MAX)
		return false;
	targets->target[targets->nr].kind = kind;
	targets->target[targets->nr++].where = where;
	return true;
}

bool export_targets_add_header(struct export_targets *targets, const char *header)
{
	if (targets->nr_headers == EXPORT_HEADERS_MAX)
		return false;
	targets->headers[targets->nr_headers++] = header;
	return true;
}

bool export_targets_use_stdout(const struct export_targets *targets)
{
	for (size_t i = 0; i < targets->nr; i++) {
		if (targets->target[i].kind == EXPORT_JSON &&
		    !strcmp(targets->target[i].where, "-"))
			return true;
	}
	return false;
}

bool export_targets_stdout_gone(const struct export_targets *targets)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return export_targets_use_stdout(targets) && poll(&out, 1, 0) == 1 &&
	       (out.revents & POLLERR);
}

/*
 * Beginning and end
 */

static void find_out_who_we_are(struct export_targets *targets)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (gethostname(targets->host, sizeof(targets->host) - 1))
		snprintf(targets->host, sizeof(targets->host), "localhost");
	if (!file)
		return;
	if (!fgets(targets->boot_id, sizeof(targets->boot_id), file))
		*targets->boot_id = '\0';
	targets->boot_id[strcspn(targets->boot_id, "\n")] = '\0';
	fclose(file);
}

static struct exporter *open_target(struct export_targets *targets, size_t i, char *why,
				    size_t why_size)
{
	const struct export_sender sender = {
		.agent = "monad-storage",
		.version = MONAD_STORAGE_VERSION,
		.host = targets->host,
		.boot_id = targets->boot_id,
	};
	const struct otlp_options options = {
		.headers = targets->headers,
		.references = references,
		.plain = targets->plain,
	};
	const char *where = targets->target[i].where;

	switch (targets->target[i].kind) {
	case EXPORT_OTLP:
		return otlp_exporter(where, &sender, &options, why, why_size);
	case EXPORT_JSON:
		return jsonl_exporter(where, why, why_size);
	case EXPORT_TELEMETRY:
		return stream_exporter(where, &sender, NULL, why, why_size);
	}
	return NULL;
}

int export_targets_start(struct export_targets *targets)
{
	static const char *const options[] = {
		[EXPORT_OTLP] = "--otlp", [EXPORT_JSON] = "--json-lines",
		[EXPORT_TELEMETRY] = "--telemetry",
	};
	struct export_queue_limits limits = EXPORT_QUEUE_DEFAULT_LIMITS;
	char why[256] = "";
	int err;

	if (targets->queue_batches)
		limits.batches = targets->queue_batches;
	find_out_who_we_are(targets);
	targets->began_ns = clock_ns(CLOCK_REALTIME);
	for (size_t i = 0; i < targets->nr; i++) {
		struct exporter *exporter = open_target(targets, i, why, sizeof(why));

		if (!exporter) {
			/* (There may be a password in an URL.) */
			if (targets->target[i].kind == EXPORT_OTLP)
				error("%s: %s", options[EXPORT_OTLP], why);
			else
				error("%s %s: %s", options[targets->target[i].kind],
				      targets->target[i].where, why);
			export_targets_stop(targets, 0);
			return EXIT_FAILED;
		}
		err = export_queue_start(&targets->target[i].queue, exporter, &limits);
		if (err) {
			error("starting a thread: %s", strerror(-err));
			export_targets_stop(targets, 0);
			return EXIT_FAILED;
		}
	}
	return EXIT_OK;
}

/* At its end: one that was told nothing else may have done nothing. */
static void say_what_was_sent(const char *name, const struct export_queue_counters *c)
{
	/* It did not even begin: another one could not be opened. */
	if (!c->added_batches)
		return;
	inform("%s: sent %" PRIu64 " batch%s with %" PRIu64 " events and %" PRIu64 " metrics, "
	       "%" PRIu64 " dropped", name, c->sent_batches, c->sent_batches == 1 ? "" : "es",
	       c->sent_events, c->sent_metrics, c->dropped_batches);
}

static void say_what_was_not_sent(const char *name, const struct export_queue_counters *c)
{
	if (c->dropped_batches || c->dropped_metrics || c->dropped_events)
		warning("%s: %" PRIu64 " metrics and %" PRIu64 " events were not delivered; "
			"%" PRIu64 " of %" PRIu64 " batches were dropped", name,
			c->dropped_metrics, c->dropped_events, c->dropped_batches,
			c->added_batches);
}

bool export_targets_stop(struct export_targets *targets, uint64_t wait_ns)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + wait_ns;
	bool gone = export_targets_stdout_gone(targets), delivered = true;

	/* All of them go on sending while the first one is waited for. */
	for (size_t i = 0; i < targets->nr; i++) {
		struct export_queue *queue = targets->target[i].queue;
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		struct export_queue_counters counters;
		char name[320];

		if (!queue)
			continue;
		snprintf(name, sizeof(name), "%s %s", export_queue_exporter(queue)->name,
			 export_queue_exporter(queue)->target);
		export_queue_stop(queue, now < until ? until - now : 0, &counters);
		targets->target[i].queue = NULL;
		if (!gone || strcmp(name, "json -") != 0) {
			say_what_was_sent(name, &counters);
			say_what_was_not_sent(name, &counters);
		}
		if (counters.dropped_batches && !counters.sent_batches)
			delivered = false;
	}
	return delivered;
}

/*
 * Batches
 */

static char *copy_of(const char *text, char *instead)
{
	char *copy = *text ? strdup(text) : NULL;

	return copy ? copy : instead;
}

void export_targets_sign(const struct export_targets *targets, Monad__TelemetryBatch *batch)
{
	batch->host = copy_of(targets->host, batch->host);
	batch->boot_id = copy_of(targets->boot_id, batch->boot_id);
	batch->began_ns = targets->began_ns;
}

void export_targets_send(struct export_targets *targets, const Monad__TelemetryBatch *batch)
{
	for (size_t i = 0; i < targets->nr; i++) {
		if (export_queue_add(targets->target[i].queue, batch))
			warning("no memory for a batch: it is dropped");
	}
}

unsigned int export_targets_pressure(struct export_targets *targets)
{
	unsigned int most = 0;

	for (size_t i = 0; i < targets->nr; i++) {
		unsigned int pressure = export_queue_pressure(targets->target[i].queue);

		most = pressure > most ? pressure : most;
	}
	return most;
}

/*
 * What there is to say of them
 */

enum {
	ADDED, SENT, SENT_METRICS, SENT_EVENTS, DROPPED, METRICS, EVENTS, FAILURES, WAITING, BYTES,
	UP, VALUES
};

static void list_values(const struct export_queue_counters *c, uint64_t values[VALUES])
{
	values[ADDED] = c->added_batches;
	values[SENT] = c->sent_batches;
	values[SENT_METRICS] = c->sent_metrics;
	values[SENT_EVENTS] = c->sent_events;
	values[DROPPED] = c->dropped_batches;
	values[METRICS] = c->dropped_metrics;
	values[EVENTS] = c->dropped_events;
	values[FAILURES] = c->failures;
	values[WAITING] = c->waiting_batches;
	values[BYTES] = c->waiting_bytes;
	values[UP] = c->up;
}

static const struct family kinds[VALUES] = {
	[ADDED] = { PREFIX "added_batches", "Batches that were made for an exporter.", "",
		    .type = FAMILY_COUNTER },
	[SENT] = { PREFIX "sent_batches", "Batches that its receiver has.", "",
		   .type = FAMILY_COUNTER },
	[SENT_METRICS] = { PREFIX "sent_metrics", "Metrics that its receiver has.", "",
			   .type = FAMILY_COUNTER },
	[SENT_EVENTS] = { PREFIX "sent_events", "Events that its receiver has.", "",
			  .type = FAMILY_COUNTER },
	[DROPPED] = { PREFIX "dropped_batches", "Batches that were not sent: no room, or refused.",
		      "", .type = FAMILY_COUNTER },
	[METRICS] = { PREFIX "dropped_metrics", "Metrics that did not get there.", "",
		      .type = FAMILY_COUNTER },
	[EVENTS] = { PREFIX "dropped_events", "Events that did not get there.", "",
		     .type = FAMILY_COUNTER },
	[FAILURES] = { PREFIX "failures", "Attempts at sending that did not.", "",
		       .type = FAMILY_COUNTER },
	[WAITING] = { PREFIX "waiting_batches", "Batches that wait to be sent.", "",
		      .type = FAMILY_GAUGE },
	[BYTES] = { PREFIX "waiting_bytes", "Bytes of the batches that wait to be sent.", "bytes",
		    .type = FAMILY_GAUGE },
	[UP] = { PREFIX "up", "1 if the receiver was there the last time, 0 if not.", "",
		 .type = FAMILY_GAUGE },
};

void export_targets_families(struct export_targets *targets, struct families *families)
{
	uint64_t values[EXPORT_TARGETS_MAX][VALUES];
	struct export_queue_counters counters;

	for (size_t i = 0; i < targets->nr; i++) {
		export_queue_counters(targets->target[i].queue, &counters);
		list_values(&counters, values[i]);
	}
	for (int kind = 0; targets->nr && kind < VALUES; kind++) {
		struct family family = kinds[kind];

		family.since_ns = targets->began_ns;
		families_add(families, &family);
		for (size_t i = 0; i < targets->nr; i++) {
			const struct exporter *exporter =
				export_queue_exporter(targets->target[i].queue);

			families_sample(families, values[i][kind], 2, "exporter", exporter->name,
					"target", exporter->target);
		}
	}
}
