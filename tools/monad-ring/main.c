// SPDX-License-Identifier: GPL-2.0
/* The command line: monad-ring [OPTIONS] COMMAND [ARGUMENTS]. */
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <monad_event/event_ring.h>

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
};

static void print_help(FILE *out)
{
	fputs("Usage: monad-ring [--json] COMMAND [ARGUMENTS]\n"
	      "\n"
	      "Looks at event rings: those of the monad_ring kernel module, and ring files.\n"
	      "\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "  %-7s %s\n", commands[i].name, commands[i].summary);
	fputs("\n"
	      "Options:\n"
	      "  -j, --json     print JSON\n"
	      "  -h, --help     this; 'monad-ring COMMAND --help' says more of a command\n"
	      "  -V, --version  print the version\n"
	      "\n"
	      "A RING is a path with a '/' in it; or monad_ring, the kernel's default ring; or\n"
	      "the NAME of /dev/monad_ring-NAME; or the name of a file in the default directory\n"
	      "for ring files on hugetlbfs.\n"
	      "\n"
	      "Exit status: 0 all went well, 1 something failed, 2 the command line is wrong.\n"
	      "\n"
	      "EXAMPLES\n"
	      "  monad-ring list\n"
	      "  monad-ring info monad_ring\n"
	      "  monad-ring watch monad_ring --from oldest --type RQ_COMPLETE\n"
	      "  monad-ring dump --json /dev/monad_ring | jq .name | sort | uniq -c\n",
	      out);
}

void complain(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("monad-ring: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	putc('\n', stderr);
}

const char *lib_error(void)
{
	const char *text = monad_event_ring_get_last_error();
	const char *at = strchr(text, '@'), *space = strchr(text, ' ');

	/* "FUNCTION@FILE:LINE: " is for those who debug the library. */
	return at && space && at < space ? space + 1 : text;
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

int finish_output(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_OK;
	/* The errno of the write that failed may be gone; a closed pipe still shows. */
	if (poll(&out, 1, 0) == 1 && (out.revents & POLLERR))
		return EXIT_OK;
	fputs("monad-ring: output was lost: cannot write to standard output\n", stderr);
	return EXIT_FAILED;
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

	/* Writing to a closed pipe is an error that is looked at, not death. */
	signal(SIGPIPE, SIG_IGN);
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
