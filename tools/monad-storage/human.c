// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "human.h"
#include "monad_storage.h"

const char *human_bytes(uint64_t bytes, char buf[HUMAN_LEN])
{
	static const char units[] = "KMGTPE";
	double value = (double)bytes;
	int unit = -1;

	while (value >= 1024 && unit < 5) {
		value /= 1024;
		unit++;
	}
	if (unit < 0)
		snprintf(buf, HUMAN_LEN, "%" PRIu64, bytes);
	else if (value < 10 && value != (int)value)
		snprintf(buf, HUMAN_LEN, "%.1f%c", value, units[unit]);
	else
		snprintf(buf, HUMAN_LEN, "%.0f%c", value, units[unit]);
	return buf;
}

const char *human_duration(uint64_t ns, char buf[HUMAN_LEN])
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double value = (double)ns / units[i].ns;

		if (value < 0.9995 && i < ARRAY_SIZE(units) - 1)
			continue;
		snprintf(buf, HUMAN_LEN, "%.*f%s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0,
			 value, units[i].unit);
		break;
	}
	return buf;
}

const char *human_ms(uint64_t ns, bool known, char buf[HUMAN_LEN])
{
	if (known)
		snprintf(buf, HUMAN_LEN, "%" PRIu64 ".%03" PRIu64, ns / 1000000,
			 ns / 1000 % 1000);
	else
		snprintf(buf, HUMAN_LEN, "-");
	return buf;
}

const char *human_clock(uint64_t epoch_ns, char buf[HUMAN_LEN])
{
	time_t t = (time_t)(epoch_ns / NSEC_PER_SEC);
	struct tm tm;
	size_t n;

	localtime_r(&t, &tm);
	n = strftime(buf, HUMAN_LEN, "%H:%M:%S", &tm);
	snprintf(buf + n, HUMAN_LEN - n, ".%06u", (unsigned int)(epoch_ns % NSEC_PER_SEC / 1000));
	return buf;
}

const char *human_time(uint64_t epoch_ns, char buf[HUMAN_LEN])
{
	time_t t = (time_t)(epoch_ns / NSEC_PER_SEC);
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(buf, HUMAN_LEN, "%Y-%m-%d %H:%M:%S", &tm);
	return buf;
}

const char *human_span(uint64_t ns, char buf[HUMAN_LEN])
{
	uint64_t s = (ns + NSEC_PER_SEC / 2) / NSEC_PER_SEC;

	if (s < 10)
		snprintf(buf, HUMAN_LEN, "%.1fs", (double)ns / 1e9);
	else if (s < 120)
		snprintf(buf, HUMAN_LEN, "%" PRIu64 "s", s);
	else if (s < 7200)
		snprintf(buf, HUMAN_LEN, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
	else if (s < 2 * 86400UL)
		snprintf(buf, HUMAN_LEN, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
	else
		snprintf(buf, HUMAN_LEN, "%" PRIu64 "d%02" PRIu64 "h", s / 86400, s / 3600 % 24);
	return buf;
}

const char *human_count(uint64_t n, char buf[HUMAN_LEN])
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *p = buf;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*p++ = ' ';
		*p++ = digits[i];
	}
	*p = '\0';
	return buf;
}

const char *human_window(uint64_t end_ns, uint64_t window_ns, char buf[HUMAN_WINDOW_LEN])
{
	char clock[HUMAN_LEN], window[HUMAN_LEN];

	snprintf(buf, HUMAN_WINDOW_LEN, "%.8s, in %s", human_clock(end_ns, clock),
		 human_duration(window_ns, window));
	return buf;
}
