// SPDX-License-Identifier: GPL-2.0
/* How the tools are interrupted: tools/lib/interrupt.h. */
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/interrupt.h"
#include "tap.h"

static int ready[2];

/* A program that does not look at what it was told, but says when it was told something. */
static void be_stuck(bool nohup)
{
	char told = 'r';

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGHUP, nohup ? SIG_IGN : SIG_DFL);
	catch_interrupts();
	for (;;) {
		if (write(ready[1], &told, 1) != 1)
			_exit(1);
		while (!interrupted)
			usleep(1000);
		interrupted = 0;
		told = 'i';
	}
}

static char hear(void)
{
	char told = 0;

	return read(ready[0], &told, 1) == 1 ? told : 0;
}

static void test_twice(int first, int second, const char *name)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		be_stuck(false);
	eq_int(hear(), 'r', "%s: a program that is stuck", name);
	kill(pid, first);
	eq_int(hear(), 'i', "%s: is told, and lives on", name);
	/* As timeout(1) does: to the program, and at once to all of its group. */
	kill(pid, first);
	usleep(50000);
	eq_int(waitpid(pid, &status, WNOHANG), 0, "%s: and when told the same at once", name);
	usleep(400000);
	kill(pid, second);
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == second, "%s: a later one ends it", name);
}

static void test_nohup(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		be_stuck(true);
	eq_int(hear(), 'r', "nohup: a program");
	kill(pid, SIGHUP);
	kill(pid, SIGHUP);
	/* Had it ended, or heard of them, this would not be the first thing that it hears. */
	kill(pid, SIGTERM);
	eq_int(hear(), 'i', "nohup: a terminal that is closed is nothing to it");
	usleep(400000);
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "nohup: ends by another signal");
}

/* Nobody says it again, and nobody reads what it writes. */
static void test_patience(void)
{
	int status = 0, full[2];
	char block[4096] = {0};
	pid_t pid;

	if (pipe(full) != 0)
		bail_out("pipe");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		interrupt_patience_s = 1;
		catch_interrupts();
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;) {
			if (write(full[1], block, sizeof(block)) < 0)
				_exit(2);
		}
	}
	eq_int(hear(), 'r', "a program that writes to a pipe that is full");
	usleep(100000);
	kill(pid, SIGTERM);
	usleep(300000);
	eq_int(waitpid(pid, &status, WNOHANG), 0, "is not kept from it by a signal");
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "but not for ever");
	close(full[0]);
	close(full[1]);
}

int main(void)
{
	if (pipe(ready) != 0)
		bail_out("pipe");
	test_twice(SIGINT, SIGINT, "^C");
	test_twice(SIGTERM, SIGTERM, "kill");
	test_twice(SIGHUP, SIGHUP, "a terminal that is closed");
	test_twice(SIGTERM, SIGINT, "kill, then ^C");
	test_nohup();
	test_patience();
	return done_testing();
}
