/* SPDX-License-Identifier: GPL-2.0 */
/* Ending in order when a user or the system wants it: ^C, kill, a terminal that is closed. */
#ifndef MONAD_TOOLS_INTERRUPT_H
#define MONAD_TOOLS_INTERRUPT_H

#include <signal.h>

/* Set by the first of these signals. */
extern volatile sig_atomic_t interrupted;

/* Seconds; 30. */
extern unsigned int interrupt_patience_s;

/*
 * From now on the first of them sets that, and ends sleeps and polls with EINTR; what reads or
 * writes goes on. One that comes a moment later ends the program, which may be stuck, and so does
 * time: it is to end by itself within interrupt_patience_s. A SIGHUP that is ignored, as nohup(1)
 * has it, stays so.
 */
void catch_interrupts(void);

#endif /* MONAD_TOOLS_INTERRUPT_H */
