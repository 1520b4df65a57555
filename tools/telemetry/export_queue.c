// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export_queue.h"
#include "output.h"
#include "waiting.h"

#define WHY_SIZE 512

/* The same message again is worth saying after ten minutes. */
#define SAY_AGAIN_NS 600000000000ULL

/* No receiver keeps us waiting for longer than so many times the longest of our own waits. */
#define RETRY_AFTER_LIMIT 10

struct export_queue {
	struct exporter *exporter;
	struct export_queue_limits limits;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* there is something to send, or it is to end */
	/* All of it under the lock, but for what only the thread looks at. */
	struct waiting_list list;
	struct waiting *sending; /* taken out of the list */
	struct export_queue_counters counters;
	bool stopping;
	uint64_t stop_ns;
	/* The thread's. */
	unsigned int failed; /* attempts in a row */
	unsigned int seed;
	char said[WHY_SIZE]; /* the last message ... */
	uint64_t said_ns;    /* ... when ... */
	bool said_down;      /* ... and whether it was that the receiver is not there */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_va(true, format, args);
	va_end(args);
}

/*
 * What waits
 */

static void count_dropped(struct export_queue *queue, uint64_t metrics, uint64_t events)
{
	queue->counters.dropped_batches++;
	queue->counters.dropped_metrics += metrics;
	queue->counters.dropped_events += events;
}

/* No more of what waits; it is not in the list. */
static void forget(struct export_queue *queue, struct waiting *waiting)
{
	queue->counters.waiting_batches--;
	queue->counters.waiting_bytes -= waiting_room(waiting);
	free(waiting);
}

static void drop_first(struct export_queue *queue)
{
	struct waiting *waiting = waiting_take_first(&queue->list);

	count_dropped(queue, waiting->metrics, waiting->events);
	forget(queue, waiting);
}

/* Not the one that is being sent: it may be there by now. */
static void make_room(struct export_queue *queue)
{
	while (queue->list.first && (queue->counters.waiting_batches > queue->limits.batches ||
				     queue->counters.waiting_bytes > queue->limits.bytes))
		drop_first(queue);
}

int export_queue_add(struct export_queue *queue, const Monad__TelemetryBatch *batch)
{
	struct waiting *waiting = waiting_new(batch);
	struct waiting_contents contents;

	pthread_mutex_lock(&queue->lock);
	queue->counters.added_batches++;
	if (waiting) {
		queue->counters.waiting_batches++;
		queue->counters.waiting_bytes += waiting_room(waiting);
		waiting_put_last(&queue->list, waiting);
		make_room(queue);
		pthread_cond_signal(&queue->changed);
	} else {
		contents = waiting_contents(batch);
		count_dropped(queue, contents.metrics, contents.events);
	}
	pthread_mutex_unlock(&queue->lock);
	return waiting ? 0 : -ENOMEM;
}

void export_queue_counters(struct export_queue *queue, struct export_queue_counters *counters)
{
	pthread_mutex_lock(&queue->lock);
	*counters = queue->counters;
	pthread_mutex_unlock(&queue->lock);
}

const struct exporter *export_queue_exporter(const struct export_queue *queue)
{
	return queue->exporter;
}

static unsigned int permille(uint64_t used, uint64_t room)
{
	return used < room ? (unsigned int)(used * 1000 / room) : 1000;
}

unsigned int export_queue_pressure(struct export_queue *queue)
{
	struct export_queue_counters counters;
	unsigned int batches, bytes;

	export_queue_counters(queue, &counters);
	/* One that is just being sent is no pressure. */
	if (counters.waiting_batches <= 1)
		return 0;
	batches = permille(counters.waiting_batches, queue->limits.batches);
	bytes = permille(counters.waiting_bytes, queue->limits.bytes);
	return batches > bytes ? batches : bytes;
}

/*
 * Sending
 */

/* A message that was there a moment ago is not there again: logs are to be read. */
static bool is_news(struct export_queue *queue, const char *why)
{
	uint64_t now = now_ns();

	if (!strcmp(queue->said, why) && now - queue->said_ns < SAY_AGAIN_NS)
		return false;
	snprintf(queue->said, sizeof(queue->said), "%s", why);
	queue->said_ns = now;
	return true;
}

static void report(struct export_queue *queue, enum export_result result, const char *why)
{
	const struct exporter *exporter = queue->exporter;

	if (result != EXPORT_AGAIN && queue->said_down) {
		say("%s %s: receives again", exporter->name, exporter->target);
		queue->said_down = false;
	}
	if (!*why || !is_news(queue, why))
		return;
	say("%s %s: %s%s", exporter->name, exporter->target, why,
	    result == EXPORT_AGAIN ? "; trying again" :
	    result == EXPORT_REFUSED ? "; dropped" : "");
	queue->said_down = result == EXPORT_AGAIN;
}

/* What was lost on the way here, besides what the batch itself says. */
static void add_losses(const struct export_queue_counters *counters, Monad__TelemetryBatch *batch,
		       Monad__Losses *losses)
{
	if (batch->losses)
		*losses = *batch->losses;
	losses->batches_dropped += counters->dropped_batches;
	losses->metrics_dropped += counters->dropped_metrics;
	losses->events_dropped += counters->dropped_events;
}

/* @counters: as they are now. */
static enum export_result send_one(struct export_queue *queue, const struct waiting *waiting,
				   const struct export_queue_counters *counters, char *why)
{
	struct exporter *exporter = queue->exporter;
	Monad__Losses losses = MONAD__LOSSES__INIT, *own;
	Monad__TelemetryBatch *batch;
	enum export_result result;

	exporter->retry_after_ns = 0;
	exporter->rejected_metrics = 0;
	exporter->rejected_events = 0;
	*why = '\0';
	batch = monad__telemetry_batch__unpack(NULL, waiting->bytes, waiting->packed);
	if (!batch) {
		snprintf(why, WHY_SIZE, "no memory");
		return EXPORT_AGAIN;
	}
	own = batch->losses;
	add_losses(counters, batch, &losses);
	batch->losses = &losses;
	result = exporter->send(exporter, batch, why, WHY_SIZE);
	batch->losses = own;
	monad__telemetry_batch__free_unpacked(batch, NULL);
	return result;
}

