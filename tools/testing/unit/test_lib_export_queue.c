// SPDX-License-Identifier: GPL-2.0
/* The queue of an exporter whose receiver is there, down, slow, or refuses. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "export_batches.h"
#include "export_queue.h"

/*
 * An exporter that does as it is told, and notes what it was given. All of it is looked at by
 * two threads.
 */
static struct told {
	struct exporter exporter;
	pthread_mutex_t lock;
	enum export_result result;
	unsigned int failures;  /* so many times EXPORT_AGAIN first */
	unsigned int refuse_every;
	uint64_t takes_ns;      /* each one; less when it is to give up */
	uint64_t retry_after_ns;
	uint64_t rejected;
	unsigned int attempts;
	uint64_t attempt_ns[64];
	uint64_t got[4096];     /* sequence numbers, sent */
	unsigned int nr_got;
	Monad__Losses losses;   /* of the last one */
	bool closed;
} told = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void take_time(uint64_t ns)
{
	uint64_t until = monotonic_ns() + ns, stop;

	while (monotonic_ns() < until) {
		stop = atomic_load(&told.exporter.give_up_ns);
		if (stop && monotonic_ns() >= stop)
			return;
		usleep(2000);
	}
}

static enum export_result do_as_told(struct exporter *exporter, Monad__TelemetryBatch *batch,
				     char *why, size_t why_size)
{
	enum export_result result;

	take_time(told.takes_ns);
	pthread_mutex_lock(&told.lock);
	if (told.attempts < 64)
		told.attempt_ns[told.attempts] = monotonic_ns();
	told.attempts++;
	result = told.result;
	if (told.failures) {
		told.failures--;
		result = EXPORT_AGAIN;
	} else if (told.refuse_every && batch->sequence % told.refuse_every == 0) {
		result = EXPORT_REFUSED;
	}
	if (result == EXPORT_SENT) {
		told.got[told.nr_got++ % 4096] = batch->sequence;
		told.losses = *batch->losses;
		exporter->rejected_metrics = told.rejected;
	} else {
		snprintf(why, why_size, "told so");
	}
	if (result == EXPORT_AGAIN)
		exporter->retry_after_ns = told.retry_after_ns;
	pthread_mutex_unlock(&told.lock);
	return result;
}

static void note_close(struct exporter *exporter)
{
	told.closed = true;
}

static const struct export_queue_limits quick = {
	.batches = 8, .bytes = 1 << 20, .retry_min_ns = 20000000, .retry_max_ns = 160000000,
};

static struct export_queue *begin(enum export_result result,
				  const struct export_queue_limits *limits)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct export_queue *queue;

	memset(&told, 0, sizeof(told));
	told.lock = lock;
	told.exporter.name = "told";
	snprintf(told.exporter.target, sizeof(told.exporter.target), "nowhere");
	told.exporter.send = do_as_told;
	told.exporter.close = note_close;
	told.result = result;
	if (export_queue_start(&queue, &told.exporter, limits))
		bail_out("the queue does not start");
	return queue;
}

static void add(struct export_queue *queue, uint64_t sequence)
{
	Monad__TelemetryBatch *batch = make_batch(sequence, 3, 2);

	export_queue_add(queue, batch);
	monad__telemetry_batch__free_unpacked(batch, NULL);
}

/* Waits for up to 10 seconds until so many were sent or dropped. */
static struct export_queue_counters wait_for(struct export_queue *queue, uint64_t done)
{
	struct export_queue_counters c;

	for (int i = 0; i < 5000; i++) {
		export_queue_counters(queue, &c);
		if (c.sent_batches + c.dropped_batches >= done)
			break;
		usleep(2000);
	}
	return c;
}

static void check_sum(const struct export_queue_counters *c, const char *when)
{
	eq_u64(c->sent_batches + c->dropped_batches + c->waiting_batches, c->added_batches,
	       "sent, dropped and waiting are those added, %s", when);
	if (!c->waiting_batches)
		eq_u64(c->waiting_bytes, 0, "what does not wait takes no room, %s", when);
}

static bool got_in_order(uint64_t first, unsigned int nr)
{
	if (told.nr_got != nr)
		return false;
	for (unsigned int i = 0; i < nr; i++) {
		if (told.got[i] != first + i)
			return false;
	}
	return true;
}

static void test_sends(void)
{
	const struct export_queue_limits limits = EXPORT_QUEUE_DEFAULT_LIMITS;
	struct export_queue *queue = begin(EXPORT_SENT, &limits);
	struct export_queue_counters c;

	for (uint64_t i = 1; i <= 1000; i++)
		add(queue, i);
	c = wait_for(queue, 1000);
	ok(got_in_order(1, 1000), "a thousand batches, in order, once each");
	eq_u64(c.sent_batches, 1000, "are counted");
	ok(c.up, "the receiver is there");
	check_sum(&c, "while it runs");
	eq_u64(export_queue_pressure(queue), 0, "no pressure");
	export_queue_stop(queue, 1000000000, &c);
	check_sum(&c, "at the end");
	ok(told.closed, "the exporter was closed");
}

