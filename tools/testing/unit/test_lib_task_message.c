// SPDX-License-Identifier: GPL-2.0
/* Events and results of tasks: as they were, after they have been messages. */
#include <errno.h>

#include "monad_storage.h"
#include "tap.h"
#include "task_message.h"
#include "task_outcomes.h"

static const struct transform_sources sources; /* that know nothing */

/* As it is after it was sent. */
static Monad__EventWrapper *sent_event(const struct task_options *options,
				       const struct task_event *event)
{
	Monad__EventWrapper *made, *got;
	uint8_t packed[4096];
	size_t size;

	made = task_event_encode(&sources, options, event, "id", NULL);
	size = monad__event_wrapper__pack(made, packed);
	monad__event_wrapper__free_unpacked(made, NULL);
	got = monad__event_wrapper__unpack(NULL, size, packed);
	eq_str(got->task_id, "id", "it has its id");
	return got;
}

static void test_call(void)
{
	const struct task_options options = { .kind = TASK_FSYNC, .slow_ns = 1000 };
	struct task_event event = {
		.is_call = true,
		.desc = {
			.seqno = 77,
			.event_type = MONAD_STORAGE_VFS_SYNC,
			.record_epoch_nanos = 1700000000123456789,
			.content_ext = {
				[MONAD_STORAGE_TAG_DEVICE] = (8ULL << 20 | 17) << 32 |
							     MONAD_STORAGE_TAG_FAILED |
							     MONAD_STORAGE_CALL_MSYNC,
			},
		},
		.call = {
			.dev_major = 8, .dev_minor = 17, .inode = UINT64_MAX, .latency_ns = 5000,
			.bytes = 1, .cgroup_id = 99, .flags = MONAD_STORAGE_F_KTHREAD, .pid = 12,
			.tgid = 11, .op = MONAD_STORAGE_CALL_MSYNC, .error = EIO, .cpu = 3,
			.comm = "a\x1b[2Jb", .fs = "ext4", .file = "f\xc3\xbcnf",
		},
	};
	Monad__EventWrapper *wrapper = sent_event(&options, &event);
	struct task_event got;

	ok(task_event_decode(&options, wrapper, &got), "a call");
	ok(got.is_call, "is one");
	eq_u64(got.desc.seqno, 77, "seqno");
	eq_u64(got.desc.event_type, MONAD_STORAGE_VFS_SYNC, "type");
	eq_u64(got.desc.record_epoch_nanos, event.desc.record_epoch_nanos, "time");
	eq_u64(got.desc.content_ext[MONAD_STORAGE_TAG_DEVICE],
	       event.desc.content_ext[MONAD_STORAGE_TAG_DEVICE], "device, operation, error");
	/* Nothing gets through that does something to a terminal. */
	ok(!strchr(got.call.comm, '\x1b'), "no control characters: '%s'", got.call.comm);
	memcpy(got.call.comm, event.call.comm, sizeof(got.call.comm));
	ok(!memcmp(&got.call, &event.call, sizeof(got.call)), "and all else of it");
	monad__event_wrapper__free_unpacked(wrapper, NULL);
}

static void test_block(void)
{
	const struct task_options options = { .kind = TASK_BLOCK, .slow_ns = 1000 };
	struct task_event event = {
		.block = {
			.is_complete = true,
			.desc = {
				.seqno = 78,
				.event_type = MONAD_STORAGE_BIO_COMPLETE,
				.content_ext = {
					[MONAD_STORAGE_TAG_START] = 70,
					[MONAD_STORAGE_TAG_DEVICE] = (8ULL << 20 | 16) << 32 |
								     MONAD_STORAGE_OP_WRITE,
					[MONAD_STORAGE_TAG_CGROUP] = 5,
					[MONAD_STORAGE_TAG_LATENCY] = 30,
				},
			},
			.complete = {
				.dev_major = 8, .dev_minor = 16, .sector = 0, .bytes = 4096,
				.queue_ns = 10, .device_ns = 20, .total_ns = 30, .cgroup_id = 5,
				.actor_cgroup_id = 6, .pid = 12, .tgid = 11,
				.flags = MONAD_STORAGE_F_SYNC | MONAD_STORAGE_F_FUA |
					 MONAD_STORAGE_F_TIMED_OUT | MONAD_STORAGE_F_ACTOR_ISSUER |
					 MONAD_STORAGE_F_QUEUE_NS | MONAD_STORAGE_F_DEVICE_NS |
					 MONAD_STORAGE_F_TOTAL_NS,
				.op = MONAD_STORAGE_OP_WRITE, .issues = 2, .requeues_issued = 3,
				.requeues_unissued = 4, .partials = 5, .issue_cpu = 6, .cpu = 7,
				.comm = "dd", .disk = "sdb",
			},
		},
	};
	struct monad_storage_complete *c = &event.block.complete;
	Monad__EventWrapper *wrapper = sent_event(&options, &event);
	struct task_event got;

	ok(task_event_decode(&options, wrapper, &got), "an operation of a disk");
	ok(!got.is_call && got.block.is_complete, "is one");
	ok(!memcmp(&got.block.complete, c, sizeof(*c)), "and all of it");
	ok(!memcmp(got.block.desc.content_ext, event.block.desc.content_ext,
		   sizeof(got.block.desc.content_ext)), "with its tags");
	monad__event_wrapper__free_unpacked(wrapper, NULL);

	c->sector = MONAD_STORAGE_NO_SECTOR;
	c->flags = MONAD_STORAGE_F_ORPHAN;
	c->queue_ns = 0;
	c->device_ns = 0;
	c->total_ns = 0;
	event.block.desc.content_ext[MONAD_STORAGE_TAG_LATENCY] = 0;
	wrapper = sent_event(&options, &event);
	ok(task_event_decode(&options, wrapper, &got) &&
	   !memcmp(&got.block.complete, c, sizeof(*c)), "one of which little is known");
	monad__event_wrapper__free_unpacked(wrapper, NULL);
}

