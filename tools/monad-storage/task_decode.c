// SPDX-License-Identifier: GPL-2.0
/* Messages of a task that runs elsewhere, made into what a task here would have. */
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "metrics.h"
#include "monad_storage.h"
#include "task_message.h"
#include "task_outcomes.h"

/*
 * Events
 */

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static unsigned int type_by_name(const char *name)
{
	for (unsigned int type = MONAD_STORAGE_BIO_QUEUE; type <= MONAD_STORAGE_DIRTY_THROTTLE;
	     type++) {
		if (!strcmp(name, event_type_name(type)))
			return type;
	}
	return 0;
}

static uint32_t flags(const Monad__StorageEvent *from)
{
	uint32_t bits = 0;

	for (unsigned int bit = 0; bit < 32; bit++) {
		const char *name = flag_name(bit);

		for (size_t i = 0; name && i < from->n_flags; i++) {
			if (!strcmp(from->flags[i], name))
				bits |= 1U << bit;
		}
	}
	bits |= from->has_queue ? MONAD_STORAGE_F_QUEUE_NS : 0;
	bits |= from->has_device ? MONAD_STORAGE_F_DEVICE_NS : 0;
	bits |= from->has_latency ? MONAD_STORAGE_F_TOTAL_NS : 0;
	if (from->actor) {
		bits |= from->actor->kernel_thread ? MONAD_STORAGE_F_KTHREAD : 0;
		bits |= from->actor->issuer ? MONAD_STORAGE_F_ACTOR_ISSUER : 0;
	}
	return bits;
}

static void decode_descriptor(const Monad__EventWrapper *wrapper, unsigned int type, int op,
			      struct monad_event_descriptor *desc)
{
	const Monad__StorageEvent *from = wrapper->storage;
	uint32_t dev = from->device ? DISK_DEV(from->device->major, from->device->minor) : 0;

	desc->seqno = from->seqno;
	desc->event_type = type;
	desc->record_epoch_nanos = wrapper->time_ns;
	desc->content_ext[MONAD_STORAGE_TAG_START] = from->start_seqno;
	desc->content_ext[MONAD_STORAGE_TAG_DEVICE] =
		(uint64_t)dev << MONAD_STORAGE_TAG_DEVICE_SHIFT |
		(from->error ? MONAD_STORAGE_TAG_FAILED : 0) | (unsigned int)op;
	desc->content_ext[MONAD_STORAGE_TAG_CGROUP] = from->charged_cgroup_id;
	desc->content_ext[MONAD_STORAGE_TAG_LATENCY] = from->latency_ns;
}

static void decode_call(const Monad__StorageEvent *from, int op, struct monad_storage_call *call)
{
	const Monad__StorageActor *actor = from->actor;

	if (from->device) {
		call->dev_major = from->device->major;
		call->dev_minor = from->device->minor;
	}
	call->inode = from->inode;
	call->latency_ns = from->latency_ns;
	call->bytes = from->bytes;
	call->flags = flags(from) & MONAD_STORAGE_F_KTHREAD;
	call->op = op;
	call->error = from->error;
	call->cpu = from->cpu;
	if (actor) {
		call->cgroup_id = actor->cgroup_id;
		call->pid = actor->pid;
		call->tgid = actor->tgid;
		copy_text(call->comm, sizeof(call->comm), actor->comm);
	}
	copy_text(call->fs, sizeof(call->fs), from->filesystem);
	copy_text(call->file, sizeof(call->file), from->file);
}

static void decode_complete(const Monad__StorageEvent *from, int op,
			    struct monad_storage_complete *c)
{
	const Monad__StorageActor *actor = from->actor;

	if (from->device) {
		c->dev_major = from->device->major;
		c->dev_minor = from->device->minor;
		copy_text(c->disk, sizeof(c->disk), from->device->name);
	}
	c->sector = from->has_sector ? from->sector : MONAD_STORAGE_NO_SECTOR;
	c->bytes = from->bytes;
	c->queue_ns = from->queue_ns;
	c->device_ns = from->device_ns;
	c->total_ns = from->latency_ns;
	c->cgroup_id = from->charged_cgroup_id;
	c->flags = flags(from);
	c->op = op;
	c->error = from->error;
	c->issues = from->issues;
	c->requeues_unissued = from->requeues_unissued;
	c->requeues_issued = from->requeues - from->requeues_unissued;
	c->partials = from->partials;
	c->issue_cpu = from->issue_cpu;
	c->cpu = from->cpu;
	if (actor) {
		c->actor_cgroup_id = actor->cgroup_id;
		c->pid = actor->pid;
		c->tgid = actor->tgid;
		copy_text(c->comm, sizeof(c->comm), actor->comm);
	}
}

