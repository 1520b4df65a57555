// SPDX-License-Identifier: GPL-2.0
/* Cursors: saved here, restored there, and refused where they are of no use. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring.h>

#include "ring_image.h"
#include "tap.h"

#define CAPACITY 1024ULL
#define MARGIN	 (CAPACITY / 16)

static struct image image;
static struct monad_event_ring ring;
static struct monad_event_iterator iter;
static struct monad_event_cursor cursor;
static struct monad_event_descriptor event;

/* @uuid: the first byte of it; 0: a ring of the plain format. */
static void put_identity(uint8_t uuid, uint64_t generation)
{
	uint8_t *ext = image.map + 4096;

	memset(ext, 0, 256);
	if (!uuid)
		return;
	memcpy(ext, "MONADEXT", 8);
	put(&image, 4096 + 8, 256, 4);
	put(&image, 4096 + 12, 1, 4);
	put(&image, 4096 + 16, uuid, 1);
	put(&image, 4096 + 48, generation, 8);
}

static void setup(uint64_t last, uint8_t uuid)
{
	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, last);
	put_identity(uuid, 7);
	if (monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 0, "x") ||
	    monad_event_ring_init_iterator(&ring, &iter))
		bail_out("%s", monad_event_ring_get_last_error());
}

static void teardown(void)
{
	monad_event_ring_unmap(&ring);
	image_destroy(&image);
}

/* Restoring fails like this, says so, and moves nothing. */
static void refused(int want, const char *says, const char *what)
{
	const uint64_t place = iter.next_seqno;
	uint64_t missed = 99;

	eq_int(monad_event_iterator_restore(&iter, &cursor, &missed), want, "%s", what);
	ok(strstr(monad_event_ring_get_last_error(), says), "%s: '%s'", what,
	   monad_event_ring_get_last_error());
	eq_u64(missed, 0, "%s: nothing missed", what);
	eq_u64(iter.next_seqno, place, "%s: not moved", what);
}

static void test_same_ring(void)
{
	uint64_t missed = 99;

	setup(100, 0xab);
	monad_event_iterator_set_seqno(&iter, 51);
	eq_int(monad_event_iterator_save(&iter, &cursor), 0, "save");
	eq_u64(sizeof(cursor), 48, "a cursor's size never changes");
	ok(memcmp(&cursor, "MONADCU1\xab\0\0\0", 12) == 0, "magic and UUID");
	eq_u64(offsetof(struct monad_event_cursor, seqno), 32, "where the seqno is");
	eq_u64(cursor.generation, 7, "the ring's generation");
	eq_u64(cursor.seqno, 51, "the place");
	eq_u64(cursor.last_nanos, 1700000000000000050ULL, "the time of the event before");
	monad_event_iterator_reset(&iter);
	eq_int(monad_event_iterator_restore(&iter, &cursor, &missed), 0, "restore");
	eq_u64(missed, 0, "nothing missed");
	eq_u64(iter.next_seqno, 51, "the place again");
	put_events_up_to(&image, 50 + CAPACITY);
	eq_int(monad_event_iterator_restore(&iter, &cursor, &missed), 0, "just not overwritten");
	eq_u64(missed, 0, "nothing missed");
	put_events_up_to(&image, 51 + CAPACITY);
	eq_int(monad_event_iterator_restore(&iter, &cursor, &missed), 0, "just overwritten");
	eq_u64(missed, 1 + MARGIN, "missed, exactly");
	eq_u64(iter.next_seqno, 52 + MARGIN, "the oldest that is safe");
	eq_u64(iter.events_missed, 1 + MARGIN, "and the iterator counts");
	put_events_up_to(&image, 10000);
	eq_int(monad_event_iterator_restore(&iter, &cursor, NULL), 0, "long overwritten");
	eq_u64(iter.next_seqno, 10000 - CAPACITY + MARGIN + 1, "the oldest that is safe");

	/* At the end of all, and in an empty ring. */
	monad_event_iterator_set_seqno(&iter, 10001);
	eq_int(monad_event_iterator_save(&iter, &cursor), 0, "behind the newest");
	eq_int(monad_event_iterator_restore(&iter, &cursor, &missed), 0, "restore");
	eq_u64(iter.next_seqno, 10001, "behind the newest");
	teardown();
	setup(0, 0xab);
	eq_int(monad_event_iterator_save(&iter, &cursor), 0, "in an empty ring");
	eq_u64(cursor.last_nanos, 0, "there is no event before");
	put_events_up_to(&image, 3);
	eq_int(monad_event_iterator_restore(&iter, &cursor, &missed), 0, "restore");
	eq_u64(iter.next_seqno, 1, "the first one");
	teardown();
}

