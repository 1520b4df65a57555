// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <monad_event/event_ring.h>

#include "error.h"

static _Thread_local char last_error[1024] = "no error";

const char *monad_event_ring_get_last_error(void)
{
	return last_error;
}

int monad_event_set_error(int err, const char *func, const char *file, int line, const char *hint,
			  const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	const int saved_errno = errno;
	char text[768];
	va_list ap;

	/* First into a buffer of its own: an argument may be the last message. */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	errno = err; /* for %m, which, unlike strerror(), is thread-safe everywhere */
	snprintf(last_error, sizeof(last_error), "%s@%s:%d: %s: %m (%d)%s%s", func,
		 base ? base + 1 : file, line, text, err, hint ? "; " : "", hint ? hint : "");
	errno = saved_errno;
	return err;
}
