/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the monad-ring command share. */
#ifndef MONAD_RING_TOOL_H
#define MONAD_RING_TOOL_H

#include <stdbool.h>

/* Exit status of every command. */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

/* A command; argv[0] is its name. @json: --json came before it. */
int cmd_list(int argc, char **argv, bool json);
int cmd_info(int argc, char **argv, bool json);
int cmd_watch(int argc, char **argv, bool json);
int cmd_dump(int argc, char **argv, bool json);

/* "monad-ring: ..." to stderr. */
__attribute__((format(printf, 1, 2))) void complain(const char *fmt, ...);

/* complain() of what the library says went wrong last. */
void complain_lib(void);

/* The library's last error without the part that says where in its source. */
const char *lib_error(void);

/*
 * Says that the command line is wrong, or nothing for NULL, and how to get help;
 * EXIT_USAGE.
 */
int usage_error(const char *command, const char *what, const char *arg);

/*
 * Flushes stdout. EXIT_OK, also when the reader of a pipe has gone away; a
 * message and EXIT_FAILED when output was lost.
 */
int finish_output(void);

#endif /* MONAD_RING_TOOL_H */
