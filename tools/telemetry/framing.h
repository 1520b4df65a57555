/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages on a stream: 4 bytes of length, most significant byte first, and a
 * monad.Message (telemetry.proto). Who sends may be anybody: a length without bounds, a
 * message that unpacks to many times its size, garbage and silence cost no more than the
 * connection they came on.
 */
#ifndef MONAD_TELEMETRY_FRAMING_H
#define MONAD_TELEMETRY_FRAMING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "monad/telemetry.pb-c.h"

#define FRAMING_HEADER 4

/* The longest message, without its length, unless the receiver has another limit. */
#define FRAMING_MAX (16 << 20)

/*
 * The message as it is sent, its length in front, to be given to free(); @size is that of
 * both. NULL with errno EMSGSIZE (longer than FRAMING_MAX) or ENOMEM.
 */
uint8_t *framing_pack(const Monad__Message *message, size_t *size);

/* One connection's next message, as far as it is there. */
struct framing_reader {
	uint8_t *data;
	size_t have;
	size_t room;
	size_t max;
};

/* @max: of a message; 0 is FRAMING_MAX. */
void framing_reader_init(struct framing_reader *reader, size_t max);
void framing_reader_free(struct framing_reader *reader);

/*
 * Reads from @fd, which does not block, and never more than one message. 0 with @message,
 * to be given to monad__message__free_unpacked(message, NULL); else
 *
 *	-EAGAIN		it is not there in full yet: poll for POLLIN and call again
 *	-EPIPE		the other side has closed, between two messages
 *	-ECONNRESET	... in the middle of one, or the connection broke
 *	-EMSGSIZE	its length is above the maximum
 *	-EBADMSG	it is no monad.Message
 *	-E2BIG		it would take too much memory
 *	-ENOMEM, ...
 *
 * After all but the first the connection is of no use any more. A message may be of a kind
 * that is not known here: kind_case is MONAD__MESSAGE__KIND__NOT_SET then.
 */
int framing_read(struct framing_reader *reader, int fd, Monad__Message **message);

/* Whether a part of a message is there. */
static inline int framing_read_begun(const struct framing_reader *reader)
{
	return reader->have != 0;
}

/* What one of these errors means, for people. */
const char *framing_error(int err);

/*
 * Until when to wait, CLOCK_MONOTONIC in nanoseconds. @sooner may be NULL, or be set by
 * another thread meanwhile to an earlier time; 0 is none.
 */
struct framing_deadline {
	uint64_t at_ns;
	const atomic_ullong *sooner;
};

/* What is left of it in milliseconds, at most @most; 0 when it is over. */
int framing_left(const struct framing_deadline *deadline, int most);

/* Waits for @events of poll(2) on @fd. 0, -ETIMEDOUT, or another -errno. */
int framing_wait(int fd, short events, const struct framing_deadline *deadline);

/* framing_read() until there is a message; -ETIMEDOUT if there is none in time. */
int framing_receive(struct framing_reader *reader, int fd,
		    const struct framing_deadline *deadline, Monad__Message **message);

/*
 * Sends all of a packed message to a socket that does not block. 0, -ETIMEDOUT, or another
 * -errno; a part of it may have been sent. No SIGPIPE.
 */
int framing_send(int fd, const uint8_t *frame, size_t size,
		 const struct framing_deadline *deadline);

#endif /* MONAD_TELEMETRY_FRAMING_H */
