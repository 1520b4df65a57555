// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include "interrupt.h"

volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	(void)signal;
	interrupted = 1;
}

void catch_interrupts(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	/* No SA_RESTART: a sleep ends at once. */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}
