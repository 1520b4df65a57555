// SPDX-License-Identifier: GPL-2.0
/*
 * The transformer with anything in its events, over several windows. An input is a
 * configuration, then what happens: an event with all of its bytes, one that is sound but
 * for a few fields, what is in flight, metrics, pressure, the end of a window. Whatever
 * comes, all that is notable is accounted for, and what is sent can be received.
 */
#include <string.h>

#include "families.h"
#include "fuzz_input.h"
#include "transform.h"

static void take_bytes(struct input *input, void *to, size_t size)
{
	const size_t n = size < input->left ? size : input->left;

	memcpy(to, input->data, n);
	input->data += n;
	input->left -= n;
}

/* Text with anything in it, for sources and labels. */
static const char *some_text(uint64_t id)
{
	static const char *const texts[] = { "", "sda", "/a/b", "\xff\xfe", "bpf_prog_x", "a\nb",
					     "(removed)", "other", NULL };

	return texts[id % (sizeof(texts) / sizeof(*texts))];
}

static const char *disk_name(void *arg, uint32_t dev_major, uint32_t dev_minor)
{
	return some_text(dev_minor);
}

static const char *partition(void *arg, uint32_t dev_major, uint32_t dev_minor, uint64_t sector)
{
	return some_text(sector);
}

static const char *cgroup_path(void *arg, uint64_t id)
{
	return some_text(id);
}

static uint64_t mount_namespace(void *arg, uint32_t pid)
{
	return pid / 2;
}

static const struct monad_storage_stack *stack(void *arg, uint32_t id, uint64_t seqno)
{
	static struct monad_storage_stack some;

	some.id = id;
	some.kernel[0] = id;
	return id % 3 ? &some : NULL;
}

static const char *symbol(void *arg, const struct monad_storage_stack *of, uint64_t address,
			  bool user, const char **module, uint64_t *offset)
{
	*module = some_text(address / 16);
	*offset = address;
	return some_text(address);
}

static const struct transform_sources sources = {
	.disk_name = disk_name,
	.partition = partition,
	.cgroup_path = cgroup_path,
	.mount_namespace = mount_namespace,
	.stack = stack,
	.symbol = symbol,
};

static struct transformer *make(struct input *input)
{
	struct transform_threshold thresholds[3];
	struct transform_config config = {
		.thresholds = thresholds,
		.nr_thresholds = take(input, 1) % 4,
		.stuck_ns = take(input, 5),
		.per_kind = take(input, 1) % 8,
		.per_window = take(input, 1) % 40,
		.victims = take(input, 1) % 18,
		.cgroups = take(input, 1) % 4,
		.attribution = take(input, 1) & 1,
		.metrics_every = take(input, 1) % 4,
	};
	struct transformer *transformer;

	for (size_t i = 0; i < config.nr_thresholds; i++) {
		thresholds[i].dev_major = take(input, 1);
		thresholds[i].dev_minor = take(input, 1);
		thresholds[i].slow_ns = take(input, 4);
		thresholds[i].inflight = take(input, 1);
	}
	if (transformer_new(&transformer, &config, take(input, 1) & 1 ? &sources : NULL))
		return NULL;
	return transformer;
}

static void add_any(struct transformer *transformer, struct input *input)
{
	struct raw_event event = {};

	take_bytes(input, &event, sizeof(event));
	transform_event(transformer, &event);
}

static void add_sound(struct transformer *transformer, struct input *input)
{
	struct raw_event event = {
		.time_ns = take(input, 2),
		.type = 2 + take(input, 1) % 12,
	};

	event.complete.dev_minor = take(input, 1);
	event.complete.total_ns = take(input, 4);
	event.complete.flags = take(input, 4);
	event.complete.error = take(input, 1) % 8;
	event.complete.op = take(input, 1) % 16;
	event.complete.cgroup_id = take(input, 1);
	event.complete.tgid = take(input, 1);
	event.complete.stack = take(input, 1);
	transform_event(transformer, &event);
}

