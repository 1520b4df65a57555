/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Errors of the library: an errno for the program, a sentence for its user. */
#ifndef MONAD_EVENT_SRC_ERROR_H
#define MONAD_EVENT_SRC_ERROR_H

/*
 * Composes this thread's error message and returns @err, a positive errno:
 *
 *	FUNCTION@FILE:LINE: TEXT: what the errno means (errno); HINT
 *
 * @hint says what to do about it; NULL when there is nothing to say.
 */
__attribute__((format(printf, 6, 7))) int monad_event_set_error(int err, const char *func,
								const char *file, int line,
								const char *hint, const char *fmt,
								...);

#define FAIL(err, ...) FAIL_HINT(err, NULL, __VA_ARGS__)
#define FAIL_HINT(err, hint, ...) \
	monad_event_set_error(err, __func__, __FILE__, __LINE__, hint, __VA_ARGS__)

#endif /* MONAD_EVENT_SRC_ERROR_H */
