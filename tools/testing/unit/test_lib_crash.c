// SPDX-License-Identifier: GPL-2.0
/*
 * Writers that die: after every single instruction of recording an event, after every system
 * call of making a ring file, and at random moments of many threads. Each time the ring is gone
 * on with, and everything in it must be right.
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "no_tmpfile.h"
#include "ring_files.h"

static uint8_t pattern(uint64_t tag, size_t i)
{
	return (uint8_t)(tag * 31 + i * 7 + (i >> 8));
}

static bool record(struct monad_event_recorder *recorder, size_t size, uint64_t tag,
		   unsigned int hold_us)
{
	struct monad_event_descriptor *event;
	uint8_t *payload;
	uint64_t seqno;

	event = monad_event_recorder_reserve(recorder, size, &seqno, &payload);
	if (!event)
		return false;
	event->event_type = 7;
	event->content_ext[0] = tag;
	for (size_t i = 0; i < size; i++)
		payload[i] = pattern(tag, i);
	if (hold_us)
		usleep(hold_us);
	monad_event_recorder_commit(event, seqno);
	return true;
}

static void open_to_record(struct monad_event_ring_writer **writer,
			   struct monad_event_recorder *recorder)
{
	if (monad_event_ring_writer_open("ring:10:21", &options, writer) ||
	    monad_event_ring_init_recorder(monad_event_ring_writer_ring(*writer), recorder)) {
		diag("%s", message());
		_exit(10);
	}
}

/* Goes on with what a dead writer left; how many of its events were unfinished, -1: wrong. */
static int go_on(uint64_t *last, const char *when, uint64_t at)
{
	struct monad_event_ring_writer *writer;
	const struct monad_event_ring *ring;
	struct monad_event_recorder recorder;
	struct monad_event_descriptor event;
	uint64_t seqno, now;
	const uint8_t *payload;
	int repaired;

	if (monad_event_ring_writer_open("ring:10:21", &options, &writer) ||
	    monad_event_ring_init_recorder(monad_event_ring_writer_ring(writer), &recorder)) {
		diag("%s %d: %s", when, (int)at, message());
		return -1;
	}
	repaired = (int)monad_event_ring_writer_repaired(writer);
	ring = monad_event_ring_writer_ring(writer);
	if (!record(&recorder, 77, 4711, 0)) {
		diag("%s %d: cannot record", when, (int)at);
		repaired = -1;
	}
	now = monad_event_ring_last_seqno(ring);
	if (now <= *last) {
		diag("%s %d: last seqno %d after %d", when, (int)at, (int)now, (int)*last);
		repaired = -1;
	}
	*last = now;
	for (seqno = monad_event_ring_oldest_seqno(ring); seqno <= now; seqno++) {
		const char *why = NULL;

		if (!monad_event_ring_try_copy(ring, seqno, &event)) {
			why = "not there";
		} else if (event.unused || (event.event_type != 7 && event.event_type != 0)) {
			why = "not an event of ours";
		} else if (event.event_type == 0) {
			if (event.payload_size || event.content_ext[0])
				why = "NONE with contents";
		} else if (monad_event_ring_payload_check(ring, &event)) {
			payload = monad_event_ring_payload_peek(ring, &event);
			for (size_t i = 0; i < event.payload_size; i++) {
				if (payload[i] != pattern(event.content_ext[0], i))
					why = "payload";
			}
		}
		if (why) {
			diag("%s %d: event %d: %s", when, (int)at, (int)seqno, why);
			repaired = -1;
		}
	}
	monad_event_ring_writer_close(writer);
	return repaired;
}

/* Child: what is done before, and what it is to be killed in. */
static void prepare(struct monad_event_ring_writer **writer, struct monad_event_recorder *recorder,
		    bool raise_window)
{
	const struct monad_event_ring_control *control;

	open_to_record(writer, recorder);
	record(recorder, 8, 1, 0);
	control = &monad_event_ring_writer_ring(*writer)->header->control;
	if (!raise_window)
		return;
	/* 2 MiB less the margin are full: the next event of 16 bytes does not fit. */
	while (control->next_payload_byte + 4096 <= control->buffer_window_start + 1835008)
		record(recorder, 4000, 2, 0);
	while (control->next_payload_byte + 16 <= control->buffer_window_start + 1835008)
		record(recorder, 8, 2, 0);
}

static pid_t start_traced(size_t size, bool raise_window, bool discard)
{
	struct monad_event_ring_writer *writer;
	struct monad_event_descriptor *event;
	struct monad_event_recorder recorder;
	uint8_t *payload;
	uint64_t seqno;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prepare(&writer, &recorder, raise_window);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(11);
		raise(SIGSTOP);
		event = monad_event_recorder_reserve(&recorder, size, &seqno, &payload);
		if (event) {
			event->event_type = 7;
			event->content_ext[0] = 3;
			for (size_t i = 0; i < size; i++)
				payload[i] = pattern(3, i);
			if (discard)
				monad_event_recorder_discard(event, seqno);
			else
				monad_event_recorder_commit(event, seqno);
		}
		kill(getpid(), SIGSTOP);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
		diag("the writer ended with status 0x%x", status);
		return -1;
	}
	return pid;
}

