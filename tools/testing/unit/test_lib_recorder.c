// SPDX-License-Identifier: GPL-2.0
/* Recording into ring files: what each call does, and what it does with nonsense. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_recorder.h>
#include <monad_event/event_ring_util.h>

#include "tap.h"

/* 1024 descriptors, 2 MiB: 128 record slots, max_size 512 KiB */
#define MAX_SIZE (1 << 19)
#define MAX_HELD 128

static int fd;
static struct monad_event_ring ring;
static struct monad_event_recorder recorder;

/* For rings that shall have an extension block, and so counters that processes share. */
static const uint8_t extension[16] = {'M', 'O', 'N', 'A', 'D', 'E', 'X', 'T', 0, 1, 0, 0, 1};
static int extension_size;

static void begin(void)
{
	struct monad_event_ring_simple_config config = {
		.descriptors_shift = 10,
		.payload_buf_shift = 21,
		.content_type = MONAD_EVENT_CONTENT_TYPE_TEST,
		.schema_hash = g_monad_test_event_schema_hash,
	};

	fd = memfd_create("ring", MFD_CLOEXEC);
	if (monad_event_ring_init_simple(&config, fd, 0, "ring") ||
	    pwrite(fd, extension, extension_size, MONAD_RING_EXT_OFFSET) != extension_size ||
	    monad_event_ring_mmap(&ring, PROT_READ | PROT_WRITE, 0, fd, 0, "ring") ||
	    monad_event_ring_init_recorder(&ring, &recorder))
		bail_out("%s", monad_event_ring_get_last_error());
}

static void end(void)
{
	monad_event_ring_unmap(&ring);
	close(fd);
}

static uint64_t lost(enum monad_ring_lost why)
{
	return monad_event_recorder_counters(&recorder)->lost[why];
}

static bool event(size_t size)
{
	struct monad_event_descriptor *desc;
	uint8_t *payload;
	uint64_t seqno;

	desc = monad_event_recorder_reserve(&recorder, size, &seqno, &payload);
	if (desc) {
		desc->event_type = MONAD_TEST_EVENT_VLT;
		memset(payload, 0x5a, size);
		monad_event_recorder_commit(desc, seqno);
	}
	return desc;
}

static void test_init(void)
{
	struct monad_event_recorder other;
	struct monad_event_ring copy, zero = {0}, ro = {0}, wo = {0}, again = {0};

	begin();
	eq_int(monad_event_ring_init_recorder(NULL, &other), EFAULT, "no ring");
	eq_int(monad_event_ring_init_recorder(&ring, NULL), EFAULT, "no recorder");
	eq_int(monad_event_ring_init_recorder(&zero, &other), EINVAL, "nothing mapped");
	eq_int(monad_event_ring_mmap(&ro, PROT_READ, 0, fd, 0, "ro"), 0, "mmap for reading");
	eq_int(monad_event_ring_init_recorder(&ro, &other), EACCES, "is not for recording");
	monad_event_ring_unmap(&ro);
	eq_int(monad_event_ring_mmap(&wo, PROT_WRITE, 0, fd, 0, "wo"), 0, "mmap for writing only");
	eq_int(monad_event_ring_init_recorder(&wo, &other), EACCES, "is not either");
	monad_event_ring_unmap(&wo);

	copy = ring;
	eq_int(monad_event_ring_init_recorder(&copy, &other), 0, "a second recorder");
	ok(other.core_ == recorder.core_, "is like the first");
	eq_int(monad_event_ring_mmap(&again, PROT_READ | PROT_WRITE, 0, fd, 0, "again"), 0,
	       "the same file, mapped twice");
	eq_int(monad_event_ring_init_recorder(&again, &other), EBUSY, "has one writing mapping");
	ok(!other.core_ && strstr(monad_event_ring_get_last_error(), "mapped twice"),
	   "message: %s", monad_event_ring_get_last_error());
	monad_event_ring_unmap(&ring);
	eq_int(monad_event_ring_init_recorder(&again, &other), 0, "the other, once that is gone");
	monad_event_ring_unmap(&again);
	close(fd);

	memset(&other, 0, sizeof(other));
	recorder = other;
	ok(!event(0), "a zeroed recorder takes nothing");
	eq_int(monad_event_recorder_output(&other, 2, "a", 1), ENOBUFS, "by copy neither");
	ok(!monad_event_recorder_counters(&other), "and counts nothing");
}

