// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"
#include "output.h"

static void *or_end(void *p)
{
	if (p)
		return p;
	fflush(stdout);
	fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	exit(EXIT_FAILED);
}

void *xcalloc(size_t n, size_t size)
{
	return or_end(calloc(n, size));
}

void *xrealloc(void *old, size_t size)
{
	return or_end(realloc(old, size));
}

char *xstrdup(const char *text)
{
	return or_end(strdup(text));
}
