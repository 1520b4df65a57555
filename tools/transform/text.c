// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "text.h"

bool text_set_n(char **field, const char *text, size_t size)
{
	size_t length = text ? strnlen(text, size) : 0;
	char *raw, *copy;

	if (!length)
		return true;
	raw = malloc(length + 1);
	copy = malloc(length + 1);
	if (raw && copy) {
		memcpy(raw, text, length);
		raw[length] = '\0';
		printable(copy, length + 1, raw);
		*field = copy;
		copy = NULL;
	}
	free(raw);
	free(copy);
	return *field && **field;
}

bool text_set(char **field, const char *text)
{
	return text_set_n(field, text, text ? strlen(text) : 0);
}

void text_append(char *buf, size_t size, const char *format, ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, format);
	vsnprintf(buf + used, size - used, format, args);
	va_end(args);
}

void *array_grow(void *array, size_t nr)
{
	if (nr & (nr - 1))
		return array;
	return realloc(array, (nr ? 2 * nr : 1) * sizeof(void *));
}