static void test_down(void)
{
	struct export_queue_limits limits = quick;
	struct export_queue_counters c;
	struct export_queue *queue;

	limits.retry_min_ns = 400000000;
	limits.retry_max_ns = 400000000;
	queue = begin(EXPORT_AGAIN, &limits);
	add(queue, 1);
	/* Not while that one is being sent: it would stay. */
	do {
		export_queue_counters(queue, &c);
	} while (!c.failures);
	for (uint64_t i = 2; i <= 20; i++)
		add(queue, i);
	c = wait_for(queue, 12);
	eq_u64(c.dropped_batches, 12, "a receiver that is down: the oldest go");
	eq_u64(c.dropped_metrics, 36, "with their metrics");
	eq_u64(c.dropped_events, 24, "and events");
	eq_u64(c.waiting_batches, 8, "the last ones wait");
	check_sum(&c, "while it is down");
	eq_u64(export_queue_pressure(queue), 1000, "the queue is full");
	usleep(1000000);
	export_queue_counters(queue, &c);
	ok(!c.up && c.failures >= 2, "it was tried again (%llu)",
	   (unsigned long long)c.failures);
	pthread_mutex_lock(&told.lock);
	told.result = EXPORT_SENT;
	pthread_mutex_unlock(&told.lock);
	c = wait_for(queue, 20);
	ok(got_in_order(13, 8), "once it is back it gets the last eight, in order");
	ok(c.up, "it is up");
	eq_u64(told.losses.batches_dropped, 12, "each says what was lost before it: batches,");
	eq_u64(told.losses.metrics_dropped, 36, "metrics,");
	eq_u64(told.losses.events_dropped, 24, "events");
	export_queue_stop(queue, 1000000000, &c);
	check_sum(&c, "at the end");
}

static void test_bytes(void)
{
	struct export_queue_limits limits = quick;
	struct export_queue_counters c;
	struct export_queue *queue;

	limits.bytes = 1000;
	queue = begin(EXPORT_AGAIN, &limits);
	for (uint64_t i = 1; i <= 8; i++)
		add(queue, i);
	usleep(100000);
	export_queue_counters(queue, &c);
	ok(c.waiting_bytes <= 1000 && c.waiting_batches && c.waiting_batches < 8,
	   "room for a thousand bytes is room for %llu batches",
	   (unsigned long long)c.waiting_batches);
	ok(export_queue_pressure(queue) > 500, "which is pressure, too");
	check_sum(&c, "with few bytes");
	export_queue_stop(queue, 0, &c);
	eq_u64(c.dropped_batches, 8, "what is left at the end is dropped");
	check_sum(&c, "at the end");

	limits.bytes = 10;
	queue = begin(EXPORT_SENT, &limits);
	add(queue, 1);
	c = wait_for(queue, 1);
	eq_u64(c.sent_batches + c.dropped_batches, 1, "one that is larger than all of the room");
	check_sum(&c, "with no room");
	export_queue_stop(queue, 0, NULL);
}

static void test_backs_off(void)
{
	struct export_queue *queue = begin(EXPORT_SENT, &quick);
	struct export_queue_counters c;
	uint64_t last;

	told.failures = 5;
	add(queue, 1);
	c = wait_for(queue, 1);
	eq_u64(c.failures, 5, "five failures");
	eq_u64(told.attempts, 6, "six attempts");
	ok(got_in_order(1, 1), "then it is sent, once");
	for (int i = 1; i < 5; i++) {
		uint64_t ns = told.attempt_ns[i] - told.attempt_ns[i - 1];
		uint64_t least = (20000000ULL << (i - 1)) * 3 / 4;

		ok(ns >= least, "wait %d: %llu ms", i, (unsigned long long)ns / 1000000);
	}
	last = told.attempt_ns[5] - told.attempt_ns[4];
	ok(last < 3000000000, "there is a longest wait: %llu ms",
	   (unsigned long long)last / 1000000);
	export_queue_stop(queue, 1000000000, &c);

	queue = begin(EXPORT_SENT, &quick);
	told.failures = 1;
	told.retry_after_ns = 400000000;
	add(queue, 1);
	wait_for(queue, 1);
	ok(told.attempt_ns[1] - told.attempt_ns[0] >= 400000000,
	   "a receiver that says when is not asked before");
	export_queue_stop(queue, 1000000000, &c);

	queue = begin(EXPORT_SENT, &quick);
	told.failures = 1;
	told.retry_after_ns = UINT64_MAX;
	add(queue, 1);
	c = wait_for(queue, 1);
	eq_u64(c.sent_batches, 1, "one that says never is asked after a while all the same");
	export_queue_stop(queue, 1000000000, &c);
}

