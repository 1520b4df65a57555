// SPDX-License-Identifier: GPL-2.0
/* monad-storage: the storage flight recorder's commands. */
#include <argp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monad_storage.h"

static const struct {
	const char *verb;
	int (*run)(int argc, char **argv);
	const char *summary;
} verbs[] = {
	{ "start", cmd_start, "start recording; it goes on by itself" },
	{ "stop", cmd_stop, "stop recording; what was recorded stays" },
	{ "status", cmd_status, "say whether it records, what it counted and lost" },
	{ "top", cmd_top, "which disks are busy, and whose I/O that is" },
	{ "latency", cmd_latency, "how long I/O took: percentiles, histograms" },
	{ "cgroups", cmd_cgroups, "how much I/O each cgroup is charged with" },
	{ "errors", cmd_errors, "what failed, timed out or had to be done again" },
	{ "inflight", cmd_inflight, "what is under way now, oldest first, and whose it is" },
	{ "trace", cmd_trace, "print I/O as it happens" },
	{ "replay", cmd_replay, "print or sum up I/O that happened before" },
	{ "report", cmd_report, "write a page of what happened: latencies over time, who, errors" },
	{ "task", cmd_task, "look into reads, fsyncs or writeback for a while, then sum up" },
	{ "serve", cmd_serve, "take tasks over a socket" },
	{ "export", cmd_export, "metrics and events, to Prometheus, OTLP, JSON, receivers" },
};

static void usage(FILE *out)
{
	fputs("Usage: monad-storage VERB [OPTION]...\n\n"
	      "A flight recorder for block devices: BPF programs write one event per thing\n"
	      "that happens into a ring in memory, whether anybody reads it or not.\n\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(out, "  %-8s %s\n", verbs[i].verb, verbs[i].summary);
	fputs("\nEach verb has --help.\n\n"
	      "EXAMPLES\n"
	      "  monad-storage start                           record, from now on\n"
	      "  monad-storage trace -d nvme0n1 --min-latency 10ms\n"
	      "                                                watch what is slow on a disk\n"
	      "  monad-storage replay --since 60s --errors     what failed in the last minute\n"
	      "  monad-storage replay --summary                latencies, actors, losses\n"
	      "  monad-storage export --prometheus 19150       metrics of all of it, over HTTP\n",
	      out);
}

/* At each exit, argp's after --help too: output that was lost is a failure. */
static void check_output(void)
{
	if (finish_output() != EXIT_OK)
		_exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
	char name[64];

	/* Writing to a closed pipe, or past a limit, is an error that is looked at, not death. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	atexit(check_output);
	argp_err_exit_status = EXIT_USAGE;
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("monad-storage " MONAD_STORAGE_VERSION);
		return EXIT_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(argv[1], verbs[i].verb) != 0)
			continue;
		/* argp and messages name the command as it was called */
		snprintf(name, sizeof(name), "monad-storage %s", verbs[i].verb);
		argv[1] = name;
		return verbs[i].run(argc - 1, argv + 1);
	}
	error("no verb '%s'; try 'monad-storage --help'", argv[1]);
	return EXIT_USAGE;
}