/* Under the lock. */
static void account(struct export_queue *queue, enum export_result result)
{
	struct waiting *waiting = queue->sending;

	queue->sending = NULL;
	queue->counters.up = result != EXPORT_AGAIN;
	if (result != EXPORT_SENT)
		queue->counters.failures++;
	switch (result) {
	case EXPORT_SENT:
		queue->counters.sent_batches++;
		queue->counters.sent_metrics += waiting->metrics -
						queue->exporter->rejected_metrics;
		queue->counters.sent_events += waiting->events - queue->exporter->rejected_events;
		queue->counters.dropped_metrics += queue->exporter->rejected_metrics;
		queue->counters.dropped_events += queue->exporter->rejected_events;
		forget(queue, waiting);
		break;
	case EXPORT_REFUSED:
		count_dropped(queue, waiting->metrics, waiting->events);
		forget(queue, waiting);
		break;
	case EXPORT_AGAIN:
		waiting_put_first(&queue->list, waiting);
		make_room(queue);
		break;
	}
}

/* How long to wait after so many failures in a row. */
static uint64_t retry_ns(struct export_queue *queue)
{
	const struct export_queue_limits *limits = &queue->limits;
	uint64_t ns = limits->retry_min_ns, after = queue->exporter->retry_after_ns;

	for (unsigned int i = 1; i < queue->failed && ns < limits->retry_max_ns; i++)
		ns *= 2;
	if (ns > limits->retry_max_ns)
		ns = limits->retry_max_ns;
	/* Not all senders of a receiver that was down at the same moment. */
	ns = ns / 4 * 3 + ns / 2 * (rand_r(&queue->seed) & 1023) / 1024;
	if (after > RETRY_AFTER_LIMIT * limits->retry_max_ns)
		after = RETRY_AFTER_LIMIT * limits->retry_max_ns;
	return after > ns ? after : ns;
}

/*
 * Until then; or sooner when it is to end, which begins anew with short waits. Under the lock.
 */
static void wait_until(struct export_queue *queue, uint64_t at_ns)
{
	const bool was_stopping = queue->stopping;

	while (now_ns() < at_ns && queue->stopping == was_stopping) {
		const struct timespec at = {
			.tv_sec = (time_t)(at_ns / 1000000000),
			.tv_nsec = (long)(at_ns % 1000000000),
		};

		pthread_cond_timedwait(&queue->changed, &queue->lock, &at);
	}
	if (queue->stopping != was_stopping)
		queue->failed = 0;
}

/* After a failure. Under the lock. */
static void back_off(struct export_queue *queue)
{
	uint64_t at_ns;

	queue->failed++;
	at_ns = now_ns() + retry_ns(queue);
	if (queue->stopping && at_ns > queue->stop_ns)
		at_ns = queue->stop_ns;
	wait_until(queue, at_ns);
}

/* The next one to send; NULL when it is to end. Under the lock. */
static struct waiting *next(struct export_queue *queue)
{
	while (!queue->list.first && !queue->stopping)
		pthread_cond_wait(&queue->changed, &queue->lock);
	if (!queue->list.first || (queue->stopping && now_ns() >= queue->stop_ns))
		return NULL;
	return waiting_take_first(&queue->list);
}

static void *run(void *arg)
{
	struct export_queue *queue = arg;
	struct export_queue_counters counters;
	enum export_result result;
	char why[WHY_SIZE];

	pthread_mutex_lock(&queue->lock);
	while ((queue->sending = next(queue))) {
		counters = queue->counters;
		pthread_mutex_unlock(&queue->lock);
		result = send_one(queue, queue->sending, &counters, why);
		report(queue, result, why);
		pthread_mutex_lock(&queue->lock);
		account(queue, result);
		if (result == EXPORT_AGAIN)
			back_off(queue);
		else
			queue->failed = 0;
	}
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

/*
 * Beginning and end
 */

/* Signals are for the thread that waits for them. */
static int start_thread(struct export_queue *queue)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&queue->thread, NULL, run, queue);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

static void free_queue(struct export_queue *queue)
{
	queue->exporter->close(queue->exporter);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

int export_queue_start(struct export_queue **queue, struct exporter *exporter,
		       const struct export_queue_limits *limits)
{
	struct export_queue *new = calloc(1, sizeof(*new));
	pthread_condattr_t attr;
	int err;

	*queue = NULL;
	if (!new) {
		exporter->close(exporter);
		return -ENOMEM;
	}
	new->exporter = exporter;
	new->limits = *limits;
	waiting_list_init(&new->list);
	new->counters.up = true;
	new->seed = (unsigned int)(now_ns() ^ (uintptr_t)new);
	pthread_mutex_init(&new->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&new->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = start_thread(new);
	if (err)
		free_queue(new);
	else
		*queue = new;
	return err;
}

void export_queue_stop(struct export_queue *queue, uint64_t wait_ns,
		       struct export_queue_counters *counters)
{
	pthread_mutex_lock(&queue->lock);
	queue->stop_ns = now_ns() + wait_ns;
	queue->stopping = true;
	atomic_store(&queue->exporter->give_up_ns, queue->stop_ns);
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
	pthread_join(queue->thread, NULL);
	while (queue->list.first)
		drop_first(queue);
	if (counters)
		*counters = queue->counters;
	free_queue(queue);
}
