// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshots of a ring that the kernel's recorder writes to all the time, fast enough
 * to lap them: every event in them is right, and what is not in them is counted.
 *
 *	test_lib_snapshot_live [SECONDS]	default 4
 */
#include "recorder_port.h"
#include "../../../kmod/recorder.c"
#include "tap.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_snapshot.h>
#include <monad_event/exec_event_ctypes.h>

#include "ring_image.h"

#define WRITERS	  3
#define MAX_WORDS 200

struct ring {
	struct image image;
	struct monad_event_ring mapped; /* to write to, and for the snapshots */
	struct monad_recorder recorder;
};

static struct ring ring;
static struct monad_recorder_slots slots[WRITERS] __attribute__((aligned(64)));
static bool stop;
static uint64_t slow_down; /* 0: as fast as they can */

/*
 * Event n of writer w has tags block, n, w and n words of payload, more or less, all
 * made of n and w. Every 16th event begins a block: the tag of its block is the
 * sequence number of that event.
 */
static unsigned int words_of(uint64_t n, uint64_t w)
{
	return (unsigned int)((n * 2654435761U + w) >> 7) % MAX_WORDS;
}

static uint64_t word_of(uint64_t n, uint64_t w, uint64_t i)
{
	return ((n << 8 | w) ^ i << 48) * 0x9e3779b97f4a7c15ULL;
}

static void *writer(void *arg)
{
	const uint64_t w = (uint64_t)(uintptr_t)arg;
	uint64_t block = 0;

	port_cpu = (unsigned int)w;
	for (uint64_t n = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED);) {
		const unsigned int words = words_of(n, w);
		const bool begins = n % 16 == 0;
		struct monad_ring_record *rec;
		uint64_t *payload;

		rec = recorder_reserve(&ring.recorder,
				       begins ? MONAD_EXEC_BLOCK_START : MONAD_EXEC_TXN_LOG,
				       words * 8);
		if (!rec) {
			sched_yield();
			continue;
		}
		if (begins)
			block = rec->seqno;
		recorder_tag(rec, 0, block);
		recorder_tag(rec, 1, n);
		recorder_tag(rec, 2, w);
		payload = (uint64_t *)rec->payload;
		for (unsigned int i = 0; i < words; i++)
			port_store(&payload[i], word_of(n, w, i));
		/* Now and then one that takes its time, so that it is not ready. */
		if (n % 1000 == 0)
			usleep(200);
		recorder_commit(rec);
		n++;
		if (__atomic_load_n(&slow_down, __ATOMIC_RELAXED) && n % 64 == 0)
			usleep(1000);
	}
	return NULL;
}

struct totals {
	uint64_t snapshots, copied, missed, expired, not_ready;
	uint64_t stand_ins; /* RECORD_ERROR and NONE */
	uint64_t wrong;
	char why[160];
};

__attribute__((format(printf, 2, 3))) static void wrong(struct totals *totals, const char *fmt, ...)
{
	va_list ap;

	if (totals->wrong++)
		return;
	va_start(ap, fmt);
	vsnprintf(totals->why, sizeof(totals->why), fmt, ap);
	va_end(ap);
}

/* An event of one of the writers: all of it. */
static void check_event(struct totals *totals, const struct monad_event_ring *snapshot,
			const struct monad_event_descriptor *event)
{
	const uint64_t n = event->content_ext[1], w = event->content_ext[2];
	const uint64_t block = event->content_ext[0];
	struct monad_event_descriptor first;
	uint64_t payload[MAX_WORDS];

	if (w >= WRITERS || event->payload_size != words_of(n, w) * 8 ||
	    event->payload_buf_offset % 16)
		return wrong(totals, "event %llu is not whole", (unsigned long long)event->seqno);
	if (!monad_event_ring_payload_memcpy(snapshot, event, payload, event->payload_size))
		return wrong(totals, "payload of event %llu", (unsigned long long)event->seqno);
	for (unsigned int i = 0; i < event->payload_size / 8; i++) {
		if (payload[i] != word_of(n, w, i))
			return wrong(totals, "word %u of event %llu", i,
				     (unsigned long long)event->seqno);
	}
	if (!block)
		return;
	if (block > event->seqno || !monad_event_ring_try_copy(snapshot, block, &first))
		return wrong(totals, "the block of event %llu", (unsigned long long)event->seqno);
	if (first.event_type == MONAD_EXEC_BLOCK_START &&
	    (first.content_ext[1] != n / 16 * 16 || first.content_ext[2] != w))
		return wrong(totals, "event %llu is of another block",
			     (unsigned long long)event->seqno);
	if (first.event_type != MONAD_EXEC_BLOCK_START &&
	    first.event_type != MONAD_EVENT_RECORD_ERROR_EVENT_TYPE && first.event_type != 0)
		wrong(totals, "the block of event %llu does not begin one",
		      (unsigned long long)event->seqno);
}

