// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "disk.h"
#include "inflight_table.h"
#include "latency_bucket.h"
#include "monad_storage.h"
#include "pins.h"
#include "task_block.h"

static uint64_t count_not_recorded(void)
{
	struct monad_storage_counters counters;

	return pins_read_counters(&counters) ? 0 : counters.value[MONAD_STORAGE_NOT_RECORDED];
}

int task_block_begin(struct task_block *block, const struct task_options *options)
{
	struct monad_storage_session session;
	char name[32];
	int err;

	err = pins_read_session(&session);
	if (err == -ENOENT) {
		error("block-latency reads what is recorded, and nothing is: "
		      "'monad-storage start' begins it");
		return -1;
	}
	if (err) {
		pins_complain(err);
		return -1;
	}
	for (unsigned int i = 0; i < options->nr_devs; i++) {
		if (pins_records(options->devs[i]))
			continue;
		disk_name(options->devs[i], name, sizeof(name));
		error("%s is not recorded: 'monad-storage start' was told of other disks", name);
		return -1;
	}
	memset(block, 0, sizeof(*block));
	memcpy(block->filter.devs, options->devs, sizeof(options->devs));
	block->filter.nr_devs = options->nr_devs;
	block->filter.pids = options->pids;
	block->filter.ops = options->ops;
	snprintf(block->ring, sizeof(block->ring), "%s", session.ring);
	block->started_ns = session.started_ns;
	block->not_recorded = count_not_recorded();
	return 0;
}

static struct monad_task_device *find_device(struct task_results *results, uint32_t dev)
{
	struct task_device *device;

	for (size_t i = 0; i < results->nr_devices; i++) {
		if (results->devices[i].dev == dev)
			return &results->devices[i].sum;
	}
	results->devices = xrealloc(results->devices,
				    (results->nr_devices + 1) * sizeof(*results->devices));
	device = &results->devices[results->nr_devices++];
	memset(device, 0, sizeof(*device));
	device->dev = dev;
	return &device->sum;
}

/* As add_up() in bpf/storage_task.bpf.h does it. */
static void add_up(const struct task_options *options, struct task_results *results,
		   const struct monad_storage_complete *c)
{
	struct monad_task_totals *t = &results->ops[c->op < MONAD_STORAGE_OP_COUNT ? c->op : 0];
	struct monad_task_device *d = find_device(results, DISK_DEV(c->dev_major, c->dev_minor));
	bool known = c->flags & MONAD_STORAGE_F_TOTAL_NS;

	results->counters.value[MONAD_TASK_ENDED]++;
	t->ops++;
	t->bytes += c->bytes;
	t->errors += c->error != 0;
	d->ops++;
	d->bytes += c->bytes;
	d->errors += c->error != 0;
	if (!known)
		return;
	t->sum_ns += c->total_ns;
	d->sum_ns += c->total_ns;
	if (c->total_ns > t->max_ns)
		t->max_ns = c->total_ns;
	t->bucket[latency_bucket(c->total_ns)]++;
	if (c->total_ns >= options->slow_ns) {
		t->slow++;
		results->queue_ns += c->queue_ns;
		results->device_ns += c->device_ns;
	}
}

bool task_block_take(struct task_block *block, const struct task_options *options,
		     struct task_results *results, struct reader *reader,
		     const struct monad_event_descriptor *desc, struct task_event *event)
{
	uint64_t *counter = results->counters.value;

	if (!filter_descriptor(&block->filter, desc))
		return false;
	event->is_call = false;
	switch (event_read(&reader->iter, desc, &event->block)) {
	case EVENT_OK:
		break;
	case EVENT_EXPIRED:
		reader->expired++;
		return false;
	case EVENT_UNKNOWN:
		return false;
	}
	if (!filter_event(&block->filter, &event->block))
		return false;
	add_up(options, results, &event->block.complete);
	if (event->block.complete.total_ns < options->min_latency_ns)
		counter[MONAD_TASK_QUICK]++;
	else if (block->nr_sampled++ % options->sample_rate)
		counter[MONAD_TASK_SAMPLED_OUT]++;
	else if (counter[MONAD_TASK_RECORDED] >= options->max_events)
		counter[MONAD_TASK_BEYOND_MAX]++;
	else
		counter[MONAD_TASK_RECORDED]++;
	return counter[MONAD_TASK_RECORDED] > results->shown;
}

bool task_block_over(struct task_block *block)
{
	struct monad_storage_session session;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now < block->look_ns)
		return false;
	block->look_ns = now + NSEC_PER_SEC / 4;
	return pins_read_session(&session) || session.started_ns != block->started_ns;
}

struct unfinished {
	const struct task_options *options;
	struct task_results *results;
};

/* As if it were a call: what is known of it has the same place there. */
static void note_unfinished(const struct inflight_io *from, void *arg)
{
	const struct monad_storage_io *io = &from->io;
	const struct unfinished *unfinished = arg;
	const struct task_options *options = unfinished->options;
	struct monad_storage_call call = {
		.dev_major = io->dev >> 20,
		.dev_minor = io->dev & 0xfffff,
		.latency_ns = from->age_ns,
		.cgroup_id = io->cgroup_id,
		.flags = io->flags & MONAD_STORAGE_F_KTHREAD,
		.pid = io->pid,
		.tgid = io->tgid,
		.op = io->op,
	};

	if ((options->nr_devs && !filter_has(options->devs, options->nr_devs, io->dev)) ||
	    !ops_have(options->ops, io->op) ||
	    !pid_set_has(&options->pids, io->pid, io->tgid))
		return;
	memcpy(call.comm, io->comm, sizeof(call.comm));
	unfinished->results->counters.value[MONAD_TASK_BEGUN]++;
	task_note_unfinished(unfinished->results, &call);
}

void task_block_end(const struct task_block *block, const struct task_options *options,
		    struct task_results *results)
{
	struct unfinished unfinished = { options, results };
	struct monad_storage_session session;
	uint64_t now;

	task_sort_devices(results);
	if (pins_read_session(&session) || session.started_ns != block->started_ns) {
		warning("the recording was ended meanwhile");
		return;
	}
	now = count_not_recorded();
	if (now > block->not_recorded)
		results->counters.value[MONAD_TASK_NOT_RECORDED] = now - block->not_recorded;
	results->counters.value[MONAD_TASK_BEGUN] = results->counters.value[MONAD_TASK_ENDED];
	inflight_visit(note_unfinished, &unfinished, NULL);
}
