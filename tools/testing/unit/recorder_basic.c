// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder's edges, one by one. The figures are worked out by hand, for a ring of
 * 1024 descriptors and 2 MiB on two CPUs of 8 record slots:
 *
 *	max_fast     4096 (2 MiB / 8 / 16 is more)
 *	byte limit   2097152 - 16 * 4096 = 2031616, raised by 131072 at a time
 *	seqno limit  1024 - 16 = 1008, raised by 64 at a time
 *	max_size     524288
 */
#include "recorder_port.h"
#include "../../../kmod/recorder.c"
#include "recorder_memory.h"
#include "tap.h"

#define BYTE_LIMIT 2031616
#define BYTE_STEP 131072
#define SEQNO_LIMIT 1008
#define SEQNO_STEP 64
#define MAX_SIZE 524288

static struct memory m;

static void begin(void)
{
	if (memory_init(&m, 10, 21, 2, 0, 0))
		bail_out("the ring for all tests is refused");
}

static struct monad_ring_record *reserve(u64 size)
{
	return recorder_reserve(&m.r, 7, size);
}

static bool event(u64 size)
{
	struct monad_ring_record *rec = reserve(size);

	if (rec)
		recorder_commit(rec);
	return rec;
}

/* How many events of @size bytes are taken before one is refused. */
static unsigned int events(u64 size)
{
	unsigned int n = 0;

	while (n < 100000 && event(size))
		n++;
	return n;
}

static u64 lost(enum monad_ring_lost why)
{
	return m.ext->lost[why];
}

static void test_init(void)
{
	struct monad_event_ring_header header = { .size = { 1024, 1 << 21, 0 } };
	struct monad_recorder r;

	memset(&r, 0, sizeof(r));
	eq_int(monad_recorder_init(&r, &header, NULL, NULL, NULL, 128), 0,
	       "128 slots in 1024 descriptors");
	eq_u64(r.max_fast, 2048, "max_fast of 128 slots");
	eq_u64(r.byte_limit, (1 << 21) - (1 << 18), "an eighth is margin, at most");
	eq_int(monad_recorder_init(&r, &header, NULL, NULL, NULL, 129), -ERANGE,
	       "129 slots are too many");
	header.size.descriptor_capacity = 1 << 18;
	eq_int(monad_recorder_init(&r, &header, NULL, NULL, NULL, 16384), 0,
	       "16384 slots in 2 MiB: 16 bytes each");
	eq_int(monad_recorder_init(&r, &header, NULL, NULL, NULL, 16385), -ERANGE,
	       "16385 are too many");
	header.size.payload_buf_size = 1ULL << 40;
	eq_int(monad_recorder_init(&r, &header, NULL, NULL, NULL, 16), 0, "1 TiB");
	eq_u64(r.max_size, 0xffffffff, "payload_size has 32 bits");
	eq_u64(r.max_fast, 4096, "max_fast has a bound");
	eq_u64(monad_recorder_min_desc_shift(1), 10, "the least shift of 1 slot");
	eq_u64(monad_recorder_min_desc_shift(128), 10, "of 128 slots");
	eq_u64(monad_recorder_min_desc_shift(129), 11, "of 129 slots");
	eq_u64(monad_recorder_min_desc_shift(2048), 14, "of 2048 slots");
}

