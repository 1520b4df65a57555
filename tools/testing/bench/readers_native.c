// SPDX-License-Identifier: GPL-2.0
/*
 * Readers beside a writer that never pauses, at the machine's own speed: the writer on one
 * CPU, the readers, processes, together on another.
 *
 *	what an event costs its writer with no reader, with one that looks all the time, with
 *	one and two that look every 50 us; in turns, in CPU time
 *
 *	what it costs while one reader is stopped for a second, and after one was killed
 *
 * Events are numbered by their writer, in the payload. Each reader adds up the holes in the
 * numbers it sees; if that is not, to the event, what its iterator says it missed, the
 * benchmark fails.
 *
 *	readers_native [--json | --both] [ROUNDS]
 */
#define RECORDER_NO_STEP
#define RECORDER_OWN_SLOTS
#include "../unit/recorder_port.h"
#include "../../../kmod/recorder.c"

#include "bench.h"
#include "native_ring.h"

#include <signal.h>
#include <sys/wait.h>

#define MAX_READERS 3
#define WORDS 8
#define CHUNK 20000		 /* events between looks at the clock */
#define RUN_NS 150e6		 /* of a round */
#define POLL_NS 50000		 /* between looks at an empty ring */

struct reader {
	u64 delivered, missed, expired; /* what the library says */
	u64 holes;			/* what the numbers say */
	u64 wrong;			/* payloads that are not their writer's */
	double cpu_ns;
	bool ready, done;
} __aligned(64);

static struct shared {
	u64 total;  /* events written; ~0 while writing */
	struct reader reader[MAX_READERS];
} *shared;

static struct native_ring ring;
static u64 number;

static void write_chunk(void)
{
	for (unsigned int i = 0; i < CHUNK; i++) {
		struct monad_ring_record *rec = recorder_reserve(&ring.r, 2, WORDS * 8);

		if (!rec)
			abort();
		number++;
		for (u64 word = 0; word < WORDS; word++)
			((u64 *)rec->payload)[word] = number + word;
		recorder_commit(rec);
	}
}

/* Reads what is there; false when that is nothing. */
static bool read_some(struct monad_event_iterator *iter, struct reader *r, u64 *last)
{
	struct monad_event_descriptor event;
	u64 payload[WORDS];

	switch (monad_event_iterator_try_next(iter, &event)) {
	case MONAD_EVENT_NOT_READY:
		return false;
	case MONAD_EVENT_GAP:
		r->missed += monad_event_iterator_recover(iter);
		return true;
	case MONAD_EVENT_SUCCESS:
		break;
	}
	if (!monad_event_iterator_payload_memcpy(iter, &event, payload, sizeof(payload))) {
		r->expired++;
		return true;
	}
	for (u64 word = 1; word < WORDS; word++)
		if (payload[word] != payload[0] + word)
			r->wrong++;
	if (payload[0] <= *last || event.payload_size != sizeof(payload))
		r->wrong++;
	r->holes += payload[0] - *last - 1;
	*last = payload[0];
	r->delivered++;
	return true;
}

static void read_all(struct reader *r, bool spin, u64 first_seqno)
{
	const struct timespec pause = { 0, POLL_NS };
	struct monad_event_iterator iter;
	u64 last = 0, total;

	if (monad_event_ring_init_iterator(&ring.reader, &iter))
		_exit(1);
	monad_event_iterator_set_seqno(&iter, first_seqno);
	__atomic_store_n(&r->ready, true, __ATOMIC_RELEASE);
	do {
		/* Known before the ring is looked at, so that all of it is read. */
		total = __atomic_load_n(&shared->total, __ATOMIC_ACQUIRE);
		while (read_some(&iter, r, &last))
			;
		if (total == ~0ULL && !spin)
			nanosleep(&pause, NULL);
	} while (total == ~0ULL);
	r->holes += total - last;
	r->cpu_ns = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
	r->done = true;
}

static void start_readers(pid_t *pids, unsigned int readers, bool spin)
{
	u64 first = ring.ring.header->control.last_seqno + 1;

	memset(shared, 0, sizeof(*shared));
	shared->total = ~0ULL;
	number = 0;
	for (unsigned int i = 0; i < readers; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			abort();
		if (!pids[i]) {
			bench_pin(1);
			read_all(&shared->reader[i], spin, first);
			_exit(0);
		}
	}
	for (unsigned int i = 0; i < readers; i++)
		while (!__atomic_load_n(&shared->reader[i].ready, __ATOMIC_ACQUIRE))
			usleep(100);
}

static void check_reader(const struct reader *r, unsigned int nr, u64 total)
{
	bench_must(r->done, "reader %u did not end", nr);
	bench_must(r->wrong == 0, "reader %u got %llu payloads that nobody wrote", nr,
		   (unsigned long long)r->wrong);
	bench_must(r->holes == r->missed + r->expired,
		   "reader %u: the numbers lack %llu, but %llu missed + %llu expired were counted",
		   nr, (unsigned long long)r->holes, (unsigned long long)r->missed,
		   (unsigned long long)r->expired);
	bench_must(r->delivered + r->holes == total, "reader %u: %llu + %llu are not %llu", nr,
		   (unsigned long long)r->delivered, (unsigned long long)r->holes,
		   (unsigned long long)total);
}

static void end_readers(const pid_t *pids, unsigned int readers, int killed)
{
	__atomic_store_n(&shared->total, number, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < readers; i++) {
		waitpid(pids[i], NULL, 0);
		if (i != killed)
			check_reader(&shared->reader[i], i, number);
	}
}