static void test_refuses(void)
{
	struct export_queue *queue = begin(EXPORT_SENT, &quick);
	struct export_queue_counters c;

	told.refuse_every = 3;
	for (uint64_t i = 1; i <= 9; i++) {
		add(queue, i);
		wait_for(queue, i);
	}
	export_queue_counters(queue, &c);
	eq_u64(c.sent_batches, 6, "a receiver that refuses some: the others are sent");
	eq_u64(c.dropped_batches, 3, "those are dropped");
	eq_u64(c.dropped_metrics, 9, "with what was in them");
	eq_u64(c.sent_metrics, 18, "what was in the others is sent");
	eq_u64(c.sent_events, 12, "events, too");
	eq_u64(told.attempts, 9, "nothing was tried twice");
	check_sum(&c, "after refusals");
	told.refuse_every = 0;
	told.rejected = 2;
	add(queue, 10);
	c = wait_for(queue, 10);
	eq_u64(c.sent_batches, 7, "one that it took in part is sent");
	eq_u64(c.dropped_metrics, 11, "and the rest is counted");
	eq_u64(c.sent_metrics, 19, "on one side or the other");
	export_queue_stop(queue, 1000000000, &c);
	check_sum(&c, "at the end");
}

static void test_slow(void)
{
	struct export_queue *queue = begin(EXPORT_SENT, &quick);
	struct export_queue_counters c;
	uint64_t began = monotonic_ns();

	told.takes_ns = 100000000;
	for (uint64_t i = 1; i <= 30; i++)
		add(queue, i);
	ok(monotonic_ns() - began < 1000000000, "a slow receiver keeps nobody waiting");
	export_queue_counters(queue, &c);
	ok(c.waiting_batches <= 8, "there is no more room for it (%llu)",
	   (unsigned long long)c.waiting_batches);
	check_sum(&c, "while it is slow");
	began = monotonic_ns();
	export_queue_stop(queue, 10000000000, &c);
	ok(monotonic_ns() - began >= 500000000, "the end waits for what is waiting");
	eq_u64(c.waiting_batches, 0, "then nothing is left");
	eq_u64(told.nr_got, c.sent_batches, "it got as many as were counted");
	check_sum(&c, "at the end");
	for (unsigned int i = 1; i < told.nr_got; i++) {
		if (told.got[i] <= told.got[i - 1])
			ok(false, "batch %llu after %llu", (unsigned long long)told.got[i],
			   (unsigned long long)told.got[i - 1]);
	}
	eq_u64(told.got[told.nr_got - 1], 30, "the last one was the newest");
}

static void test_stops(void)
{
	struct export_queue *queue = begin(EXPORT_AGAIN, &quick);
	struct export_queue_counters c;
	struct export_queue_limits patient = quick;
	uint64_t began, took;

	add(queue, 1);
	began = monotonic_ns();
	export_queue_stop(queue, 300000000, &c);
	took = monotonic_ns() - began;
	ok(took >= 300000000 && took < 3000000000, "nobody there: the end comes in time");
	ok(told.attempts >= 3, "it was tried meanwhile (%u times)", told.attempts);
	eq_u64(c.dropped_batches, 1, "and counted in the end");
	check_sum(&c, "at the end");

	queue = begin(EXPORT_SENT, &quick);
	told.takes_ns = 60000000000;
	told.result = EXPORT_AGAIN;
	add(queue, 1);
	usleep(50000);
	began = monotonic_ns();
	export_queue_stop(queue, 200000000, &c);
	ok(monotonic_ns() - began < 3000000000, "one that is stuck in it: the end comes in time");

	/* A long wait between attempts is not waited for. */
	patient.retry_min_ns = 60000000000;
	patient.retry_max_ns = 60000000000;
	queue = begin(EXPORT_SENT, &patient);
	told.failures = 1;
	add(queue, 1);
	while (!told.attempts)
		usleep(2000);
	usleep(20000);
	began = monotonic_ns();
	export_queue_stop(queue, 20000000000, &c);
	ok(monotonic_ns() - began < 10000000000, "the end is a last attempt at once");
	eq_u64(c.sent_batches, 1, "which may succeed");
}

static void *add_many(void *arg)
{
	for (uint64_t i = 0; i < 500; i++)
		add(arg, i + 1);
	return NULL;
}

/* Whoever adds, sends and stops at the same time: the sum is right. */
static void test_threads(void)
{
	struct export_queue *queue = begin(EXPORT_SENT, &quick);
	struct export_queue_counters c;
	pthread_t threads[4];
	unsigned int wrong = 0;

	told.refuse_every = 7;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, add_many, queue);
	for (int i = 0; i < 200; i++) {
		export_queue_counters(queue, &c);
		wrong += c.sent_batches + c.dropped_batches + c.waiting_batches !=
			 c.added_batches;
		usleep(100);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	export_queue_stop(queue, 0, &c);
	eq_u64(wrong, 0, "the sum was right at all times");
	eq_u64(c.added_batches, 2000, "2000 batches of four threads");
	check_sum(&c, "at the end");
}

int main(void)
{
	test_sends();
	test_down();
	test_bytes();
	test_backs_off();
	test_refuses();
	test_slow();
	test_stops();
	test_threads();
	return done_testing();
}
