// SPDX-License-Identifier: GPL-2.0
/* What a task says, made into messages. */
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "metrics.h"
#include "monad_storage.h"
#include "task_message.h"
#include "task_outcomes.h"

/* Those that took most time. */
#define DEVICES_SENT 64

/*
 * Events
 */

static struct raw_event raw_event(const struct task_event *event)
{
	struct raw_event raw = {};

	if (event->is_call) {
		raw.time_ns = event->desc.record_epoch_nanos;
		raw.seqno = event->desc.seqno;
		raw.type = event->desc.event_type;
		raw.call = event->call;
	} else {
		raw.time_ns = event->block.desc.record_epoch_nanos;
		raw.seqno = event->block.desc.seqno;
		raw.type = event->block.desc.event_type;
		raw.complete = event->block.complete;
	}
	return raw;
}

/* What nobody else wants to know. */
static void add_details(Monad__StorageEvent *to, const struct task_event *event,
			const struct raw_event *raw)
{
	to->type = xstrdup(event_type_name(raw->type));
	if (event->is_call) {
		to->cpu = event->call.cpu;
		return;
	}
	to->cpu = event->block.complete.cpu;
	to->issue_cpu = event->block.complete.issue_cpu;
	to->requeues_unissued = event->block.complete.requeues_unissued;
	to->start_seqno = event->block.desc.content_ext[MONAD_STORAGE_TAG_START];
}

Monad__EventWrapper *task_event_encode(const struct transform_sources *sources,
				       const struct task_options *options,
				       const struct task_event *event, const char *task_id,
				       Monad__Dictionary *dictionary)
{
	struct raw_event raw = raw_event(event);
	Monad__EventWrapper *wrapper;

	wrapper = transform_task_event(sources, &raw, task_id, options->slow_ns, dictionary);
	if (wrapper && wrapper->payload_case == MONAD__EVENT_WRAPPER__PAYLOAD_STORAGE)
		add_details(wrapper->storage, event, &raw);
	return wrapper;
}

/*
 * Results
 */

/* So many pointers, NULL. */
static void *pointers(size_t n)
{
	return xcalloc(n, sizeof(void *));
}

static Monad__StorageDevice *device(uint32_t dev)
{
	Monad__StorageDevice *to = xcalloc(1, sizeof(*to));
	char name[32];

	monad__storage_device__init(to);
	to->major = dev >> 20;
	to->minor = dev & 0xfffff;
	to->name = xstrdup(dev ? (disk_name(dev, name, sizeof(name)), name) : "");
	return to;
}

static Monad__StorageOperation *operation(const struct task_options *options, unsigned int op,
					  const struct monad_task_totals *from)
{
	Monad__StorageOperation *to = xcalloc(1, sizeof(*to));

	monad__storage_operation__init(to);
	to->operation = xstrdup(task_op_name(options->kind, op));
	to->count = from->ops;
	to->bytes = from->bytes;
	to->errors = from->errors;
	to->slow = from->slow;
	to->total_ns = from->sum_ns;
	to->max_ns = from->max_ns;
	to->p50_ns = task_percentile(from, 50);
	to->p99_ns = task_percentile(from, 99);
	return to;
}

static Monad__StorageDeviceTotals *device_totals(const struct task_device *from)
{
	Monad__StorageDeviceTotals *to = xcalloc(1, sizeof(*to));

	monad__storage_device_totals__init(to);
	to->device = device(from->dev);
	to->count = from->sum.ops;
	to->bytes = from->sum.bytes;
	to->errors = from->sum.errors;
	to->total_ns = from->sum.sum_ns;
	return to;
}

static bool is_read(const struct task_options *options, unsigned int op)
{
	return options->kind == TASK_BLOCK ? op == MONAD_STORAGE_OP_READ :
					     op == MONAD_STORAGE_CALL_READ;
}

static bool is_write(const struct task_options *options, unsigned int op)
{
	return options->kind == TASK_BLOCK ? op == MONAD_STORAGE_OP_WRITE :
					     op == MONAD_STORAGE_CALL_WRITE;
}

