/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receiver as a program, for tests of both ends of the telemetry protocol: where it is,
 * what it said, what it has received.
 */
#ifndef MONAD_TEST_STREAM_RECEIVER_H
#define MONAD_TEST_STREAM_RECEIVER_H

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export_batches.h"
#include "export_queue.h"
#include "framing.h"
#include "stream_address.h"
#include "stream_exporter.h"

static char dir[] = "/tmp/monad-export-stream-XXXXXX";
static char address[PATH_MAX], output[PATH_MAX], messages[PATH_MAX];
static char why[512];
static const struct export_sender sender = {
	.agent = "test", .version = "1", .host = "here", .boot_id = "none",
};

/*
 * The receiver
 */

static char program[PATH_MAX];

static void find_program(void)
{
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length < 0)
		bail_out("/proc/self/exe: %s", strerror(errno));
	program[length] = '\0';
	dirname(dirname(program));
	strcat(program, "/bin/monad-telemetry-receive");
	if (access(program, X_OK))
		bail_out("%s: %s", program, strerror(errno));
}

static bool listens(const char *where)
{
	const struct framing_deadline deadline = { .at_ns = monotonic_ns() + 1000000000 };
	struct stream_address to;
	int fd;

	stream_parse_address(where, &to);
	fd = stream_connect(&to, &deadline, why, sizeof(why));
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* With --output, and an option and its value. */
static pid_t start_at(const char *where, const char *option, const char *value)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		int fd = open(messages, O_WRONLY | O_CREAT | O_APPEND, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd, STDERR_FILENO);
		execl(program, program, where, "--output", output, option, value, NULL);
		_exit(127);
	}
	for (int i = 0; i < 1000 && !listens(where); i++)
		usleep(10000);
	return pid;
}

static pid_t start(const char *option, const char *value)
{
	return start_at(address, option, value);
}

static int stop(pid_t pid, int number)
{
	int status;

	kill(pid, number);
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static bool has_said(const char *text)
{
	static char all[1 << 20];
	FILE *in = fopen(messages, "r");
	size_t length;

	if (!in)
		return false;
	length = fread(all, 1, sizeof(all) - 1, in);
	all[length] = '\0';
	fclose(in);
	return strstr(all, text);
}

static bool says(const char *text)
{
	for (int i = 0; i < 200; i++) {
		if (has_said(text))
			return true;
		usleep(10000);
	}
	return false;
}

/* The numbers of the batches it has written, in order. */
static const char *received(void)
{
	static char text[4096];
	char line[65536];
	size_t used = 0;
	FILE *in = fopen(output, "r");

	*text = '\0';
	while (in && fgets(line, sizeof(line), in)) {
		const char *at = strstr(line, "\"sequence\":\"");

		if (!strchr(line, '\n'))
			used += snprintf(text + used, sizeof(text) - used, "half ");
		else if (at)
			used += snprintf(text + used, sizeof(text) - used, "%lu ",
					 strtoul(at + 12, NULL, 10));
	}
	if (in)
		fclose(in);
	return text;
}

static void begin(const char *name)
{
	snprintf(address, sizeof(address), "%s/%s.sock", dir, name);
	snprintf(output, sizeof(output), "%s/%s.jsonl", dir, name);
	snprintf(messages, sizeof(messages), "%s/%s.log", dir, name);
}

/* At the beginning, and at the end of a test's program. */
static void make_dir(void)
{
	signal(SIGPIPE, SIG_IGN);
	find_program();
	if (!mkdtemp(dir))
		bail_out("mkdtemp: %s", strerror(errno));
}

static void remove_dir(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		diag("%s stays", dir);
}

/*
 * The exporter
 */

static struct exporter *must_open(uint64_t timeout_ns)
{
	const struct stream_options options = { .timeout_ns = timeout_ns };
	struct exporter *exporter = stream_exporter(address, &sender, &options, why, sizeof(why));

	if (!exporter)
		bail_out("%s: %s", address, why);
	return exporter;
}

static enum export_result send_one(struct exporter *exporter, uint64_t sequence)
{
	Monad__TelemetryBatch *batch = make_batch(sequence, 2, 1);
	enum export_result result;

	*why = '\0';
	result = exporter->send(exporter, batch, why, sizeof(why));
	monad__telemetry_batch__free_unpacked(batch, NULL);
	return result;
}

#endif /* MONAD_TEST_STREAM_RECEIVER_H */