static void test_event(void)
{
	struct monad_event_descriptor *desc, read;
	struct monad_event_iterator iter;
	uint64_t seqno, before = monad_event_get_epoch_nanos();
	uint8_t *payload, copy[33];

	begin();
	memset(ring.payload_buf, 0xff, 64);
	monad_event_ring_init_iterator(&ring, &iter);
	desc = monad_event_recorder_reserve(&recorder, 33, &seqno, &payload);
	ok(desc == ring.descriptors && seqno == 1 && payload == ring.payload_buf,
	   "the first event, at the start of the ring");
	eq_int(monad_event_iterator_try_next(&iter, &read), MONAD_EVENT_NOT_READY,
	       "not there before it is committed");
	eq_u64(desc->payload_size, 33, "payload_size is set");
	memset(payload, 7, 33);
	desc->event_type = MONAD_TEST_EVENT_VLT;
	desc->content_ext[0] = 11;
	desc->content_ext[3] = ~0ULL;
	monad_event_recorder_commit(desc, seqno);
	eq_int(monad_event_iterator_try_next(&iter, &read), MONAD_EVENT_SUCCESS,
	       "there when it is");
	ok(read.seqno == 1 && read.event_type == 3 && read.unused == 0 && read.payload_size == 33 &&
	   read.payload_buf_offset == 0 && read.content_ext[0] == 11 && !read.content_ext[1] &&
	   !read.content_ext[2] && read.content_ext[3] == ~0ULL, "as it was meant");
	ok(read.record_epoch_nanos >= before &&
	   read.record_epoch_nanos <= monad_event_get_epoch_nanos(), "with its time");
	ok(monad_event_ring_payload_memcpy(&ring, &read, copy, 33) && copy[0] == 7 && copy[32] == 7,
	   "and its payload");
	ok(ring.payload_buf[33] == 0 && ring.payload_buf[47] == 0 && ring.payload_buf[48] == 0xff,
	   "padded with zeroes, and no further");

	desc = monad_event_recorder_reserve_type(&recorder, 4711, 0, &seqno, &payload);
	ok(desc && desc->event_type == 4711 && seqno == 2, "reserve_type");
	monad_event_recorder_commit(desc, seqno);
	desc = monad_event_recorder_reserve_type(&recorder, 0, 1, &seqno, &payload);
	ok(!desc && !seqno && !payload, "no reserve_type of type 0");
	desc = monad_event_recorder_reserve_type(&recorder, 1, 1, &seqno, &payload);
	ok(!desc && !seqno && !payload, "nor 1");
	eq_u64(lost(MONAD_RING_LOST_BAD_ARG), 2, "those are counted");

	desc = monad_event_recorder_reserve_type(&recorder, 5, 100, &seqno, &payload);
	desc->content_ext[2] = 3;
	monad_event_recorder_discard(desc, seqno);
	ok(monad_event_ring_try_copy(&ring, 3, &read) && read.event_type == 0 &&
	   read.payload_size == 0 && read.unused == 0 && read.content_ext[2] == 0,
	   "a discarded event is an empty one of type NONE");
	eq_u64(monad_event_recorder_counters(&recorder)->discarded, 1, "and counted");
	end();
}

