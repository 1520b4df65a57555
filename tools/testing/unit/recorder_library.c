// SPDX-License-Identifier: GPL-2.0
/*
 * The library's recorder under threads: more of them than slot groups have first slots for,
 * one that stalls for long with an event in hand, signal handlers that record in the middle of
 * anything, threads that come and go, events that another thread commits. Each writer finds
 * out whether what it wrote is still its own when it commits; at the end every event that is
 * left in the ring is read and checked, and each that was offered is accounted for. Built plain
 * and with sanitizers.
 *
 *	recorder_library [SECONDS]		default 4
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_recorder.h>
#include <monad_event/event_ring_util.h>

#include "tap.h"

#define WRITERS 24

/* Type of a signal handler's event; a writer's is 2 + its number. */
#define TYPE_SIGNAL 1000

struct writer {
	pthread_t thread;
	unsigned int id;
	uint64_t rng, attempts, committed, discarded, refused;
	uint64_t signals, signals_refused; /* of its handler */
	bool done;
};

/* An event on its way from the thread that reserved it to the one that commits it. */
struct parcel {
	struct monad_event_descriptor *event;
	uint64_t seqno;
};

static struct monad_event_ring ring;
static struct monad_event_recorder recorder;
static struct writer writers[WRITERS];
static bool stop;
static uint64_t overwritten, short_threads;
static __thread struct writer *self;

static uint64_t next_random(uint64_t *rng)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	*rng ^= *rng << 17;
	return *rng;
}

static uint8_t pattern(uint64_t tag, size_t i)
{
	return (uint8_t)(tag * 31 + i * 7);
}

static size_t random_size(uint64_t x)
{
	switch (x % 32) {
	case 0:
		return 0;
	case 1:
		return 4000 + (x >> 8) % 60000;
	default:
		return (x >> 8) % 300;
	}
}

/* The first and the last bytes, where any overlap with a neighbour would be. */
static void fill(uint8_t *payload, size_t size, uint64_t tag)
{
	for (size_t i = 0; i < size; i++) {
		if (i == 64 && size > 128)
			i = size - 64;
		payload[i] = pattern(tag, i);
	}
}

static bool is_filled(const uint8_t *payload, size_t size, uint64_t tag)
{
	for (size_t i = 0; i < size; i++) {
		if (i == 64 && size > 128)
			i = size - 64;
		if (payload[i] != pattern(tag, i))
			return false;
	}
	return true;
}

static struct monad_event_descriptor *reserve(unsigned int type, size_t size, uint64_t tag,
					      uint64_t *seqno, uint8_t **payload)
{
	struct monad_event_descriptor *event;

	event = monad_event_recorder_reserve(&recorder, size, seqno, payload);
	if (event) {
		event->event_type = (uint16_t)type;
		event->content_ext[0] = tag;
		fill(*payload, size, tag);
	}
	return event;
}

static void on_signal(int sig)
{
	struct monad_event_descriptor *event;
	const int saved = errno;
	uint8_t *payload;
	uint64_t seqno;

	(void)sig;
	if (self) {
		event = reserve(TYPE_SIGNAL, 40, self->signals, &seqno, &payload);
		if (event) {
			self->signals++;
			monad_event_recorder_commit(event, seqno);
		} else {
			self->signals_refused++;
		}
	}
	errno = saved;
}

static void *commit_parcel(void *arg)
{
	struct parcel *parcel = arg;

	monad_event_recorder_commit(parcel->event, parcel->seqno);
	return NULL;
}

static void finish(struct writer *w, struct monad_event_descriptor *event, uint64_t seqno,
		   uint64_t x)
{
	pthread_t thread;

	if (x % 16 == 2) {
		w->discarded++;
		monad_event_recorder_discard(event, seqno);
		return;
	}
	w->committed++;
	if (x % 4096 == 3) {
		struct parcel parcel = {event, seqno};

		if (pthread_create(&thread, NULL, commit_parcel, &parcel) == 0) {
			pthread_join(thread, NULL);
			__atomic_fetch_add(&short_threads, 1, __ATOMIC_RELAXED);
			return;
		}
	}
	monad_event_recorder_commit(event, seqno);
}

