// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <monad_event/event_ring.h>

#include "output.h"
#include "printable.h"

void complain_va(bool warning, const char *format, va_list args)
{
	char text[8192], safe[8192];

	vsnprintf(text, sizeof(text), format, args);
	fflush(stdout);
	fprintf(stderr, "%s: %s%s\n", program_invocation_short_name,
		warning ? "warning: " : "",
		printable(safe, sizeof(safe), text));
}

const char *lib_error(void)
{
	const char *text = monad_event_ring_get_last_error();
	const char *at = strchr(text, '@'), *space = strchr(text, ' ');

	/* "FUNCTION@FILE:LINE: " is for those who debug the library. */
	return at && space && at < space ? space + 1 : text;
}

int finish_output(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_OK;
	/* The errno of the write that failed may be gone; a closed pipe still shows. */
	if (poll(&out, 1, 0) == 1 && (out.revents & POLLERR))
		return EXIT_OK;
	fprintf(stderr, "%s: output was lost: cannot write to standard output\n",
		program_invocation_short_name);
	return EXIT_FAILED;
}
