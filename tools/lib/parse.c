// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parse.h"

#define NSEC_PER_SEC	  UINT64_C(1000000000)
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

bool parse_u64(const char *text, uint64_t *value)
{
	char *end;

	/* strtoull() would take " -1" as well. */
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	return errno == 0 && *end == '\0';
}

int parse_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{ "ns", 1 },	{ "us", 1e3 },	{ "ms", 1e6 },	   { "s", 1e9 },
		{ "", 1e9 },	{ "m", 60e9 },	{ "min", 60e9 },   { "h", 3600e9 },
		{ "d", 86400e9 },
	};
	double value;
	char *end;

	value = strtod(text, &end);
	if (end == text || !isfinite(value) || value < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		if (value * units[i].ns > 9e18)
			return -1;
		*ns = (uint64_t)(value * units[i].ns);
		return 0;
	}
	return -1;
}

int parse_latency(const char *text, uint64_t *ns)
{
	size_t length = strlen(text);

	if (parse_duration(text, ns))
		return -1;
	return *ns && strchr("0123456789.", text[length - 1]) ? -1 : 0;
}

int parse_time(const char *text, uint64_t now_ns, uint64_t *ns)
{
	static const char *const formats[] = {
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d",
		"%H:%M:%S", "%H:%M",
	};
	time_t now = (time_t)(now_ns / NSEC_PER_SEC);
	uint64_t ago;

	if (*text == '@')
		return parse_duration(text + 1, ns);
	if (!parse_duration(text, &ago)) {
		*ns = ago < now_ns ? now_ns - ago : 0;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		bool time_of_day = formats[i][1] == 'H';
		struct tm tm, asked;
		char *end;
		time_t t;

		localtime_r(&now, &tm);
		tm.tm_hour = 0;
		tm.tm_min = 0;
		tm.tm_sec = 0;
		end = strptime(text, formats[i], &tm);
		if (!end || *end)
			continue;
		tm.tm_isdst = -1;
		asked = tm;
		t = mktime(&tm);
		/* There is no 31st of February. */
		if (tm.tm_mon != asked.tm_mon || tm.tm_mday != asked.tm_mday)
			return -1;
		if (time_of_day && t > now) {
			tm.tm_mday--;
			tm.tm_isdst = -1;
			t = mktime(&tm);
		}
		if (t < 0)
			return -1;
		*ns = (uint64_t)t * NSEC_PER_SEC;
		return 0;
	}
	return -1;
}
