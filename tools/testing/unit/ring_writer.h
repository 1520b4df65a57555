/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A live ring in a memfd: the module's recorder writes to it through a mapping, and an
 * exclusive lock tells that there is a writer, as with a ring file.
 */
#ifndef MONAD_TEST_RING_WRITER_H
#define MONAD_TEST_RING_WRITER_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>

#define RECORDER_NO_STEP
#include "recorder_port.h"
#include "../../../kmod/recorder.c"

#include <monad_event/event_ring.h>

#include "ring_image.h"
#include "tap.h"

struct ring_writer {
	struct image image;
	struct monad_event_ring ring; /* mapped for writing */
	struct monad_recorder recorder;
	struct monad_recorder_slots *slots;
	struct monad_ring_ext *ext;
	int lock_fd; /* -1: not locked */
};

static inline void ring_writer_lock(struct ring_writer *w)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->image.fd);
	w->lock_fd = open(path, O_RDWR | O_CLOEXEC);
	if (w->lock_fd < 0 || flock(w->lock_fd, LOCK_EX | LOCK_NB) != 0)
		bail_out("cannot lock the ring");
}

static inline void ring_writer_unlock(struct ring_writer *w)
{
	close(w->lock_fd);
	w->lock_fd = -1;
}

/* An empty ring of 2^@descriptors_shift descriptors, for @cpus threads as writers. */
static inline void ring_writer_create(struct ring_writer *w, int descriptors_shift,
				      int payload_shift, unsigned int cpus)
{
	memset(w, 0, sizeof(*w));
	image_create(&w->image, descriptors_shift, payload_shift, 0);
	if (monad_event_ring_mmap(&w->ring, PROT_READ | PROT_WRITE, 0, w->image.fd, 0, "writer"))
		bail_out("%s", monad_event_ring_get_last_error());
	w->ext = (struct monad_ring_ext *)((uint8_t *)w->ring.header + MONAD_RING_EXT_OFFSET);
	memcpy(w->ext->magic, MONAD_RING_EXT_MAGIC, sizeof(w->ext->magic));
	w->ext->size = sizeof(*w->ext);
	w->ext->uuid[0] = 0x77;
	w->slots = aligned_alloc(64, sizeof(*w->slots) * cpus);
	if (!w->slots)
		bail_out("no memory");
	port_nr_cpus = cpus;
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		monad_recorder_init_slots(&w->recorder, &w->slots[cpu]);
	w->recorder.slots = w->slots;
	if (monad_recorder_init(&w->recorder, w->ring.header, w->ring.descriptors,
				w->ring.payload_buf, w->ext, (u64)cpus * RECORDER_SLOTS))
		bail_out("cannot set up the recorder");
	ring_writer_lock(w);
}

static inline void ring_writer_destroy(struct ring_writer *w)
{
	if (w->lock_fd >= 0)
		ring_writer_unlock(w);
	monad_event_ring_unmap(&w->ring);
	image_destroy(&w->image);
	free(w->slots);
}

/* Records one event with @value as payload and tag 0; its seqno, or 0. */
static inline uint64_t ring_writer_write(struct ring_writer *w, uint16_t type, uint64_t value)
{
	struct monad_ring_record *rec = recorder_reserve(&w->recorder, type, sizeof(value));
	uint64_t seqno;

	if (!rec)
		return 0;
	seqno = rec->seqno;
	port_store((u64 *)rec->payload, value);
	recorder_tag(rec, 0, value);
	recorder_commit(rec);
	return seqno;
}

static inline uint64_t clock_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

#endif /* MONAD_TEST_RING_WRITER_H */
