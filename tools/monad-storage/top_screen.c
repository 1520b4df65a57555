// SPDX-License-Identifier: GPL-2.0
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "monad_storage.h"
#include "top.h"

static struct termios saved_termios;

static void restore_terminal(void)
{
	/* the cursor, the screen as it was before */
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &saved_termios);
}

void top_take_terminal(struct top *top)
{
	struct termios raw;

	if (top->json || top->batch || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) ||
	    tcgetattr(STDIN_FILENO, &saved_termios))
		return;
	top->screen = true;
	raw = saved_termios;
	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	atexit(restore_terminal);
	fputs("\033[?1049h\033[?25l", stdout);
}

/* True if something is to be shown anew. */
static bool handle_keys(struct top *top)
{
	bool changed = false;
	ssize_t n;
	char key;

	while ((n = read(STDIN_FILENO, &key, 1)) == 1) {
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
	top->quit |= n < 0;
	return changed;
}

bool top_sleep(struct top *top, uint64_t ns)
{
	const struct timespec pause = { (time_t)(ns / NSEC_PER_SEC),
				       (long)(ns % NSEC_PER_SEC) };
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	if (!top->screen) {
		nanosleep(&pause, NULL);
		return false;
	}
	return ppoll(&p, 1, &pause, NULL) > 0 && handle_keys(top);
}

void top_screen_size(unsigned int *rows)
{
	struct winsize size;

	*rows = 24;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row)
		*rows = size.ws_row;
}
