// SPDX-License-Identifier: GPL-2.0
/*
 * Many writers at once, in threads on two CPUs and in the interrupts and context switches
 * that get in between, and a reader that checks what they write while they do.
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "kselftest_harness.h"

#include "writers.h"

#define THREADS 4 /* writers 0 to 3, two on each CPU */
#define BURST 200 /* events in one run of the program */
#define TIMER_NS 300000
#define SECONDS 4
#define MIN_EVENTS 100000

FIXTURE(many)
{
	struct writers writers;
	struct reader reader;
	int perf_fd[WRITER_CPUS];
	struct bpf_link *perf_link[WRITER_CPUS];
};

FIXTURE_VARIANT(many)
{
	const char *ring;
	unsigned int max_len;
	unsigned int big_every;
	unsigned int big_len;
};

/* Descriptors run out first: the ring is lapped all the time. */
FIXTURE_VARIANT_ADD(many, small) {
	.ring = SMALL, .max_len = 100,
};

/* Bytes run out first, in events that take the compare-and-swap between those that do not. */
FIXTURE_VARIANT_ADD(many, mixed) {
	.ring = SMALL, .max_len = 600, .big_every = 50, .big_len = 20000,
};

/* A ring that a reader has a chance to keep up with. */
FIXTURE_VARIANT_ADD(many, roomy) {
	.ring = NULL, .max_len = 300,
};

static int attach_perf(FIXTURE_DATA(many) *self)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = 1000,
	};
	int cpu;

	for (cpu = 0; cpu < WRITER_CPUS; cpu++) {
		self->perf_fd[cpu] = syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
					     PERF_FLAG_FD_CLOEXEC);
		if (self->perf_fd[cpu] < 0)
			return -errno;
		self->perf_link[cpu] =
			bpf_program__attach_perf_event(self->writers.bpf->progs.perf,
						       self->perf_fd[cpu]);
		if (!self->perf_link[cpu])
			return -errno;
	}
	return 0;
}

FIXTURE_SETUP(many)
{
	struct writers *w = &self->writers;
	unsigned int i;

	SETUP_WRITERS(w, variant->ring);
	reader_init(&self->reader, &w->ring, 1);
	self->reader.margin = w->ring.info.descriptor_capacity / 4;
	for (i = 0; i < WRITERS; i++) {
		w->writer[i].max_len = variant->max_len;
		w->writer[i].events = BURST;
		w->writer[i].discard_every = 17 + i;
		w->writer[i].on = 1;
		if (i < THREADS) {
			w->writer[i].big_every = variant->big_every;
			w->writer[i].big_len = variant->big_len;
		}
	}
	w->bpf->links.timer = bpf_program__attach(w->bpf->progs.timer);
	ASSERT_NE(NULL, w->bpf->links.timer);
	w->bpf->links.sched = bpf_program__attach(w->bpf->progs.sched);
	ASSERT_NE(NULL, w->bpf->links.sched);
	if (bpf_program__autoload(w->bpf->progs.perf))
		ASSERT_EQ(0, attach_perf(self));
}

FIXTURE_TEARDOWN(many)
{
	reader_free(&self->reader);
	writers_teardown(&self->writers);
}

struct thread {
	struct writers *writers;
	unsigned int writer;
	uint64_t until;
	int err;
	pthread_t id;
};

static void *write_until(void *arg)
{
	struct itimerspec often = { { 0, TIMER_NS }, { 0, TIMER_NS } };
	struct thread *thread = arg;
	int timer;

	pin_to_cpu(thread->writer % 2);
	/* Expires on the CPU it was armed on, whether anybody reads it or not. */
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	timerfd_settime(timer, 0, &often, NULL);
	while (!thread->err && now_ns(CLOCK_MONOTONIC) < thread->until) {
		thread->err = writers_burst(thread->writers, thread->writer, BURST);
		sched_yield();
	}
	close(timer);
	return NULL;
}

TEST_F_TIMEOUT(many, all_at_once, 60)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + SECONDS * 1000000000ULL;
	struct writers *w = &self->writers;
	const struct ring *ring = &w->ring;
	struct reader *reader = &self->reader;
	struct thread thread[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		thread[i] = (struct thread){ .writers = w, .writer = i, .until = until };
		ASSERT_EQ(0, pthread_create(&thread[i].id, NULL, write_until, &thread[i]));
	}
	while (now_ns(CLOCK_MONOTONIC) < until)
		if (!reader_drain(reader))
			usleep(100);
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i].id, NULL);
		EXPECT_EQ(0, thread[i].err);
		EXPECT_NE(0, w->writer[i].committed);
	}
	for (i = 0; i < WRITERS; i++)
		w->writer[i].on = 0;
	bpf_link__destroy(w->bpf->links.timer);
	bpf_link__destroy(w->bpf->links.sched);
	w->bpf->links.timer = NULL;
	w->bpf->links.sched = NULL;
	for (i = 0; i < WRITER_CPUS; i++) {
		bpf_link__destroy(self->perf_link[i]);
		EXPECT_NE(0, w->writer[WRITER_TIMER + i].committed);
		EXPECT_NE(0, w->writer[WRITER_SWITCH + i].committed);
		if (bpf_program__autoload(w->bpf->progs.perf))
			EXPECT_NE(0, w->writer[WRITER_PERF + i].committed);
	}
	/* Whoever is in the middle of one still. */
	usleep(100000);
	reader_drain(reader);

	TH_LOG("%lu events: %lu seen, %lu missed in %lu gaps; %lu refused",
	       ring->header->control.last_seqno, reader->seen, reader->missed, reader->gaps,
	       ring_lost_all(ring));
	EXPECT_EQ(0, reader->wrong);
	EXPECT_EQ(0, writers_sum(w, errors));
	EXPECT_EQ(ring->header->control.last_seqno, reader->seen + reader->missed);
	EXPECT_EQ(ring->header->control.last_seqno,
		  writers_sum(w, committed) + writers_sum(w, discarded));
	EXPECT_EQ(ring->header->control.next_payload_byte, writers_sum(w, bytes));
	EXPECT_EQ(ring->ext->discarded, writers_sum(w, discarded));
	EXPECT_EQ(ring_lost_all(ring), writers_sum(w, refused));
	EXPECT_EQ(writers_sum(w, tried), writers_sum(w, committed) + writers_sum(w, discarded) +
		  writers_sum(w, refused));
	EXPECT_LE(MIN_EVENTS, ring->header->control.last_seqno);
	EXPECT_LE(ring->info.descriptor_capacity, reader->seen);
}

TEST_HARNESS_MAIN