/* Writes for @ns; the CPU time that an event took. */
static double write_for(double ns)
{
	double until = bench_now() + ns, begin = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
	u64 before = number;

	do
		write_chunk();
	while (bench_now() < until);
	return (bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begin) / (number - before);
}

static const struct kind {
	const char *key, *what;
	unsigned int readers;
	bool spin;
} kinds[] = {
	{ "none", "no reader", 0, false },
	{ "one_spinning", "1 reader that looks all the time", 1, true },
	{ "one", "1 reader that looks every 50 us", 1, false },
	{ "two", "2 readers that look every 50 us", 2, false },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void live(unsigned int rounds)
{
	static struct bench_samples cost[KINDS], ratio[KINDS], rate[KINDS], reading[KINDS];
	static u64 lost[KINDS], offered[KINDS];
	char key[64], what[80];

	for (unsigned int round = 0; round <= rounds; round++) {
		double none = 0;

		for (unsigned int k = 0; k < KINDS; k++) {
			const struct kind *kind = &kinds[k];
			pid_t pids[MAX_READERS];
			double ns, took;

			start_readers(pids, kind->readers, kind->spin);
			took = -bench_now();
			ns = write_for(RUN_NS);
			took += bench_now();
			end_readers(pids, kind->readers, -1);
			if (!k)
				none = ns;
			if (!round)
				continue;
			bench_add(&cost[k], ns);
			bench_add(&ratio[k], ns / none);
			for (unsigned int i = 0; i < kind->readers; i++) {
				const struct reader *r = &shared->reader[i];

				bench_add(&rate[k], r->delivered / took * 1e3);
				bench_add(&reading[k], r->cpu_ns / (r->delivered + 1));
				lost[k] += r->holes;
				offered[k] += number;
			}
		}
	}
	bench_columns("a writer that never pauses, 64 bytes: ns an event");
	for (unsigned int k = 0; k < KINDS; k++) {
		snprintf(key, sizeof(key), "writer_%s_ns", kinds[k].key);
		bench_result(key, kinds[k].what, &cost[k]);
		if (!k)
			continue;
		snprintf(key, sizeof(key), "writer_%s_ratio", kinds[k].key);
		bench_result(key, "  times that without readers", &ratio[k]);
		snprintf(key, sizeof(key), "delivered_%s", kinds[k].key);
		bench_result(key, "  delivered to each, M/s", &rate[k]);
		if (!kinds[k].spin) {
			snprintf(key, sizeof(key), "reader_%s_ns", kinds[k].key);
			bench_result(key, "  reader's CPU time, ns an event", &reading[k]);
		}
		snprintf(key, sizeof(key), "lost_%s", kinds[k].key);
		snprintf(what, sizeof(what), "  lost, all accounted for, of %.0f M",
			 offered[k] / 1e6);
		bench_value(key, what, lost[k]);
	}
}

/* One reader stopped for a second, one killed, and one that minds its own business. */
static void stop_and_kill(void)
{
	enum { STEADY, STOPPED, KILLED };
	pid_t pids[MAX_READERS];
	struct bench_samples before = { .nr = 0 }, stopped = { .nr = 0 }, after = { .nr = 0 };
	const struct reader *r = shared->reader;
	u64 steady_lost;

	start_readers(pids, 3, false);
	for (int i = 0; i < 10; i++)
		bench_add(&before, write_for(1e8));
	steady_lost = r[STEADY].holes;
	kill(pids[STOPPED], SIGSTOP);
	for (int i = 0; i < 10; i++)
		bench_add(&stopped, write_for(1e8));
	kill(pids[STOPPED], SIGCONT);
	kill(pids[KILLED], SIGKILL);
	for (int i = 0; i < 10; i++)
		bench_add(&after, write_for(1e8));
	end_readers(pids, 3, KILLED);
	bench_columns("of three readers: ns an event for the writer");
	bench_result("before_stop_ns", "all three read", &before);
	bench_result("while_stopped_ns", "one is stopped, for a second", &stopped);
	bench_result("after_kill_ns", "it goes on, another was killed", &after);
	bench_value("steady_lost_before", "lost by the third one before, events", steady_lost);
	bench_value("steady_lost", "lost by the third one, at the end, events", r[STEADY].holes);
	bench_value("stopped_lost", "lost by the one that was stopped, all accounted for",
		    r[STOPPED].holes);
	bench_must(r[STOPPED].holes > 0, "a reader stopped for a second lost nothing");
}

int main(int argc, char **argv)
{
	int others = bench_begin("readers_native", argc, argv);
	int rounds = others ? atoi(argv[1]) : 11;
	const char *why;

	if (others > 1 || rounds < 10 || rounds > BENCH_MAX_SAMPLES / 2) {
		fprintf(stderr, "usage: readers_native [--json | --both] [ROUNDS], 10 to %d\n",
			BENCH_MAX_SAMPLES / 2);
		return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED) {
		perror("readers_native: mmap");
		return 1;
	}
	if (!bench_pin(1) || !bench_pin(0)) {
		bench_not_measured("readers", "readers beside a writer",
				   "it takes CPUs 0 and 1");
		return bench_end();
	}
	/*
	 * Some 4 ms of history at 30 M/s. A reader too late finds payloads gone first, and
	 * descriptors when it is later still.
	 */
	why = native_ring_create(&ring, 18, 23, false);
	if (why) {
		bench_not_measured("readers", "readers beside a writer", "%s", why);
		return bench_end();
	}
	live(rounds);
	stop_and_kill();
	native_ring_destroy(&ring);
	return bench_end();
}
