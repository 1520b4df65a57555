// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder under real threads: more writers than CPUs, which share record slots as
 * tasks do that preempt each other, stop at any step, and now and then hold an event for
 * long; readers that check every byte they are given. Built plain and with sanitizers.
 *
 *	recorder_stress [SECONDS]        default 10, for both parts together
 *
 * First with readers: all that is shared is then read and written a word at a time. Then
 * writers alone, storing payloads plainly, so that ThreadSanitizer sees whether bytes that
 * pass from one writer to the next do so in order.
 */
#include "recorder_port.h"
#include "../../../kmod/recorder.c"
#include "recorder_memory.h"
#include "tap.h"

#include <sched.h>

#define CPUS 4
#define WRITERS 10
#define READERS 2
#define DESC_SHIFT 10
#define PAYLOAD_SHIFT 21

struct writer {
	pthread_t thread;
	unsigned int id;
	u64 rng, attempts, committed, discarded, long_holds;
};

struct reader {
	pthread_t thread;
	u64 seen, missed, expired, bytes, gaps;
	u64 last[WRITERS];
	bool started;
	char why[160];
};

static struct memory m;
static struct writer writers[WRITERS];
static struct reader readers[READERS];
static bool stop_writers, stop_readers, plain;
static __thread u64 *step_rng;

static u64 random_u64(u64 *rng)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	*rng ^= *rng << 17;
	return *rng;
}

static void random_stall(void)
{
	u64 x;

	if (!step_rng)
		return;
	x = random_u64(step_rng) >> 20;
	if (x % 512 == 0)
		sched_yield();
	else if (x % 65536 == 1)
		usleep(x >> 20 & 255);
}

static u64 pattern(u64 id, u64 counter, u64 word)
{
	return ((counter << 8 | id) ^ (word << 48)) * 0x9e3779b97f4a7c15ULL;
}

static u64 random_size(u64 *rng)
{
	u64 x = random_u64(rng) >> 16;

	switch (x & 31) {
	case 0:
		return 0;
	case 1:
		return 4096 + (x >> 8) % 60000;
	case 2:
	case 3:
		return (x >> 8) % 4096;
	default:
		return (x >> 8) % 200;
	}
}

static void fill_payload(struct monad_ring_record *rec, u64 id, u64 counter, u64 size)
{
	u64 *payload = (u64 *)rec->payload, words = (size + 7) / 8, word;

	for (word = 0; word < words; word++) {
		if (plain)
			payload[word] = pattern(id, counter, word);
		else
			port_store(&payload[word], pattern(id, counter, word));
		if (word == words / 2)
			random_stall();
	}
}

/* A writer of its own program: it finds out that what it wrote is still there. */
static bool still_there(struct monad_ring_record *rec, u64 id, u64 counter, u64 size)
{
	u64 *payload = (u64 *)rec->payload, word;

	for (word = 0; word < (size + 7) / 8; word++)
		if (port_load(&payload[word]) != pattern(id, counter, word))
			return false;
	return port_load(&rec->desc->seqno) == 0 && rec->desc->content_ext[1] == counter;
}

static u64 overwritten;

static void *write_events(void *arg)
{
	struct writer *w = arg;
	struct monad_ring_record *rec;
	u64 size, x;

	port_cpu = w->id % CPUS;
	step_rng = &w->rng;
	while (!port_load(&stop_writers)) {
		size = random_size(&w->rng);
		w->attempts++;
		rec = recorder_reserve(&m.r, 2 + w->id, size);
		if (!rec) {
			sched_yield();
			continue;
		}
		recorder_tag(rec, 0, w->id);
		recorder_tag(rec, 1, w->attempts);
		fill_payload(rec, w->id, w->attempts, size);
		x = random_u64(&w->rng) >> 20;
		if (w->id == 0 && x % 1024 == 0) {
			w->long_holds++;
			usleep(100000 + (x >> 20) % 100000);
		}
		if (x % 64 == 1 && !still_there(rec, w->id, w->attempts, size))
			port_count(&overwritten);
		if (x % 16 == 2) {
			w->discarded++;
			recorder_discard(rec);
		} else {
			w->committed++;
			recorder_commit(rec);
		}
	}
	return NULL;
}

