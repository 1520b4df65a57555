// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "message.h"
#include "storage_names.h"
#include "text.h"

static void append_duration(char text[MESSAGE_LEN], const char *before, uint64_t ns)
{
	char buf[FORMAT_TIME_LEN];

	text_append(text, MESSAGE_LEN, "%s%s", before, format_duration(buf, sizeof(buf), ns));
}

/* "read of 4 KiB at sector 2048" */
static void append_what(char text[MESSAGE_LEN], const Monad__StorageEvent *made)
{
	char size[FORMAT_SIZE_LEN];

	text_append(text, MESSAGE_LEN, "%s", made->operation);
	if (made->bytes)
		text_append(text, MESSAGE_LEN, " of %s",
			    format_size(size, sizeof(size), made->bytes));
	if (made->has_sector)
		text_append(text, MESSAGE_LEN, " at sector %" PRIu64, made->sector);
	if (*made->file)
		text_append(text, MESSAGE_LEN, " of file %s", made->file);
}

static void append_where(char text[MESSAGE_LEN], const Monad__StorageEvent *made)
{
	const Monad__StorageDevice *device = made->device;

	if (!device)
		return;
	if (*device->partition)
		text_append(text, MESSAGE_LEN, " on %s", device->partition);
	else if (*device->name)
		text_append(text, MESSAGE_LEN, " on %s", device->name);
	else
		text_append(text, MESSAGE_LEN, " on %" PRIu32 ":%" PRIu32, device->major,
			    device->minor);
}

static void append_who(char text[MESSAGE_LEN], const Monad__StorageEvent *made)
{
	const Monad__StorageActor *actor = made->actor;

	if (!actor || actor->issuer)
		return;
	text_append(text, MESSAGE_LEN, " by %s[%" PRIu32 "]", *actor->comm ? actor->comm : "?",
		    actor->tgid);
}

/* How it went. */
static void append_outcome(char text[MESSAGE_LEN], const struct wire_event *event,
			   const Monad__StorageEvent *made)
{
	if (made->error)
		text_append(text, MESSAGE_LEN, " failed: %s", errno_name(made->error));
	else if (event->reason == REASON_UNSEEN)
		text_append(text, MESSAGE_LEN, ": its end was not seen");
	else if (event->reason == REASON_RETRY)
		text_append(text, MESSAGE_LEN, " was %s", made->reason);
	else if (event->facts->flags & MONAD_STORAGE_F_TIMED_OUT)
		text_append(text, MESSAGE_LEN, " timed out");
	if (!made->has_latency)
		return;
	if (event->facts->gone)
		append_duration(text, " is not under way any more, after more than ",
				made->latency_ns);
	else if (!event->facts->type)
		append_duration(text, ", under way for ", made->latency_ns);
	else if (made->error || event->reason == REASON_RETRY ||
		 event->facts->flags & MONAD_STORAGE_F_TIMED_OUT)
		append_duration(text, ", after ", made->latency_ns);
	else
		append_duration(text, " took ", made->latency_ns);
	if (made->has_queue && made->has_device && !made->error) {
		append_duration(text, " (queue ", made->queue_ns);
		append_duration(text, ", device ", made->device_ns);
		text_append(text, MESSAGE_LEN, ")");
	}
}

static void append_affected(char text[MESSAGE_LEN], const struct wire_event *event)
{
	if (event->affected)
		text_append(text, MESSAGE_LEN, "; %" PRIu64 "%s process%s", event->affected,
			    event->reason == REASON_CONGESTION ? "" : " other",
			    event->affected == 1 ? " waits" : "es wait");
}

const char *message_make(const struct wire_event *event, const Monad__StorageEvent *made,
			 char text[MESSAGE_LEN])
{
	*text = '\0';
	if (event->reason == REASON_CONGESTION) {
		text_append(text, MESSAGE_LEN, "%" PRIu64 " I/Os under way", made->count);
		append_where(text, made);
		text_append(text, MESSAGE_LEN, ", %" PRIu64 " is the limit",
			    event->limits->inflight);
	} else {
		append_what(text, made);
		append_where(text, made);
		append_who(text, made);
		append_outcome(text, event, made);
	}
	append_affected(text, event);
	if (event->frequency)
		text_append(text, MESSAGE_LEN, "; worse for being one of %" PRIu64,
			    event->frequency);
	return text;
}

bool message_add_truncated(Monad__EventWrapper *event, uint64_t truncated)
{
	char text[MESSAGE_LEN], *before = event->message;

	event->truncated_count = truncated;
	if (!truncated)
		return true;
	snprintf(text, sizeof(text), "%s", event->message);
	text_append(text, MESSAGE_LEN, "; %" PRIu64 " more like it", truncated);
	text_set(&event->message, text);
	if (event->message == before)
		return false;
	if (before != protobuf_c_empty_string)
		free(before);
	return true;
}
