// SPDX-License-Identifier: GPL-2.0
/* How every part says what went wrong. */
#include <stdarg.h>

#include "monad_storage.h"

void error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_va(false, format, args);
	va_end(args);
}

void inform(const char *format, ...)
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
