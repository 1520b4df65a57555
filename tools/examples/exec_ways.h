/* SPDX-License-Identifier: GPL-2.0 */
/* The exec tracer's user side: what its ways of getting at events share. */
#ifndef EXEC_WAYS_H
#define EXEC_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* True from SIGINT or SIGTERM on, and when as many events as were asked for are printed. */
bool exec_done(void);

/* Prints an event of @size bytes as a line; @when: the second it happened, or was read. */
void exec_print(time_t when, const void *event, size_t size);

/* Events that were lost on the way, to stderr. */
void exec_lost(unsigned long long nr);

/* Attach the programs, call ready() and print until exec_done(). An exit status. */
int exec_monad_reserve(void (*ready)(void));
int exec_monad_output(void (*ready)(void));
int exec_ringbuf(void (*ready)(void));
int exec_perfbuf(void (*ready)(void));

#endif /* EXEC_WAYS_H */
