// SPDX-License-Identifier: GPL-2.0
/* OTLP: what is posted, and what is made of the answers. */
#include <limits.h>
#include <signal.h>

#include "export_batches.h"
#include "otlp/otlp.pb-c.h"
#include "otlp_exporter.h"
#include "otlp_server.h"

static const struct export_sender sender = {
	.agent = "test", .version = "1.2", .host = "here", .boot_id = "none",
};

static char url[64];
static char why[512];

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

static struct exporter *must_open(const struct otlp_options *options)
{
	struct exporter *exporter = otlp_exporter(url, &sender, options, why, sizeof(why));

	if (!exporter)
		bail_out("%s: %s", url, why);
	return exporter;
}

static enum export_result send_batch(struct exporter *exporter, Monad__TelemetryBatch *batch)
{
	*why = '\0';
	exporter->retry_after_ns = 0;
	exporter->rejected_metrics = 0;
	exporter->rejected_events = 0;
	return exporter->send(exporter, batch, why, sizeof(why));
}

static enum export_result send_one(struct exporter *exporter, uint64_t sequence,
				   unsigned int metrics, unsigned int events)
{
	Monad__TelemetryBatch *batch = make_batch(sequence, metrics, events);
	enum export_result result = send_batch(exporter, batch);

	monad__telemetry_batch__free_unpacked(batch, NULL);
	return result;
}

/*
 * What is posted
 */

static const Otlp__AnyValue *find(Otlp__KeyValue *const *values, size_t nr, const char *key)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(values[i]->key, key))
			return values[i]->value;
	}
	return NULL;
}

static const char *text_of(Otlp__KeyValue *const *values, size_t nr, const char *key)
{
	const Otlp__AnyValue *value = find(values, nr, key);

	return value && value->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE ?
		value->string_value : NULL;
}

static int64_t int_of(Otlp__KeyValue *const *values, size_t nr, const char *key)
{
	const Otlp__AnyValue *value = find(values, nr, key);

	return value && value->value_case == OTLP__ANY_VALUE__VALUE_INT_VALUE ?
		value->int_value : -1;
}

/* All types, several of one name. */
static Monad__TelemetryBatch *make_metrics(void)
{
	Monad__TelemetryBatch *batch = make_batch(1, 0, 0);
	Monad__MetricWrapper *metric;
	Monad__Histogram *histogram = must(malloc(sizeof(*histogram)));

	for (int i = 0; i < 3; i++) {
		metric = add_metric(batch, "monad_test_io_bytes", "bytes",
				    MONAD__METRIC_TYPE__METRIC_TYPE_COUNTER,
				    (double)((1ULL << 53) - 1 - i));
		add_label(metric, "device", i ? "sdb" : "sd\xff");
		add_label(metric, "operation", i == 1 ? "read" : "write");
	}
	metric = add_metric(batch, "monad_test_fill_ratio", "ratio",
			    MONAD__METRIC_TYPE__METRIC_TYPE_GAUGE, 0.25);
	metric = add_metric(batch, "monad_test_seconds", "seconds",
			    MONAD__METRIC_TYPE__METRIC_TYPE_COUNTER, 7);
	metric = add_metric(batch, "monad_test_latency_seconds", "seconds",
			    MONAD__METRIC_TYPE__METRIC_TYPE_HISTOGRAM, 0);
	monad__histogram__init(histogram);
	metric->histogram = histogram;
	histogram->n_bounds = 2;
	histogram->bounds = must(calloc(2, sizeof(double)));
	histogram->bounds[0] = 0.001;
	histogram->bounds[1] = 0.002;
	histogram->n_buckets = 3;
	histogram->buckets = must(calloc(3, sizeof(uint64_t)));
	histogram->buckets[2] = 5;
	histogram->count = 5;
	return batch;
}

