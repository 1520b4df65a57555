// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "otlp_attributes.h"
#include "otlp_message.h"
#include "pb_fields.h"

/* As OTLP has them: the first of four of each. */
enum { LOG_INFO = 9, LOG_WARN = 13, LOG_ERROR = 17, LOG_FATAL = 21 };

size_t otlp_count_metrics(const Monad__TelemetryBatch *batch)
{
	size_t n = batch->n_metrics;

	for (size_t i = 0; i < batch->n_task_results; i++)
		n += batch->task_results[i]->n_metric_results;
	return n;
}

size_t otlp_count_events(const Monad__TelemetryBatch *batch)
{
	size_t n = batch->n_spontaneous_events;

	for (size_t i = 0; i < batch->n_task_results; i++)
		n += batch->task_results[i]->n_trace_results;
	return n;
}

static Otlp__Resource *make_resource(struct arena *arena, const struct export_sender *sender)
{
	Otlp__Resource *resource = arena_alloc(arena, sizeof(*resource));
	struct attributes attributes;

	if (!resource)
		return NULL;
	attributes_begin(&attributes, arena);
	attributes_text(&attributes, "service.name", sender->agent);
	attributes_text(&attributes, "service.version", sender->version);
	/* One of each on each host: what tells those of a fleet apart. */
	attributes_text(&attributes, "service.instance.id", sender->host);
	attributes_text(&attributes, "host.name", sender->host);
	otlp__resource__init(resource);
	resource->attributes = attributes.values;
	resource->n_attributes = attributes.nr;
	return resource;
}

static Otlp__Scope *make_scope(struct arena *arena, const struct export_sender *sender)
{
	Otlp__Scope *scope = arena_alloc(arena, sizeof(*scope));

	if (!scope)
		return NULL;
	otlp__scope__init(scope);
	scope->name = (char *)sender->agent;
	scope->version = (char *)sender->version;
	return scope;
}

static uint8_t *pack(const ProtobufCMessage *message, struct arena *arena, size_t *size)
{
	uint8_t *packed = NULL;

	if (!arena->failed) {
		*size = protobuf_c_message_get_packed_size(message);
		packed = malloc(*size ? *size : 1);
	}
	if (packed)
		protobuf_c_message_pack(message, packed);
	arena_free(arena);
	return packed;
}

/*
 * Metrics
 */

static const char *ucum(const char *unit)
{
	static const struct {
		const char *unit, *ucum;
	} units[] = {
		{ "seconds", "s" }, { "bytes", "By" }, { "ratio", "1" }, { "percent", "%" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(unit, units[i].unit))
			return units[i].ucum;
	}
	return unit;
}

static void add_labels(struct arena *arena, const Monad__MetricWrapper *metric,
		       Otlp__KeyValue ***values, size_t *nr)
{
	struct attributes attributes;

	attributes_begin(&attributes, arena);
	for (size_t i = 0; i < metric->n_labels; i++)
		attributes_text(&attributes, attributes_utf8(arena, metric->labels[i]->name),
				metric->labels[i]->value);
	if (*metric->task_id)
		attributes_text(&attributes, "task_id", metric->task_id);
	*values = attributes.values;
	*nr = attributes.nr;
}

/* Whole numbers of things, and bytes, stay such; what is a time or a part is a double. */
static bool is_whole(const Monad__MetricWrapper *metric)
{
	if (*metric->unit && strcmp(metric->unit, "bytes") != 0)
		return false;
	return metric->value > -9e18 && metric->value < 9e18 &&
	       metric->value == (double)(int64_t)metric->value;
}

static Otlp__NumberPoint *number_point(struct arena *arena, const Monad__MetricWrapper *metric)
{
	Otlp__NumberPoint *point = arena_alloc(arena, sizeof(*point));

	if (!point)
		return NULL;
	otlp__number_point__init(point);
	if (metric->type == MONAD__METRIC_TYPE__METRIC_TYPE_COUNTER)
		point->start_time_unix_nano = metric->start_ns;
	point->time_unix_nano = metric->time_ns;
	if (is_whole(metric)) {
		point->value_case = OTLP__NUMBER_POINT__VALUE_AS_INT;
		point->as_int = (int64_t)metric->value;
	} else {
		point->value_case = OTLP__NUMBER_POINT__VALUE_AS_DOUBLE;
		point->as_double = metric->value;
	}
	add_labels(arena, metric, &point->attributes, &point->n_attributes);
	return point;
}