static void test_first_event(void)
{
	struct monad_ring_record *rec;
	u64 before = port_epoch_nanos();

	begin();
	rec = recorder_reserve(&m.r, 0xffff, 33);
	ok(rec && rec->recorder == &m.r, "an event is reserved");
	eq_u64(rec->seqno, 1, "the first seqno");
	ok(rec->payload == m.payload && rec->desc == m.descs, "at the start of the ring");
	eq_u64(rec->desc->seqno, 0, "not there before it is committed");
	recorder_tag(rec, 0, 11);
	recorder_tag(rec, 3, ~0ULL);
	recorder_commit(rec);
	eq_u64(m.descs[0].seqno, 1, "there when it is");
	eq_u64(m.descs[0].event_type, 0xffff, "event_type");
	eq_u64(m.descs[0].unused, 0, "unused");
	eq_u64(m.descs[0].payload_size, 33, "payload_size is the true one");
	eq_u64(m.descs[0].payload_buf_offset, 0, "payload_buf_offset");
	ok(m.descs[0].record_epoch_nanos >= before &&
	   m.descs[0].record_epoch_nanos <= port_epoch_nanos(), "record_epoch_nanos");
	ok(m.descs[0].content_ext[0] == 11 && !m.descs[0].content_ext[1] &&
	   !m.descs[0].content_ext[2] && m.descs[0].content_ext[3] == ~0ULL, "content_ext");
	eq_u64(m.header->control.next_payload_byte, 48, "33 bytes take 48");

	event(0);
	event(16);
	event(1);
	event(17);
	event(1);
	eq_u64(m.descs[1].payload_buf_offset, 48, "an event without payload");
	eq_u64(m.descs[2].payload_buf_offset, 48, "... takes no bytes");
	eq_u64(m.descs[3].payload_buf_offset, 64, "16 bytes take 16");
	eq_u64(m.descs[4].payload_buf_offset, 80, "1 byte takes 16");
	eq_u64(m.descs[5].payload_buf_offset, 112, "17 take 32");
	eq_u64(m.header->control.last_seqno, 6, "last_seqno");
	eq_u64(m.header->control.buffer_window_start, 0, "the window has not moved");
	memory_free(&m);
}

static void test_discard(void)
{
	struct monad_ring_record *rec;
	unsigned int i;

	begin();
	event(16);
	rec = reserve(100);
	for (i = 0; i < 4; i++)
		recorder_tag(rec, i, i + 1);
	recorder_discard(rec);
	eq_u64(m.descs[1].seqno, 2, "a discarded event is published");
	eq_u64(m.descs[1].event_type, MONAD_EVENT_NONE_EVENT_TYPE, "as type NONE");
	eq_u64(m.descs[1].payload_size, 0, "without payload");
	for (i = 0; i < 4; i++)
		eq_u64(m.descs[1].content_ext[i], 0, "or content_ext[%u]", i);
	eq_u64(m.ext->discarded, 1, "and counted");
	event(16);
	eq_u64(m.descs[2].payload_buf_offset, 16 + 112, "its bytes are not given out again");
	memory_free(&m);
}

static void test_sizes(void)
{
	begin();
	ok(event(MAX_SIZE), "the largest event");
	eq_u64(m.header->control.next_payload_byte, MAX_SIZE, "its bytes");
	ok(!event(MAX_SIZE + 1) && !event(1ULL << 32) && !event(~0ULL), "larger ones");
	eq_u64(lost(MONAD_RING_LOST_TOO_LARGE), 3, "are counted");
	eq_u64(m.slots[0].slot[0].floor, RECORDER_FREE, "and hold no slot");
	ok(event(MAX_SIZE) && event(MAX_SIZE) && event(MAX_SIZE) && event(MAX_SIZE),
	   "the largest, more often than fits at once");
	/* 5 * 524288 + 131072 - 2031616 */
	eq_u64(m.header->control.buffer_window_start, 720896, "the window after that");
	memory_free(&m);
}

static void test_slots(void)
{
	struct monad_ring_record *rec[RECORDER_SLOTS];
	unsigned int i;

	begin();
	for (i = 0; i < RECORDER_SLOTS; i++)
		rec[i] = reserve(8);
	ok(rec[7] && rec[7]->seqno == 8, "eight events at once on a CPU");
	ok(!event(8), "not nine");
	eq_u64(lost(MONAD_RING_LOST_NO_SLOT), 1, "that is counted");
	port_cpu = 1;
	ok(event(8), "another CPU has slots of its own");
	port_cpu = 0;
	recorder_commit(rec[3]);
	recorder_commit(rec[0]);
	eq_u64(m.descs[3].seqno, 4, "out of order");
	eq_u64(m.descs[1].seqno, 0, "the others are not there yet");
	ok(event(8) && event(8), "freed slots are used again");
	rec[3] = reserve(8);
	rec[0] = reserve(8);
	ok(rec[0] && rec[3] && !event(8), "two, and not three");
	for (i = RECORDER_SLOTS; i-- > 0;)
		recorder_commit(rec[i]);
	eq_u64(lost(MONAD_RING_LOST_NO_SLOT), 2, "lost in all");
	for (i = 0; i < RECORDER_SLOTS; i++)
		ok(m.slots[0].slot[i].floor == RECORDER_FREE &&
		   m.slots[0].slot[i].seqno_floor == RECORDER_FREE, "slot %u is free", i);
	for (i = 0; i < m.header->control.last_seqno; i++)
		if (m.descs[i].seqno != i + 1)
			break;
	eq_u64(i, m.header->control.last_seqno, "no hole");
	memory_free(&m);
}

