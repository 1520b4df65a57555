// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "human.h"
#include "monad_storage.h"
#include "printable.h"
#include "task_outcomes.h"
#include "task_print.h"

#define DEVICES_SHOWN 5

/* What is not among the events, or not in the sums. */
static const struct {
	enum monad_task_counter counter;
	const char *text;
} causes[] = {
	{ MONAD_TASK_QUICK, "quicker than --min-latency" },
	{ MONAD_TASK_SAMPLED_OUT, "left out by --sample-rate" },
	{ MONAD_TASK_BEYOND_MAX, "beyond --max-events" },
	{ MONAD_TASK_NOT_RECORDED, "not taken by the ring" },
	{ MONAD_TASK_ASYNC, "asynchronous, of unknown latency" },
	{ MONAD_TASK_NESTED, "within another call, and part of it" },
	{ MONAD_TASK_ENDS_UNSEEN, "ends not seen" },
	{ MONAD_TASK_NOT_KEPT, "beginnings not kept: no memory" },
	{ MONAD_TASK_NOT_PAUSED, "checks that did not pause anybody" },
	{ MONAD_TASK_DEVICES_FULL, "in no device's sum: too many devices" },
};

/* What one of the slowest was: of a call or of a block event. */
struct slow_one {
	uint32_t dev;
	const char *op, *comm, *file;
	uint32_t tgid;
	uint64_t seqno, latency_ns;
};

static struct slow_one slow_one(enum task_kind kind, const struct task_event *event)
{
	struct slow_one one = { .latency_ns = task_event_latency(event) };

	if (event->is_call) {
		one.dev = event_dev(&event->desc);
		one.op = task_op_name(kind, event->call.op);
		one.comm = event->call.comm;
		one.file = *event->call.file ? event->call.file : NULL;
		one.tgid = event->call.tgid;
		one.seqno = event->desc.seqno;
	} else {
		one.dev = event_dev(&event->block.desc);
		one.op = op_name(event->block.complete.op);
		one.comm = event->block.complete.comm;
		one.tgid = event->block.complete.tgid;
		one.seqno = event->block.desc.seqno;
	}
	return one;
}

static uint64_t average(const struct monad_task_totals *t)
{
	return t->ops ? t->sum_ns / t->ops : 0;
}

static void print_totals(const char *name, const struct monad_task_totals *t)
{
	char count[HUMAN_LEN], bytes[HUMAN_LEN], avg[HUMAN_LEN], p50[HUMAN_LEN], p99[HUMAN_LEN],
		max[HUMAN_LEN];

	if (!t->ops) {
		printf("  %-14s %10s %6s %8s %8s %8s %8s %8s %8s\n", name, "0", "0", "0", "0", "-",
		       "-", "-", "-");
		return;
	}
	printf("  %-14s %10s %6s %8" PRIu64 " %8" PRIu64 " %8s %8s %8s %8s\n", name,
	       human_count(t->ops, count), human_bytes(t->bytes, bytes), t->errors, t->slow,
	       human_duration(average(t), avg), human_duration(task_percentile(t, 50), p50),
	       human_duration(task_percentile(t, 99), p99), human_duration(t->max_ns, max));
}

static void print_devices(const struct task_results *results)
{
	char name[32], count[HUMAN_LEN], time[HUMAN_LEN];
	const char *title = "Top devices";

	for (size_t i = 0; i < results->nr_devices && i < DEVICES_SHOWN; i++) {
		const struct task_device *device = &results->devices[i];

		printf("%-12s %s: %s operation%s, %s\n", title,
		       task_disk_name(device->dev, name, sizeof(name)),
		       human_count(device->sum.ops, count), device->sum.ops == 1 ? "" : "s",
		       human_duration(device->sum.sum_ns, time));
		title = "";
	}
}

static void print_slow_ones(enum task_kind kind, const char *title, const struct task_event *events,
			    unsigned int nr)
{
	char comm[MONAD_STORAGE_COMM_LEN], file[MONAD_STORAGE_FILE_LEN], disk[32],
		time[HUMAN_LEN];

	for (unsigned int i = 0; i < nr; i++) {
		struct slow_one one = slow_one(kind, &events[i]);

		printf("%-12s %s %s by %s[%u] on %s%s%s\n", title,
		       human_duration(one.latency_ns, time), one.op,
		       printable(comm, sizeof(comm), one.comm), one.tgid,
		       task_disk_name(one.dev, disk, sizeof(disk)), one.file ? ": " : "",
		       one.file ? printable(file, sizeof(file), one.file) : "");
		title = "";
	}
}

static void print_left_out_line(const char **title, uint64_t n, const char *text)
{
	if (!n)
		return;
	printf("%-12s %" PRIu64 " %s\n", *title, n, text);
	*title = "";
}

static void print_left_out(const struct task_results *results)
{
	const char *title = "Left out";

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		print_left_out_line(&title, results->counters.value[causes[i].counter],
				    causes[i].text);
	print_left_out_line(&title, results->missed,
			    "overwritten in the ring before they were read");
	print_left_out_line(&title, results->unsent, "not sent: they were not read in time");
	print_left_out_line(&title, results->recursion_misses, "hits skipped by the kernel");
	print_left_out_line(&title, task_unfinished(results), "begun, and not ended in time");
}

