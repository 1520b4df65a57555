// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>

#include "monad_storage.h"
#include "server_log.h"

#define MOST_A_SECOND 50

void server_log(const char *format, ...)
{
	static uint64_t second, said, unsaid;
	uint64_t now = clock_ns(CLOCK_MONOTONIC) / NSEC_PER_SEC;
	char text[2048];
	va_list args;

	if (now != second) {
		if (unsaid)
			error("%" PRIu64 " more lines like these are left out", unsaid);
		second = now;
		said = 0;
		unsaid = 0;
	}
	if (said == MOST_A_SECOND) {
		unsaid++;
		return;
	}
	said++;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	error("%s", text);
}
