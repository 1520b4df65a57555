// SPDX-License-Identifier: GPL-2.0
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "monad_storage.h"
#include "top.h"

static struct termios saved_termios;
static bool taken;
static volatile sig_atomic_t stop_wanted, quit_wanted;

static void on_stop(int number)
{
	stop_wanted = 1;
}

static void on_quit(int number)
{
	quit_wanted = 1;
}

static void catch_unless_ignored(int number, void (*handler)(int))
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct sigaction old;

	if (sigaction(number, NULL, &old) != 0 || old.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

static void take(void)
{
	struct termios raw = saved_termios;

	taken = true;
	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	/* a screen of its own, without the cursor */
	fputs("\033[?1049h\033[?25l", stdout);
	fflush(stdout);
}

static void restore_terminal(void)
{
	if (!taken)
		return;
	taken = false;
	/* the cursor, the screen as it was before */
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &saved_termios);
}

/* ^Z: others get the terminal as it was, until we may go on. */
static void stop(void)
{
	stop_wanted = 0;
	restore_terminal();
	/* By this one nobody is stopped whom nobody could make go on. */
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	catch_unless_ignored(SIGTSTP, on_stop);
	take();
}

void top_take_terminal(struct top *top)
{
	const char *term = getenv("TERM");

	/* One that cannot move the cursor has one table after the other. */
	if (!term || !*term || !strcmp(term, "dumb"))
		return;
	if (top->json || top->batch || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) ||
	    tcgetattr(STDIN_FILENO, &saved_termios))
		return;
	top->screen = true;
	catch_unless_ignored(SIGTSTP, on_stop);
	catch_unless_ignored(SIGQUIT, on_quit);
	atexit(restore_terminal);
	take();
}

bool top_leave_terminal(struct top *top)
{
	const bool was = top->screen;

	restore_terminal();
	top->screen = false;
	top->left = was;
	return was;
}

/* True if something is to be shown anew. */
static bool handle_keys(struct top *top)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	bool changed = false;
	ssize_t n = 1;
	char key;

	/* It need not be as we left it: others may have had it, so that read() would wait. */
	while (poll(&p, 1, 0) > 0 && (n = read(STDIN_FILENO, &key, 1)) == 1) {
		if (key == 'q')
			top->quit = true;
		for (int i = 0; i < SORTS; i++) {
			if (key == top_sorts[i].key) {
				top->sort = i;
				changed = true;
			}
		}
	}
	/* The terminal is gone. */
	top->quit |= n <= 0;
	return changed;
}

bool top_sleep(struct top *top, uint64_t ns)
{
	const struct timespec pause = { (time_t)(ns / NSEC_PER_SEC),
				       (long)(ns % NSEC_PER_SEC) };
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	bool changed;

	if (!top->screen) {
		nanosleep(&pause, NULL);
		return false;
	}
	changed = ppoll(&p, 1, &pause, NULL) > 0 && handle_keys(top);
	if (stop_wanted) {
		stop();
		changed = true;
	}
	top->quit |= quit_wanted;
	return changed;
}

void top_screen_size(unsigned int *rows, unsigned int *columns)
{
	struct winsize size;

	*rows = 24;
	*columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return;
	if (size.ws_row)
		*rows = size.ws_row;
	if (size.ws_col)
		*columns = size.ws_col;
}

/*
 * Line by line, over what is there: all at once cleared, it would flicker. A line is cleared
 * before it is printed: after it, where it fills the row, its last character would go.
 */
void top_screen_put(const char *text, unsigned int rows, unsigned int columns)
{
	fputs("\033[H", stdout);
	for (unsigned int row = 1; *text && row < rows; row++) {
		size_t len = strcspn(text, "\n");

		printf("\033[K%.*s\n", (int)(len < columns ? len : columns), text);
		text += len + (text[len] == '\n');
	}
	fputs("\033[J", stdout);
}
