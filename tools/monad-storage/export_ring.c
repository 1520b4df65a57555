// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_ring_util.h>

#include "export_ring.h"
#include "interrupt.h"
#include "monad_storage.h"
#include "pins.h"
#include "raw.h"
#include "ring_walk.h"

/* However busy the ring is, it is not looked at more often. */
#define PAUSE_NS 20000000ULL

/* Without a ring there may be one soon. */
#define NONE_NS 200000000ULL

/*
 * Enough for one reading: in a ring that is written faster than it is read the end would never
 * come.
 */
#define MOST_AT_ONCE 1000000

void export_ring_init(struct export_ring *export, uint64_t since_ns)
{
	memset(export, 0, sizeof(*export));
	export->since_ns = since_ns;
}

void export_ring_close(struct export_ring *export)
{
	if (!export->open)
		return;
	ring_follow_end(&export->follow);
	monad_event_ring_unmap(&export->ring);
	export->open = false;
}

static void __attribute__((format(printf, 2, 3)))
complain(struct export_ring *export, const char *format, ...)
{
	char text[sizeof(export->complaint)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (strcmp(text, export->complaint) != 0)
		warning("no events: %s", text);
	memcpy(export->complaint, text, sizeof(text));
}

/*
 * Opening
 */

/* 0 or a positive errno. */
static int map_ring(struct export_ring *export, const char *name)
{
	int fd, err;

	memset(&export->ring, 0, sizeof(export->ring));
	err = monad_event_ring_open_fd(name, &fd, NULL, 0);
	if (err)
		return err;
	err = monad_event_ring_mmap(&export->ring, PROT_READ, 0, fd, 0, name);
	if (!err)
		err = monad_event_ring_check_content_type(&export->ring,
							  MONAD_EVENT_CONTENT_TYPE_STORAGE,
							  g_monad_storage_event_schema_hash);
	if (!err)
		err = monad_event_ring_init_iterator(&export->ring, &export->iter);
	if (!err)
		err = ring_follow_begin(&export->follow, &export->iter, fd);
	if (err)
		monad_event_ring_unmap(&export->ring);
	close(fd);
	return err;
}

static void hand_over(struct export_ring *export, const struct monad_event_descriptor *desc,
		      struct transformer *transformer)
{
	struct raw_event event;

	switch (raw_event_read(&export->iter, desc, &event)) {
	case EVENT_OK:
		transform_event(transformer, &event);
		break;
	case EVENT_EXPIRED:
		transform_lost(transformer, 1);
		break;
	case EVENT_UNKNOWN:
		export->unknown++;
		break;
	}
}

/*
 * The number of the first event from @since_ns on, all of them being looked at: the clock may
 * have been set. Stacks before it are handed over, as events behind it refer to them.
 */
static uint64_t find_time(struct export_ring *export, uint64_t since_ns,
			  struct transformer *transformer)
{
	uint64_t last, seqno = ring_numbers(&export->ring, &last);
	struct monad_event_descriptor desc;

	for (; seqno <= last; seqno++) {
		if (!monad_event_ring_try_copy(&export->ring, seqno, &desc))
			continue;
		if (since_ns && desc.record_epoch_nanos >= since_ns)
			return seqno;
		/* (One that has been overwritten is no loss here.) */
		if (desc.event_type == MONAD_STORAGE_STACK &&
		    monad_event_ring_payload_check(&export->ring, &desc))
			hand_over(export, &desc, transformer);
	}
	return last + 1;
}

static bool is_same_ring(const struct export_ring *export)
{
	const struct monad_ring_ext *ext = monad_event_ring_ext(&export->ring);
	static const uint8_t none[16];

	return ext && memcmp(ext->uuid, none, sizeof(none)) != 0 &&
	       !memcmp(ext->uuid, export->uuid, sizeof(export->uuid));
}

static void keep_uuid(struct export_ring *export)
{
	const struct monad_ring_ext *ext = monad_event_ring_ext(&export->ring);

	memset(export->uuid, 0, sizeof(export->uuid));
	if (ext)
		memcpy(export->uuid, ext->uuid, sizeof(export->uuid));
}

/* A new one. Where an old one was left, if it is that one; else as far back as is wanted. */
static void open_ring(struct export_ring *export, const struct monad_storage_session *session,
		      struct transformer *transformer)
{
	uint64_t next = export->iter.next_seqno;
	int err = map_ring(export, session->ring);

	if (err) {
		complain(export, "%s", lib_error());
		return;
	}
	*export->complaint = '\0';
	export->open = true;
	if (export->was_there && is_same_ring(export))
		monad_event_iterator_set_seqno(&export->iter, next);
	else
		monad_event_iterator_set_seqno(&export->iter,
					       find_time(export, export->since_ns, transformer));
	keep_uuid(export);
	export->was_there = true;
	export->session_ns = session->started_ns;
	/* What is recorded from now on is wanted from its beginning. */
	export->since_ns = 0;
}

void export_ring_update(struct export_ring *export, struct transformer *transformer)
{
	struct monad_storage_session session;

	if (pins_read_session(&session)) {
		/* None is running: the next one's events are all new. */
		if (!export->since_ns && !export->was_there)
			export->since_ns = clock_ns(CLOCK_REALTIME);
		return;
	}
	if (export->open && session.started_ns == export->session_ns)
		return;
	if (export->open) {
		/* What was recorded to its end. */
		export_ring_read(export, transformer);
		export_ring_close(export);
	}
	if (export->was_there)
		export->since_ns = session.started_ns;
	open_ring(export, &session, transformer);
}

/*
 * Reading
 */

void export_ring_read(struct export_ring *export, struct transformer *transformer)
{
	struct monad_event_descriptor desc;
	uint64_t missed;

	for (unsigned int i = 0; export->open && i < MOST_AT_ONCE; i++) {
		switch (ring_follow_next(&export->follow, &desc, &missed)) {
		case RING_FOLLOW_EVENT:
			hand_over(export, &desc, transformer);
			break;
		case RING_FOLLOW_GAP:
			transform_lost(transformer, missed);
			break;
		case RING_FOLLOW_NONE:
			return;
		}
	}
}

static void pause_ns(uint64_t ns)
{
	const struct timespec pause = {
		.tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC),
	};

	nanosleep(&pause, NULL);
}

void export_ring_wait(struct export_ring *export, uint64_t timeout_ns)
{
	uint64_t pause = export->open ? PAUSE_NS : NONE_NS;

	pause_ns(timeout_ns < pause ? timeout_ns : pause);
	if (export->open && timeout_ns > pause && !interrupted)
		ring_follow_wait(&export->follow, timeout_ns - pause);
}
