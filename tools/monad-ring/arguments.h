/* SPDX-License-Identifier: GPL-2.0 */
/* What the command lines of most commands have in common. */
#ifndef MONAD_RING_TOOL_ARGUMENTS_H
#define MONAD_RING_TOOL_ARGUMENTS_H

#include <stdbool.h>

#include "ring_handle.h"

/*
 * Takes the options of a command that has no others than --json and --help, whose text is @help.
 * True: go on with what is from argv[optind] on. False: exit with @ret, all is said.
 */
bool take_plain_options(int argc, char **argv, const char *help, bool *json, int *ret);

/*
 * Opens the ring that is the only argument from argv[optind] on. EXIT_OK, or what to exit with,
 * after a complaint.
 */
int open_only_ring(int argc, char **argv, struct ring_handle *handle);

#endif /* MONAD_RING_TOOL_ARGUMENTS_H */
