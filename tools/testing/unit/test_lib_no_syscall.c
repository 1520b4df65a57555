// SPDX-License-Identifier: GPL-2.0
/*
 * Reading makes no system call and allocates nothing: a child reads a ring, every way there is
 * to, under a seccomp filter that lets it do nothing but exit. It reports in shared memory.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring.h>

#include "ring_image.h"
#include "tap.h"

#define CAPACITY 1024
#define EVENTS	 5000ULL

static struct {
	struct monad_event_ring ring;
	struct monad_event_iterator iter;
} mapped;

static struct report {
	uint64_t delivered, missed, checked, copied, expired, not_ready, random, allocations;
	uint64_t sum;
} *report;

/* Linked with --wrap: what is allocated comes here first, and does not come far. */
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void __wrap_free(void *ptr);
void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *ptr, size_t size);
void __real_free(void *ptr);

static void count(void)
{
	if (report)
		report->allocations++;
}

void *__wrap_malloc(size_t size)
{
	count();
	return __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	count();
	return __real_calloc(nr, size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
	count();
	return __real_realloc(ptr, size);
}

void __wrap_free(void *ptr)
{
	count();
	__real_free(ptr);
}

static void forbid_system_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(errno == EINVAL ? 78 : 79);
}

/* The payload of an event, in all three ways. */
static void read_payload(const struct monad_event_descriptor *event)
{
	const uint64_t *payload = monad_event_iterator_payload_peek(&mapped.iter, event);
	uint64_t copy;

	if (payload)
		report->sum += *payload;
	if (monad_event_iterator_payload_check(&mapped.iter, event))
		report->checked++;
	if (monad_event_iterator_payload_memcpy(&mapped.iter, event, &copy, sizeof(copy)) &&
	    monad_event_ring_payload_memcpy(&mapped.ring, event, &copy, sizeof(copy)) &&
	    monad_event_ring_payload_peek(&mapped.ring, event) &&
	    monad_event_ring_payload_check(&mapped.ring, event)) {
		report->copied++;
		report->sum += copy;
	}
}

static void read_in_order(void)
{
	struct monad_event_descriptor event;

	while (!report->not_ready) {
		switch (monad_event_iterator_try_next(&mapped.iter, &event)) {
		case MONAD_EVENT_SUCCESS:
			report->delivered++;
			read_payload(&event);
			break;
		case MONAD_EVENT_GAP:
			report->missed += monad_event_iterator_recover(&mapped.iter);
			break;
		case MONAD_EVENT_NOT_READY:
			report->not_ready++;
			break;
		}
	}
	report->expired = mapped.iter.payloads_expired;
}

static void read_at_random(void)
{
	struct monad_event_descriptor event;
	uint64_t oldest = monad_event_ring_oldest_seqno(&mapped.ring);
	uint64_t last = monad_event_ring_last_seqno(&mapped.ring);

	for (uint64_t seqno = last; seqno >= oldest; seqno -= 7)
		report->random += monad_event_ring_try_copy(&mapped.ring, seqno, &event);
	monad_event_iterator_reset(&mapped.iter);
	monad_event_iterator_set_seqno(&mapped.iter, oldest);
	monad_event_iterator_seek_oldest(&mapped.iter);
	report->random += monad_event_iterator_lag(&mapped.iter) > 0;
	report->random += monad_event_iterator_try_copy(&mapped.iter, &event) ==
			  MONAD_EVENT_SUCCESS;
}

static void read_all(void)
{
	read_in_order();
	read_at_random();
}

static void ask_for_pid(void)
{
	syscall(SYS_getpid);
}

/* What became of a child that did @what without system calls. */
static int run_filtered(void (*what)(void))
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		bail_out("fork");
	if (!pid) {
		memset(report, 0, sizeof(*report));
		forbid_system_calls();
		what();
		/* Not exit(): that would have more to do. */
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(void)
{
	struct image image;
	int status;

	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (report == MAP_FAILED)
		bail_out("mmap");
	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, EVENTS);
	/* Of those still there the older half has no payload any more. */
	put_window_start(&image, (EVENTS - CAPACITY / 2) * 16);
	if (monad_event_ring_mmap(&mapped.ring, PROT_READ, 0, image.fd, 0, "x") ||
	    monad_event_ring_init_iterator(&mapped.ring, &mapped.iter))
		bail_out("%s", monad_event_ring_get_last_error());
	monad_event_iterator_set_seqno(&mapped.iter, 1);

	status = run_filtered(ask_for_pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 78)
		skip_all("this kernel has no seccomp filters");
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "a system call would be noticed");

	status = run_filtered(read_all);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a ring is read without any (status %x)",
	   status);
	eq_u64(report->allocations, 0, "nothing is allocated or freed");
	/* A sixteenth is left out by recover(). */
	eq_u64(report->delivered, CAPACITY - CAPACITY / 16, "delivered");
	eq_u64(report->missed, EVENTS - report->delivered, "missed");
	eq_u64(report->checked, CAPACITY / 2, "payloads that were there");
	eq_u64(report->copied, CAPACITY / 2, "payloads copied");
	eq_u64(report->expired, 2 * (report->delivered - CAPACITY / 2), "payloads expired");
	eq_u64(report->not_ready, 1, "the end");
	eq_u64(report->random, (CAPACITY + 6) / 7 + 2, "read out of order");
	ok(report->sum, "and used");

	monad_event_ring_unmap(&mapped.ring);
	image_destroy(&image);
	return done_testing();
}