static void add_operations(const struct task_options *options, const struct task_results *results,
			   Monad__StorageSummary *to)
{
	uint64_t most = 0;

	to->operations = pointers(TASK_OPS);
	for (unsigned int op = 0; op < TASK_OPS; op++) {
		const struct monad_task_totals *from = &results->ops[op];

		if (!from->ops)
			continue;
		to->operations[to->n_operations++] = operation(options, op, from);
		to->slow += from->slow;
		to->errors += from->errors;
		if (is_read(options, op)) {
			to->read_ops = from->ops;
			to->read_bytes = from->bytes;
		} else if (is_write(options, op)) {
			to->write_ops = from->ops;
			to->write_bytes = from->bytes;
		}
		if (from->sum_ns >= most) {
			most = from->sum_ns;
			free(to->top_operation == protobuf_c_empty_string ? NULL :
									    to->top_operation);
			to->top_operation = xstrdup(task_op_name(options->kind, op));
		}
	}
}

static void add_devices(const struct task_results *results, Monad__StorageSummary *to)
{
	size_t n = results->nr_devices < DEVICES_SENT ? results->nr_devices : DEVICES_SENT;

	to->devices = pointers(n + 1);
	for (size_t i = 0; i < n; i++)
		to->devices[to->n_devices++] = device_totals(&results->devices[i]);
	if (n)
		to->top_device = xstrdup(to->devices[0]->device->name);
}

static Monad__StorageEvent *unfinished_call(const struct task_options *options,
					    const struct task_event *event)
{
	const struct monad_storage_call *call = &event->call;
	Monad__StorageEvent *to = xcalloc(1, sizeof(*to));
	Monad__StorageActor *actor = xcalloc(1, sizeof(*actor));

	monad__storage_event__init(to);
	monad__storage_actor__init(actor);
	to->operation = xstrdup(task_op_name(options->kind, call->op));
	to->device = device(event_dev(&event->desc));
	to->latency_ns = call->latency_ns;
	to->has_latency = true;
	to->inode = call->inode;
	to->filesystem = xstrdup(call->fs);
	to->file = xstrdup(call->file);
	to->actor = actor;
	actor->pid = call->pid;
	actor->tgid = call->tgid;
	actor->comm = xstrdup(call->comm);
	actor->kernel_thread = !!(call->flags & MONAD_STORAGE_F_KTHREAD);
	return to;
}

static void add_unfinished(const struct task_options *options, const struct task_results *results,
			   Monad__StorageSummary *to)
{
	to->unfinished_calls = pointers(results->nr_unfinished + 1);
	for (unsigned int i = 0; i < results->nr_unfinished; i++)
		to->unfinished_calls[to->n_unfinished_calls++] =
			unfinished_call(options, &results->unfinished[i]);
}

/* What matched perhaps, and is not in the sums. */
static uint64_t lost(const struct task_options *options, const struct task_results *results)
{
	const uint64_t *counter = results->counters.value;

	if (options->kind == TASK_BLOCK)
		return results->missed + counter[MONAD_TASK_NOT_RECORDED];
	return counter[MONAD_TASK_NOT_KEPT] + counter[MONAD_TASK_ENDS_UNSEEN] +
	       results->recursion_misses;
}

uint64_t task_truncated(const struct task_options *options, const struct task_results *results)
{
	const uint64_t *counter = results->counters.value;
	uint64_t n = counter[MONAD_TASK_SAMPLED_OUT] + counter[MONAD_TASK_BEYOND_MAX];

	n += results->unsent;
	/* Of the ring that others write to as well it is not known what of it matched. */
	return options->kind == TASK_BLOCK ? n :
	       n + counter[MONAD_TASK_NOT_RECORDED] + results->missed;
}

static Monad__StorageSummary *summary(const struct task_options *options,
				      const struct task_results *results)
{
	Monad__StorageSummary *to = xcalloc(1, sizeof(*to));

	monad__storage_summary__init(to);
	to->began_ns = results->began_ns;
	to->window_ns = results->window_ns;
	to->ended_by = xstrdup(results->ended_by);
	to->reason_class = xstrdup(results->reason);
	to->slow_ns = options->slow_ns;
	to->unfinished = task_unfinished(results);
	to->lost = lost(options, results);
	to->events = results->shown - results->unsent;
	add_operations(options, results, to);
	add_devices(results, to);
	add_unfinished(options, results, to);
	return to;
}