static Otlp__HistogramPoint *histogram_point(struct arena *arena,
					     const Monad__MetricWrapper *metric)
{
	const Monad__Histogram *from = metric->histogram;
	Otlp__HistogramPoint *point = arena_alloc(arena, sizeof(*point));

	if (!point)
		return NULL;
	otlp__histogram_point__init(point);
	point->start_time_unix_nano = metric->start_ns;
	point->time_unix_nano = metric->time_ns;
	point->has_sum_case = OTLP__HISTOGRAM_POINT__HAS_SUM_SUM;
	if (from) {
		point->count = from->count;
		point->sum = from->sum;
		point->bucket_counts = from->buckets;
		point->n_bucket_counts = from->n_buckets;
		point->explicit_bounds = from->bounds;
		point->n_explicit_bounds = from->n_bounds;
	}
	add_labels(arena, metric, &point->attributes, &point->n_attributes);
	return point;
}

static void fill_gauge(struct arena *arena, Otlp__Metric *metric,
		       Monad__MetricWrapper *const *series, size_t nr)
{
	Otlp__Gauge *gauge = arena_alloc(arena, sizeof(*gauge));

	if (!gauge)
		return;
	otlp__gauge__init(gauge);
	gauge->data_points = arena_pointers(arena, nr);
	for (size_t i = 0; gauge->data_points && i < nr; i++)
		gauge->data_points[gauge->n_data_points++] = number_point(arena, series[i]);
	metric->data_case = OTLP__METRIC__DATA_GAUGE;
	metric->gauge = gauge;
}

static void fill_sum(struct arena *arena, Otlp__Metric *metric,
		     Monad__MetricWrapper *const *series, size_t nr)
{
	Otlp__Sum *sum = arena_alloc(arena, sizeof(*sum));

	if (!sum)
		return;
	otlp__sum__init(sum);
	sum->aggregation_temporality = OTLP__TEMPORALITY__TEMPORALITY_CUMULATIVE;
	sum->is_monotonic = true;
	sum->data_points = arena_pointers(arena, nr);
	for (size_t i = 0; sum->data_points && i < nr; i++)
		sum->data_points[sum->n_data_points++] = number_point(arena, series[i]);
	metric->data_case = OTLP__METRIC__DATA_SUM;
	metric->sum = sum;
}

static void fill_histogram(struct arena *arena, Otlp__Metric *metric,
			   Monad__MetricWrapper *const *series, size_t nr)
{
	Otlp__Histogram *histogram = arena_alloc(arena, sizeof(*histogram));

	if (!histogram)
		return;
	otlp__histogram__init(histogram);
	histogram->aggregation_temporality = OTLP__TEMPORALITY__TEMPORALITY_CUMULATIVE;
	histogram->data_points = arena_pointers(arena, nr);
	for (size_t i = 0; histogram->data_points && i < nr; i++)
		histogram->data_points[histogram->n_data_points++] = histogram_point(arena,
										     series[i]);
	metric->data_case = OTLP__METRIC__DATA_HISTOGRAM;
	metric->histogram = histogram;
}

/* So many series that have the same name. */
static Otlp__Metric *make_metric(struct arena *arena, Monad__MetricWrapper *const *series,
				 size_t nr)
{
	Otlp__Metric *metric = arena_alloc(arena, sizeof(*metric));

	if (!metric)
		return NULL;
	otlp__metric__init(metric);
	metric->name = attributes_utf8(arena, series[0]->name);
	metric->description = attributes_utf8(arena, series[0]->help);
	metric->unit = attributes_utf8(arena, ucum(series[0]->unit));
	switch (series[0]->type) {
	case MONAD__METRIC_TYPE__METRIC_TYPE_COUNTER:
		fill_sum(arena, metric, series, nr);
		break;
	case MONAD__METRIC_TYPE__METRIC_TYPE_HISTOGRAM:
		fill_histogram(arena, metric, series, nr);
		break;
	default:
		fill_gauge(arena, metric, series, nr);
		break;
	}
	return metric;
}

static bool is_same(const Monad__MetricWrapper *a, const Monad__MetricWrapper *b)
{
	return a->type == b->type && !strcmp(a->name, b->name) && !strcmp(a->unit, b->unit);
}

/* Those of one family follow each other. */
static void add_metrics(struct arena *arena, Otlp__ScopeMetrics *scope,
			Monad__MetricWrapper *const *series, size_t nr)
{
	size_t end;

	for (size_t i = 0; i < nr; i = end) {
		for (end = i + 1; end < nr && is_same(series[i], series[end]); end++)
			;
		scope->metrics[scope->n_metrics++] = make_metric(arena, series + i, end - i);
	}
}