static unsigned int steps;

static void count_step(void)
{
	steps++;
}

static void test_stalled_bytes(void)
{
	struct monad_ring_record *rec;

	begin();
	rec = reserve(64);
	port_cpu = 1;
	/* 64 + 495 * 4096 = 2027584; one more were above 2031616 */
	eq_u64(events(4096), 495, "4096 bytes each past a stalled writer");
	eq_u64(lost(MONAD_RING_LOST_STALLED), 1, "the next one is counted");
	port_step_hook = count_step;
	ok(!event(4096) && steps < 16, "finding out again takes no scan: %u steps", steps);
	port_step_hook = NULL;
	ok(event(4032), "a smaller one fits, to the byte");
	ok(event(0), "one without payload too");
	ok(!event(1), "a byte does not");
	eq_u64(lost(MONAD_RING_LOST_STALLED), 3, "refusals so far");
	eq_u64(m.header->control.buffer_window_start, 0, "the window is held");
	memset(rec->payload, 0x5a, 64);
	recorder_commit(rec);
	ok(m.payload[0] == 0x5a && m.payload[63] == 0x5a && m.descs[0].seqno == 1,
	   "the stalled event is whole");
	ok(event(4096), "all goes on");
	/* what it needed, 2031616 + 4096 - 2031616, and a step */
	eq_u64(m.header->control.buffer_window_start, 4096 + BYTE_STEP, "the window rises a step");
	eq_u64(lost(MONAD_RING_LOST_STALLED), 3, "no more are lost");
	eq_u64(m.header->control.last_seqno, 1 + 495 + 2 + 1, "and each has a number");
	memory_free(&m);
}

static void test_stalled_descriptors(void)
{
	struct monad_ring_record *rec;

	begin();
	rec = reserve(16);
	port_cpu = 1;
	eq_u64(events(16), SEQNO_LIMIT - 1, "events past one that holds a descriptor");
	eq_u64(lost(MONAD_RING_LOST_STALLED), 1, "the next one is counted");
	eq_u64(events(0), 0, "none without payload either");
	recorder_discard(rec);
	ok(event(16), "all goes on");
	eq_u64(m.r.seqno_window, 1 + SEQNO_STEP, "the window rises a step");
	eq_u64(m.header->control.buffer_window_start, 0, "the other one need not");
	eq_u64(events(0), 100000, "and on");
	memory_free(&m);
}

/* Runs at the steps @at to @at + @times - 1 of the outer writer. */
static struct {
	unsigned int at, times, step, depth;
	void (*run)(void);
} nested;

static void nested_step(void)
{
	if (nested.depth)
		return;
	nested.depth++;
	if (nested.step >= nested.at && nested.step - nested.at < nested.times)
		nested.run();
	nested.step++;
	nested.depth--;
}

static void nest(unsigned int at, unsigned int times, void (*run)(void))
{
	nested.at = at;
	nested.times = times;
	nested.step = 0;
	nested.depth = 0;
	nested.run = run;
	port_step_hook = run ? nested_step : NULL;
}

static void one_event(void)
{
	event(16);
}

static void test_contended(void)
{
	begin();
	nest(0, ~0U, one_event);
	ok(!event(8192), "a large event that loses every race");
	nest(0, 0, NULL);
	eq_u64(lost(MONAD_RING_LOST_CONTENDED), 1, "is counted");
	eq_u64(m.slots[0].slot[0].floor, RECORDER_FREE, "and gives its slot back");
	ok(event(8192), "it gets there without the others");
	eq_u64(lost(MONAD_RING_LOST_STALLED), 0, "nobody stalled");
	memory_free(&m);
}

