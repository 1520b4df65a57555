// SPDX-License-Identifier: GPL-2.0
/*
 * What comes on a connection of tasks, in both directions: a message made of the input, or a
 * few of its bytes changed, or the input as it is, in a frame or without. The server's side:
 * what is let through is within all limits, what is not has a reason that can be shown. The
 * client's: whatever the server says, it is text and numbers.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "framing.h"
#include "fuzz_input.h"
#include "printable.h"
#include "task_message.h"
#include "task_outcomes.h"
#include "task_request.h"

#define MAX_MESSAGE 65536

static char *const texts[] = {
	"", "a", "vfs-latency", "fsync-latency", "writeback-pressure", "block-latency", "read",
	"write", "fsync", "throttle", "sda", "/dev/sda", "/etc/passwd", "../x", "8:16", "\x1b[2J",
	"\xff\xfe", "gr\xc3\xbc\xc3\x9f", "vfs_io", "vfs_sync", "rq_complete", "dirty_throttle",
	"operation", "outcome", "quick", "missed", TASK_LATENCY_METRIC, TASK_OUTCOME_METRIC,
	"kthread", "sync",
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567",
};

#define TEXTS (sizeof(texts) / sizeof(*texts))

static char *some_text(struct input *input)
{
	return texts[take(input, 1) % TEXTS];
}

static bool is_shown(const char *text)
{
	char safe[4096];

	return !strcmp(printable(safe, sizeof(safe), text), text);
}

/*
 * The server's side
 */

static void check_request(const Monad__TaskRequest *request)
{
	struct task_options options;
	char why[512] = "";

	if (!task_request_check(request, &options, why, sizeof(why))) {
		MUST(*why && is_shown(why));
		return;
	}
	MUST(task_id_valid(request->task_id) && is_shown(request->task_id));
	MUST(options.kind < TASK_KINDS && !strcmp(task_kind_names[options.kind], request->kind));
	MUST(options.duration_ns >= TASK_MIN_DURATION_NS &&
	     options.duration_ns <= TASK_MAX_DURATION_NS);
	MUST(options.max_events && options.max_events <= TASK_MAX_EVENTS);
	MUST(options.sample_rate && options.sample_rate <= TASK_MAX_SAMPLE_RATE);
	MUST(options.pids.nr <= MONAD_TASK_PIDS && !options.nr_devs && options.slow_ns);
	for (unsigned int op = 0; op < TASK_OPS; op++)
		MUST(!(options.ops >> op & 1) ||
		     task_op_by_name(options.kind, task_op_name(options.kind, op)) == (int)op);
	if (request->filter_case != MONAD__TASK_REQUEST__FILTER_STORAGE)
		return;
	MUST(request->storage->n_devices <= TASK_MAX_DISKS);
	for (size_t i = 0; i < request->storage->n_devices; i++)
		MUST(!strstr(request->storage->devices[i], "..") &&
		     is_shown(request->storage->devices[i]));
}

/*
 * The client's side
 */

static void check_response(const Monad__TaskResponse *response)
{
	for (enum task_kind kind = 0; kind < TASK_KINDS; kind++) {
		const struct task_options options = { .kind = kind };
		struct task_results results = {};
		struct task_event event;

		for (size_t i = 0; i < response->n_trace_results; i++) {
			if (!task_event_decode(&options, response->trace_results[i], &event))
				continue;
			MUST(event.is_call == (kind != TASK_BLOCK));
			task_note_slowest(&results, &event);
		}
		if (task_results_decode(&options, response, &results)) {
			MUST(results.ended_by && results.reason);
			task_percentile(&(struct monad_task_totals){}, 50);
			for (unsigned int op = 0; op < TASK_OPS; op++)
				MUST(task_percentile(&results.ops[op], 99) <=
				     results.ops[op].max_ns);
		}
		free(results.devices);
	}
}

static void check_message(const Monad__Message *message)
{
	if (message->kind_case == MONAD__MESSAGE__KIND_TASK_REQUEST)
		check_request(message->task_request);
	else if (message->kind_case == MONAD__MESSAGE__KIND_TASK_RESPONSE)
		check_response(message->task_response);
}

/* As from a connection. */
static void receive(const uint8_t *bytes, size_t size)
{
	struct framing_reader reader;
	Monad__Message *message;
	int fd = memfd_create("fuzz", 0);

	MUST(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET));
	framing_reader_init(&reader, MAX_MESSAGE);
	while (!framing_read(&reader, fd, &message)) {
		check_message(message);
		monad__message__free_unpacked(message, NULL);
	}
	framing_reader_free(&reader);
	close(fd);
}

/*
 * Messages made of the input
 */

#define MOST 80

static void make_request(struct input *input, Monad__Message *message)
{
	static char *devices[MOST], *ops[MOST];
	static uint32_t pids[MOST];
	static Monad__StorageTaskFilter filter;
	static Monad__TaskRequest request;

	monad__task_request__init(&request);
	monad__storage_task_filter__init(&filter);
	message->kind_case = MONAD__MESSAGE__KIND_TASK_REQUEST;
	message->task_request = &request;
	request.task_id = some_text(input);
	request.kind = texts[2 + take(input, 1) % 5];
	request.duration_ns = take(input, 1) ? take(input, 6) : 0;
	request.max_events = take(input, 3);
	request.sample_rate = take(input, 3);
	if (take(input, 1) % 4 == 0)
		return;
	request.filter_case = MONAD__TASK_REQUEST__FILTER_STORAGE;
	request.storage = &filter;
	filter.min_latency_ns = take(input, 8);
	filter.devices = devices;
	filter.operations = ops;
	filter.pids = pids;
	filter.n_devices = take(input, 1) % MOST;
	for (size_t i = 0; i < filter.n_devices; i++)
		devices[i] = some_text(input);
	filter.n_operations = take(input, 1) % MOST;
	for (size_t i = 0; i < filter.n_operations; i++)
		ops[i] = some_text(input);
	filter.n_pids = take(input, 1) % MOST;
	for (size_t i = 0; i < filter.n_pids; i++)
		pids[i] = take(input, 4);
}

