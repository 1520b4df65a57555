/* SPDX-License-Identifier: GPL-2.0 */
/* Ending in order when a user or the system wants it: ^C, kill, a terminal that is closed. */
#ifndef MONAD_TOOLS_INTERRUPT_H
#define MONAD_TOOLS_INTERRUPT_H

#include <signal.h>

/* Set by the first of these signals. */
extern volatile sig_atomic_t interrupted;

/* From now on they set that, and end sleeps with EINTR. */
void catch_interrupts(void);

#endif /* MONAD_TOOLS_INTERRUPT_H */
