// SPDX-License-Identifier: GPL-2.0
/* What a task complained of, for those who do not see its stderr. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monad_storage.h"
#include "task_answer.h"

#define MOST_WARNINGS 32

/* Behind "PROGRAM: ", or NULL: the line is of somebody else. */
static char *after_prefix(char *line, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(line, prefix, length) != 0 ? NULL : line + length;
}

void task_messages(int fd, char *errors, size_t size, char ***warnings, size_t *nr_warnings)
{
	char text[16384], prefix[64], *line, *next, *what, *warning;
	off_t end = lseek(fd, 0, SEEK_END), most = sizeof(text) - 1;
	ssize_t length = pread(fd, text, most, end > most ? end - most : 0);
	size_t used = 0;

	*errors = '\0';
	*nr_warnings = 0;
	*warnings = xcalloc(MOST_WARNINGS, sizeof(**warnings));
	text[length > 0 ? length : 0] = '\0';
	snprintf(prefix, sizeof(prefix), "%s: ", program_invocation_short_name);
	for (line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		what = after_prefix(line, prefix);
		if (!what)
			continue;
		warning = after_prefix(what, "warning: ");
		if (warning && *nr_warnings < MOST_WARNINGS)
			(*warnings)[(*nr_warnings)++] = xstrdup(warning);
		else if (!warning && used < size)
			used += (size_t)snprintf(errors + used, size - used, "%s%s",
						 used ? "; " : "", what);
	}
}
