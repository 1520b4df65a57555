// SPDX-License-Identifier: GPL-2.0
/* The exec tracer with monad_ring: reader, and loader of both programs. */
#include "exec_events.h"
#include "exec_output.skel.h"
#include "exec_reserve.skel.h"
#include "exec_ways.h"
#include "own_ring.h"

static const struct own_ring_config config = {
	.name = "exec",
	/* any number from MONAD_EVENT_CONTENT_TYPE_PRIVATE on */
	.content_type = MONAD_EVENT_CONTENT_TYPE_PRIVATE + 1,
	.descriptors_shift = 12, /* 4096 events */
	.payload_shift = 21,     /* 2 MiB */
};

static void print(struct monad_event_iterator *it, const struct monad_event_descriptor *event)
{
	char copy[sizeof(struct exec_event) + EXEC_FILENAME_MAX];

	/* Never more than the event has, and nothing that has been overwritten meanwhile. */
	if (event->event_type == EXEC_EVENT && event->payload_size <= sizeof(copy) &&
	    monad_event_iterator_payload_memcpy(it, event, copy, event->payload_size))
		exec_print(event->record_epoch_nanos / 1000000000, copy, event->payload_size);
}

static int follow(struct own_ring *own)
{
	struct monad_event_descriptor event;
	struct monad_event_iterator it;

	monad_event_ring_init_iterator(&own->ring, &it);
	/* From the next one on. */
	monad_event_iterator_set_seqno(&it, monad_event_ring_last_seqno(&own->ring) + 1);
	while (!exec_done()) {
		switch (monad_event_iterator_try_next(&it, &event)) {
		case MONAD_EVENT_SUCCESS:
			print(&it, &event);
			break;
		case MONAD_EVENT_NOT_READY:
			if (!own_ring_wait(own, &it, 1, 100))
				return 1;
			break;
		case MONAD_EVENT_GAP:
			exec_lost(monad_event_iterator_recover(&it));
			break;
		}
	}
	return 0;
}

int exec_monad_reserve(void (*ready)(void))
{
	struct exec_reserve_bpf *skel;
	struct own_ring own;
	int status = 1;

	if (!own_ring_open(&own, &config))
		return 1;
	skel = exec_reserve_bpf__open();
	if (!skel)
		goto out;
	skel->rodata->ring_id = own.id;
	if (exec_reserve_bpf__load(skel) || exec_reserve_bpf__attach(skel))
		goto out; /* libbpf has said why */
	ready();
	status = follow(&own);
out:
	exec_reserve_bpf__destroy(skel);
	own_ring_close(&own);
	return status;
}

int exec_monad_output(void (*ready)(void))
{
	struct exec_output_bpf *skel;
	struct own_ring own;
	int status = 1;

	if (!own_ring_open(&own, &config))
		return 1;
	skel = exec_output_bpf__open();
	if (!skel)
		goto out;
	skel->rodata->ring_id = own.id;
	if (exec_output_bpf__load(skel) || exec_output_bpf__attach(skel))
		goto out;
	ready();
	status = follow(&own);
out:
	exec_output_bpf__destroy(skel);
	own_ring_close(&own);
	return status;
}