static void test_wrong_commits(void)
{
	struct monad_event_descriptor *desc, *second, stray = {.seqno = 0}, read;
	uint64_t seqno, second_seqno;
	uint8_t *payload;

	begin();
	desc = monad_event_recorder_reserve_type(&recorder, 9, 8, &seqno, &payload);
	second = monad_event_recorder_reserve_type(&recorder, 9, 8, &second_seqno, &payload);
	monad_event_recorder_commit(desc, seqno + 1);
	monad_event_recorder_commit(desc, 0);
	monad_event_recorder_discard(second, seqno);
	eq_u64(lost(MONAD_RING_LOST_BAD_ARG), 3, "commits with another's seqno are counted");
	ok(ring.descriptors[0].seqno == 0 && ring.descriptors[1].seqno == 0, "and do nothing");
	monad_event_recorder_commit(NULL, 1);
	monad_event_recorder_commit(&stray, 1);
	stray.unused = 0xffff;
	monad_event_recorder_commit(&stray, 1);
	ok(stray.seqno == 0 && stray.unused == 0xffff, "what is no ring's is left alone");
	monad_event_recorder_commit(second, second_seqno);
	monad_event_recorder_commit(desc, seqno);
	ok(monad_event_ring_try_copy(&ring, 1, &read) && monad_event_ring_try_copy(&ring, 2, &read),
	   "the right ones, the last first");
	monad_event_recorder_commit(desc, seqno);
	monad_event_recorder_discard(desc, seqno);
	ok(monad_event_ring_try_copy(&ring, 1, &read) && read.event_type == 9,
	   "a second commit changes nothing");
	eq_u64(lost(MONAD_RING_LOST_BAD_ARG), 5, "and is counted");

	/* Whoever sets the descriptor in one go takes the slot's number away. */
	desc = monad_event_recorder_reserve(&recorder, 8, &seqno, &payload);
	desc->unused = 0;
	desc->event_type = 12;
	monad_event_recorder_commit(desc, seqno);
	ok(monad_event_ring_try_copy(&ring, 3, &read) && read.event_type == 12,
	   "the slot is found without the hint");
	desc = monad_event_recorder_reserve_type(&recorder, 13, 8, &seqno, &payload);
	desc->unused ^= 1;
	monad_event_recorder_commit(desc, seqno);
	ok(monad_event_ring_try_copy(&ring, 4, &read) && read.event_type == 13 && !read.unused,
	   "and with a wrong one");
	eq_u64(lost(MONAD_RING_LOST_BAD_ARG), 5, "that was all right");
	end();
}

static bool stop;

static void *one_event(void *arg)
{
	event(1);
	return NULL;
}

/* How many it committed that are not there right after. */
static void *many_events(void *arg)
{
	struct monad_event_descriptor *desc;
	uint64_t *vanished = arg, seqno;
	uint8_t *payload;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		desc = monad_event_recorder_reserve(&recorder, 1, &seqno, &payload);
		if (!desc)
			continue;
		monad_event_recorder_commit(desc, seqno);
		/* Unless it was overwritten since, which takes a lap. */
		if (__atomic_load_n(&desc->seqno, __ATOMIC_ACQUIRE) != seqno &&
		    monad_event_ring_last_seqno(&ring) - seqno < 1024)
			++*vanished;
	}
	return NULL;
}

