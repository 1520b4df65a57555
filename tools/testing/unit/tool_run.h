/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Running the commands that were built, in a directory of the test's own: what they print, and
 * their exit status.
 */
#ifndef MONAD_TOOL_RUN_H
#define MONAD_TOOL_RUN_H

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static char bin[PATH_MAX];  /* where the commands are */
static char tool[PATH_MAX]; /* monad-ring */
static char dir[] = "/tmp/monad-test-XXXXXX";
static char output[262144]; /* of the last command, as much as fits */

/* Runs a command in the shell, in @dir; its exit status, -1 if a signal ended it. */
static int run(const char *command)
{
	char line[3 * PATH_MAX];
	size_t len;
	FILE *pipe;
	int status;

	snprintf(line, sizeof(line), "cd %s; PATH=%s:$PATH TZ=UTC; export TZ; %s", dir, bin,
		 command);
	pipe = popen(line, "re");
	if (!pipe)
		bail_out("popen");
	len = fread(output, 1, sizeof(output) - 1, pipe);
	output[len] = '\0';
	while (fgetc(pipe) != EOF)
		;
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A command line, what it has to say, and its exit status. */
struct tool_case {
	const char *args;
	const char *message;
	int status;
};

__attribute__((unused)) static void tool_check(const struct tool_case *cases, size_t count)
{
	char command[2 * PATH_MAX];

	for (size_t i = 0; i < count; i++) {
		snprintf(command, sizeof(command), "%s 2>&1 %s", tool, cases[i].args);
		eq_int(run(command), cases[i].status, "monad-ring %s", cases[i].args);
		if (!strstr(output, cases[i].message))
			ok(false, "says '%s': %s", cases[i].message, output);
	}
}

/* Skips all where monad-ring is not built. MONAD_RING: another, that runs it under something. */
static void tool_begin(int argc, char **argv)
{
	char self[PATH_MAX];

	if (argc < 1 || !realpath(argv[0], self))
		skip_all("cannot find the build directory");
	snprintf(bin, sizeof(bin), "%.4000s/../bin", dirname(self));
	if (getenv("MONAD_RING"))
		snprintf(tool, sizeof(tool), "%s", getenv("MONAD_RING"));
	else
		snprintf(tool, sizeof(tool), "%.4070s/monad-ring", bin);
	if (access(tool, X_OK) != 0)
		skip_all("%s is not built", tool);
	if (!mkdtemp(dir))
		bail_out("no directory in /tmp");
}

static int tool_end(void)
{
	run("rm -rf ../$(basename $PWD)");
	return done_testing();
}

#endif /* MONAD_TOOL_RUN_H */
