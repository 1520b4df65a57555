/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the monad-ring command share. */
#ifndef MONAD_RING_TOOL_H
#define MONAD_RING_TOOL_H

#include <stdbool.h>

#include "output.h"

/* A command; argv[0] is its name. @json: --json came before it. */
int cmd_list(int argc, char **argv, bool json);
int cmd_info(int argc, char **argv, bool json);
int cmd_watch(int argc, char **argv, bool json);
int cmd_dump(int argc, char **argv, bool json);
int cmd_stat(int argc, char **argv, bool json);
int cmd_snapshot(int argc, char **argv, bool json);
int cmd_copy(int argc, char **argv, bool json);
int cmd_check(int argc, char **argv, bool json);
int cmd_create(int argc, char **argv, bool json);
int cmd_destroy(int argc, char **argv, bool json);

/* "monad-ring: ..." to stderr, safe for a terminal. */
__attribute__((format(printf, 1, 2))) void complain(const char *fmt, ...);

/* complain() of what the library says went wrong last. */
void complain_lib(void);

/*
 * Says that the command line is wrong, or nothing for NULL, and how to get help;
 * EXIT_USAGE.
 */
int usage_error(const char *command, const char *what, const char *arg);

#endif /* MONAD_RING_TOOL_H */