static void check_sums(const Otlp__ScopeMetrics *scope)
{
	const Otlp__Metric *m = scope->metrics[0];
	const Otlp__NumberPoint *p;

	eq_str(m->name, "monad_test_io_bytes", "a counter");
	eq_str(m->unit, "By", "in UCUM's unit");
	ok(m->data_case == OTLP__METRIC__DATA_SUM && m->sum->is_monotonic, "is a monotonic sum");
	eq_int(m->sum->aggregation_temporality, 2, "and cumulative");
	eq_u64(m->sum->n_data_points, 3, "with all its series");
	p = m->sum->data_points[0];
	eq_u64(p->start_time_unix_nano, BATCH_NOW - 60000000000ULL, "since its start");
	eq_u64(p->time_unix_nano, BATCH_NOW, "as of its time");
	ok(p->value_case == OTLP__NUMBER_POINT__VALUE_AS_INT && p->as_int == (1LL << 53) - 1,
	   "exact to its last bit");
	eq_str(text_of(p->attributes, p->n_attributes, "device"), "sd?", "labels are UTF-8");
	p = m->sum->data_points[1];
	eq_str(text_of(p->attributes, p->n_attributes, "operation"), "read", "and of their series");
	m = scope->metrics[2];
	p = m->sum->data_points[0];
	ok(p->value_case == OTLP__NUMBER_POINT__VALUE_AS_DOUBLE, "a time is a double, also 7");
	eq_str(m->unit, "s", "of seconds");
}

static void check_others(const Otlp__ScopeMetrics *scope)
{
	const Otlp__Metric *m = scope->metrics[1];
	const Otlp__HistogramPoint *p;

	ok(m->data_case == OTLP__METRIC__DATA_GAUGE, "a gauge");
	eq_str(m->unit, "1", "a ratio's unit is 1");
	ok(m->gauge->data_points[0]->as_double > 0.24, "has its value");
	eq_u64(m->gauge->data_points[0]->start_time_unix_nano, 0, "and no start");
	m = scope->metrics[3];
	ok(m->data_case == OTLP__METRIC__DATA_HISTOGRAM, "a histogram");
	eq_int(m->histogram->aggregation_temporality, 2, "is cumulative");
	p = m->histogram->data_points[0];
	ok(p->n_explicit_bounds == 2 && p->n_bucket_counts == 3, "has a bucket more than bounds");
	ok(!p->bucket_counts[0] && p->bucket_counts[2] == 5 && p->count == 5, "its counts");
	ok(p->has_sum_case == OTLP__HISTOGRAM_POINT__HAS_SUM_SUM && p->sum == 0,
	   "and a sum, which is 0");
}

static void test_metrics(void)
{
	Monad__TelemetryBatch *batch = make_metrics();
	struct exporter *exporter = must_open(NULL);
	const Otlp__Resource *resource;
	Otlp__ExportMetrics *got;

	server_says(OK);
	eq_int(send_batch(exporter, batch), EXPORT_SENT, "metrics%s", why);
	eq_u64(server.nr, 1, "are one request");
	ok(!strncmp(server.requests[0].head, "POST /v1/metrics HTTP/1.1\r\n", 27), "to their path");
	ok(strstr(server.requests[0].head, "Content-Type: application/x-protobuf\r\n"), "its type");
	ok(strstr(server.requests[0].head, "User-Agent: test/1.2\r\n"), "who it is");
	ok(!strstr(server.requests[0].head, "Expect:"), "and nothing to ask first");
	got = otlp__export_metrics__unpack(NULL, server.requests[0].size, server.requests[0].body);
	if (!got)
		bail_out("that is no message");
	resource = got->resource_metrics[0]->resource;
	eq_str(text_of(resource->attributes, resource->n_attributes, "service.name"), "test",
	       "service.name");
	eq_str(text_of(resource->attributes, resource->n_attributes, "host.name"), "here",
	       "host.name");
	eq_u64(got->resource_metrics[0]->scope_metrics[0]->n_metrics, 4, "four metrics");
	check_sums(got->resource_metrics[0]->scope_metrics[0]);
	check_others(got->resource_metrics[0]->scope_metrics[0]);
	otlp__export_metrics__free_unpacked(got, NULL);
	monad__telemetry_batch__free_unpacked(batch, NULL);
	exporter->close(exporter);
}

static void set_text(Monad__Dictionary *dictionary, size_t i, uint32_t id, const char *text)
{
	Monad__String *string = must(malloc(sizeof(*string)));

	monad__string__init(string);
	string->id = id;
	string->text = must(strdup(text));
	dictionary->strings[i] = string;
}

