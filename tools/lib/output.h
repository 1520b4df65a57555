/* SPDX-License-Identifier: GPL-2.0 */
/* How a command's output ends, and what it says when something fails. */
#ifndef MONAD_TOOLS_OUTPUT_H
#define MONAD_TOOLS_OUTPUT_H

#include <stdarg.h>
#include <stdbool.h>

/* Exit status of every command: it worked, it failed, it was called wrongly. */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

/* "PROGRAM: [warning: ]TEXT" on stderr, after what was printed before; safe for a terminal. */
__attribute__((format(printf, 2, 0))) void complain_va(bool warning, const char *format,
						       va_list args);

/* What the library says went wrong last, without where in its source. */
const char *lib_error(void);

/*
 * Flushes stdout. EXIT_OK, also when the reader of a pipe has gone away (SIGPIPE
 * must be ignored); a message and EXIT_FAILED when output was lost.
 */
int finish_output(void);

#endif /* MONAD_TOOLS_OUTPUT_H */
