// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the events of any ring as they are recorded, from where the newest flow (an
 * EXEC ring's block, a STORAGE ring's I/O) began:
 *
 *	eventwatch RING [CONTENT-TYPE [COUNT]]
 *
 * RING is a device, a file, or the name of one of them. Given a CONTENT-TYPE (test, exec,
 * perf, storage), a ring of another one, or one of another layout of its events, is an
 * error. Ends after COUNT events, and when no more can come.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_wait.h>

#define BATCH 64

static void check_content(const struct monad_event_ring *ring, const char *name)
{
	const uint8_t *hash;
	uint16_t type;

	if (monad_event_lookup_content_type(name, &type))
		errx(2, "%s", monad_event_ring_get_last_error());
	/* Where the library does not know the layout, only the type can be compared. */
	hash = monad_event_schema_hash(type);
	if (monad_event_ring_check_content_type(ring, (enum monad_event_content_type)type,
						hash ? hash : ring->header->schema_hash))
		errx(1, "%s", monad_event_ring_get_last_error());
}

/*
 * The newest event is most likely in the middle of something, and cannot be understood
 * without what came before: go back to where that began.
 */
static void find_start(const struct monad_event_ring *ring, struct monad_event_iterator *it)
{
	const struct monad_event_flow_tag *tags;
	struct monad_event_descriptor event;
	size_t count = 0, flow;

	tags = monad_event_flow_tags(ring->header->content_type, &count);
	for (flow = 0; flow < count && !tags[flow].is_seqno; flow++)
		;
	if (flow == count || !monad_event_ring_schema_known(ring))
		return;
	monad_event_iterator_set_seqno(it, monad_event_ring_last_seqno(ring) + 1);
	/* Some events belong to no flow, and the newest may not be written yet. */
	for (unsigned int i = 0; i < 1000; i++) {
		switch (monad_event_iterator_try_prev(it, &event)) {
		case MONAD_EVENT_PREV_SUCCESS:
			if (!event.content_ext[flow])
				continue;
			if (monad_event_iterator_seek_flow(it, &event, (unsigned int)flow, 0) ==
			    MONAD_EVENT_SEEK_GONE)
				warnx("the start of event %" PRIu64 " is gone", event.seqno);
			return;
		case MONAD_EVENT_PREV_NOT_READY:
			monad_event_iterator_set_seqno(it, it->next_seqno - 1);
			continue;
		case MONAD_EVENT_PREV_BEGIN:
		case MONAD_EVENT_PREV_GAP:
			return;
		}
	}
}

static void print(const struct monad_event_ring *ring, const struct monad_event_descriptor *event)
{
	const struct monad_event_metadata *metadata =
		monad_event_ring_lookup_metadata(ring, event->event_type);

	printf("%" PRIu64 ".%09" PRIu64 " %10" PRIu64 " ", event->record_epoch_nanos / 1000000000,
	       event->record_epoch_nanos % 1000000000, event->seqno);
	if (metadata)
		printf("%s %u bytes\n", metadata->c_name, event->payload_size);
	else
		printf("type-%u %u bytes\n", event->event_type, event->payload_size);
}

static int watch(const struct monad_event_ring *ring, struct monad_event_iterator *it,
		 struct monad_event_waiter *waiter, uint64_t count)
{
	struct monad_event_descriptor events[BATCH];
	enum monad_event_iter_result result;
	uint64_t missed;
	int err;

	for (;;) {
		size_t n = monad_event_iterator_next_batch(it, events, BATCH, &result);

		for (size_t i = 0; i < n; i++) {
			/* Discarded by its writer. */
			if (events[i].event_type == MONAD_EVENT_NONE_EVENT_TYPE)
				continue;
			print(ring, &events[i]);
			if (--count == 0)
				return 0;
		}
		if (result == MONAD_EVENT_SUCCESS)
			continue;
		missed = result == MONAD_EVENT_GAP ? monad_event_iterator_recover(it)
						   : monad_event_iterator_recover_lapped(it);
		if (missed) {
			warnx("%" PRIu64 " events were overwritten before they were read", missed);
			continue;
		}
		fflush(stdout);
		err = monad_event_waiter_wait(waiter, it, 1, -1);
		if (err && err != EINTR)
			return err;
	}
}

int main(int argc, char **argv)
{
	struct monad_event_ring ring = { 0 };
	struct monad_event_iterator it;
	struct monad_event_waiter waiter;
	int fd, err;

	if (argc < 2)
		errx(2, "usage: eventwatch RING [CONTENT-TYPE [COUNT]]");
	if (monad_event_ring_open_fd(argv[1], &fd, NULL, 0) ||
	    monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, argv[1]) ||
	    monad_event_ring_init_iterator(&ring, &it) || monad_event_waiter_init(&waiter, fd))
		errx(1, "%s", monad_event_ring_get_last_error());
	close(fd);
	if (argc > 2)
		check_content(&ring, argv[2]);
	find_start(&ring, &it);
	err = watch(&ring, &it, &waiter, argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
	if (err)
		warnx("%s", monad_event_ring_get_last_error());
	monad_event_waiter_destroy(&waiter);
	monad_event_ring_unmap(&ring);
	/* That nobody writes to it any more is no failure. */
	return fflush(stdout) || (err && err != ENODEV && err != EOWNERDEAD);
}