static Monad__Dictionary *make_dictionary(void)
{
	Monad__Dictionary *dictionary = must(malloc(sizeof(*dictionary)));
	Monad__Stack *stack = must(malloc(sizeof(*stack)));

	monad__dictionary__init(dictionary);
	dictionary->n_strings = 3;
	dictionary->strings = must(calloc(3, sizeof(void *)));
	set_text(dictionary, 0, 7, "/system.slice/db.service");
	set_text(dictionary, 1, 8, "vfs_read");
	set_text(dictionary, 2, 9, "libc.so.6");
	dictionary->n_stacks = 1;
	dictionary->stacks = must(calloc(1, sizeof(void *)));
	dictionary->stacks[0] = stack;
	monad__stack__init(stack);
	stack->id = 4;
	stack->n_frames = 2;
	stack->frames = must(calloc(2, sizeof(void *)));
	for (int i = 0; i < 2; i++) {
		stack->frames[i] = must(malloc(sizeof(Monad__Frame)));
		monad__frame__init(stack->frames[i]);
		stack->frames[i]->address = 0xabc;
		stack->frames[i]->offset = 16;
		stack->frames[i]->symbol = i ? 0 : 8;
		stack->frames[i]->module = i ? 9 : 0;
	}
	return dictionary;
}

static Monad__TelemetryBatch *make_events(void)
{
	Monad__TelemetryBatch *batch = make_batch(1, 0, 0);
	Monad__EventWrapper *event = add_event(batch, "io_error",
					       MONAD__SEVERITY__SEVERITY_CRITICAL, "sda: failed");
	Monad__StorageEvent *storage = must(malloc(sizeof(*storage)));

	event->truncated_count = 12;
	event->payload_case = MONAD__EVENT_WRAPPER__PAYLOAD_STORAGE;
	event->storage = storage;
	monad__storage_event__init(storage);
	storage->layer = MONAD__STORAGE_LAYER__STORAGE_LAYER_BLOCK;
	storage->error = 61;
	storage->stack = 4;
	storage->sector = UINT64_MAX;
	storage->device = must(malloc(sizeof(*storage->device)));
	monad__storage_device__init(storage->device);
	storage->device->name = must(strdup("sda"));
	storage->actor = must(malloc(sizeof(*storage->actor)));
	monad__storage_actor__init(storage->actor);
	storage->actor->pid = 77;
	storage->actor->cgroup = 7;
	storage->n_victims = 1;
	storage->victims = must(calloc(1, sizeof(void *)));
	storage->victims[0] = must(malloc(sizeof(Monad__StorageActor)));
	monad__storage_actor__init(storage->victims[0]);
	storage->victims[0]->cgroup = 99;
	add_event(batch, "odd", 42, "a severity from later");
	batch->dictionary = make_dictionary();
	return batch;
}

static void check_record(const Otlp__LogRecord *r)
{
	Otlp__KeyValue *const *a = r->attributes;
	const Otlp__AnyValue *value;
	size_t n = r->n_attributes;

	eq_u64(r->time_unix_nano, BATCH_NOW - 5, "an event has its time");
	eq_int(r->severity_number, 21, "what is critical is fatal to OTLP");
	eq_str(r->severity_text, "CRITICAL", "but keeps its name");
	eq_str(r->body->string_value, "sda: failed", "the body is what people read");
	eq_str(r->event_name, "io_error", "its kind is its name");
	eq_int((int)int_of(a, n, "truncated_count"), 12, "others of the kind");
	eq_str(text_of(a, n, "storage.device.name"), "sda", "what is in a message in it");
	eq_str(text_of(a, n, "storage.layer"), "block", "an enum in short");
	eq_int((int)int_of(a, n, "storage.error"), 61, "a number");
	eq_str(text_of(a, n, "storage.sector"), "18446744073709551615", "one that is too large");
	eq_str(text_of(a, n, "storage.actor.cgroup"), "/system.slice/db.service",
	       "an identifier is what it stands for");
	value = find(a, n, "storage.stack");
	ok(value && value->value_case == OTLP__ANY_VALUE__VALUE_ARRAY_VALUE &&
	   value->array_value->n_values == 2, "a stack is a list");
	eq_str(value->array_value->values[0]->string_value, "vfs_read+0x10", "of functions");
	eq_str(value->array_value->values[1]->string_value, "0xabc [libc.so.6]", "or addresses");
	value = find(a, n, "storage.victims");
	ok(value && value->array_value->n_values == 1, "victims are a list");
	value = value->array_value->values[0];
	eq_int((int)int_of(value->kvlist_value->values, value->kvlist_value->n_values, "cgroup"),
	       99, "one that is in no dictionary stays a number");
	ok(!find(a, n, "storage.bytes"), "what is not known is left out");
}

