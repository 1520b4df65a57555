// SPDX-License-Identifier: GPL-2.0
/*
 * Prints each exec() of the machine. One tracer in four forms, to compare:
 *
 *	exec_events reserve|output|ringbuf|perfbuf [COUNT]
 *
 * "reserve" and "output" write to /dev/monad_ring-exec, which is made when it is not there and
 * outlives this program ("monad-ring dump exec"). "ringbuf" and "perfbuf" are the same tracer
 * with the kernel's own buffers.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec_events.h"
#include "exec_ways.h"

static volatile sig_atomic_t stopped;
static unsigned long left = -1;

static void stop(int signal)
{
	stopped = 1;
}

bool exec_done(void)
{
	return stopped || !left;
}

void exec_print(time_t when, const void *event, size_t size)
{
	const struct exec_event *e = event;
	struct tm tm;
	char ts[16];

	if (exec_done() || size <= sizeof(*e))
		return;
	localtime_r(&when, &tm);
	strftime(ts, sizeof(ts), "%H:%M:%S", &tm);
	printf("%-8s %-5s %-7d %-16.16s %.*s\n", ts, "EXEC", e->pid, e->comm,
	       (int)(size - sizeof(*e)), (const char *)(e + 1));
	fflush(stdout);
	left--;
}

void exec_lost(unsigned long long nr)
{
	fprintf(stderr, "lost %llu events\n", nr);
}

static void ready(void)
{
	printf("%-8s %-5s %-7s %-16s %s\n", "TIME", "EVENT", "PID", "COMM", "FILENAME");
	fflush(stdout);
}

static const struct {
	const char *name;
	int (*run)(void (*ready)(void));
} ways[] = {
	{ "reserve", exec_monad_reserve },
	{ "output", exec_monad_output },
	{ "ringbuf", exec_ringbuf },
	{ "perfbuf", exec_perfbuf },
};

static int bad_usage(void)
{
	fprintf(stderr, "usage: exec_events reserve|output|ringbuf|perfbuf [COUNT]\n");
	return 2;
}

int main(int argc, char **argv)
{
	/* Not restarted: what waits for events is to notice. */
	struct sigaction action = { .sa_handler = stop };
	char *end = "";

	if (argc == 3)
		left = strtoul(argv[2], &end, 10);
	if (argc < 2 || argc > 3 || *end || !left)
		return bad_usage();
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			return ways[i].run(ready);
	return bad_usage();
}