/* Whatever a server sends. */
static void test_nonsense(void)
{
	const struct task_options block = { .kind = TASK_BLOCK }, vfs = { .kind = TASK_VFS };
	Monad__EventWrapper wrapper = MONAD__EVENT_WRAPPER__INIT;
	Monad__StorageEvent storage = MONAD__STORAGE_EVENT__INIT;
	Monad__StorageActor actor = MONAD__STORAGE_ACTOR__INIT;
	struct task_event got;

	ok(!task_event_decode(&vfs, &wrapper, &got), "no payload");
	wrapper.payload_case = MONAD__EVENT_WRAPPER__PAYLOAD_STORAGE;
	wrapper.storage = &storage;
	ok(!task_event_decode(&vfs, &wrapper, &got), "an empty one");
	storage.operation = "read";
	storage.type = "rq_complete";
	ok(!task_event_decode(&vfs, &wrapper, &got), "a block event of a vfs task");
	ok(task_event_decode(&block, &wrapper, &got), "but of a block task");
	eq_u64(got.block.complete.sector, MONAD_STORAGE_NO_SECTOR, "without a sector");
	storage.type = "vfs_io";
	ok(!task_event_decode(&block, &wrapper, &got), "a call of a block task");
	storage.operation = "fsync";
	ok(!task_event_decode(&vfs, &wrapper, &got), "an operation of another kind");
	storage.operation = "write";
	storage.actor = &actor;
	actor.comm = "a name that is much longer than any that the kernel has for a file, by far";
	storage.file = actor.comm;
	storage.filesystem = actor.comm;
	ok(task_event_decode(&vfs, &wrapper, &got), "long names");
	eq_u64(strlen(got.call.comm), MONAD_STORAGE_COMM_LEN - 1, "are cut");
	eq_u64(strlen(got.call.file), MONAD_STORAGE_FILE_LEN - 1, "all of them");
}

/*
 * Results
 */

static void fill_in(struct task_results *results)
{
	uint64_t n = 1;

	*results = (struct task_results){
		.ended_by = "duration", .reason = "slow_syncs", .began_ns = 1700000000000000000,
		.window_ns = 10000000000, .shown = 20, .unsent = 4,
	};
	for (unsigned int i = 0; i < TASK_OUTCOMES; i++) {
		if (task_outcome(results, i) != &results->unsent)
			*task_outcome(results, i) = 1000 + n++;
	}
	for (unsigned int op = MONAD_STORAGE_CALL_FSYNC; op < MONAD_STORAGE_CALL_SYNC_WRITE; op++) {
		results->ops[op] = (struct monad_task_totals){
			.ops = n, .bytes = n + 1, .errors = n + 2, .slow = n + 3,
			.sum_ns = n + 4, .max_ns = n + 5,
		};
		n += 6;
		for (unsigned int i = 0; i < MONAD_STORAGE_BUCKETS; i++)
			results->ops[op].bucket[i] = n++;
	}
	results->nr_devices = 2;
	results->devices = xcalloc(2, sizeof(*results->devices));
	for (unsigned int i = 0; i < 2; i++) {
		results->devices[i].dev = 8 << 20 | i;
		results->devices[i].sum = (struct monad_task_device){ n, n + 1, n + 2, n + 3 };
		n += 4;
	}
	/* One more than are kept. */
	for (unsigned int i = 0; i <= TASK_SLOWEST; i++) {
		const struct monad_storage_call call = {
			.dev_major = 8, .dev_minor = i, .inode = 100 + i, .pid = 200 + i,
			.tgid = 300 + i, .op = MONAD_STORAGE_CALL_FSYNC,
			.latency_ns = (i * 5 + 3) % (TASK_SLOWEST + 1),
			.flags = MONAD_STORAGE_F_KTHREAD, .comm = "postgres", .fs = "ext4",
			.file = "base",
		};

		task_note_unfinished(results, &call);
	}
}

