// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "disk.h"
#include "metrics.h"
#include "monad_storage.h"
#include "task.h"

const char *const task_kind_names[TASK_KINDS] = {
	[TASK_VFS] = "vfs-latency",
	[TASK_FSYNC] = "fsync-latency",
	[TASK_WRITEBACK] = "writeback-pressure",
	[TASK_BLOCK] = "block-latency",
};

static bool has_op(enum task_kind kind, unsigned int op)
{
	switch (kind) {
	case TASK_VFS:
		return op == MONAD_STORAGE_CALL_READ || op == MONAD_STORAGE_CALL_WRITE;
	case TASK_FSYNC:
		return op >= MONAD_STORAGE_CALL_FSYNC && op <= MONAD_STORAGE_CALL_OTHER_SYNC;
	case TASK_WRITEBACK:
		return op == MONAD_STORAGE_CALL_THROTTLE;
	default:
		return op < MONAD_STORAGE_OP_COUNT;
	}
}

const char *task_op_name(enum task_kind kind, unsigned int op)
{
	if (!has_op(kind, op))
		return "unknown";
	return kind == TASK_BLOCK ? op_name(op) : call_name(op);
}

int task_op_by_name(enum task_kind kind, const char *name)
{
	for (unsigned int op = 0; op < TASK_OPS; op++) {
		if (has_op(kind, op) && !strcasecmp(name, task_op_name(kind, op)))
			return (int)op;
	}
	return -1;
}

const char *task_op_list(enum task_kind kind, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (unsigned int op = 0; op < TASK_OPS; op++) {
		if (has_op(kind, op) && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
						 task_op_name(kind, op));
	}
	return buf;
}

enum task_kind task_kind_by_name(const char *name)
{
	enum task_kind kind = 0;

	while (kind < TASK_KINDS && strcmp(name, task_kind_names[kind]) != 0)
		kind++;
	return kind;
}

uint64_t task_event_latency(const struct task_event *event)
{
	return event->is_call ? event->call.latency_ns : event->block.complete.total_ns;
}

/* @list has the longest of all, in order. */
static void note(struct task_event list[TASK_SLOWEST], unsigned int *nr,
		 const struct task_event *event)
{
	unsigned int i = *nr;

	if (i < TASK_SLOWEST)
		(*nr)++;
	else if (task_event_latency(&list[--i]) >= task_event_latency(event))
		return;
	for (; i > 0; i--) {
		if (task_event_latency(&list[i - 1]) >= task_event_latency(event))
			break;
		list[i] = list[i - 1];
	}
	list[i] = *event;
}

void task_note_slowest(struct task_results *results, const struct task_event *event)
{
	note(results->slowest, &results->nr_slowest, event);
}

void task_note_unfinished(struct task_results *results, const struct monad_storage_call *call)
{
	struct task_event event = { .is_call = true };

	event.call = *call;
	event.call.comm[MONAD_STORAGE_COMM_LEN - 1] = '\0';
	event.call.fs[MONAD_STORAGE_FS_LEN - 1] = '\0';
	event.call.file[MONAD_STORAGE_FILE_LEN - 1] = '\0';
	event.desc.content_ext[MONAD_STORAGE_TAG_DEVICE] =
		(uint64_t)DISK_DEV(call->dev_major, call->dev_minor)
			<< MONAD_STORAGE_TAG_DEVICE_SHIFT | call->op;
	event.desc.content_ext[MONAD_STORAGE_TAG_LATENCY] = call->latency_ns;
	note(results->unfinished, &results->nr_unfinished, &event);
}

uint64_t task_percentile(const struct monad_task_totals *totals, double percent)
{
	uint64_t samples = 0, seen = 0, end;
	double want;

	for (unsigned int i = 0; i < MONAD_STORAGE_BUCKETS; i++)
		samples += totals->bucket[i];
	want = (double)samples * percent / 100;
	for (unsigned int i = 0; i < MONAD_STORAGE_BUCKETS; i++) {
		seen += totals->bucket[i];
		if (!seen || (double)seen < want)
			continue;
		end = metrics_bucket_end(i);
		return end < totals->max_ns ? end : totals->max_ns;
	}
	return 0;
}

struct monad_task_totals task_all_ops(const struct task_results *results)
{
	struct monad_task_totals all = {};

	for (unsigned int op = 0; op < TASK_OPS; op++) {
		const struct monad_task_totals *from = &results->ops[op];

		all.ops += from->ops;
		all.bytes += from->bytes;
		all.errors += from->errors;
		all.slow += from->slow;
		all.sum_ns += from->sum_ns;
		if (from->max_ns > all.max_ns)
			all.max_ns = from->max_ns;
		for (unsigned int i = 0; i < MONAD_STORAGE_BUCKETS; i++)
			all.bucket[i] += from->bucket[i];
	}
	return all;
}

static int compare_devices(const void *a, const void *b)
{
	const struct task_device *x = a, *y = b;

	if (x->sum.sum_ns != y->sum.sum_ns)
		return x->sum.sum_ns < y->sum.sum_ns ? 1 : -1;
	return (x->sum.ops < y->sum.ops) - (x->sum.ops > y->sum.ops);
}

void task_sort_devices(struct task_results *results)
{
	if (results->nr_devices)
		qsort(results->devices, results->nr_devices, sizeof(*results->devices),
		      compare_devices);
}

uint64_t task_unfinished(const struct task_results *results)
{
	const uint64_t *counter = results->counters.value;
	uint64_t done = counter[MONAD_TASK_ENDED] + counter[MONAD_TASK_ASYNC] +
			counter[MONAD_TASK_ENDS_UNSEEN];

	return counter[MONAD_TASK_BEGUN] > done ? counter[MONAD_TASK_BEGUN] - done : 0;
}

const char *task_reason(const struct task_options *options, const struct task_results *results)
{
	struct monad_task_totals all = task_all_ops(results);

	if (!all.ops)
		return task_unfinished(results) ? "unfinished" : "nothing";
	if (all.errors)
		return "errors";
	if (options->kind == TASK_WRITEBACK)
		return "dirty_throttling";
	if (!all.slow)
		return "normal";
	switch (options->kind) {
	case TASK_VFS:
		return results->ops[MONAD_STORAGE_CALL_READ].slow >
			       results->ops[MONAD_STORAGE_CALL_WRITE].slow ?
		       "slow_reads" : "slow_writes";
	case TASK_FSYNC:
		return "slow_syncs";
	default:
		return results->queue_ns > results->device_ns ? "slow_queue" : "slow_device";
	}
}