static void print_text(const struct task_options *options, const struct task_results *results)
{
	const struct monad_task_totals all = task_all_ops(results);
	char span[HUMAN_LEN], slow[HUMAN_LEN];

	printf("\n%s, %s, ended by %s; slow is %s and more; %s\n", task_kind_names[options->kind],
	       human_span(results->window_ns, span), results->ended_by,
	       human_duration(options->slow_ns, slow), results->reason);
	printf("  %-14s %10s %6s %8s %8s %8s %8s %8s %8s\n", "OP", "COUNT", "BYTES", "ERRORS",
	       "SLOW", "AVERAGE", "P50", "P99", "MAX");
	for (unsigned int op = 0; op < TASK_OPS; op++) {
		if (results->ops[op].ops)
			print_totals(task_op_name(options->kind, op), &results->ops[op]);
	}
	print_totals("all", &all);
	print_devices(results);
	print_slow_ones(options->kind, "Slowest", results->slowest, results->nr_slowest);
	if (results->nr_slowest && results->shown < all.ops)
		printf("%-12s of the %" PRIu64 " that were printed; MAX is of all\n", "",
		       results->shown);
	print_slow_ones(options->kind, "Not ended", results->unfinished, results->nr_unfinished);
	print_left_out(results);
}

static void json_totals(struct json_writer *json, const struct monad_task_totals *t)
{
	json_u64_field(json, "operations", t->ops);
	json_u64_field(json, "bytes", t->bytes);
	json_u64_field(json, "errors", t->errors);
	json_u64_field(json, "slow", t->slow);
	json_u64_field(json, "average_ns", average(t));
	json_u64_field(json, "p50_ns", task_percentile(t, 50));
	json_u64_field(json, "p90_ns", task_percentile(t, 90));
	json_u64_field(json, "p99_ns", task_percentile(t, 99));
	json_u64_field(json, "max_ns", t->max_ns);
}

static void json_ops(struct json_writer *json, enum task_kind kind,
		     const struct task_results *results)
{
	json_key(json, "ops");
	json_begin_object(json);
	for (unsigned int op = 0; op < TASK_OPS; op++) {
		if (!results->ops[op].ops)
			continue;
		json_key(json, task_op_name(kind, op));
		json_begin_object(json);
		json_totals(json, &results->ops[op]);
		json_end_object(json);
	}
	json_end_object(json);
}

static void json_devices(struct json_writer *json, const struct task_results *results)
{
	char name[32];

	json_key(json, "top_devices");
	json_begin_array(json);
	for (size_t i = 0; i < results->nr_devices && i < DEVICES_SHOWN; i++) {
		const struct task_device *device = &results->devices[i];

		json_begin_object(json);
		json_string_field(json, "disk", task_disk_name(device->dev, name, sizeof(name)));
		json_u64_field(json, "operations", device->sum.ops);
		json_u64_field(json, "bytes", device->sum.bytes);
		json_u64_field(json, "errors", device->sum.errors);
		json_u64_field(json, "total_ns", device->sum.sum_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

static void json_slow_ones(struct json_writer *json, enum task_kind kind, const char *key,
			   const struct task_event *events, unsigned int nr)
{
	char disk[32];

	json_key(json, key);
	json_begin_array(json);
	for (unsigned int i = 0; i < nr; i++) {
		struct slow_one one = slow_one(kind, &events[i]);

		json_begin_object(json);
		if (one.seqno)
			json_u64_field(json, "event", one.seqno);
		json_u64_field(json, "latency_ns", one.latency_ns);
		json_string_field(json, "op", one.op);
		json_string_field(json, "comm", one.comm);
		json_u64_field(json, "pid", one.tgid);
		json_string_field(json, "disk", task_disk_name(one.dev, disk, sizeof(disk)));
		json_string_field(json, "file", one.file);
		json_end_object(json);
	}
	json_end_array(json);
}

static void json_left_out(struct json_writer *json, const struct task_results *results)
{
	json_key(json, "left_out");
	json_begin_object(json);
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		json_u64_field(json, task_outcome_name(causes[i].counter),
			       results->counters.value[causes[i].counter]);
	json_u64_field(json, "missed", results->missed);
	json_u64_field(json, "unsent", results->unsent);
	json_u64_field(json, "recursion_misses", results->recursion_misses);
	json_u64_field(json, "unfinished", task_unfinished(results));
	json_end_object(json);
}

static void print_json(struct json_writer *json, const struct task_options *options,
		       const struct task_results *results)
{
	const struct monad_task_totals all = task_all_ops(results);

	json_begin_object(json);
	json_string_field(json, "type", "summary");
	json_string_field(json, "kind", task_kind_names[options->kind]);
	json_string_field(json, "ended_by", results->ended_by);
	json_string_field(json, "reason", results->reason);
	json_u64_field(json, "began_ns", results->began_ns);
	json_u64_field(json, "window_ns", results->window_ns);
	json_u64_field(json, "slow_ns", options->slow_ns);
	json_u64_field(json, "events", results->shown);
	json_totals(json, &all);
	json_ops(json, options->kind, results);
	json_devices(json, results);
	json_slow_ones(json, options->kind, "slowest", results->slowest, results->nr_slowest);
	json_slow_ones(json, options->kind, "unfinished", results->unfinished,
		       results->nr_unfinished);
	json_left_out(json, results);
	json_end_object(json);
	json_end(json);
}

void task_print_summary(struct json_writer *json, const struct task_options *options,
			const struct task_results *results)
{
	if (json)
		print_json(json, options, results);
	else
		print_text(options, results);
}
