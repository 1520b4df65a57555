// SPDX-License-Identifier: GPL-2.0
/*
 * Readers do not get in each other's way, nor in the writers', whatever happens to them.
 */
#include <signal.h>

#include "kselftest_harness.h"

#include "writers.h"

#define STOPPED_SECONDS 10
#define EVENTS_A_SECOND 4000
#define TICKS_A_SECOND 50

/* What a reader in another process says about itself. */
struct report {
	uint32_t finish; /* told to read to the end and exit */
	uint32_t ready;
	uint64_t seen;
	uint64_t missed;
	uint64_t gaps;
	uint64_t wrong;
	uint8_t got[1 << 20]; /* 1 for each sequence number read */
};

FIXTURE(readers)
{
	struct writers writers;
	struct report *report[2];
	pid_t pid[2];
};

FIXTURE_SETUP(readers)
{
	unsigned int i;

	/* The default ring: to be lapped in ten seconds, and with time to spare before. */
	SETUP_WRITERS(&self->writers, NULL);
	self->writers.writer[0].max_len = 100;
	for (i = 0; i < 2; i++) {
		self->report[i] = mmap(NULL, sizeof(struct report), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(MAP_FAILED, self->report[i]);
	}
}

FIXTURE_TEARDOWN(readers)
{
	writers_teardown(&self->writers);
}

static void read_and_report(struct report *report)
{
	struct reader reader;
	struct ring ring;

	if (ring_open(&ring, NULL))
		_exit(1);
	reader_init(&reader, &ring, 1);
	reader.margin = ring.info.descriptor_capacity / 16;
	for (;;) {
		uint32_t finish = __atomic_load_n(&report->finish, __ATOMIC_ACQUIRE);
		uint64_t last = ring.header->control.last_seqno;

		while (reader.next <= last) {
			enum reader_result result = reader_next(&reader);

			if (result == READER_NOT_READY)
				break;
			if (result == READER_EVENT && reader_check(&reader) &&
			    reader.event.seqno < sizeof(report->got))
				report->got[reader.event.seqno] = 1;
		}
		report->seen = reader.seen;
		report->missed = reader.missed;
		report->gaps = reader.gaps;
		report->wrong = reader.wrong;
		__atomic_store_n(&report->ready, 1, __ATOMIC_RELEASE);
		if (finish && reader.next > last)
			break;
		usleep(2000);
	}
	_exit(0);
}

/* A reader of its own process and file, not one inherited. */
static pid_t start_reader(struct report *report)
{
	pid_t pid = fork();

	if (!pid)
		read_and_report(report);
	while (pid > 0 && !__atomic_load_n(&report->ready, __ATOMIC_ACQUIRE))
		usleep(1000);
	return pid;
}

/* Writes for so long at the pace of EVENTS_A_SECOND. */
static void write_for(struct __test_metadata *_metadata, struct writers *w, unsigned int seconds)
{
	uint64_t next = now_ns(CLOCK_MONOTONIC);
	unsigned int i;

	for (i = 0; i < seconds * TICKS_A_SECOND; i++) {
		ASSERT_EQ(0, writers_burst(w, 0, EVENTS_A_SECOND / TICKS_A_SECOND));
		next += 1000000000ULL / TICKS_A_SECOND;
		while (now_ns(CLOCK_MONOTONIC) < next)
			usleep(1000);
	}
}

/*
 * One is stopped for ten seconds, in which the ring is lapped: it knows exactly how many
 * it missed. The other one and the writer do not notice.
 */
TEST_F_TIMEOUT(readers, stopped, 60)
{
	struct writers *w = &self->writers;
	struct report *good = self->report[0], *stopped = self->report[1];
	uint64_t last, s, not_seen = 0;
	unsigned int i;
	int status;

	for (i = 0; i < 2; i++) {
		self->pid[i] = start_reader(self->report[i]);
		ASSERT_LT(0, self->pid[i]);
	}
	write_for(_metadata, w, 1);
	ASSERT_EQ(0, kill(self->pid[1], SIGSTOP));
	ASSERT_EQ(self->pid[1], waitpid(self->pid[1], &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	EXPECT_EQ(0, stopped->missed);

	write_for(_metadata, w, STOPPED_SECONDS);
	last = w->ring.header->control.last_seqno;
	EXPECT_LT(2 * w->ring.info.descriptor_capacity, last);
	ASSERT_EQ(0, kill(self->pid[1], SIGCONT));
	write_for(_metadata, w, 1);

	for (i = 0; i < 2; i++) {
		__atomic_store_n(&self->report[i]->finish, 1, __ATOMIC_RELEASE);
		ASSERT_EQ(self->pid[i], waitpid(self->pid[i], &status, 0));
		EXPECT_EQ(0, status);
		EXPECT_EQ(0, self->report[i]->wrong);
	}
	last = w->ring.header->control.last_seqno;
	ASSERT_LT(last, sizeof(good->got));
	EXPECT_EQ((STOPPED_SECONDS + 2) * EVENTS_A_SECOND, last);
	EXPECT_EQ(0, w->writer[0].refused);

	EXPECT_EQ(last, good->seen);
	EXPECT_EQ(0, good->missed);

	for (s = 1; s <= last; s++)
		not_seen += !stopped->got[s];
	EXPECT_EQ(1, stopped->gaps);
	EXPECT_EQ(not_seen, stopped->missed);
	EXPECT_EQ(last, stopped->seen + stopped->missed);
	/* Lapped twice: more than one lap is gone, and almost one is still there. */
	EXPECT_LT(w->ring.info.descriptor_capacity, stopped->missed);
	EXPECT_LT(w->ring.info.descriptor_capacity / 16 * 13,
		  last - stopped->missed - EVENTS_A_SECOND);
}

/* One that is killed leaves nothing behind: no reference, no memory, no hole. */
TEST_F(readers, killed)
{
	struct writers *w = &self->writers;
	long refs = module_refcnt();
	unsigned int i;
	int status;

	ASSERT_LT(0, refs);
	for (i = 0; i < 10; i++) {
		struct report *report = self->report[0];

		report->ready = 0;
		self->pid[0] = start_reader(report);
		ASSERT_LT(0, self->pid[0]);
		EXPECT_LT(refs, module_refcnt());
		ASSERT_EQ(0, writers_burst(w, 0, 1000));
		if (i % 2) {
			kill(self->pid[0], SIGSTOP);
			waitpid(self->pid[0], &status, WUNTRACED);
		}
		ASSERT_EQ(0, kill(self->pid[0], SIGKILL));
		ASSERT_EQ(self->pid[0], waitpid(self->pid[0], &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status));
		EXPECT_EQ(refs, module_wait_refcnt(refs));
	}
	ASSERT_EQ(0, writers_burst(w, 0, 1000));
	EXPECT_EQ(11000, w->ring.header->control.last_seqno);
	EXPECT_EQ(0, ring_lost_all(&w->ring));
	writers_teardown(w);
	w->bpf = NULL;
	EXPECT_EQ(0, module_wait_refcnt(0));
	EXPECT_EQ(0, module_unload());
	EXPECT_FALSE(module_loaded());
	EXPECT_NE(0, access("/dev/monad_ring", F_OK));
}

TEST_HARNESS_MAIN