/* Lets it do @steps more; true if it came to its end before. */
static bool step(pid_t pid, enum __ptrace_request how, int steps)
{
	int status = 0;

	while (steps-- > 0) {
		if (ptrace(how, pid, NULL, NULL) != 0 || waitpid(pid, &status, 0) != pid)
			return true;
		if (!WIFSTOPPED(status) || WSTOPSIG(status) == SIGSTOP)
			return true;
	}
	return false;
}

static void finish_off(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static void test_every_instruction(const char *what, size_t size, bool raise_window, bool discard)
{
	int repaired = 0, wrong = 0, n, count = 0, stride = 1;
	uint64_t last = 0;
	bool done = false;
	pid_t pid;

	/* How long it is; sanitizers make it too long for every single one. */
	pid = start_traced(size, raise_window, discard);
	if (pid < 0) {
		skip("cannot trace a child");
		return;
	}
	while (!step(pid, PTRACE_SINGLESTEP, 1))
		count++;
	finish_off(pid);
	stride = 1 + count / 500;
	for (n = 0; !done; n += stride) {
		int result;

		pid = start_traced(size, raise_window, discard);
		if (pid < 0)
			break;
		done = step(pid, PTRACE_SINGLESTEP, n);
		finish_off(pid);
		result = go_on(&last, what, (uint64_t)n);
		wrong += result < 0 || result > 1;
		repaired += result == 1;
	}
	ok(done && count > 50, "%s: killed after each of %d instructions, or every %d.", what,
	   count, stride);
	eq_int(wrong, 0, "%s: each time the ring is whole, and goes on", what);
	ok(repaired > 10, "%s: %d times an event was unfinished", what, repaired);
}

/* Killed while it makes the ring: whoever comes next makes it, and no litter stays. */
static void test_every_system_call(const char *what, bool leaves_litter)
{
	struct monad_event_ring_writer *writer;
	int n, litter = 0, wrong = 0, status;
	bool done = false;
	pid_t pid;

	for (n = 1; !done && n < 2000; n++) {
		pid = fork();
		if (pid == 0) {
			if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
				_exit(11);
			raise(SIGSTOP);
			options.flags = 0;
			if (monad_event_ring_writer_open("ring:10:21", &options, &writer))
				_exit(1);
			kill(getpid(), SIGSTOP);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		if (!WIFSTOPPED(status)) {
			skip("cannot trace a child");
			return;
		}
		done = step(pid, PTRACE_SYSCALL, n);
		finish_off(pid);
		litter += entries(dir) > 1;
		options.flags = 0;
		if (monad_event_ring_writer_open("ring:10:21", &options, &writer)) {
			diag("%s: after step %d: %s", what, n, message());
			wrong++;
			continue;
		}
		if (entries(dir) != 1) {
			diag("%s: after step %d there are %d files", what, n, entries(dir));
			wrong++;
		}
		monad_event_ring_writer_close(writer);
	}
	ok(done && n > 20, "%s: killed at each entry to and return from %d system calls", what,
	   n / 2);
	eq_int(wrong, 0, "%s: the next one makes its ring, and nothing else is left", what);
	ok(litter > 1 || !leaves_litter, "%s: %d times there was something to remove", what,
	   litter);
}

static void *record_and_hold(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg ^ (unsigned int)getpid();
	struct monad_event_ring_writer *writer;
	static struct monad_event_recorder recorder;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	if (!recorder.core_)
		open_to_record(&writer, &recorder);
	pthread_mutex_unlock(&lock);
	for (;;) {
		int x = rand_r(&seed);

		record(&recorder, x % 16 == 0 ? (size_t)(x >> 8) % 20000 : (size_t)(x >> 8) % 300,
		       (uint64_t)x, x % 64 == 1 ? 1000 : 0);
	}
	return NULL;
}

static void test_threads(void)
{
	int repaired = 0, wrong = 0, rounds = 60, result, status;
	uint64_t last = 0;
	unsigned int seed = 1;
	pthread_t thread;
	pid_t pid;

	for (int round = 0; round < rounds; round++) {
		pid = fork();
		if (pid == 0) {
			for (uintptr_t i = 1; i < 6; i++)
				pthread_create(&thread, NULL, record_and_hold, (void *)i);
			record_and_hold((void *)7);
		}
		usleep((useconds_t)(3000 + rand_r(&seed) % 15000));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		if (!WIFSIGNALED(status)) {
			wrong++;
			continue;
		}
		result = go_on(&last, "threads", (uint64_t)round);
		wrong += result < 0 || result > 128;
		repaired += result > 0 ? result : 0;
	}
	eq_int(wrong, 0, "six threads, killed %d times: each time the ring is whole", rounds);
	ok(repaired > 10 && last > 3000, "%d events of %d were unfinished", repaired, (int)last);
}

int main(void)
{
	char path[PATH_MAX];

	ring_files_begin();
	options.flags = MONAD_EVENT_WRITER_KEEP;
	snprintf(path, sizeof(path), "%s/ring", dir);
	test_every_instruction("an event", 20, false, false);
	test_every_instruction("another, in a ring that is full", 20, false, false);
	test_every_instruction("a discarded one", 20, false, true);
	test_every_instruction("one that raises the window", 5, true, false);
	unlink(path);
	test_every_system_call("a ring", false);
	unlink(path);
	no_tmpfile = true;
	test_every_system_call("a ring, without O_TMPFILE", true);
	no_tmpfile = false;
	unlink(path);
	options.flags = MONAD_EVENT_WRITER_KEEP;
	test_threads();
	unlink(path);
	return ring_files_end();
}