bool task_event_decode(const struct task_options *options, const Monad__EventWrapper *wrapper,
		       struct task_event *event)
{
	const Monad__StorageEvent *from = wrapper->storage;
	unsigned int type;
	int op;

	if (wrapper->payload_case != MONAD__EVENT_WRAPPER__PAYLOAD_STORAGE)
		return false;
	type = type_by_name(from->type);
	op = task_op_by_name(options->kind, from->operation);
	memset(event, 0, sizeof(*event));
	event->is_call = options->kind != TASK_BLOCK;
	if (op < 0 || (event->is_call ? !event_is_call(type) : !event_is_operation(type)))
		return false;
	if (event->is_call) {
		decode_descriptor(wrapper, type, op, &event->desc);
		decode_call(from, op, &event->call);
	} else {
		decode_descriptor(wrapper, type, op, &event->block.desc);
		event->block.is_complete = true;
		decode_complete(from, op, &event->block.complete);
	}
	return true;
}

/*
 * Results
 */

static const char *label(const Monad__MetricWrapper *metric, const char *name)
{
	for (size_t i = 0; i < metric->n_labels; i++) {
		if (!strcmp(metric->labels[i]->name, name))
			return metric->labels[i]->value;
	}
	return "";
}

static void decode_outcome(const Monad__MetricWrapper *metric, struct task_results *results)
{
	const char *outcome = label(metric, "outcome");

	for (unsigned int i = 0; i < TASK_OUTCOMES; i++) {
		if (!strcmp(outcome, task_outcome_name(i)) && metric->value >= 0 &&
		    metric->value < 1e18)
			*task_outcome(results, i) = (uint64_t)metric->value;
	}
}

static void decode_histogram(const struct task_options *options,
			     const Monad__MetricWrapper *metric, struct task_results *results)
{
	int op = task_op_by_name(options->kind, label(metric, "operation"));

	if (op < 0 || !metric->histogram || metric->histogram->n_buckets != MONAD_STORAGE_BUCKETS)
		return;
	memcpy(results->ops[op].bucket, metric->histogram->buckets,
	       sizeof(results->ops[op].bucket));
}

static void decode_summary(const struct task_options *options, const Monad__StorageSummary *from,
			   struct task_results *results)
{
	results->began_ns = from->began_ns;
	results->window_ns = from->window_ns;
	results->ended_by = from->ended_by;
	results->reason = from->reason_class;
	results->shown = from->events;
	for (size_t i = 0; i < from->n_operations; i++) {
		const Monad__StorageOperation *in = from->operations[i];
		int op = task_op_by_name(options->kind, in->operation);
		struct monad_task_totals *to;

		if (op < 0)
			continue;
		to = &results->ops[op];
		to->ops = in->count;
		to->bytes = in->bytes;
		to->errors = in->errors;
		to->slow = in->slow;
		to->sum_ns = in->total_ns;
		to->max_ns = in->max_ns;
	}
	results->devices = xcalloc(from->n_devices + 1, sizeof(*results->devices));
	for (size_t i = 0; i < from->n_devices; i++) {
		const Monad__StorageDeviceTotals *in = from->devices[i];
		struct task_device *to = &results->devices[results->nr_devices++];

		if (in->device)
			to->dev = DISK_DEV(in->device->major, in->device->minor);
		to->sum.ops = in->count;
		to->sum.bytes = in->bytes;
		to->sum.errors = in->errors;
		to->sum.sum_ns = in->total_ns;
	}
}

static void decode_unfinished(const struct task_options *options,
			      const Monad__StorageSummary *from, struct task_results *results)
{
	for (size_t i = 0; i < from->n_unfinished_calls; i++) {
		const Monad__StorageEvent *in = from->unfinished_calls[i];
		int op = task_op_by_name(options->kind, in->operation);
		struct monad_storage_call call = {};

		if (op < 0)
			continue;
		decode_call(in, op, &call);
		task_note_unfinished(results, &call);
	}
}

bool task_results_decode(const struct task_options *options, const Monad__TaskResponse *response,
			 struct task_results *results)
{
	bool found = false;

	for (size_t i = 0; i < response->n_metric_results; i++) {
		const Monad__MetricWrapper *metric = response->metric_results[i];

		if (metric->payload_case == MONAD__METRIC_WRAPPER__PAYLOAD_STORAGE && !found) {
			decode_summary(options, metric->storage, results);
			decode_unfinished(options, metric->storage, results);
			found = true;
		} else if (!strcmp(metric->name, TASK_LATENCY_METRIC)) {
			decode_histogram(options, metric, results);
		} else if (!strcmp(metric->name, TASK_OUTCOME_METRIC)) {
			decode_outcome(metric, results);
		}
	}
	return found;
}