static Monad__MetricWrapper *new_metric(const struct task_results *results, const char *task_id,
					const char *name, const char *help)
{
	Monad__MetricWrapper *metric = xcalloc(1, sizeof(*metric));

	monad__metric_wrapper__init(metric);
	metric->name = xstrdup(name);
	metric->help = xstrdup(help);
	metric->task_id = xstrdup(task_id);
	metric->type = MONAD__METRIC_TYPE__METRIC_TYPE_COUNTER;
	metric->start_ns = results->began_ns;
	metric->time_ns = results->began_ns + results->window_ns;
	metric->window_ns = results->window_ns;
	return metric;
}

static void set_value(Monad__MetricWrapper *metric, uint64_t value)
{
	metric->value = (double)value;
	metric->delta = (double)value;
}

static void add_label(Monad__MetricWrapper *metric, const char *name, const char *value)
{
	Monad__Label *label = xcalloc(1, sizeof(*label));

	monad__label__init(label);
	label->name = xstrdup(name);
	label->value = xstrdup(value);
	metric->labels = pointers(1);
	metric->labels[0] = label;
	metric->n_labels = 1;
}

static Monad__Histogram *histogram(const struct monad_task_totals *from)
{
	Monad__Histogram *to = xcalloc(1, sizeof(*to));

	monad__histogram__init(to);
	to->n_buckets = MONAD_STORAGE_BUCKETS;
	to->buckets = xcalloc(to->n_buckets, sizeof(*to->buckets));
	to->n_bounds = to->n_buckets - 1;
	to->bounds = xcalloc(to->n_bounds, sizeof(*to->bounds));
	for (unsigned int i = 0; i < MONAD_STORAGE_BUCKETS; i++) {
		to->buckets[i] = from->bucket[i];
		to->count += from->bucket[i];
		if (i < to->n_bounds)
			to->bounds[i] = (double)metrics_bucket_end(i) / 1e9;
	}
	to->sum = (double)from->sum_ns / 1e9;
	return to;
}

static void add_metric(Monad__TaskResponse *response, Monad__MetricWrapper *metric)
{
	response->metric_results = xrealloc(response->metric_results,
					    (response->n_metric_results + 1) * sizeof(void *));
	response->metric_results[response->n_metric_results++] = metric;
}

static void add_outcomes(const struct task_results *results, Monad__TaskResponse *response)
{
	for (unsigned int i = 0; i < TASK_OUTCOMES; i++) {
		uint64_t value = *task_outcome((struct task_results *)results, i);
		Monad__MetricWrapper *metric;

		if (!value)
			continue;
		metric = new_metric(results, response->task_id, TASK_OUTCOME_METRIC,
				    "What became of the calls that matched");
		add_label(metric, "outcome", task_outcome_name(i));
		set_value(metric, value);
		add_metric(response, metric);
	}
}

void task_results_encode(const struct task_options *options, const struct task_results *results,
			 Monad__TaskResponse *response)
{
	Monad__MetricWrapper *metric;

	metric = new_metric(results, response->task_id, "monad_storage_task_operations",
			    "Operations that matched, and their summary");
	set_value(metric, task_all_ops(results).ops);
	metric->payload_case = MONAD__METRIC_WRAPPER__PAYLOAD_STORAGE;
	metric->storage = summary(options, results);
	add_metric(response, metric);
	for (unsigned int op = 0; op < TASK_OPS; op++) {
		if (!results->ops[op].ops)
			continue;
		metric = new_metric(results, response->task_id, TASK_LATENCY_METRIC,
				    "How long the operations that matched took");
		metric->type = MONAD__METRIC_TYPE__METRIC_TYPE_HISTOGRAM;
		metric->unit = xstrdup("seconds");
		add_label(metric, "operation", task_op_name(options->kind, op));
		metric->histogram = histogram(&results->ops[op]);
		metric->delta = (double)metric->histogram->count;
		add_metric(response, metric);
	}
	add_outcomes(results, response);
}
