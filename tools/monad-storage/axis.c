// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "axis.h"
#include "monad_storage.h"

#define MINUTE (60 * NSEC_PER_SEC)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

uint64_t axis_step(uint64_t least)
{
	uint64_t step = 1;

	for (;;) {
		if (step >= least)
			return step;
		if (step * 2 >= least)
			return step * 2;
		if (step * 5 >= least)
			return step * 5;
		step *= 10;
	}
}

uint64_t axis_time_step(uint64_t least_ns)
{
	static const uint64_t steps[] = {
		10 * NSEC_PER_SEC, 15 * NSEC_PER_SEC, 30 * NSEC_PER_SEC,
		MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
		HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
	};

	if (least_ns <= 5 * NSEC_PER_SEC)
		return axis_step(least_ns);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i] >= least_ns)
			return steps[i];
	}
	return axis_step((least_ns + DAY - 1) / DAY) * DAY;
}

const char *axis_duration(uint64_t ns, char buf[HUMAN_LEN])
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {
		{ DAY, "d" }, { HOUR, "h" }, { MINUTE, "m" }, { NSEC_PER_SEC, "s" },
		{ 1000000, "ms" }, { 1000, "us" }, { 1, "ns" },
	};
	size_t i = 0;

	/* "90s", and "1500s", but "2m" and "25m" */
	while (i < ARRAY_SIZE(units) - 1 &&
	       (ns < units[i].ns || (units[i].ns > NSEC_PER_SEC && ns % units[i].ns)))
		i++;
	snprintf(buf, HUMAN_LEN, "%.15g%s", (double)ns / (double)units[i].ns, units[i].unit);
	return buf;
}

const char *axis_number(uint64_t n, char buf[HUMAN_LEN])
{
	static const char units[] = "kMGTPE";
	double value = (double)n;
	int unit = -1;

	while (value >= 1000 && unit < 5) {
		value /= 1000;
		unit++;
	}
	if (unit < 0)
		snprintf(buf, HUMAN_LEN, "%.15g", value);
	else
		snprintf(buf, HUMAN_LEN, "%.15g%c", value, units[unit]);
	return buf;
}
