// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "format.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

const char *format_size(char *buf, size_t buf_size, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	unsigned int unit = 0;

	while (value >= 1024 && unit < 6) {
		value /= 1024;
		unit++;
	}
	snprintf(buf, buf_size, "%.4g %s", value, units[unit]);
	return buf;
}

/* Local time in @format, a point, and nanoseconds. The length. */
static size_t format_second(char *buf, size_t buf_size, uint64_t epoch_ns, const char *format,
			    struct tm *tm)
{
	time_t second = (time_t)(epoch_ns / NSEC_PER_SEC);
	size_t len = 0;

	if (localtime_r(&second, tm))
		len = strftime(buf, buf_size, format, tm);
	else
		len = (size_t)snprintf(buf, buf_size, "@%" PRIu64, epoch_ns / NSEC_PER_SEC);
	len += (size_t)snprintf(buf + len, buf_size - len, ".%09" PRIu64, epoch_ns % NSEC_PER_SEC);
	return len < buf_size ? len : buf_size - 1;
}

const char *format_time(char *buf, size_t buf_size, uint64_t epoch_ns)
{
	struct tm tm;

	format_second(buf, buf_size, epoch_ns, "%Y-%m-%d %H:%M:%S", &tm);
	return buf;
}

const char *format_time_rfc3339(char *buf, size_t buf_size, uint64_t epoch_ns)
{
	struct tm tm;
	size_t len;
	long minutes;

	memset(&tm, 0, sizeof(tm));
	len = format_second(buf, buf_size, epoch_ns, "%Y-%m-%dT%H:%M:%S", &tm);
	minutes = tm.tm_gmtoff / 60;
	snprintf(buf + len, buf_size - len, "%c%02ld:%02ld", minutes < 0 ? '-' : '+',
		 (minutes < 0 ? -minutes : minutes) / 60, (minutes < 0 ? -minutes : minutes) % 60);
	return buf;
}

const char *format_duration(char *buf, size_t buf_size, uint64_t ns)
{
	uint64_t seconds = ns / NSEC_PER_SEC;

	if (ns < 1000)
		snprintf(buf, buf_size, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(buf, buf_size, "%.4g us", (double)ns / 1e3);
	else if (ns < NSEC_PER_SEC)
		snprintf(buf, buf_size, "%.4g ms", (double)ns / 1e6);
	else if (seconds < 60)
		snprintf(buf, buf_size, "%.3g s", (double)ns / 1e9);
	else if (seconds < 3600)
		snprintf(buf, buf_size, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60,
			 seconds % 60);
	else if (seconds < 86400)
		snprintf(buf, buf_size, "%" PRIu64 " h %02" PRIu64 " min", seconds / 3600,
			 seconds / 60 % 60);
	else
		snprintf(buf, buf_size, "%" PRIu64 " d %02" PRIu64 " h", seconds / 86400,
			 seconds / 3600 % 24);
	return buf;
}

const char *format_uuid(char *buf, size_t buf_size, const uint8_t *u)
{
	snprintf(buf, buf_size,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
		 u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
		 u[15]);
	return buf;
}

void print_hex(FILE *out, const char *indent, const void *bytes, size_t len)
{
	const uint8_t *b = bytes;

	for (size_t line = 0; line < len; line += 16) {
		size_t count = len - line < 16 ? len - line : 16;

		fprintf(out, "%s%08zx ", indent, line);
		for (size_t i = 0; i < 16; i++) {
			if (i < count)
				fprintf(out, "%s%02x", i % 8 ? " " : "  ", b[line + i]);
			else
				fputs(i % 8 ? "   " : "    ", out);
		}
		fputs("  |", out);
		for (size_t i = 0; i < count; i++) {
			uint8_t c = b[line + i];

			putc(c >= 0x20 && c < 0x7f ? c : '.', out);
		}
		fputs("|\n", out);
	}
}