static void make_event(struct input *input, Monad__EventWrapper *wrapper)
{
	static Monad__StorageEvent storage;
	static Monad__StorageActor actor;
	static Monad__StorageDevice device;
	static char *flags[2];

	monad__event_wrapper__init(wrapper);
	monad__storage_event__init(&storage);
	monad__storage_actor__init(&actor);
	monad__storage_device__init(&device);
	if (take(input, 1) % 8 == 0)
		return;
	wrapper->payload_case = MONAD__EVENT_WRAPPER__PAYLOAD_STORAGE;
	wrapper->storage = &storage;
	storage.operation = some_text(input);
	storage.type = some_text(input);
	storage.file = some_text(input);
	storage.filesystem = some_text(input);
	storage.latency_ns = take(input, 8);
	storage.has_latency = take(input, 1) & 1;
	storage.error = take(input, 4);
	storage.requeues = take(input, 4);
	storage.requeues_unissued = take(input, 4);
	flags[0] = some_text(input);
	flags[1] = some_text(input);
	storage.flags = flags;
	storage.n_flags = 2;
	device.major = take(input, 4);
	device.minor = take(input, 4);
	device.name = some_text(input);
	storage.device = take(input, 1) & 1 ? &device : NULL;
	actor.comm = some_text(input);
	storage.actor = take(input, 1) & 1 ? &actor : NULL;
}

static void make_summary(struct input *input, Monad__StorageSummary *summary)
{
	static Monad__StorageOperation operation, *operations[] = { &operation };
	static Monad__StorageDeviceTotals totals, *devices[] = { &totals };

	monad__storage_summary__init(summary);
	monad__storage_operation__init(&operation);
	monad__storage_device_totals__init(&totals);
	summary->ended_by = some_text(input);
	operation.operation = some_text(input);
	operation.count = take(input, 8);
	operation.max_ns = take(input, 8);
	summary->operations = operations;
	summary->n_operations = take(input, 1) & 1;
	summary->devices = devices;
	summary->n_devices = take(input, 1) & 1;
}

static void make_metric(struct input *input, Monad__MetricWrapper *metric)
{
	static Monad__StorageSummary summary;
	static Monad__Histogram histogram;
	static Monad__Label label, *labels[] = { &label };
	static uint64_t buckets[MONAD_STORAGE_BUCKETS + 1];
	uint64_t bits;

	monad__metric_wrapper__init(metric);
	monad__histogram__init(&histogram);
	monad__label__init(&label);
	metric->name = some_text(input);
	bits = take(input, 8);
	memcpy(&metric->value, &bits, sizeof(bits));
	label.name = some_text(input);
	label.value = some_text(input);
	metric->labels = labels;
	metric->n_labels = take(input, 1) & 1;
	histogram.buckets = buckets;
	histogram.n_buckets = MONAD_STORAGE_BUCKETS + take(input, 1) % 3 - 1;
	buckets[take(input, 2) % MONAD_STORAGE_BUCKETS] = take(input, 8);
	metric->histogram = take(input, 1) & 1 ? &histogram : NULL;
	if (take(input, 1) & 1)
		return;
	make_summary(input, &summary);
	metric->payload_case = MONAD__METRIC_WRAPPER__PAYLOAD_STORAGE;
	metric->storage = &summary;
}

static void make_response(struct input *input, Monad__Message *message)
{
	static Monad__TaskResponse response;
	static Monad__EventWrapper event, *events[] = { &event };
	static Monad__MetricWrapper metric, *metrics[] = { &metric };

	monad__task_response__init(&response);
	message->kind_case = MONAD__MESSAGE__KIND_TASK_RESPONSE;
	message->task_response = &response;
	make_event(input, &event);
	make_metric(input, &metric);
	response.trace_results = events;
	response.n_trace_results = take(input, 1) & 1;
	response.metric_results = metrics;
	response.n_metric_results = take(input, 1) & 1;
}

static void send_made(struct input *input, bool request)
{
	Monad__Message message = MONAD__MESSAGE__INIT;
	uint8_t *frame;
	size_t size;

	if (request)
		make_request(input, &message);
	else
		make_response(input, &message);
	frame = framing_pack(&message, &size);
	MUST(frame);
	for (unsigned int n = take(input, 1) % 4; n; n--)
		frame[FRAMING_HEADER + take(input, 2) % (size - FRAMING_HEADER)] = take(input, 1);
	receive(frame, size);
	free(frame);
}

static void send_framed(struct input *input)
{
	uint8_t *frame = malloc(FRAMING_HEADER + input->left);

	frame[0] = input->left >> 24;
	frame[1] = input->left >> 16;
	frame[2] = input->left >> 8;
	frame[3] = input->left;
	memcpy(frame + FRAMING_HEADER, input->data, input->left);
	receive(frame, FRAMING_HEADER + input->left);
	free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	switch (take(&input, 1) % 4) {
	case 0:
		receive(input.data, input.left);
		break;
	case 1:
		send_framed(&input);
		break;
	case 2:
		send_made(&input, true);
		break;
	default:
		send_made(&input, false);
	}
	return 0;
}