static void check_snapshot(struct totals *totals, int fd,
			   const struct monad_event_snapshot_stats *stats)
{
	uint64_t copied = 0, stand_ins = 0;
	struct monad_event_descriptor event;
	struct monad_event_ring snapshot;
	int ring_fd;

	if (monad_event_decompress_snapshot_fd(fd, 0, "live", &ring_fd) ||
	    monad_event_ring_mmap(&snapshot, PROT_READ, 0, ring_fd, 0, "live"))
		bail_out("%s", monad_event_ring_get_last_error());
	close(ring_fd);
	if (monad_event_ring_last_seqno(&snapshot) != stats->events)
		wrong(totals, "number of events");
	for (uint64_t seqno = 1; seqno <= stats->events; seqno++) {
		if (!monad_event_ring_try_copy(&snapshot, seqno, &event)) {
			wrong(totals, "no event %llu", (unsigned long long)seqno);
		} else if (event.event_type <= MONAD_EVENT_RECORD_ERROR_EVENT_TYPE) {
			stand_ins++;
		} else {
			copied++;
			check_event(totals, &snapshot, &event);
		}
	}
	if (copied != stats->copied || copied + stand_ins != stats->events)
		wrong(totals, "%llu events, said to be %llu", (unsigned long long)copied,
		      (unsigned long long)stats->copied);
	if (stats->copied + stats->missed + stats->not_ready !=
	    stats->last_seqno - stats->first_seqno + 1)
		wrong(totals, "%llu to %llu are not %llu + %llu + %llu",
		      (unsigned long long)stats->first_seqno, (unsigned long long)stats->last_seqno,
		      (unsigned long long)stats->copied, (unsigned long long)stats->missed,
		      (unsigned long long)stats->not_ready);
	if (copied && stats->base_seqno + stats->events - 1 > stats->last_seqno)
		wrong(totals, "goes past its range");
	totals->stand_ins += stand_ins;
	monad_event_ring_unmap(&snapshot);
}

static void take_snapshot(struct totals *totals)
{
	const struct monad_event_snapshot_options options = {.size = sizeof(options), .level = -1};
	struct monad_event_snapshot_stats stats = {.size = sizeof(stats)};
	int fd = memfd_create("snapshot", MFD_CLOEXEC);

	if (monad_event_snapshot_write(&ring.mapped, fd, &options, &stats))
		bail_out("%s", monad_event_ring_get_last_error());
	check_snapshot(totals, fd, &stats);
	close(fd);
	totals->snapshots++;
	totals->copied += stats.copied;
	totals->missed += stats.missed;
	totals->expired += stats.expired;
	totals->not_ready += stats.not_ready;
}

/* For @seconds; longer, up to a minute, until something was copied and @missing missed. */
static void take_snapshots(const char *what, double seconds, uint64_t missing,
			   struct totals *totals)
{
	struct timespec begin, now;
	double passed;

	memset(totals, 0, sizeof(*totals));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		take_snapshot(totals);
		clock_gettime(CLOCK_MONOTONIC, &now);
		passed = now.tv_sec - begin.tv_sec + (now.tv_nsec - begin.tv_nsec) / 1e9;
	} while (passed < seconds ||
		 (passed < 60 && (!totals->copied || totals->missed < missing)));
	diag("%s: %llu snapshots, %llu events copied, %llu missed (%llu payloads), %llu not ready, "
	     "%llu stand-ins", what, (unsigned long long)totals->snapshots,
	     (unsigned long long)totals->copied, (unsigned long long)totals->missed,
	     (unsigned long long)totals->expired, (unsigned long long)totals->not_ready,
	     (unsigned long long)totals->stand_ins);
	ok(!totals->wrong, "%s: all that is in them is right: %llu are not, %s", what,
	   (unsigned long long)totals->wrong, totals->why);
}

static void start_ring(void)
{
	struct monad_event_ring_header *header;
	struct monad_ring_ext *ext;

	image_create(&ring.image, 12, 21, 0);
	put(&ring.image, 6, 2, 2);
	if (monad_event_ring_mmap(&ring.mapped, PROT_READ | PROT_WRITE, 0, ring.image.fd, 0, "x"))
		bail_out("%s", monad_event_ring_get_last_error());
	header = ring.mapped.header;
	ext = (struct monad_ring_ext *)((uint8_t *)header + MONAD_RING_EXT_OFFSET);
	memcpy(ext->magic, MONAD_RING_EXT_MAGIC, sizeof(ext->magic));
	ext->size = sizeof(*ext);
	port_nr_cpus = WRITERS;
	for (int i = 0; i < WRITERS; i++)
		monad_recorder_init_slots(&ring.recorder, &slots[i]);
	ring.recorder.slots = slots;
	if (monad_recorder_init(&ring.recorder, header, ring.mapped.descriptors,
				ring.mapped.payload_buf, ext, WRITERS * RECORDER_SLOTS))
		bail_out("recorder");
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 4;
	pthread_t threads[WRITERS];
	struct totals totals;

	start_ring();
	for (uintptr_t i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, writer, (void *)i);
	/* Until the ring has gone once around. */
	while (monad_event_ring_last_seqno(&ring.mapped) < 2 * ring.image.capacity)
		usleep(1000);
	take_snapshots("fast writers", seconds / 2, 1, &totals);
	ok(totals.copied > 0, "something was copied");
	ok(totals.missed > 0, "and something missed, or this would show nothing");
	__atomic_store_n(&slow_down, 1, __ATOMIC_RELAXED);
	usleep(20000);
	take_snapshots("slower writers", seconds / 2, 0, &totals);
	ok(totals.copied > 0, "something was copied");
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	take_snapshots("nobody writes", 0, 0, &totals);
	eq_u64(totals.copied, totals.copied + totals.missed - totals.expired + totals.not_ready,
	       "nothing is missed but payloads that had expired before");
	monad_event_ring_unmap(&ring.mapped);
	image_destroy(&ring.image);
	return done_testing();
}