__attribute__((format(printf, 2, 3))) static void reader_failed(struct reader *r,
								const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!r->why[0])
		vsnprintf(r->why, sizeof(r->why), fmt, ap);
	va_end(ap);
}

/*
 * What was read is looked at only when the reader may rely on it. The fence is the
 * reader's half of the pairs with recorder_reserve:B and recorder_advance:C;
 * ThreadSanitizer knows no fences, but needs none where every access is atomic.
 */
static bool copy_words(u64 *to, const u64 *from, u64 words)
{
	u64 i;

	for (i = 0; i < words; i++)
		to[i] = port_load(&from[i]);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return true;
}

static void read_event(struct reader *r, u64 want, const u64 *copy)
{
	static __thread u64 payload[1 << 14];
	u64 type = copy[1] & 0xffff, size = copy[1] >> 32, offset = copy[3], id = copy[4];
	u64 counter = copy[5], word;

	if ((copy[1] & 0xffff0000) || copy[6] || copy[7] || offset % 16 || !copy[2])
		reader_failed(r, "%llu: wrong descriptor", (unsigned long long)want);
	r->seen++;
	if (type == MONAD_EVENT_NONE_EVENT_TYPE) {
		if (size || id || counter)
			reader_failed(r, "%llu: NONE with contents", (unsigned long long)want);
		return;
	}
	if (id >= WRITERS || type != 2 + id || size > 64200) {
		reader_failed(r, "%llu: nobody's event", (unsigned long long)want);
		return;
	}
	if (counter <= r->last[id])
		reader_failed(r, "%llu: writer %llu's %llu after its %llu",
			      (unsigned long long)want, (unsigned long long)id,
			      (unsigned long long)counter, (unsigned long long)r->last[id]);
	r->last[id] = counter;
	copy_words(payload, (const u64 *)(m.payload + (offset & (m.size - 1))), (size + 7) / 8);
	if (offset < port_load(&m.header->control.buffer_window_start)) {
		r->expired++;
		return;
	}
	for (word = 0; word < (size + 7) / 8; word++)
		if (payload[word] != pattern(id, counter, word))
			reader_failed(r, "%llu: wrong byte in word %llu of %llu",
				      (unsigned long long)want, (unsigned long long)word,
				      (unsigned long long)size);
	r->bytes += size;
}

static void *read_events(void *arg)
{
	struct reader *r = arg;
	u64 want = 1, copy[8], seqno, last;

	for (;;) {
		struct monad_event_descriptor *desc = &m.descs[(want - 1) & m.r.desc_mask];
		bool stop = __atomic_load_n(&stop_readers, __ATOMIC_ACQUIRE);

		copy[0] = port_load_acquire(&desc->seqno);
		if (copy[0] < want) {
			if (stop)
				break;
			sched_yield();
			continue;
		}
		seqno = copy[0];
		if (seqno == want) {
			copy_words(copy + 1, (u64 *)desc + 1, 7);
			seqno = port_load(&desc->seqno);
		}
		if (seqno == want) {
			read_event(r, want++, copy);
			continue;
		}
		last = port_load(&m.header->control.last_seqno);
		last = last > want + m.r.desc_mask ? last - m.r.desc_mask * 3 / 4 : want + 1;
		r->missed += last - want;
		r->gaps++;
		want = last;
	}
	return NULL;
}

