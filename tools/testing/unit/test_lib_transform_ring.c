// SPDX-License-Identifier: GPL-2.0
/*
 * A ring as it is recorded: written by the library's recorder, read with its iterator,
 * transformed, packed as it is sent, and unpacked as a receiver does.
 */
#include <stdlib.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_recorder.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_ring_writer.h>

#include "monad_storage.h"
#include "raw.h"
#include "transform_events.h"

#define READS 6000

static char dir[] = "/tmp/monad-test-XXXXXX";

static const struct transform_threshold threshold = { 0, 0, 10 * MS, 0 };

static struct monad_event_recorder recorder;

static void record(enum monad_storage_event_type type, const void *payload, size_t size)
{
	if (monad_event_recorder_output(&recorder, type, payload, size))
		bail_out("recording");
}

/* The quick ones, with everything else in between. */
static void record_all(void)
{
	const struct monad_storage_stack stack = { .id = 77, .kernel = { 0x123 } };
	const struct monad_storage_step step = { .dev_major = 8, .issues = 1,
						 .op = MONAD_STORAGE_OP_WRITE };
	struct raw_event event;

	for (unsigned int i = 0; i < READS; i++) {
		event = quick_read();
		record(MONAD_STORAGE_RQ_COMPLETE, &event.complete, sizeof(event.complete));
	}
	record(MONAD_STORAGE_STACK, &stack, sizeof(stack));
	record(MONAD_STORAGE_RQ_ISSUE, &step, sizeof(step));
	event = slow_read(25 * MS);
	event.complete.stack = 77;
	record(MONAD_STORAGE_RQ_COMPLETE, &event.complete, sizeof(event.complete));
	event = failed_read(EIO);
	record(MONAD_STORAGE_BIO_COMPLETE, &event.complete, sizeof(event.complete));
	event = slow_read(50 * MS);
	record(MONAD_STORAGE_FLUSH_COMPLETE, &event.complete, sizeof(event.complete));
	record(MONAD_STORAGE_RQ_REQUEUE, &step, sizeof(step));
	event = made_call(MONAD_STORAGE_VFS_SYNC, MONAD_STORAGE_CALL_FSYNC, SECOND);
	event.call.task_id = 1;
	record(MONAD_STORAGE_VFS_SYNC, &event.call, sizeof(event.call));
	/* Of a later version, and one that is cut off. */
	record(60, &step, sizeof(step));
	record(MONAD_STORAGE_RQ_COMPLETE, &step, sizeof(step));
}

/* Reads on to the end. */
static void read_all(struct monad_event_iterator *iter, struct transformer *t,
		     unsigned int *unknown)
{
	struct monad_event_descriptor desc;
	struct raw_event event;

	for (;;) {
		switch (monad_event_iterator_try_next(iter, &desc)) {
		case MONAD_EVENT_SUCCESS:
			switch (raw_event_read(iter, &desc, &event)) {
			case EVENT_OK:
				transform_event(t, &event);
				break;
			case EVENT_EXPIRED:
				transform_lost(t, 1);
				break;
			case EVENT_UNKNOWN:
				++*unknown;
				break;
			}
			break;
		case MONAD_EVENT_GAP:
			transform_lost(t, monad_event_iterator_recover(iter));
			break;
		case MONAD_EVENT_NOT_READY:
			return;
		}
	}
}

/* As it comes to a receiver. */
static Monad__TelemetryBatch *send_and_receive(Monad__TelemetryBatch *batch)
{
	size_t size = monad__telemetry_batch__get_packed_size(batch);
	uint8_t *packed = malloc(size);
	Monad__TelemetryBatch *received = NULL;

	if (packed && monad__telemetry_batch__pack(batch, packed) == size)
		received = monad__telemetry_batch__unpack(NULL, size, packed);
	free(packed);
	transform_batch_free(batch);
	if (!received)
		bail_out("not received");
	return received;
}

static const Monad__EventWrapper *find(const Monad__TelemetryBatch *batch, const char *name)
{
	for (size_t i = 0; i < batch->n_spontaneous_events; i++) {
		if (!strcmp(batch->spontaneous_events[i]->name, name))
			return batch->spontaneous_events[i];
	}
	return NULL;
}

static void check(struct monad_event_iterator *iter)
{
	struct transform_config config = TRANSFORM_DEFAULT_CONFIG;
	const struct transform_counters *c;
	const Monad__EventWrapper *slow;
	Monad__TelemetryBatch *batch;
	struct transformer *t;
	unsigned int unknown = 0;

	config.thresholds = &threshold;
	config.nr_thresholds = 1;
	t = new_transformer(&config, NULL);
	c = transform_counters(t);
	read_all(iter, t, &unknown);
	/* Of 4096 places, a little less can be read. */
	ok(c->lost > 0 && c->lost + c->events + unknown == READS + 9,
	   "all that was recorded was read (%llu), or is known to be lost (%llu)",
	   (unsigned long long)c->events, (unsigned long long)c->lost);
	eq_u64(unknown, 2, "what cannot be read is told apart");
	batch = send_and_receive(end_window(t));
	eq_u64(batch->n_spontaneous_events, 4, "a slow read, an error, a slow flush and a retry");
	slow = find(batch, "slow_io");
	ok(slow && slow->storage->latency_ns == 25 * MS && slow->storage->seqno == READS + 3 &&
	   !strcmp(slow->storage->device->name, "sda"), "the slow one is as it was recorded");
	ok(slow && slow->time_ns > 1000000000 * SECOND && slow->storage->stack == 1 &&
	   batch->dictionary->n_stacks == 1 &&
	   batch->dictionary->stacks[0]->frames[0]->address == 0x123, "with its time and stack");
	ok(find(batch, "io_error") && find(batch, "slow_flush") && find(batch, "io_retry"),
	   "the others, too");
	eq_u64(batch->losses->events_lost, c->lost, "losses are in the batch");
	ok(adds_up(t), "all is accounted for");
	monad__telemetry_batch__free_unpacked(batch, NULL);
	transformer_free(t);
}

int main(void)
{
	const struct monad_event_ring_writer_options options = {
		.size = sizeof(options),
		.content_type = MONAD_EVENT_CONTENT_TYPE_STORAGE,
		.schema_hash = g_monad_storage_event_schema_hash,
	};
	struct monad_event_ring_writer *writer;
	struct monad_event_iterator iter;
	struct monad_event_ring ring;
	char config[96], path[64];

	if (!mkdtemp(dir))
		bail_out("mkdtemp");
	snprintf(path, sizeof(path), "%s/ring", dir);
	snprintf(config, sizeof(config), "%s:12:21", path);
	if (monad_event_ring_writer_open(config, &options, &writer) ||
	    monad_event_ring_init_recorder(monad_event_ring_writer_ring(writer), &recorder))
		bail_out("writing %s: %s", path, monad_event_ring_get_last_error());
	if (monad_event_ring_open(&ring, path, 0) || monad_event_ring_init_iterator(&ring, &iter))
		bail_out("reading %s: %s", path, monad_event_ring_get_last_error());
	record_all();
	check(&iter);
	monad_event_ring_unmap(&ring);
	monad_event_ring_writer_close(writer);
	unlink(path);
	rmdir(dir);
	return done_testing();
}