/* Not even while its record slot is another thread's, who is about to reserve. */
static void test_second_commit_meanwhile(void)
{
	uint64_t seqno, vanished = 0, until;
	struct monad_event_descriptor *desc;
	uint8_t *payload;
	pthread_t thread;

	begin();
	event(1);
	/* Each thread prefers a group of slots of its own, of 16; the 17th has ours. */
	for (int i = 0; i < 15; i++) {
		pthread_create(&thread, NULL, one_event, NULL);
		pthread_join(thread, NULL);
	}
	stop = false;
	pthread_create(&thread, NULL, many_events, &vanished);
	until = monad_event_get_epoch_nanos() + 1000000000;
	while (monad_event_get_epoch_nanos() < until) {
		desc = monad_event_recorder_reserve(&recorder, 1, &seqno, &payload);
		if (!desc)
			continue;
		monad_event_recorder_commit(desc, seqno);
		monad_event_recorder_commit(desc, seqno);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	eq_u64(vanished, 0, "a second commit is no commit of another's event");
	end();
}

static void test_output(void)
{
	static uint8_t big[MAX_SIZE + 1];
	const struct monad_event_record_error *error;
	struct monad_event_descriptor read;
	const uint8_t *payload;

	begin();
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (uint8_t)(i * 7);
	eq_int(monad_event_recorder_output(&recorder, 2, "hello", 5), 0, "output");
	ok(monad_event_ring_try_copy(&ring, 1, &read) && read.event_type == 2 &&
	   read.payload_size == 5 && !read.unused && !memcmp(ring.payload_buf, "hello", 5),
	   "is there");
	eq_int(monad_event_recorder_output(&recorder, 2, NULL, 0), 0, "without payload");
	eq_int(monad_event_recorder_output(&recorder, 2, NULL, 1), EINVAL, "data is missing");
	eq_int(monad_event_recorder_output(&recorder, 0, "a", 1), EINVAL, "type 0");
	eq_int(monad_event_recorder_output(&recorder, 1, "a", 1), EINVAL, "type 1");
	eq_u64(lost(MONAD_RING_LOST_BAD_ARG), 3, "those three are counted");
	eq_int(monad_event_recorder_output(&recorder, 2, big, MAX_SIZE), 0, "the largest");
	eq_u64(lost(MONAD_RING_LOST_TOO_LARGE), 0, "is not too large");
	eq_int(monad_event_recorder_output(&recorder, 77, big, MAX_SIZE + 1), EMSGSIZE,
	       "one more is");
	eq_u64(lost(MONAD_RING_LOST_TOO_LARGE), 1, "and counted");
	ok(monad_event_ring_try_copy(&ring, 4, &read) && read.event_type == 1 &&
	   read.payload_size == 4096, "in its place there is a RECORD_ERROR");
	payload = monad_event_ring_payload_peek(&ring, &read);
	error = (const void *)payload;
	ok(error->error_type == MONAD_EVENT_RECORD_ERROR_OVERFLOW_EXPIRE &&
	   error->dropped_event_type == 77 && error->truncated_payload_size == 4080 &&
	   error->requested_payload_size == MAX_SIZE + 1, "that says what happened");
	ok(memcmp(payload + 16, big, 4080) == 0, "and has the head of the payload");
	/* Only the head is ever read. */
	eq_int(monad_event_recorder_output(&recorder, 78, big, (1ULL << 32) - 1), EMSGSIZE,
	       "4 GiB - 1");
	eq_int(monad_event_recorder_output(&recorder, 78, big, 1ULL << 32), EMSGSIZE, "4 GiB");
	ok(monad_event_ring_try_copy(&ring, 5, &read), "one event for each");
	error = monad_event_ring_payload_peek(&ring, &read);
	eq_int(error->error_type, MONAD_EVENT_RECORD_ERROR_OVERFLOW_EXPIRE, "4 GiB - 1: EXPIRE");
	ok(monad_event_ring_try_copy(&ring, 6, &read), "the other");
	error = monad_event_ring_payload_peek(&ring, &read);
	eq_int(error->error_type, MONAD_EVENT_RECORD_ERROR_OVERFLOW_4GB, "4 GiB: 4GB");
	eq_u64(error->requested_payload_size, 1ULL << 32, "with 64 bits of size");
	ok(!event(MAX_SIZE + 1) && !event(SIZE_MAX), "reserve of too much is NULL");
	eq_u64(lost(MONAD_RING_LOST_TOO_LARGE), 5, "and counted");
	eq_u64(monad_event_ring_last_seqno(&ring), 6, "it leaves no event");
	end();
}

static void *reserve_and_exit(void *arg)
{
	struct monad_event_descriptor **desc = arg;
	uint8_t *payload;
	uint64_t seqno;

	*desc = monad_event_recorder_reserve_type(&recorder, 2, 64, &seqno, &payload);
	return (void *)(uintptr_t)seqno;
}

/* A thread that ends with a reservation: nothing of it is overwritten, and all is counted. */
static void test_thread_exit(void)
{
	struct monad_event_descriptor *desc, read;
	uint64_t recorded = 0, refused = 0;
	pthread_t thread;
	void *seqno;

	begin();
	pthread_create(&thread, NULL, reserve_and_exit, &desc);
	pthread_join(thread, &seqno);
	memset(ring.payload_buf, 0xab, 64);
	for (int i = 0; i < 5000; i++) {
		if (event(4096))
			recorded++;
		else
			refused++;
	}
	/* At most one lap of bytes, at least what is not margin. */
	ok(recorded >= 447 && recorded < 512, "%d events fit behind it", (int)recorded);
	eq_u64(lost(MONAD_RING_LOST_STALLED), refused, "all others are counted");
	ok(desc->seqno == 0 && ring.payload_buf[0] == 0xab && ring.payload_buf[63] == 0xab,
	   "nobody has touched what it left");
	monad_event_recorder_commit(desc, (uintptr_t)seqno);
	ok(monad_event_ring_try_copy(&ring, 1, &read), "another thread commits it");
	recorded = 0;
	for (int i = 0; i < 5000; i++)
		recorded += event(4096);
	eq_u64(recorded, 5000, "and all goes on");
	end();
}

/* Slots are for all threads: one may hold them all, and then none has any. */
static void test_many_held(void)
{
	struct monad_event_descriptor *held[MAX_HELD + 1];
	uint64_t seqno[MAX_HELD + 1];
	uint8_t *payload;
	int i, n;

	begin();
	for (n = 0; n <= MAX_HELD; n++) {
		held[n] = monad_event_recorder_reserve_type(&recorder, 2, 8, &seqno[n], &payload);
		if (!held[n])
			break;
	}
	eq_int(n, MAX_HELD, "events reserved at once by one thread");
	eq_u64(lost(MONAD_RING_LOST_NO_SLOT), 1, "one more is refused and counted");
	for (i = 0; i < n; i += 2)
		monad_event_recorder_commit(held[i], seqno[i]);
	for (i = n - 1; i > 0; i -= 2)
		monad_event_recorder_discard(held[i], seqno[i]);
	for (i = 0; i < n && ring.descriptors[i].seqno == (uint64_t)i + 1; i++)
		;
	eq_int(i, n, "committed in any order, all are there");
	for (i = 0; i < 3000; i++) {
		if (!event(100))
			break;
	}
	eq_int(i, 3000, "and the ring goes on");
	end();
}

static volatile uint64_t in_handler;

static void handler(int sig)
{
	(void)sig;
	if (event(32))
		in_handler++;
}

/* Signals between any two instructions. */
static void test_signals(void)
{
	struct sigaction action = {.sa_handler = handler};
	struct monad_event_descriptor read;
	uint64_t recorded = 0, seqno;
	timer_t timer;
	struct sigevent by_signal = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};

	begin();
	sigaction(SIGUSR1, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &by_signal, &timer);
	timer_settime(timer, 0, &often, NULL);
	while (in_handler < 2000 && recorded < 50000000)
		recorded += event(48);
	timer_settime(timer, 0, &never, NULL);
	timer_delete(timer);
	eq_u64(monad_event_ring_last_seqno(&ring), recorded + in_handler,
	       "%d events by signal handlers", (int)in_handler);
	for (seqno = monad_event_ring_oldest_seqno(&ring);
	     monad_event_ring_try_copy(&ring, seqno, &read); seqno++)
		;
	eq_u64(seqno, monad_event_ring_last_seqno(&ring) + 1, "no hole");
	eq_u64(lost(MONAD_RING_LOST_STALLED) + lost(MONAD_RING_LOST_NO_SLOT) +
	       lost(MONAD_RING_LOST_CONTENDED), 0, "none lost");
	end();
}

