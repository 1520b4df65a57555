/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why an event is notable (1), and how bad it is (8).
 *
 * An event has one reason, the first of these that holds. What each one's severity is
 * stands in one table, in reason.c, and in Documentation/telemetry.rst.
 */
#ifndef TRANSFORM_REASON_H
#define TRANSFORM_REASON_H

#include "facts.h"

enum reason {
	REASON_NONE,
	REASON_ERROR,      /* it failed, but for the next */
	REASON_TIMEOUT,    /* its time was up at least once */
	REASON_STUCK,      /* it was or is under way for much too long */
	REASON_RETRY,      /* a device gave it back */
	REASON_FLUSH,      /* it took too long: a flush, ... */
	REASON_FSYNC,      /* ... a call that syncs, ... */
	REASON_SLOW,       /* ... another one */
	REASON_THROTTLE,   /* a writer was put to sleep */
	REASON_CONGESTION, /* a device has too many under way */
	REASON_UNSEEN,     /* how it ended was not seen */
	REASONS
};

/* What an event is measured by. */
struct limits {
	uint64_t slow_ns;  /* 0: as what recorded it has marked it */
	uint64_t stuck_ns; /* 0: never */
	uint64_t inflight; /* of a congestion */
};

enum reason reason_of(const struct facts *facts, const struct limits *limits);

/* "error", ...: of the payload; NULL for REASON_NONE. */
const char *reason_class(enum reason reason);

/* "io_error", ...: of the event; for REASON_NONE what its type is called. */
const char *reason_event_name(enum reason reason, const struct facts *facts);

/* @frequency: events of its kind in the window. */
Monad__Severity reason_severity(enum reason reason, const struct facts *facts,
				const struct limits *limits, uint64_t frequency);

/* "ENODATA", "requeued 3 times", ... */
#define REASON_TEXT_LEN 64
const char *reason_text(enum reason reason, const struct facts *facts, char text[REASON_TEXT_LEN]);

#endif /* TRANSFORM_REASON_H */