static void test_events(void)
{
	static const struct otlp_reference references[] = {
		{ "monad.StorageActor", "cgroup", false },
		{ "monad.StorageEvent", "stack", true },
		{}
	};
	const struct otlp_options options = { .references = references };
	struct exporter *exporter = must_open(&options);
	Monad__TelemetryBatch *batch = make_events();
	Otlp__ExportLogs *got;

	server_says(OK);
	eq_int(send_batch(exporter, batch), EXPORT_SENT, "events%s", why);
	eq_u64(server.nr, 1, "are one request");
	ok(!strncmp(server.requests[0].head, "POST /v1/logs HTTP/1.1\r\n", 24), "to their path");
	got = otlp__export_logs__unpack(NULL, server.requests[0].size, server.requests[0].body);
	if (!got)
		bail_out("that is no message");
	eq_u64(got->resource_logs[0]->scope_logs[0]->n_log_records, 2, "all of them");
	check_record(got->resource_logs[0]->scope_logs[0]->log_records[0]);
	eq_int(got->resource_logs[0]->scope_logs[0]->log_records[1]->severity_number, 0,
	       "a severity that is not known is none");
	otlp__export_logs__free_unpacked(got, NULL);
	monad__telemetry_batch__free_unpacked(batch, NULL);
	eq_int(send_one(exporter, 2, 3, 2), EXPORT_SENT, "both");
	eq_u64(server.nr, 3, "are two requests");
	eq_int(send_one(exporter, 3, 0, 0), EXPORT_SENT, "neither");
	eq_u64(server.nr, 3, "is none");
	exporter->close(exporter);
}

static void test_compression(void)
{
	const struct otlp_options plain = { .plain = true };
	const struct request *r = server.requests;
	struct exporter *exporter = must_open(NULL);

	server_says(OK);
	eq_int(send_one(exporter, 1, 300, 0), EXPORT_SENT, "many metrics%s", why);
	ok(strstr(r[0].head, "\r\nContent-Encoding: gzip\r\n"), "are compressed");
	ok(r[0].sent < r[0].size / 10, "to %zu bytes of %zu", r[0].sent, r[0].size);
	exporter->close(exporter);
	exporter = must_open(&plain);
	eq_int(send_one(exporter, 1, 300, 0), EXPORT_SENT, "or not%s", why);
	ok(!strstr(r[1].head, "Content-Encoding"), "which it does not say they were");
	ok(r[1].size == r[0].size && r[1].sent == r[1].size &&
	   !memcmp(r[0].body, r[1].body, r[1].size), "and are the same");
	server_says("HTTP/1.1 415 Unsupported Media Type\r\nContent-Length: 0\r\n\r\n");
	eq_int(send_one(exporter, 2, 1, 0), EXPORT_REFUSED, "a type that it does not take");
	ok(!strstr(why, "gzip"), "not for being compressed: %s", why);
	exporter->close(exporter);
	exporter = must_open(NULL);
	eq_int(send_one(exporter, 2, 1, 0), EXPORT_REFUSED, "one that may be");
	ok(strstr(why, "415 (does it take gzip? If not: --otlp-compression=none)"),
	   "says what to do: %s", why);
	server_says(OK);
	server_then("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
	eq_int(send_one(exporter, 3, 1, 1), EXPORT_SENT, "where metrics were taken");
	ok(!strstr(why, "gzip") && strstr(why, "/v1/logs: status 400 (it may take metrics only"),
	   "it is the logs that are not: %s", why);
	exporter->close(exporter);
}

/*
 * What is answered
 */

static void test_statuses(void)
{
	static const struct {
		const char *answer;
		enum export_result result;
		const char *why;
	} cases[] = {
		{ "200 OK\r\nContent-Length: 0", EXPORT_SENT, "" },
		{ "202 Accepted\r\nContent-Length: 0", EXPORT_SENT, "" },
		{ "204 No Content", EXPORT_SENT, "" },
		{ "200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
		  EXPORT_SENT, "" },
		{ "429 Too Many\r\nContent-Length: 0", EXPORT_AGAIN, "busy, status 429" },
		{ "502 Bad\r\nContent-Length: 0", EXPORT_AGAIN, "502" },
		{ "503 Busy\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n"
		  "later\x1b[m\r\n", EXPORT_AGAIN, "503: later?[m" },
		{ "504 Late\r\nContent-Length: 0", EXPORT_AGAIN, "504" },
		{ "400 Bad\r\nContent-Type: application/x-protobuf\r\nContent-Length: 5\r\n\r\n"
		  "\x12\x03why", EXPORT_REFUSED, "status 400: why" },
		{ "401 No\r\nContent-Length: 0", EXPORT_REFUSED, "--otlp-header" },
		{ "404 None\r\nContent-Length: 0", EXPORT_REFUSED, "is that where it takes OTLP" },
		{ "500 Bug\r\nContent-Length: 0", EXPORT_REFUSED, "500" },
		{ "301 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0", EXPORT_REFUSED,
		  "elsewhere" },
		{ "200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n<htm>",
		  EXPORT_REFUSED, "no receiver of OTLP" },
		{ "200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 3\r\n\r\n"
		  "\xff\xff\xff", EXPORT_SENT, "garbage" },
		{ "200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nshort", EXPORT_AGAIN,
		  "" },
		{ "999999 What", EXPORT_AGAIN, "" },
		{ "\x01\x02\x03\x04", EXPORT_AGAIN, "" },
	};
	struct exporter *exporter = must_open(NULL);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum export_result result;
		char answer[1024];

		snprintf(answer, sizeof(answer), "HTTP/1.1 %s", cases[i].answer);
		if (!strstr(answer, "\r\n\r\n"))
			strcat(answer, "\r\n\r\n");
		if (cases[i].answer[0] == '\x01')
			snprintf(answer, sizeof(answer), "garbage, Connection: close\n\n\n");
		server_says("CLOSE");
		send_one(exporter, 1000 + i, 1, 0);
		server_says(answer);
		result = send_one(exporter, i + 1, 1, 0);
		eq_int(result, cases[i].result, "%.*s: %s", (int)strcspn(answer, "\r,"), answer,
		       why);
		ok(strstr(why, cases[i].why), "says so");
	}
	exporter->close(exporter);
}