static unsigned int filled;

static void fill(void)
{
	unsigned int n = 0;

	while (n < 3000 && event(1024))
		n++;
	filled += n;
}

/* Wherever a writer is stopped for long: it is not held back by itself after. */
static void test_delayed(void)
{
	unsigned int at, refused = 0;

	for (at = 0; at < 12; at++) {
		begin();
		nest(at, 1, fill);
		refused += !event(4096);
		nest(0, 0, NULL);
		fill();
		if (m.header->control.last_seqno < 3000)
			refused += 100;
		memory_free(&m);
	}
	eq_u64(refused, 0, "writers that were overtaken at each of their steps: none is lost");
	ok(filled > 12 * 3000, "%u events by the others", filled);
}

static void test_history(void)
{
	u64 bytes = ~0ULL, seqnos = ~0ULL, most = 0, i, held;

	begin();
	for (i = 0; i < 20000; i++) {
		event(i % 2 ? 4096 : 2048);
		if (i < 5000)
			continue;
		held = m.header->control.next_payload_byte -
		       m.header->control.buffer_window_start;
		bytes = held < bytes ? held : bytes;
		most = held > most ? held : most;
	}
	ok(bytes >= BYTE_LIMIT - BYTE_STEP && most <= BYTE_LIMIT,
	   "bytes kept: %llu to %llu of 2097152", (unsigned long long)bytes,
	   (unsigned long long)most);
	for (i = 0; i < 20000; i++) {
		event(0);
		held = m.header->control.last_seqno - m.r.seqno_window;
		if (i >= 2000)
			seqnos = held < seqnos ? held : seqnos;
	}
	eq_u64(seqnos, SEQNO_LIMIT - SEQNO_STEP, "events kept, at least");
	memory_free(&m);
}

static void test_wrap(void)
{
	static const u64 starts[] = { (1ULL << 32) - 2048, (1ULL << 40) + 48, (1ULL << 62) + 16 };
	struct monad_ring_record *rec;
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		memory_init(&m, 10, 21, 2, starts[i] - 1000, starts[i]);
		rec = reserve(40);
		eq_u64(rec->seqno, starts[i] - 999, "seqno after %llx",
		       (unsigned long long)starts[i] - 1000);
		ok(rec->desc == &m.descs[(rec->seqno - 1) & 1023] &&
		   rec->payload == m.payload + (starts[i] & 0x1fffff), "in its place");
		recorder_commit(rec);
		eq_u64(rec->desc->payload_buf_offset, starts[i], "offset");
		for (n = 0; n < 5000 && event(4096); n++)
			;
		eq_u64(n, 5000, "laps from there");
		memory_free(&m);
	}

	memory_init(&m, 10, 21, 2, 0, 0x1fffff0);
	rec = reserve(4096);
	memset(rec->payload, 0xa5, 4096);
	recorder_commit(rec);
	ok(m.payload[0x1ffff0] == 0xa5 && m.payload[0] == 0xa5 && m.payload[4079] == 0xa5 &&
	   !m.payload[4080], "a payload across the end goes on at the start");
	memory_free(&m);
}

/* A stalled writer on one CPU, then others ahead of it: the window follows the lowest. */
static void test_lowest(void)
{
	struct monad_ring_record *a, *b;

	begin();
	a = reserve(16);
	events(4096);
	port_cpu = 1;
	b = reserve(16);
	port_cpu = 0;
	recorder_commit(a);
	events(4096);
	ok(m.header->control.buffer_window_start <= b->desc->payload_buf_offset &&
	   m.header->control.buffer_window_start + 4096 > b->desc->payload_buf_offset,
	   "the window stops at the next stalled writer, less what is no use to one event");
	recorder_commit(b);
	eq_u64(events(4096), 100000, "and goes on after it");
	memory_free(&m);
}

int main(void)
{
	test_init();
	test_first_event();
	test_discard();
	test_sizes();
	test_slots();
	test_stalled_bytes();
	test_stalled_descriptors();
	test_contended();
	test_delayed();
	test_history();
	test_wrap();
	test_lowest();
	return done_testing();
}