static void test_refused(void)
{
	setup(100, 0xab);
	monad_event_iterator_set_seqno(&iter, 51);
	monad_event_iterator_save(&iter, &cursor);
	put_identity(0xcd, 7);
	refused(ESTALE, "another ring", "another UUID");
	put_identity(0, 0);
	refused(ESTALE, "another ring", "a ring without one");
	put_identity(0xab, 8);
	refused(ESTALE, "made anew", "another generation");
	put_identity(0xab, 7);
	put_last_seqno(&image, 49);
	refused(ESTALE, "its last event is 49, the cursor has seen 50", "a ring that went back");
	refused(ESTALE, "the ring has lost events", "of the same UUID, so not another one");
	put_last_seqno(&image, 100);
	put(&image, slot_offset(&image, 50) + 16, 4711, 8);
	refused(ESTALE, "event 50 is of another time", "another event of that number");
	refused(ESTALE, "the ring has lost events", "in the same ring");
	monad_event_iterator_set_seqno(&iter, 200);
	monad_event_iterator_save(&iter, &cursor);
	monad_event_iterator_reset(&iter);
	refused(ESTALE, "is at event 200", "a place that the ring is not at yet");
	put_events_up_to(&image, 198);
	refused(ESTALE, "its last event is 198", "nor now");
	put_events_up_to(&image, 199);
	eq_int(monad_event_iterator_restore(&iter, &cursor, NULL), 0, "but now");
	eq_u64(iter.next_seqno, 200, "as the next one");
	cursor.seqno = 0;
	refused(EINVAL, "no cursor", "a seqno of 0");
	memset(&cursor, 0, sizeof(cursor));
	refused(EINVAL, "no cursor", "zeroes");
	eq_int(monad_event_iterator_save(NULL, &cursor), EFAULT, "save: NULL iterator");
	eq_int(monad_event_iterator_save(&iter, NULL), EFAULT, "save: NULL cursor");
	eq_int(monad_event_iterator_restore(NULL, &cursor, NULL), EFAULT, "restore: NULL iterator");
	eq_int(monad_event_iterator_restore(&iter, NULL, NULL), EFAULT, "restore: NULL cursor");
	teardown();
	memset(&iter, 0, sizeof(iter));
	eq_int(monad_event_iterator_save(&iter, &cursor), EINVAL, "save: no iterator");
	eq_int(monad_event_iterator_restore(&iter, &cursor, NULL), EINVAL, "restore: no iterator");
}

static void test_plain(void)
{
	uint64_t missed = 99;

	setup(100, 0);
	monad_event_iterator_set_seqno(&iter, 51);
	eq_int(monad_event_iterator_save(&iter, &cursor), 0, "a ring of the plain format");
	put_events_up_to(&image, 2000);
	eq_int(monad_event_iterator_restore(&iter, &cursor, &missed), 0, "restore");
	eq_u64(missed, 2000 - CAPACITY + MARGIN - 50, "missed, exactly");
	put_last_seqno(&image, 20);
	refused(ESTALE, "made anew", "made anew, as far as can be told");
	put_last_seqno(&image, 2000);
	put_identity(0xab, 1);
	refused(ESTALE, "another ring", "one with an identity is not it");
	teardown();
}

/* Another process reads on, through a mapping of its own. */
static void test_process(void)
{
	int status, pipe_fds[2];
	pid_t pid;

	setup(100, 0xab);
	monad_event_iterator_set_seqno(&iter, 51);
	if (pipe(pipe_fds) || monad_event_iterator_save(&iter, &cursor))
		bail_out("pipe");
	pid = fork();
	if (pid == 0) {
		struct monad_event_cursor theirs;
		struct monad_event_ring mapping;

		if (read(pipe_fds[0], &theirs, sizeof(theirs)) != sizeof(theirs) ||
		    monad_event_ring_mmap(&mapping, PROT_READ, 0, image.fd, 0, "x") ||
		    monad_event_ring_init_iterator(&mapping, &iter) ||
		    monad_event_iterator_restore(&iter, &theirs, NULL) ||
		    monad_event_iterator_try_next(&iter, &event) != MONAD_EVENT_SUCCESS)
			_exit(1);
		_exit(event.seqno == 51 ? 0 : 2);
	}
	if (write(pipe_fds[1], &cursor, sizeof(cursor)) != sizeof(cursor))
		bail_out("write");
	waitpid(pid, &status, 0);
	eq_int(status, 0, "another process goes on at the event");
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	teardown();
}

int main(void)
{
	test_same_ring();
	test_refused();
	test_plain();
	test_process();
	return done_testing();
}
