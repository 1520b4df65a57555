/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the benchmarks share: clocks, medians with their spread, and results that are a row of
 * a table for people and a member of an object for programs. A benchmark prints its table
 * as it goes, and with --both or --json a line of JSON at the end; run collects those.
 */
#ifndef BENCH_H
#define BENCH_H

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_MAX_SAMPLES 101

struct bench_samples {
	double value[BENCH_MAX_SAMPLES];
	unsigned int nr;
	bool sorted;
};

static struct {
	const char *name;
	bool table, json;
	char *members; /* of the JSON object, so far */
	size_t len, size;
	FILE *stream;
	bool failed;
} bench;

static inline double bench_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* Nanoseconds. */
static inline double bench_now(void)
{
	return bench_clock(CLOCK_MONOTONIC);
}

static inline void bench_add(struct bench_samples *s, double value)
{
	if (s->nr >= BENCH_MAX_SAMPLES)
		abort();
	s->value[s->nr++] = value;
	s->sorted = false;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value below which @part of the samples are. */
static inline double bench_quantile(struct bench_samples *s, double part)
{
	if (!s->nr)
		return 0;
	if (!s->sorted)
		qsort(s->value, s->nr, sizeof(s->value[0]), bench_compare);
	s->sorted = true;
	return s->value[(unsigned int)(part * (s->nr - 1) + 0.5)];
}

static inline double bench_median(struct bench_samples *s)
{
	return bench_quantile(s, 0.5);
}

/* Handles --both, --json; the number of other arguments, which are moved to the front. */
static inline int bench_begin(const char *name, int argc, char **argv)
{
	int i, others = 0;

	bench.name = name;
	bench.table = true;
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--both") || !strcmp(argv[i], "--json")) {
			bench.json = true;
			bench.table = argv[i][2] == 'b';
		} else {
			argv[1 + others++] = argv[i];
		}
	}
	bench.stream = open_memstream(&bench.members, &bench.size);
	if (!bench.stream)
		abort();
	return others;
}

/* A line of the table that is no result: a heading, a remark. */
__attribute__((unused, format(printf, 1, 2))) static void bench_say(const char *fmt, ...)
{
	va_list ap;

	if (!bench.table)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/* A result of many: median, and where 80 % of the samples are. */
static inline void bench_result(const char *key, const char *what, struct bench_samples *s)
{
	fprintf(bench.stream, ",\"%s\":{\"median\":%.4g,\"p10\":%.4g,\"p90\":%.4g,\"samples\":%u}",
		key, bench_median(s), bench_quantile(s, 0.1), bench_quantile(s, 0.9), s->nr);
	bench_say("  %-52s %9.4g %9.4g %9.4g", what, bench_median(s), bench_quantile(s, 0.1),
		  bench_quantile(s, 0.9));
}

/* A result of one measurement, or a count. */
static inline void bench_value(const char *key, const char *what, double value)
{
	int digits = value == (double)(long long)value ? 15 : 4;

	fprintf(bench.stream, ",\"%s\":%.*g", key, digits, value);
	bench_say("  %-52s %9.*g", what, digits, value);
}

static inline void bench_columns(const char *what)
{
	bench_say("%-54s %9s %9s %9s", what, "median", "p10", "p90");
}

/* What could not be measured here, and why. */
__attribute__((unused, format(printf, 3, 4))) static void
bench_not_measured(const char *key, const char *what, const char *fmt, ...)
{
	char why[256], *c;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	for (c = why; *c; c++)
		if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
			*c = '\'';
	fprintf(bench.stream, ",\"%s\":\"not measured: %s\"", key, why);
	bench_say("  %-52s not measured: %s", what, why);
}

/* What must be so whatever the machine's speed: if not, the benchmark fails. */
__attribute__((unused, format(printf, 2, 3))) static void bench_must(bool so, const char *fmt, ...)
{
	va_list ap;

	if (so)
		return;
	bench.failed = true;
	va_start(ap, fmt);
	fprintf(stderr, "%s: WRONG: ", bench.name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

/* The benchmark's exit status. */
static inline int bench_end(void)
{
	fclose(bench.stream);
	if (bench.json)
		printf("%s{\"benchmark\":\"%s\"%s}\n", bench.table ? "#json " : "", bench.name,
		       bench.members);
	free(bench.members);
	return bench.failed;
}

/* False where there is no such CPU for us. */
static inline bool bench_pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

#endif /* BENCH_H */