static Monad__TaskResponse *sent_results(const struct task_options *options,
					 const struct task_results *results)
{
	Monad__TaskResponse *made = xcalloc(1, sizeof(*made)), *got;
	uint8_t *packed;
	size_t size;

	monad__task_response__init(made);
	made->task_id = xstrdup("id");
	task_results_encode(options, results, made);
	packed = xcalloc(1, monad__task_response__get_packed_size(made));
	size = monad__task_response__pack(made, packed);
	monad__task_response__free_unpacked(made, NULL);
	got = monad__task_response__unpack(NULL, size, packed);
	free(packed);
	return got;
}

static void test_results(void)
{
	const struct task_options options = { .kind = TASK_FSYNC, .slow_ns = 1000 };
	struct task_results results, got = {};
	Monad__TaskResponse *response;
	Monad__StorageSummary *summary;

	fill_in(&results);
	response = sent_results(&options, &results);
	ok(task_results_decode(&options, response, &got), "results");
	eq_str(got.ended_by, "duration", "why it ended");
	eq_str(got.reason, "slow_syncs", "what it comes to");
	ok(got.began_ns == results.began_ns && got.window_ns == results.window_ns, "when it was");
	eq_u64(got.shown, 16, "events that were sent");
	ok(!memcmp(got.ops, results.ops, sizeof(got.ops)), "all numbers of operations");
	eq_u64(got.nr_devices, 2, "two disks");
	ok(!memcmp(got.devices, results.devices, 2 * sizeof(*got.devices)), "with theirs");
	eq_u64(got.nr_unfinished, TASK_SLOWEST, "calls that have not ended");
	for (unsigned int i = 0; i < TASK_SLOWEST; i++) {
		eq_u64(got.unfinished[i].call.latency_ns, TASK_SLOWEST - i, "the longest first");
		ok(!memcmp(&got.unfinished[i], &results.unfinished[i], sizeof(got.unfinished[i])),
		   "all of it");
	}
	for (unsigned int i = 0; i < TASK_OUTCOMES; i++)
		eq_u64(*task_outcome(&got, i), *task_outcome(&results, i), "%s",
		       task_outcome_name(i));
	summary = response->metric_results[0]->storage;
	eq_u64(summary->operations[0]->count + summary->operations[1]->count,
	       (uint64_t)response->metric_results[0]->value, "the value is that of all operations");
	eq_str(summary->top_operation, "fdatasync", "the one with the most time");
	eq_u64(summary->errors, summary->operations[0]->errors + summary->operations[1]->errors,
	       "errors");
	for (size_t i = 0; i < response->n_metric_results; i++)
		eq_str(response->metric_results[i]->task_id, "id", "%s",
		       response->metric_results[i]->name);
	monad__task_response__free_unpacked(response, NULL);
	free(got.devices);
	free(results.devices);
}

/* Nothing that was there is neither in a response nor counted. */
static void test_truncated(void)
{
	const struct task_options vfs = { .kind = TASK_VFS }, block = { .kind = TASK_BLOCK };
	struct task_results results = {
		.counters.value = {
			[MONAD_TASK_ENDED] = 1000, [MONAD_TASK_QUICK] = 100,
			[MONAD_TASK_SAMPLED_OUT] = 200, [MONAD_TASK_BEYOND_MAX] = 300,
			[MONAD_TASK_NOT_RECORDED] = 50, [MONAD_TASK_RECORDED] = 350,
		},
		.shown = 330, .missed = 20, .unsent = 7,
	};

	eq_u64(task_truncated(&vfs, &results) + results.shown - results.unsent, 1000 - 100,
	       "all but the quick ones");
	eq_u64(task_truncated(&block, &results), 507, "of blocks, those that matched for sure");
}

static void test_no_results(void)
{
	const struct task_options options = { .kind = TASK_VFS };
	Monad__TaskResponse response = MONAD__TASK_RESPONSE__INIT;
	Monad__MetricWrapper metric = MONAD__METRIC_WRAPPER__INIT, *metrics[] = { &metric };
	Monad__Histogram histogram = MONAD__HISTOGRAM__INIT;
	Monad__Label label = MONAD__LABEL__INIT, *labels[] = { &label };
	struct task_results got = {};
	uint64_t buckets[3] = {};

	ok(!task_results_decode(&options, &response, &got), "no results");
	response.metric_results = metrics;
	response.n_metric_results = 1;
	metric.name = TASK_LATENCY_METRIC;
	metric.labels = labels;
	metric.n_labels = 1;
	label.name = "operation";
	label.value = "read";
	ok(!task_results_decode(&options, &response, &got), "no histogram");
	metric.histogram = &histogram;
	histogram.buckets = buckets;
	histogram.n_buckets = 3;
	ok(!task_results_decode(&options, &response, &got), "one of another size");
	metric.name = TASK_OUTCOME_METRIC;
	label.name = "outcome";
	label.value = "quick";
	metric.value = -1;
	ok(!task_results_decode(&options, &response, &got) &&
	   !got.counters.value[MONAD_TASK_QUICK], "a count below nothing");
	metric.value = 1e300;
	ok(!task_results_decode(&options, &response, &got) &&
	   !got.counters.value[MONAD_TASK_QUICK], "one above everything");
}

int main(void)
{
	test_call();
	test_block();
	test_nonsense();
	test_results();
	test_truncated();
	test_no_results();
	return done_testing();
}
