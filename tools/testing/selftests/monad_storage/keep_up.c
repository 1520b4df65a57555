// SPDX-License-Identifier: GPL-2.0
/*
 * keep_up RING: a reader as one writes it with the library: looks at each event as it
 * comes, its payload too, and adds up. At a SIGTERM it takes what is left, says
 *
 *	EVENTS MISSED BYTES
 *
 * (BYTES: of what has completed) and ends.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

#include <monad/storage_event.h>
#include <monad_event/event_iterator.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_wait.h>

/* How often it looks whether it is to end: a signal may come just before it sleeps. */
#define TICK_NS 100000000

static volatile sig_atomic_t ended;

static void end(int sig)
{
	ended = 1;
}

struct sums {
	uint64_t events, missed, bytes;
};

static void look(struct monad_event_iterator *it, const struct monad_event_descriptor *event,
		 struct sums *sums)
{
	struct monad_storage_complete complete;
	const void *payload = monad_event_iterator_payload_peek(it, event);

	if (payload && event->event_type == MONAD_STORAGE_RQ_COMPLETE &&
	    event->payload_size == sizeof(complete))
		complete = *(const struct monad_storage_complete *)payload;
	else
		complete.bytes = 0;
	if (!payload || !monad_event_iterator_payload_check(it, event)) {
		sums->missed++;
		return;
	}
	sums->events++;
	sums->bytes += complete.bytes;
}

/* All there is. */
static void take(struct monad_event_iterator *it, struct sums *sums)
{
	struct monad_event_descriptor event;

	for (;;) {
		switch (monad_event_iterator_try_next(it, &event)) {
		case MONAD_EVENT_SUCCESS:
			look(it, &event, sums);
			break;
		case MONAD_EVENT_GAP:
			sums->missed += monad_event_iterator_recover(it);
			break;
		default:
			return;
		}
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end };
	struct monad_event_waiter waiter;
	struct monad_event_iterator it;
	struct monad_event_ring ring = {};
	struct sums sums = {};
	int fd, error;

	if (argc != 2)
		errx(2, "usage: keep_up RING");
	sigaction(SIGTERM, &action, NULL);
	if (monad_event_ring_open_fd(argv[1], &fd, NULL, 0) ||
	    monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, argv[1]) ||
	    monad_event_ring_init_iterator(&ring, &it) || monad_event_waiter_init(&waiter, fd))
		errx(1, "%s", monad_event_ring_get_last_error());
	monad_event_iterator_set_seqno(&it, monad_event_ring_last_seqno(&ring) + 1);
	puts("reading");
	fflush(stdout);
	while (!ended) {
		take(&it, &sums);
		error = monad_event_waiter_wait(&waiter, &it, 1, TICK_NS);
		if (error && error != EINTR && error != ETIMEDOUT)
			errx(1, "%s", monad_event_ring_get_last_error());
	}
	take(&it, &sums);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", sums.events, sums.missed, sums.bytes);
	return 0;
}
