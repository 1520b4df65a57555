// SPDX-License-Identifier: GPL-2.0
/*
 * Streams of events made up at random: the sums are exact, the worst of each kind is sent, and
 * a dictionary has what is referred to and nothing else.
 */
#include "transform_windows.h"

/*
 * Anything
 */

static uint64_t seed = 0x5eed;

static uint64_t random_below(uint64_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

static struct raw_event random_event(void)
{
	struct raw_event event = slow_read(random_below(4) ? random_below(40 * MS) :
					   random_below(200 * SECOND));

	event.type = random_below(8) ? MONAD_STORAGE_RQ_COMPLETE : random_below(16);
	if (event.type == MONAD_STORAGE_STACK || event.type > MONAD_STORAGE_FLUSH_COMPLETE)
		return event;
	event.complete.dev_minor = random_below(12) * 16;
	event.complete.op = random_below(5);
	event.complete.error = random_below(6) ? 0 : random_below(8);
	event.complete.requeues_issued = random_below(9) ? 0 : random_below(5);
	event.complete.stack = random_below(3) ? 0 : random_below(50);
	event.complete.tgid = random_below(5);
	event.complete.cgroup_id = random_below(10);
	event.complete.actor_cgroup_id = random_below(10);
	event.complete.flags ^= random_below(30) ? 0 : 1U << random_below(32);
	return event;
}

static void random_scan(struct transformer *t)
{
	struct raw_inflight ios[64];
	size_t nr = random_below(65);

	for (size_t i = 0; i < nr; i++) {
		ios[i] = made_inflight(random_below(8), random_below(40 * SECOND));
		ios[i].dev_minor = random_below(4) * 16;
	}
	transform_inflight(t, ios, nr);
}

/* Of each kind, is the worst that came among what is sent? */
static bool has_worst(const Monad__TelemetryBatch *batch, const uint64_t worst[16][5])
{
	for (unsigned int disk = 0; disk < 16; disk++) {
		for (unsigned int op = 0; op < 5; op++) {
			bool found = !worst[disk][op];

			for (size_t i = 0; i < batch->n_spontaneous_events; i++)
				found |= batch->spontaneous_events[i]->storage->latency_ns ==
					 worst[disk][op];
			if (!found)
				return false;
		}
	}
	return true;
}

static void test_worst_is_sent(void)
{
	const struct transform_config wide = { .per_kind = 3, .per_window = 81,
					       .stuck_ns = 1000 * SECOND };
	struct transformer *t = new_transformer(&wide, NULL);
	bool all = true;

	for (int window = 0; window < 100; window++) {
		uint64_t worst[16][5] = {};
		Monad__TelemetryBatch *batch;

		for (uint64_t n = random_below(500); n; n--) {
			unsigned int disk = random_below(16), op = random_below(5);
			struct raw_event event = slow_read(1 + random_below(100 * SECOND));

			event.complete.flags |= MONAD_STORAGE_F_SLOW;
			event.complete.dev_minor = disk;
			event.complete.op = op;
			if (event.complete.total_ns > worst[disk][op])
				worst[disk][op] = event.complete.total_ns;
			add(t, event);
		}
		transform_pressure(t, window % 2 ? 650 : 0);
		batch = end_window(t);
		all = all && has_worst(batch, worst) && adds_up(t);
		transform_batch_free(batch);
	}
	ok(all, "the worst of each of 80 kinds is among what is sent, in 100 windows");
	transformer_free(t);
}

/*
 * The dictionary
 */

static const char *some_path(void *arg, uint64_t id)
{
	static char path[32];

	snprintf(path, sizeof(path), "/cgroup-%llu", (unsigned long long)id);
	return id % 3 ? path : NULL;
}

static const char *some_symbol(void *arg, const struct monad_storage_stack *stack,
			       uint64_t address, bool user, const char **module, uint64_t *offset)
{
	static const char *const names[] = { "bpf_prog_1", "submit_bio", "read", "write", NULL };

	*module = address % 3 ? "module" : NULL;
	return names[address % 5];
}

static uint64_t mount_namespace(void *arg, uint32_t pid)
{
	return 1000 + pid;
}

static const struct transform_sources all_sources = {
	.mount_namespace = mount_namespace,
	.cgroup_path = some_path,
	.symbol = some_symbol,
};

struct used {
	bool strings[1000];
	bool stacks[1000];
};

static void use_actor(struct used *used, const Monad__StorageActor *actor)
{
	if (actor)
		used->strings[actor->cgroup] = true;
}

/* Is each text and stack of the dictionary used, and is each that is used there? */
static bool dictionary_is_exact(const Monad__TelemetryBatch *batch)
{
	const Monad__Dictionary *d = batch->dictionary;
	struct used used = {};
	size_t strings = 0, stacks = 0;

	for (size_t i = 0; i < batch->n_spontaneous_events; i++) {
		const Monad__StorageEvent *s = batch->spontaneous_events[i]->storage;

		used.stacks[s->stack] = true;
		used.strings[s->charged_cgroup] = true;
		use_actor(&used, s->actor);
		for (size_t k = 0; k < s->n_victims; k++)
			use_actor(&used, s->victims[k]);
	}
	for (size_t i = 0; i < d->n_stacks; i++) {
		for (size_t k = 0; k < d->stacks[i]->n_frames; k++) {
			used.strings[d->stacks[i]->frames[k]->symbol] = true;
			used.strings[d->stacks[i]->frames[k]->module] = true;
		}
	}
	for (size_t i = 1; i < 1000; i++) {
		strings += used.strings[i];
		stacks += used.stacks[i];
		if (used.strings[i] && (i > d->n_strings || d->strings[i - 1]->id != i))
			return false;
		if (used.stacks[i] && (i > d->n_stacks || d->stacks[i - 1]->id != i))
			return false;
	}
	return strings == d->n_strings && stacks == d->n_stacks;
}

static void test_any_stream(void)
{
	for (unsigned int run = 0; run < 20; run++) {
		const struct transform_config any = {
			.thresholds = thresholds,
			.nr_thresholds = random_below(4),
			.stuck_ns = random_below(2) * 20 * SECOND,
			.per_kind = 1 + random_below(7),
			.per_window = 1 + random_below(60),
			.victims = random_below(5),
			.attribution = random_below(4),
			.metrics_every = random_below(3),
		};
		struct transformer *t = new_transformer(&any, &all_sources);
		uint64_t events = 0, stood_for = 0, sent = 0;
		bool sums = true, bounded = true, exact = true;

		for (unsigned int window = 0; window < 30; window++) {
			uint64_t was_dropped = transform_counters(t)->dropped;
			Monad__TelemetryBatch *batch;

			for (uint64_t n = random_below(400); n; n--, events++)
				add(t, random_event());
			for (uint32_t id = random_below(60); id; id--, events++) {
				struct raw_event stack = { .type = MONAD_STORAGE_STACK };

				stack.stack.id = id;
				for (int i = 0; i < 6; i++)
					stack.stack.kernel[i] = random_below(100);
				stack.stack.user[0] = random_below(100);
				add(t, stack);
			}
			if (random_below(3))
				random_scan(t);
			transform_pressure(t, random_below(1001));
			batch = end_window(t);
			sums = sums && adds_up(t);
			bounded = bounded && batch->n_spontaneous_events <= any.per_window;
			exact = exact && dictionary_is_exact(batch);
			sent += batch->n_spontaneous_events;
			stood_for += stands_for(batch) + transform_counters(t)->dropped -
				     was_dropped;
			transform_batch_free(batch);
		}
		ok(sums && bounded && exact && transform_counters(t)->events == events &&
		   transform_counters(t)->sent == sent &&
		   transform_counters(t)->notable == stood_for,
		   "run %u: %llu events, %llu notable, %llu sent", run,
		   (unsigned long long)events,
		   (unsigned long long)transform_counters(t)->notable, (unsigned long long)sent);
		transformer_free(t);
	}
}

int main(void)
{
	test_worst_is_sent();
	test_any_stream();
	return done_testing();
}
