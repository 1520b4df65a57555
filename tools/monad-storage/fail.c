// SPDX-License-Identifier: GPL-2.0
/* How every part says what went wrong, and what happens when there is no memory. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "monad_storage.h"

void error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_va(false, format, args);
	va_end(args);
}

void warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_va(true, format, args);
	va_end(args);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		error("out of memory");
		exit(EXIT_FAILED);
	}
	return p;
}

void *xrealloc(void *old, size_t size)
{
	void *p = realloc(old, size);

	if (!p) {
		error("out of memory");
		exit(EXIT_FAILED);
	}
	return p;
}

char *xstrdup(const char *text)
{
	char *copy = strdup(text);

	if (!copy) {
		error("out of memory");
		exit(EXIT_FAILED);
	}
	return copy;
}