static void test_retry_after(void)
{
	struct exporter *exporter = must_open(NULL);

	server_says("HTTP/1.1 429 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
	eq_int(send_one(exporter, 1, 1, 0), EXPORT_AGAIN, "one that is busy");
	eq_u64(exporter->retry_after_ns, 7000000000, "and says for how long");
	server_says("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
	send_one(exporter, 1, 1, 0);
	eq_u64(exporter->retry_after_ns, 0, "or not");
	server_says("HTTP/1.1 503 Busy\r\nRetry-After: 99999999999999999999\r\n"
		    "Content-Length: 0\r\n\r\n");
	send_one(exporter, 1, 1, 0);
	ok(exporter->retry_after_ns <= 86400000000000, "for ever is a day");
	exporter->close(exporter);
}

/* The one that is done is not done again. */
static void test_halves(void)
{
	struct exporter *exporter = must_open(NULL);

	server_says(OK);
	server_then("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
	server_then(OK);
	eq_int(send_one(exporter, 1, 2, 3), EXPORT_AGAIN, "metrics are taken, events not: %s", why);
	eq_int(send_one(exporter, 1, 2, 3), EXPORT_SENT, "the next time they are");
	eq_u64(server.nr, 3, "in three requests");
	ok(strstr(server.requests[2].head, "/v1/logs"), "the last of them for the events");

	server_says(OK);
	server_then("HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n");
	eq_int(send_one(exporter, 2, 2, 3), EXPORT_SENT, "one that takes metrics only: %s", why);
	ok(strstr(why, "--events=off"), "what to do about it");
	eq_u64(exporter->rejected_events, 3, "the events are counted");
	eq_u64(exporter->rejected_metrics, 0, "and no metrics");
	server_says("HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n");
	eq_int(send_one(exporter, 3, 2, 3), EXPORT_REFUSED, "one that takes neither");
	eq_u64(exporter->rejected_events + exporter->rejected_metrics, 0,
	       "which is all of the batch");
	exporter->close(exporter);
}

static void test_partial(void)
{
	static const char partial[] =
		"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 9\r\n\r\n"
		"\x0a\x07\x08\x02\x12\x03odd";
	static const char note[] =
		"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 7\r\n\r\n"
		"\x0a\x05\x12\x03odd";
	struct exporter *exporter = must_open(NULL);

	server_says(partial);
	eq_int(send_one(exporter, 1, 5, 0), EXPORT_SENT, "two of five are not taken: %s", why);
	eq_u64(exporter->rejected_metrics, 2, "they are counted");
	ok(strstr(why, "2 of 5: odd"), "with the reason");
	eq_int(send_one(exporter, 2, 1, 0), EXPORT_SENT, "two of one");
	eq_u64(exporter->rejected_metrics, 1, "is one");
	server_says(note);
	eq_int(send_one(exporter, 3, 5, 0), EXPORT_SENT, "a note: %s", why);
	eq_u64(exporter->rejected_metrics, 0, "is no loss");
	exporter->close(exporter);
}

static void test_time(void)
{
	const struct otlp_options options = { .timeout_ns = 500000000 };
	struct exporter *exporter = must_open(&options);
	uint64_t began = monotonic_ns();

	server_says("STALL");
	eq_int(send_one(exporter, 1, 1, 0), EXPORT_AGAIN, "one that does not answer: %s", why);
	ok(monotonic_ns() - began >= 500000000 && monotonic_ns() - began < 5000000000,
	   "is given its time");
	server_says("CLOSE");
	eq_int(send_one(exporter, 1, 1, 0), EXPORT_AGAIN, "one that goes away: %s", why);
	server_says(OK);
	eq_int(send_one(exporter, 1, 1, 0), EXPORT_SENT, "and comes again");
	exporter->close(exporter);

	exporter = must_open(NULL);
	server_says("STALL");
	began = monotonic_ns();
	atomic_store(&exporter->give_up_ns, began + 300000000);
	eq_int(send_one(exporter, 1, 1, 0), EXPORT_AGAIN, "it is to end: %s", why);
	ok(monotonic_ns() - began < 5000000000, "and does");
	exporter->close(exporter);
}

static void test_headers(void)
{
	char path[] = "/tmp/monad-otlp-token-XXXXXX", at[64];
	const char *headers[] = { "X-Scope: a: b", at, NULL };
	const struct otlp_options options = { .headers = headers };
	int fd = mkstemp(path);
	struct exporter *exporter;

	snprintf(at, sizeof(at), "@%s", path);
	dprintf(fd, "# comment\n\nAuthorization: Bearer one\r\n");
	exporter = must_open(&options);
	server_says(OK);
	send_one(exporter, 1, 1, 0);
	ok(strstr(server.requests[0].head, "X-Scope: a: b\r\n"), "a header");
	ok(strstr(server.requests[0].head, "Authorization: Bearer one\r\n"), "one from a file");
	if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
		diag("the file stays");
	dprintf(fd, "Authorization: Bearer two\n");
	send_one(exporter, 2, 1, 0);
	ok(strstr(server.requests[1].head, "Authorization: Bearer two\r\n"), "which may change");
	unlink(path);
	eq_int(send_one(exporter, 3, 1, 0), EXPORT_AGAIN, "or be gone: %s", why);
	exporter->close(exporter);
	close(fd);
	ok(!otlp_exporter(url, &sender, &options, why, sizeof(why)), "from the beginning: %s", why);
	headers[1] = NULL;
	for (int i = 0; i < 5; i++) {
		static const char *const wrong[] = {
			"none", ": x", "X:", "X: a\r\nY: b", "X Y: z"
		};

		headers[0] = wrong[i];
		ok(!otlp_exporter(url, &sender, &options, why, sizeof(why)), "%s", why);
		ok(!i || !strstr(why, wrong[i]), "nobody is shown a token");
	}
}

static void test_urls(void)
{
	static const struct {
		const char *url;
		const char *target; /* NULL: refused */
	} cases[] = {
		{ "http://x:4318", "http://x:4318/" },
		{ "https://me:secret@x/otlp", "https://me@x/otlp" },
		{ "ftp://x", NULL }, { "x:4318", NULL }, { "", NULL }, { "http://", NULL },
		{ "http://x/?a=b", NULL }, { "file:///etc/passwd", NULL },
	};
	struct exporter *exporter;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		exporter = otlp_exporter(cases[i].url, &sender, NULL, why, sizeof(why));
		if (cases[i].target && exporter)
			eq_str(exporter->target, cases[i].target, "%s", cases[i].url);
		else if (cases[i].target)
			ok(false, "%s: %s", cases[i].url, why);
		else
			ok(!exporter, "'%s': %s", cases[i].url, why);
		if (exporter)
			exporter->close(exporter);
	}
	snprintf(url + strlen(url), 20, "/a/b//");
	exporter = must_open(NULL);
	server_says(OK);
	send_one(exporter, 1, 1, 0);
	ok(strstr(server.requests[0].head, "POST /a/b/v1/metrics "), "a path is gone on with");
	exporter->close(exporter);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	unsetenv("http_proxy");
	server_start();
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", server.port);
	test_metrics();
	test_events();
	test_compression();
	test_statuses();
	test_retry_after();
	test_halves();
	test_partial();
	test_time();
	test_headers();
	test_urls();
	server_stop();
	return done_testing();
}