/* What a child of a fork may do to the ring: nothing. */
static void test_fork(void)
{
	struct monad_event_descriptor *desc, read;
	struct monad_event_recorder other;
	int status, failed = 0;
	uint8_t *payload;
	uint64_t seqno;
	pid_t pid;

	extension_size = sizeof(extension);
	begin();
	extension_size = 0;
	ok(monad_event_recorder_counters(&recorder) == monad_event_ring_ext(&ring),
	   "counters are the ring's, where it has some");
	desc = monad_event_recorder_reserve_type(&recorder, 2, 8, &seqno, &payload);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 2000; i++)
			failed |= event(1000);
		failed |= (monad_event_recorder_output(&recorder, 2, "a", 1) != ENOBUFS) << 1;
		monad_event_recorder_commit(desc, seqno);
		monad_event_recorder_discard(desc, seqno);
		failed |= (desc->seqno != 0) << 2;
		failed |= (monad_event_ring_init_recorder(&ring, &other) != EINVAL) << 3;
		monad_event_ring_unmap(&ring);
		_exit(failed);
	}
	waitpid(pid, &status, 0);
	eq_int(status, 0, "a child can neither record nor commit");
	eq_u64(monad_event_ring_last_seqno(&ring), 1, "it has written no event");
	eq_u64(lost(MONAD_RING_LOST_NO_SLOT), 2001, "its attempts are counted");
	eq_u64(lost(MONAD_RING_LOST_BAD_ARG), 2, "its commits, too");
	monad_event_recorder_commit(desc, seqno);
	ok(monad_event_ring_try_copy(&ring, 1, &read), "the parent's is whole");
	ok(event(1000), "and it goes on");
	end();
}

