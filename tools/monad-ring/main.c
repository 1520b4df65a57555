// SPDX-License-Identifier: GPL-2.0
/* The command line: monad-ring [OPTIONS] COMMAND [ARGUMENTS]. */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monad-ring.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv, bool json);
	const char *summary;
} commands[] = {
	{"list", cmd_list, "list the kernel's rings and ring files"},
	{"info", cmd_info, "show everything about one ring"},
	{"watch", cmd_watch, "print events as they are recorded"},
	{"dump", cmd_dump, "print all events that are in a ring"},
	{"stat", cmd_stat, "show how fast rings are written to"},
	{"snapshot", cmd_snapshot, "keep what is in a ring in a compressed file"},
	{"copy", cmd_copy, "copy a ring to a ring file or a snapshot"},
	{"check", cmd_check, "look for anything that is wrong with a ring"},
	{"create", cmd_create, "make a kernel ring or a ring file"},
	{"destroy", cmd_destroy, "destroy kernel rings and ring files"},
};

static void print_help(FILE *out)
{
	fputs("Usage: monad-ring [--json] COMMAND [ARGUMENTS]\n"
	      "\n"
	      "Makes, looks at and keeps event rings: those of the monad_ring kernel module,\n"
	      "ring files, and snapshots of both.\n"
	      "\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fputs("\n"
	      "Options:\n"
	      "  -j, --json     print JSON\n"
	      "  -h, --help     this; 'monad-ring COMMAND --help' says more of a command\n"
	      "  -V, --version  print the version\n"
	      "\n"
	      "A RING is a path with a '/' in it; or monad_ring, the kernel's default ring; or\n"
	      "the NAME of /dev/monad_ring-NAME; or the name of a file in the default\n"
	      "directory for ring files on hugetlbfs.\n"
	      "\n"
	      "Exit status: 0 all went well, 1 something failed, 2 the command line is wrong.\n"
	      "\n"
	      "EXAMPLES\n"
	      "  monad-ring list\n"
	      "  monad-ring info monad_ring\n"
	      "  monad-ring watch monad_ring --from oldest --type RQ_COMPLETE\n"
	      "  monad-ring dump --json /dev/monad_ring | jq .name | sort | uniq -c\n"
	      "  monad-ring stat --interval 1 monad_ring\n"
	      "  monad-ring snapshot --since 5m -o incident.zst monad_ring\n",
	      out);
}

void complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain_va(false, fmt, ap);
	va_end(ap);
}

void complain_lib(void)
{
	complain("%s", lib_error());
}

int usage_error(const char *command, const char *what, const char *arg)
{
	if (what)
		complain("%s: %s%s%s%s", command, what, arg ? " '" : "", arg ? arg : "",
			 arg ? "'" : "");
	fprintf(stderr, "Try 'monad-ring %s --help'.\n", command);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{0},
	};
	bool json = false;
	int opt;

	/* Writing to a closed pipe, or past a limit, is an error that is looked at, not death. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, "+jhV", options, NULL)) != -1) {
		switch (opt) {
		case 'j':
			json = true;
			break;
		case 'h':
			print_help(stdout);
			return finish_output();
		case 'V':
			puts("monad-ring " LIB_VERSION);
			return finish_output();
		default:
			complain("unknown option '%s'", argv[optind - 1]);
			fputs("Try 'monad-ring --help'.\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[optind], commands[i].name) == 0) {
			argc -= optind;
			argv += optind;
			optind = 0; /* getopt starts over */
			return commands[i].run(argc, argv, json);
		}
	}
	complain("unknown command '%s'", argv[optind]);
	fputs("Try 'monad-ring --help'.\n", stderr);
	return EXIT_USAGE;
}
