// SPDX-License-Identifier: GPL-2.0
/*
 * Memory runs out, at each place where some is asked for: nothing is lost but what is
 * said, and all that was taken is given back (which ASan and valgrind see).
 */
#include "families.h"
#include "transform_events.h"

/* So many are given, then none; negative: any number. */
static long left = -1;
static bool ran_out;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool refuse(void)
{
	if (left < 0 || left--)
		return false;
	left = 0;
	ran_out = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return refuse() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return refuse() ? NULL : __real_realloc(old, size);
}

static const char *name(void *arg, uint32_t dev_major, uint32_t dev_minor)
{
	return "sda";
}

static const char *part(void *arg, uint32_t dev_major, uint32_t dev_minor, uint64_t sector)
{
	return "sda1";
}

static const char *path(void *arg, uint64_t id)
{
	return id == 70 ? "/a" : "/b";
}

static const char *symbol(void *arg, const struct monad_storage_stack *stack, uint64_t address,
			  bool user, const char **module, uint64_t *offset)
{
	*module = user ? "libc.so.6" : NULL;
	return address == 1 ? "submit_bio" : "read";
}

static const struct transform_sources sources = {
	.disk_name = name,
	.partition = part,
	.cgroup_path = path,
	.symbol = symbol,
};

static const struct transform_threshold threshold = { 0, 0, 10 * MS, 2 };

static const struct transform_config config = {
	.thresholds = &threshold,
	.nr_thresholds = 1,
	.stuck_ns = 30 * SECOND,
	.per_kind = 2,
	.per_window = 10,
	.victims = 2,
	.cgroups = 1,
	.attribution = true,
	.metrics_every = 1,
};

static struct families families;

static void make_families(void)
{
	static const uint64_t bounds[] = { 1, 2 };
	const struct family counter = { .name = "cgroup_bytes", .help = "Bytes.", .unit = "bytes",
					.type = FAMILY_COUNTER };
	const struct family histogram = { .name = "times", .help = "Times.", .unit = "",
					  .type = FAMILY_HISTOGRAM, .bounds = bounds,
					  .nr_bounds = 2 };
	char cgroup[16];

	families_add(&families, &counter);
	for (unsigned int i = 0; i < 5; i++) {
		snprintf(cgroup, sizeof(cgroup), "/%u", i);
		families_sample(&families, i, 1, "cgroup", cgroup);
	}
	families_add(&families, &histogram);
	families_sample(&families, 3, 1, "device", "sda");
	families_finish(&families);
}

/* Each time it is another one that is stuck. */
static void feed(struct transformer *t)
{
	struct raw_inflight ios[] = { made_inflight(1, 40 * SECOND), made_inflight(2, 1) };
	static uint64_t start_ns;
	struct raw_event event = { .type = MONAD_STORAGE_STACK,
				   .stack = { .id = 3, .kernel = { 1 }, .user = { 2 } } };

	transform_event(t, &event);
	event = slow_read(10 * MS);
	event.complete.stack = 3;
	for (int i = 0; i < 5; i++)
		transform_event(t, &event);
	ios[0].start_ns = ++start_ns;
	transform_inflight(t, ios, 2);
	transform_metrics(t, &families, NOW);
}

/* The second one, with memory for @n things. */
static bool one_window(long n)
{
	struct transformer *t = new_transformer(&config, &sources);
	Monad__TelemetryBatch *batch;
	uint64_t notable;
	bool good, failed;

	feed(t);
	transform_batch_free(end_window(t));
	notable = transform_counters(t)->notable;
	ran_out = false;
	left = n;
	feed(t);
	batch = transform_batch(t, NOW + 1000 * SECOND);
	left = -1;
	failed = !batch;
	if (!batch)
		batch = transform_batch(t, NOW + 1000 * SECOND);
	/* 5 reads, 1 congestion, and unless there was no room 1 that is stuck and 1 that was. */
	notable = transform_counters(t)->notable - notable;
	good = batch && adds_up(t) && stands_for(batch) == notable && notable >= 6 &&
	       (ran_out || !failed);
	if (!ran_out && batch)
		good = good && stands_for(batch) == 8 && batch->n_metrics == 3 &&
		       batch->dictionary->n_stacks == 1;
	transform_batch_free(batch);
	transformer_free(t);
	return good;
}

static void test_windows(void)
{
	bool all = true;
	long n;

	for (n = 0; n < 10000; n++) {
		if (!one_window(n)) {
			diag("with memory for %ld things", n);
			all = false;
		}
		if (!ran_out)
			break;
	}
	ok(all && n > 100, "no memory in any of %ld places: it comes with the next batch", n);
}

static void test_begin(void)
{
	bool all = true;
	long n;

	for (n = 0; n < 100; n++) {
		struct transformer *t;
		int err;

		ran_out = false;
		left = n;
		err = transformer_new(&t, &config, &sources);
		left = -1;
		all = all && err == (ran_out ? -ENOMEM : 0) && !t == !!err;
		transformer_free(t);
		if (!ran_out)
			break;
	}
	ok(all && n > 3, "no transformer without memory, in any of %ld places", n);
}

static void test_task_event(void)
{
	const struct raw_event event = slow_read(10 * MS);
	bool all = true;
	long n;

	for (n = 0; n < 1000; n++) {
		Monad__Dictionary *dictionary = malloc(sizeof(*dictionary));
		Monad__EventWrapper *made;

		monad__dictionary__init(dictionary);
		ran_out = false;
		left = n;
		made = transform_task_event(&sources, &event, "t-1", MS, dictionary);
		left = -1;
		all = all && !made == ran_out;
		if (made)
			monad__event_wrapper__free_unpacked(made, NULL);
		monad__dictionary__free_unpacked(dictionary, NULL);
		if (!ran_out)
			break;
	}
	ok(all && n > 20, "no event without memory, in any of %ld places", n);
}

int main(void)
{
	make_families();
	test_begin();
	test_task_event();
	test_windows();
	families_free(&families);
	return done_testing();
}