static void *write_events(void *arg)
{
	struct monad_event_descriptor *event;
	struct writer *w = arg;
	uint8_t *payload;
	uint64_t seqno;

	self = w;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t x = next_random(&w->rng) >> 8, tag = (uint64_t)w->id << 48 | ++w->attempts;
		size_t size = random_size(x);

		event = reserve(2 + w->id, size, tag, &seqno, &payload);
		if (!event) {
			w->refused++;
			sched_yield();
			continue;
		}
		x = next_random(&w->rng) >> 8;
		if (w->id == 0 && x % 256 == 0)
			usleep(20000 + x % 50000); /* the ring goes around meanwhile, or would */
		else if (x % 512 == 1)
			sched_yield();
		if (event->content_ext[0] != tag || !is_filled(payload, size, tag) ||
		    __atomic_load_n(&event->seqno, __ATOMIC_RELAXED))
			__atomic_fetch_add(&overwritten, 1, __ATOMIC_RELAXED);
		finish(w, event, seqno, x >> 16);
	}
	self = NULL;
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void check_events(void)
{
	struct monad_event_descriptor event;
	uint64_t last = monad_event_ring_last_seqno(&ring), seqno, bad = 0, read = 0, expired = 0;

	for (seqno = monad_event_ring_oldest_seqno(&ring); seqno <= last; seqno++) {
		if (!monad_event_ring_try_copy(&ring, seqno, &event)) {
			diag("event %llu is missing", (unsigned long long)seqno);
			break;
		}
		if (event.unused || event.content_ext[1] || event.payload_buf_offset % 16)
			bad++;
		if (event.event_type == MONAD_EVENT_NONE_EVENT_TYPE) {
			bad += event.payload_size || event.content_ext[0];
			continue;
		}
		if (event.event_type != TYPE_SIGNAL &&
		    event.event_type != 2 + (event.content_ext[0] >> 48))
			bad++;
		if (!monad_event_ring_payload_check(&ring, &event)) {
			expired++;
			continue;
		}
		bad += !is_filled(monad_event_ring_payload_peek(&ring, &event), event.payload_size,
				  event.content_ext[0]);
		read++;
	}
	eq_u64(seqno, last + 1, "no hole in the sequence");
	eq_u64(bad, 0, "every event is somebody's, and whole");
	ok(read > 100, "%llu read, %llu expired", (unsigned long long)read,
	   (unsigned long long)expired);
}

static void check_counts(void)
{
	uint64_t attempts = 0, committed = 0, discarded = 0, refused = 0, signals = 0, lost = 0;
	const struct monad_ring_ext *ext = monad_event_recorder_counters(&recorder);
	uint64_t last = monad_event_ring_last_seqno(&ring);

	for (int i = 0; i < WRITERS; i++) {
		attempts += writers[i].attempts;
		committed += writers[i].committed;
		discarded += writers[i].discarded;
		refused += writers[i].refused + writers[i].signals_refused;
		signals += writers[i].signals;
		attempts += writers[i].signals + writers[i].signals_refused;
	}
	for (int i = 0; i < MONAD_RING_LOST_COUNT; i++)
		lost += ext->lost[i];
	eq_u64(committed + discarded + signals + lost, attempts, "offered = recorded + lost");
	eq_u64(refused, lost, "refused = counted as lost");
	eq_u64(last, committed + discarded + signals, "each recorded has a sequence number");
	eq_u64(ext->discarded, discarded, "discarded");
	eq_u64(ext->lost[MONAD_RING_LOST_BAD_ARG], 0, "no commit went wrong");
	eq_u64(overwritten, 0, "what a writer wrote stayed as long as it held it");
	ok(last > 4 * (ring.desc_capacity_mask + 1) && ext->lost[MONAD_RING_LOST_STALLED] &&
	   signals && short_threads, "laps, stalls, signals, and commits by other threads");
	diag("%llu offered: %llu committed, %llu discarded, %llu by signal handlers; lost: %llu "
	     "stalled, %llu no slot, %llu contended; %llu committed by others; %llu laps of bytes",
	     (unsigned long long)attempts, (unsigned long long)committed,
	     (unsigned long long)discarded, (unsigned long long)signals,
	     (unsigned long long)ext->lost[MONAD_RING_LOST_STALLED],
	     (unsigned long long)ext->lost[MONAD_RING_LOST_NO_SLOT],
	     (unsigned long long)ext->lost[MONAD_RING_LOST_CONTENDED],
	     (unsigned long long)short_threads,
	     (unsigned long long)ring.header->control.next_payload_byte >> 21);
}

int main(int argc, char **argv)
{
	struct monad_event_ring_simple_config config = {
		.descriptors_shift = 10,
		.payload_buf_shift = 21,
		.content_type = MONAD_EVENT_CONTENT_TYPE_TEST,
		.schema_hash = g_monad_test_event_schema_hash,
	};
	int seconds = argc > 1 ? atoi(argv[1]) : 4, fd = memfd_create("ring", MFD_CLOEXEC);
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	time_t end = time(NULL) + seconds;

	if (monad_event_ring_init_simple(&config, fd, 0, "ring") ||
	    monad_event_ring_mmap(&ring, PROT_READ | PROT_WRITE, 0, fd, 0, "ring") ||
	    monad_event_ring_init_recorder(&ring, &recorder))
		bail_out("%s", monad_event_ring_get_last_error());
	close(fd);
	sigaction(SIGUSR1, &action, NULL);
	for (unsigned int i = 0; i < WRITERS; i++) {
		writers[i].id = i;
		writers[i].rng = (i + 1) * 0x9e3779b97f4a7c15ULL;
		pthread_create(&writers[i].thread, NULL, write_events, &writers[i]);
	}
	while (time(NULL) < end) {
		for (int i = 0; i < WRITERS; i++)
			pthread_kill(writers[i].thread, SIGUSR1);
		usleep(500);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i].thread, NULL);
	check_counts();
	check_events();
	monad_event_ring_unmap(&ring);
	return done_testing();
}