static void add_task_event(struct input *input)
{
	Monad__Dictionary *dictionary = malloc(sizeof(*dictionary));
	struct raw_event event = {};
	Monad__EventWrapper *made;

	MUST(dictionary);
	monad__dictionary__init(dictionary);
	take_bytes(input, &event, sizeof(event));
	made = transform_task_event(&sources, &event, "t", take(input, 4), dictionary);
	MUST(made);
	monad__event_wrapper__free_unpacked(made, NULL);
	monad__dictionary__free_unpacked(dictionary, NULL);
}

static void scan(struct transformer *transformer, struct input *input)
{
	struct raw_inflight ios[32] = {};
	const size_t nr = take(input, 1) % 33;

	for (size_t i = 0; i < nr; i++) {
		ios[i].age_ns = take(input, 5);
		ios[i].start_ns = take(input, 1) % 4;
		ios[i].dev_minor = take(input, 1);
		ios[i].tgid = take(input, 1);
		ios[i].cgroup_id = take(input, 1);
		ios[i].op = take(input, 1);
	}
	transform_inflight(transformer, ios, nr);
}

static void add_metrics(struct transformer *transformer, struct input *input)
{
	static const uint64_t bounds[] = { 1, 10 };
	struct family family = { .help = "", .unit = "", .bounds = bounds, .nr_bounds = 2 };
	struct families families = { .since_ns = take(input, 1) };

	for (uint64_t n = take(input, 1) % 4; n; n--) {
		family.type = take(input, 1) % 3;
		family.merge = take(input, 1) & 1;
		family.name = family.type == FAMILY_GAUGE ? "g" : n & 1 ? "a" : "b";
		families_add(&families, &family);
		for (uint64_t k = take(input, 1) % 8; k; k--) {
			const char *text = some_text(take(input, 1));
			struct sample *sample = families_sample(&families, take(input, 8), 2,
								"cgroup", text ? text : "x",
								k & 1 ? "pid" : "operation", "y");

			if (sample->buckets)
				sample->buckets[take(input, 1) & 1] = take(input, 8);
		}
	}
	families_finish(&families);
	transform_metrics(transformer, &families, take(input, 2));
	families_free(&families);
}

static void end_window(struct transformer *transformer, uint64_t now_ns)
{
	const struct transform_counters *c = transform_counters(transformer);
	const uint64_t before = c->sent + c->truncated;
	Monad__TelemetryBatch *batch = transform_batch(transformer, now_ns), *received;
	uint64_t stands_for = 0;
	uint8_t *packed;
	size_t size;

	MUST(batch);
	MUST(c->sent + c->truncated + c->dropped == c->notable);
	MUST(c->sampled <= c->truncated && c->level <= 4);
	for (size_t i = 0; i < batch->n_spontaneous_events; i++)
		stands_for += 1 + batch->spontaneous_events[i]->truncated_count;
	MUST(stands_for == c->sent + c->truncated - before);
	size = monad__telemetry_batch__get_packed_size(batch);
	packed = malloc(size);
	MUST(packed && monad__telemetry_batch__pack(batch, packed) == size);
	received = monad__telemetry_batch__unpack(NULL, size, packed);
	MUST(received && received->n_spontaneous_events == batch->n_spontaneous_events &&
	     received->n_metrics == batch->n_metrics);
	monad__telemetry_batch__free_unpacked(received, NULL);
	transform_batch_free(batch);
	free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct transformer *transformer = make(&input);

	if (!transformer)
		return 0;
	while (input.left) {
		switch (take(&input, 1) % 8) {
		case 0:
			add_any(transformer, &input);
			break;
		case 1:
			scan(transformer, &input);
			break;
		case 2:
			add_metrics(transformer, &input);
			break;
		case 3:
			transform_pressure(transformer, take(&input, 2));
			break;
		case 4:
			end_window(transformer, take(&input, 2));
			break;
		case 5:
			add_task_event(&input);
			break;
		default:
			add_sound(transformer, &input);
		}
	}
	end_window(transformer, UINT64_MAX);
	transformer_free(transformer);
	return 0;
}