static void start(unsigned int nr_readers)
{
	unsigned int i;

	if (memory_init(&m, DESC_SHIFT, PAYLOAD_SHIFT, CPUS, 0, 0))
		bail_out("no ring");
	memset(writers, 0, sizeof(writers));
	stop_writers = false;
	stop_readers = false;
	port_step_hook = random_stall;
	for (i = 0; i < nr_readers; i++)
		pthread_create(&readers[i].thread, NULL, read_events, &readers[i]);
	for (i = 0; i < WRITERS; i++) {
		writers[i].id = i;
		writers[i].rng = 88172645463325252ULL + i * 0x9e3779b97f4a7c15ULL;
		pthread_create(&writers[i].thread, NULL, write_events, &writers[i]);
	}
}

/* Stops all, and sees that the books are straight. */
static void finish(const char *name, unsigned int nr_readers)
{
	u64 attempts = 0, committed = 0, discarded = 0, lost = 0, holds = 0, i;
	struct monad_event_ring_control *control = &m.header->control;

	port_store(&stop_writers, true);
	for (i = 0; i < WRITERS; i++) {
		pthread_join(writers[i].thread, NULL);
		attempts += writers[i].attempts;
		committed += writers[i].committed;
		discarded += writers[i].discarded;
		holds += writers[i].long_holds;
	}
	__atomic_store_n(&stop_readers, true, __ATOMIC_RELEASE);
	for (i = 0; i < nr_readers; i++)
		pthread_join(readers[i].thread, NULL);
	for (i = 0; i < MONAD_RING_LOST_COUNT; i++)
		lost += m.ext->lost[i];

	eq_u64(committed + discarded + lost, attempts, "%s: offered = recorded + lost", name);
	eq_u64(control->last_seqno, committed + discarded, "%s: each recorded has a seqno", name);
	eq_u64(m.ext->discarded, discarded, "%s: discarded", name);
	eq_u64(overwritten, 0, "%s: what a writer wrote stayed as long as it held it", name);
	for (i = 1; i <= m.r.desc_mask + 1; i++) {
		u64 seqno = control->last_seqno - m.r.desc_mask - 1 + i;

		if (m.descs[(seqno - 1) & m.r.desc_mask].seqno != seqno)
			break;
	}
	eq_u64(i, m.r.desc_mask + 2, "%s: every descriptor holds what it must", name);
	ok(control->last_seqno > 20 * (m.r.desc_mask + 1) &&
	   m.ext->lost[MONAD_RING_LOST_STALLED] && holds,
	   "%s: laps, long holds and refusals", name);
	diag("%s: %llu offered, %llu committed, %llu discarded; lost: %llu stalled, %llu no slot, "
	     "%llu contended; %llu long holds; %llu laps of descriptors, %llu of bytes", name,
	     (unsigned long long)attempts, (unsigned long long)committed,
	     (unsigned long long)discarded,
	     (unsigned long long)m.ext->lost[MONAD_RING_LOST_STALLED],
	     (unsigned long long)m.ext->lost[MONAD_RING_LOST_NO_SLOT],
	     (unsigned long long)m.ext->lost[MONAD_RING_LOST_CONTENDED],
	     (unsigned long long)holds, (unsigned long long)control->last_seqno >> DESC_SHIFT,
	     (unsigned long long)control->next_payload_byte >> PAYLOAD_SHIFT);
	for (i = 0; i < nr_readers; i++) {
		struct reader *r = &readers[i];

		ok(!r->why[0], "%s: reader %llu saw nothing wrong%s%s", name,
		   (unsigned long long)i, r->why[0] ? ": " : "", r->why);
		eq_u64(r->seen + r->missed, control->last_seqno, "%s: seen and missed", name);
		diag("%s: %llu seen, %llu missed in %llu gaps, %llu expired, %llu bytes checked",
		     name, (unsigned long long)r->seen, (unsigned long long)r->missed,
		     (unsigned long long)r->gaps, (unsigned long long)r->expired,
		     (unsigned long long)r->bytes);
	}
	memory_free(&m);
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 10;

	start(READERS);
	usleep(seconds * 600000);
	finish("with readers", READERS);
	plain = true;
	start(0);
	usleep(seconds * 400000);
	finish("writers alone", 0);
	return done_testing();
}
