// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"

/*
 * What comes so soon after the first is the same wish: timeout(1) sends its signal to the program
 * and then to all of the group, which is the program once more.
 */
#define SOON_NS 300000000LL

volatile sig_atomic_t interrupted;
unsigned int interrupt_patience_s = 30;

static volatile sig_atomic_t first;

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* All of these signals wait while one is handled: only one of them is in here. */
static void on_signal(int number)
{
	static bool told;
	static int64_t first_ns;

	if (!told) {
		told = true;
		first = number;
		/* It may write to a pipe that nobody reads, and nobody may say it again. */
		alarm(interrupt_patience_s);
		first_ns = now_ns();
		interrupted = 1;
	} else if (now_ns() - first_ns >= SOON_NS) {
		signal(number, SIG_DFL);
		/* Waits until this returns. */
		raise(number);
	}
}

static void on_alarm(int number)
{
	signal(first, SIG_DFL);
	raise(first);
}

void catch_interrupts(void)
{
	/*
	 * Sleeps and polls end all the same. A write to a pipe that is full does not: stdio would
	 * take that for an error, and drop what was to be written.
	 */
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction old;

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGINT);
	sigaddset(&action.sa_mask, SIGTERM);
	sigaddset(&action.sa_mask, SIGHUP);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (sigaction(SIGHUP, NULL, &old) != 0 || old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	action.sa_handler = on_alarm;
	sigaction(SIGALRM, &action, NULL);
}