uint8_t *otlp_metrics(const Monad__TelemetryBatch *batch, const struct export_sender *sender,
		      size_t *size)
{
	Otlp__ResourceMetrics resource = OTLP__RESOURCE_METRICS__INIT, *resources = &resource;
	Otlp__ScopeMetrics scope = OTLP__SCOPE_METRICS__INIT, *scopes = &scope;
	Otlp__ExportMetrics message = OTLP__EXPORT_METRICS__INIT;
	struct arena arena = {};

	scope.metrics = arena_pointers(&arena, otlp_count_metrics(batch));
	if (scope.metrics) {
		add_metrics(&arena, &scope, batch->metrics, batch->n_metrics);
		for (size_t i = 0; i < batch->n_task_results; i++)
			add_metrics(&arena, &scope, batch->task_results[i]->metric_results,
				    batch->task_results[i]->n_metric_results);
	}
	scope.scope = make_scope(&arena, sender);
	resource.resource = make_resource(&arena, sender);
	resource.scope_metrics = &scopes;
	resource.n_scope_metrics = 1;
	message.resource_metrics = &resources;
	message.n_resource_metrics = 1;
	return pack(&message.base, &arena, size);
}

/*
 * Events
 */

static void fill_severity(Otlp__LogRecord *record, Monad__Severity severity)
{
	switch (severity) {
	case MONAD__SEVERITY__SEVERITY_INFO:
		record->severity_number = LOG_INFO;
		record->severity_text = "INFO";
		break;
	case MONAD__SEVERITY__SEVERITY_WARN:
		record->severity_number = LOG_WARN;
		record->severity_text = "WARN";
		break;
	case MONAD__SEVERITY__SEVERITY_ERROR:
		record->severity_number = LOG_ERROR;
		record->severity_text = "ERROR";
		break;
	case MONAD__SEVERITY__SEVERITY_CRITICAL:
		record->severity_number = LOG_FATAL;
		record->severity_text = "CRITICAL";
		break;
	default:
		break;
	}
}

/* Whatever payload it has: the one of its fields that is a message. */
static void add_payload(struct attributes *attributes, const Monad__EventWrapper *event,
			const struct otlp_reference *references,
			const Monad__Dictionary *dictionary)
{
	const ProtobufCMessageDescriptor *descriptor = event->base.descriptor;

	for (unsigned int i = 0; i < descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &descriptor->fields[i];

		if (field->type != PROTOBUF_C_TYPE_MESSAGE ||
		    !pb_field_count(&event->base, field))
			continue;
		attributes_message(attributes, arena_printf(attributes->arena, "%s.", field->name),
				   *(const ProtobufCMessage *const *)
				   pb_field_value(&event->base, field, 0),
				   references, dictionary);
	}
}

static Otlp__LogRecord *make_record(struct arena *arena, const Monad__TelemetryBatch *batch,
				    const Monad__EventWrapper *event,
				    const struct otlp_reference *references,
				    const Monad__Dictionary *dictionary)
{
	Otlp__LogRecord *record = arena_alloc(arena, sizeof(*record));
	struct attributes attributes;

	if (!record)
		return NULL;
	otlp__log_record__init(record);
	record->time_unix_nano = event->time_ns;
	record->observed_time_unix_nano = batch->time_ns;
	record->event_name = attributes_utf8(arena, event->name);
	record->body = attributes_text_value(arena, event->message);
	fill_severity(record, event->severity);
	attributes_begin(&attributes, arena);
	/* For those who do not know event_name, which came with OTLP 1.5. */
	attributes_text(&attributes, "event.name", event->name);
	if (event->truncated_count)
		attributes_int(&attributes, "truncated_count", (int64_t)event->truncated_count);
	if (*event->task_id)
		attributes_text(&attributes, "task_id", event->task_id);
	add_payload(&attributes, event, references, dictionary);
	record->attributes = attributes.values;
	record->n_attributes = attributes.nr;
	return record;
}

uint8_t *otlp_logs(const Monad__TelemetryBatch *batch, const struct export_sender *sender,
		   const struct otlp_reference *references, size_t *size)
{
	Otlp__ResourceLogs resource = OTLP__RESOURCE_LOGS__INIT, *resources = &resource;
	Otlp__ScopeLogs scope = OTLP__SCOPE_LOGS__INIT, *scopes = &scope;
	Otlp__ExportLogs message = OTLP__EXPORT_LOGS__INIT;
	size_t room = otlp_count_events(batch);
	struct arena arena = {};

	scope.log_records = arena_pointers(&arena, room);
	if (scope.log_records) {
		for (size_t i = 0; i < batch->n_spontaneous_events; i++)
			scope.log_records[scope.n_log_records++] =
				make_record(&arena, batch, batch->spontaneous_events[i],
					    references, batch->dictionary);
		for (size_t i = 0; i < batch->n_task_results; i++) {
			const Monad__TaskResponse *task = batch->task_results[i];

			for (size_t k = 0; k < task->n_trace_results; k++)
				scope.log_records[scope.n_log_records++] =
					make_record(&arena, batch, task->trace_results[k],
						    references, task->dictionary);
		}
	}
	scope.scope = make_scope(&arena, sender);
	resource.resource = make_resource(&arena, sender);
	resource.scope_logs = &scopes;
	resource.n_scope_logs = 1;
	message.resource_logs = &resources;
	message.n_resource_logs = 1;
	return pack(&message.base, &arena, size);
}