/* flock(2): a second process has to wait until the first is gone. */
static void test_processes(void)
{
	struct monad_event_recorder other;
	struct monad_event_ring mine = {0};
	char path[64], *dir = getenv("TMPDIR"), expected[64];
	int second, to_child[2], from_child[2], status;
	struct monad_event_ring_simple_config config = {
		.descriptors_shift = 10, .payload_buf_shift = 21,
		.content_type = MONAD_EVENT_CONTENT_TYPE_TEST,
		.schema_hash = g_monad_test_event_schema_hash,
	};
	char c = 0;
	pid_t pid, writer;

	snprintf(path, sizeof(path), "%.40s/monad-test-XXXXXX", dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (pipe(to_child) || pipe(from_child) ||
	    monad_event_ring_init_simple(&config, fd, 0, path))
		bail_out("%s", monad_event_ring_get_last_error());
	pid = fork();
	if (pid == 0) {
		int its = open(path, O_RDWR | O_CLOEXEC);

		if (monad_event_ring_mmap(&ring, PROT_READ | PROT_WRITE, 0, its, 0, path) ||
		    monad_event_ring_init_recorder(&ring, &recorder))
			_exit(1);
		close(its);
		event(10);
		if (write(from_child[1], &c, 1) != 1 || read(to_child[0], &c, 1) != 1)
			_exit(2);
		_exit(0);
	}
	eq_int((int)read(from_child[0], &c, 1), 1, "a writer in another process");
	second = open(path, O_RDWR | O_CLOEXEC);
	eq_int(monad_event_ring_mmap(&mine, PROT_READ | PROT_WRITE, 0, second, 0, path), 0,
	       "others can map the file");
	eq_int(monad_event_ring_init_recorder(&mine, &other), EBUSY, "and not record");
	snprintf(expected, sizeof(expected), "locked by process %d (test_lib_", (int)pid);
	ok(strstr(monad_event_ring_get_last_error(), expected), "the message says who does: %s",
	   monad_event_ring_get_last_error());
	ok(monad_event_ring_query_excl_writer_pid(second, &writer) == 0 && writer == pid,
	   "readers can know, though the writer closed its file");
	eq_int((int)write(to_child[1], &c, 1), 1, "it ends");
	waitpid(pid, &status, 0);
	eq_int(status, 0, "well");
	eq_int(monad_event_ring_query_excl_writer_pid(second, &writer), EOWNERDEAD,
	       "nobody writes");
	eq_int(monad_event_ring_init_recorder(&mine, &recorder), 0, "now it is ours");
	ok(event(10) && monad_event_ring_last_seqno(&mine) == 2, "we go on after its event");
	close(second);
	ok(flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK, "locked while it is mapped");
	monad_event_ring_unmap(&mine);
	eq_int(flock(fd, LOCK_EX | LOCK_NB), 0, "and no longer");
	/* A program that locks by itself, by another descriptor. */
	second = open(path, O_RDWR | O_CLOEXEC);
	eq_int(monad_event_ring_mmap(&mine, PROT_READ | PROT_WRITE, 0, second, 0, path), 0,
	       "again");
	eq_int(monad_event_ring_init_recorder(&mine, &other), 0, "a lock of this process will do");
	monad_event_ring_unmap(&mine);
	close(second);
	flock(fd, LOCK_SH);
	second = open(path, O_RDWR | O_CLOEXEC);
	monad_event_ring_mmap(&mine, PROT_READ | PROT_WRITE, 0, second, 0, path);
	eq_int(monad_event_ring_init_recorder(&mine, &other), EBUSY, "a shared one will not");
	monad_event_ring_unmap(&mine);
	close(second);
	unlink(path);
	close(fd);
}

/* Recorders of a ring that is gone take nothing, as long as memory lasts. */
static void test_after_unmap(void)
{
	struct monad_event_descriptor *desc;
	uint64_t seqno;
	uint8_t *payload;

	begin();
	desc = monad_event_recorder_reserve(&recorder, 100, &seqno, &payload);
	ok(desc, "an event is reserved when the ring is unmapped");
	end();
	ok(!event(10), "its recorder takes nothing any more");
	eq_int(monad_event_recorder_output(&recorder, 3, "a", 1), ENOBUFS, "by copy neither");
}

/* As many rings as there are cores, over and over. */
static void test_many_rings(void)
{
	static struct monad_event_ring rings[128];
	static int fds[128];
	struct monad_event_ring_simple_config config = {
		.descriptors_shift = 10, .payload_buf_shift = 21,
		.content_type = MONAD_EVENT_CONTENT_TYPE_TEST,
		.schema_hash = g_monad_test_event_schema_hash,
	};
	int i, err = 0;

	for (i = 0; i < 128 && !err; i++) {
		fds[i] = memfd_create("ring", MFD_CLOEXEC);
		/* Sparse: 128 rings would be 768 MiB. */
		if (ftruncate(fds[i], 3 * (2 << 20)) ||
		    monad_event_ring_init_file(&(struct monad_event_ring_size){1024, 2 << 20, 0},
					       config.content_type, config.schema_hash, fds[i], 0,
					       "many") ||
		    monad_event_ring_mmap(&rings[i], PROT_READ | PROT_WRITE, 0, fds[i], 0, "many"))
			bail_out("%s", monad_event_ring_get_last_error());
		err = monad_event_ring_init_recorder(&rings[i], &recorder);
		if (!err && (!event(10) || monad_event_ring_last_seqno(&rings[i]) != 1))
			break;
	}
	eq_int(i, 128, "127 rings at once");
	eq_int(err, EMFILE, "one more is too many: %s", monad_event_ring_get_last_error());
	while (i-- > 0) {
		monad_event_ring_unmap(&rings[i]);
		close(fds[i]);
	}
	for (i = 0; i < 300; i++) {
		begin();
		if (!event(10) || monad_event_ring_last_seqno(&ring) != 1)
			break;
		end();
	}
	eq_int(i, 300, "300, one after the other");
}

int main(void)
{
	test_init();
	test_event();
	test_wrong_commits();
	test_second_commit_meanwhile();
	test_output();
	test_thread_exit();
	test_many_held();
	test_signals();
	test_fork();
	test_processes();
	test_after_unmap();
	test_many_rings();
	return done_testing();
}
