// SPDX-License-Identifier: GPL-2.0
/* monad-storage latency: how long I/O took, from the programs' own histograms. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bar.h"
#include "human.h"
#include "interval.h"
#include "json_writer.h"
#include "metrics.h"
#include "monad_storage.h"
#include "series_filter.h"

static const char doc[] =
	"Show how long I/O took: per disk and operation, for each phase of it.\n\n"
	"The programs add this up in the kernel: nothing is lost to it, however many I/Os "
	"there are and whether or not they are still in the ring. Without INTERVAL: since "
	"the recording was started; with it: in each interval, COUNT times.\v"
	"PHASES\n"
	"  queue   from when the I/O was first seen until it was handed to the device\n"
	"  device  from the last time it was handed over until it was done\n"
	"  total   all of it\n\n"
	"Percentiles are at most 12.5 % too high and never too low.\n\n"
	"Below the table: for which disks writers of files were put to sleep until the disk "
	"kept up (writeback pressure), how often, and for how long. That is no I/O of its own.\n\n"
	"EXAMPLES\n"
	"  monad-storage latency                  since the start\n"
	"  monad-storage latency -d sda 1         every second\n"
	"  monad-storage latency -H -o read 10 1  histograms of reads in ten seconds\n";

enum { KEY_JSON = 0x200 };

static const struct argp_option options[] = {
	{ "histogram", 'H', NULL, 0, "The histograms, too", 0 },
	{ "json", KEY_JSON, NULL, 0, "One JSON object, in each interval a line", 0 },
	{}
};

static const char *const phase_names[MONAD_STORAGE_PHASES] = { "queue", "device", "total" };
static const double percents[] = { 50, 99, 99.9 };
static const char *const percent_names[] = { "p50", "p99", "p99.9" };

struct latency {
	struct series_filter filter;
	struct interval interval;
	bool histogram;
	bool json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct latency *latency = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &latency->filter;
		return 0;
	case ARGP_KEY_ARG:
		return interval_parse(&latency->interval, arg, state);
	case 'H':
		latency->histogram = true;
		return 0;
	case KEY_JSON:
		latency->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static bool wanted(const struct latency *latency, const struct metrics_series *s)
{
	return s->sum.ops && series_filter(&latency->filter, s->dev, s->disk, s->op);
}

static void print_rates(const struct metrics_series *s, uint64_t window_ns)
{
	double seconds = (double)window_ns / NSEC_PER_SEC;
	char size[HUMAN_LEN];

	if (window_ns)
		printf("%9.1f %6s/s", (double)s->sum.ops / seconds,
		       human_bytes((uint64_t)((double)s->sum.bytes / seconds), size));
	else
		printf("%9" PRIu64 " %6s  ", s->sum.ops, human_bytes(s->sum.bytes, size));
}

static void print_row(const struct metrics_series *s, uint64_t window_ns)
{
	char text[HUMAN_LEN];

	printf("%-10s %-12s", s->disk, metrics_op_name(s->op));
	print_rates(s, window_ns);
	printf(" %5" PRIu64, s->sum.errors);
	for (int phase = 0; phase < MONAD_STORAGE_PHASES; phase++) {
		bool any = metrics_samples(&s->sum, phase);

		printf(" |");
		for (size_t i = 0; i < ARRAY_SIZE(percents); i++)
			printf("%7s", any ? human_duration(metrics_percentile(&s->sum, phase,
									      percents[i]),
							   text) : "-");
	}
	putchar('\n');
}

static void print_header(uint64_t window_ns)
{
	char text[HUMAN_WINDOW_LEN];

	printf("%-46s", window_ns ? human_window(clock_ns(CLOCK_REALTIME), window_ns, text) : "");
	for (int phase = 0; phase < MONAD_STORAGE_PHASES; phase++)
		printf(" | %-20s", phase_names[phase]);
	printf("\n%-10s %-12s%9s %6s   %5s", "DISK", "OP", window_ns ? "OPS/s" : "OPS", "SIZE",
	       "ERR");
	for (int phase = 0; phase < MONAD_STORAGE_PHASES; phase++) {
		printf(" |");
		for (size_t i = 0; i < ARRAY_SIZE(percents); i++)
			printf("%7s", percent_names[i]);
	}
	putchar('\n');
}

/* Buckets of a power of two each: the last one that is no longer than 2^@power ns. */
static unsigned int last_bucket(unsigned int power)
{
	const unsigned int shift = MONAD_STORAGE_FINE_SHIFT;

	if (power < shift)
		return (1U << power) - 1;
	return ((power - shift + 1) << shift) - 1;
}

/* Samples longer than 2^(power-1) and not longer than 2^power ns; with the last, all longer. */
static uint64_t in_power(const struct monad_storage_metrics *m, int phase, unsigned int power)
{
	unsigned int from = power ? last_bucket(power - 1) + 1 : 0;
	unsigned int to = power > MONAD_STORAGE_MAX_SHIFT ? MONAD_STORAGE_BUCKETS - 1 :
							    last_bucket(power);
	uint64_t sum = 0;

	for (unsigned int i = from; i <= to; i++)
		sum += m->bucket[phase][i];
	return sum;
}

static bool power_is_empty(const struct monad_storage_metrics *m, unsigned int power)
{
	for (int phase = 0; phase < MONAD_STORAGE_PHASES; phase++) {
		if (in_power(m, phase, power))
			return false;
	}
	return true;
}

static void print_histogram(const struct metrics_series *s)
{
	unsigned int first = 0, last = MONAD_STORAGE_MAX_SHIFT + 1;
	char from[HUMAN_LEN], to[HUMAN_LEN];
	uint64_t most = 0;

	while (first < last && power_is_empty(&s->sum, first))
		first++;
	while (last > first && power_is_empty(&s->sum, last))
		last--;
	for (unsigned int power = first; power <= last; power++) {
		uint64_t n = in_power(&s->sum, MONAD_STORAGE_PHASE_TOTAL, power);

		most = n > most ? n : most;
	}
	printf("\n%s %s\n  %-19s %9s %9s %9s\n", s->disk, metrics_op_name(s->op), "up to and with",
	       phase_names[0], phase_names[1], phase_names[2]);
	for (unsigned int power = first; power <= last; power++) {
		human_duration(power ? 1ULL << (power - 1) : 0, from);
		if (power > MONAD_STORAGE_MAX_SHIFT)
			snprintf(to, sizeof(to), "longer");
		else
			human_duration(1ULL << power, to);
		printf("  %8s - %-8s", from, to);
		for (int phase = 0; phase < MONAD_STORAGE_PHASES; phase++)
			printf(" %9" PRIu64, in_power(&s->sum, phase, power));
		print_bar(in_power(&s->sum, MONAD_STORAGE_PHASE_TOTAL, power), most);
	}
}

static void print_throttles(const struct latency *latency, const struct metrics *metrics)
{
	char all[HUMAN_LEN], longest[HUMAN_LEN];

	for (size_t i = 0; i < metrics->nr_throttles; i++) {
		const struct metrics_series *s = &metrics->throttles[i];

		if (!wanted(latency, s))
			continue;
		printf("%s: writers were put to sleep %" PRIu64 " time%s until it kept up "
		       "(writeback), %s in all, p99 %s\n", s->disk, s->sum.ops,
		       s->sum.ops == 1 ? "" : "s",
		       human_duration(s->sum.sum_ns[MONAD_STORAGE_PHASE_TOTAL], all),
		       human_duration(metrics_percentile(&s->sum, MONAD_STORAGE_PHASE_TOTAL, 99),
				      longest));
	}
}

static void print(const struct latency *latency, const struct metrics *metrics, uint64_t window_ns)
{
	unsigned int rows = 0;

	for (size_t i = 0; i < metrics->nr_series; i++) {
		if (!wanted(latency, &metrics->series[i]))
			continue;
		if (!rows++)
			print_header(window_ns);
		print_row(&metrics->series[i], window_ns);
	}
	if (!rows)
		puts("no I/O ended");
	print_throttles(latency, metrics);
	if (metrics->unknown.ops)
		warning("%" PRIu64 " operations are not in this, since there was no room for more "
			"disks and operations: start with a larger --max-series",
			metrics->unknown.ops);
	for (size_t i = 0; latency->histogram && i < metrics->nr_series; i++) {
		if (wanted(latency, &metrics->series[i]))
			print_histogram(&metrics->series[i]);
	}
	fflush(stdout);
}

static void json_phase(struct json_writer *json, const char *name,
		       const struct monad_storage_metrics *m, int phase)
{
	json_key(json, name);
	json_begin_object(json);
	json_u64_field(json, "samples", metrics_samples(m, phase));
	json_u64_field(json, "sum_ns", m->sum_ns[phase]);
	for (size_t i = 0; i < ARRAY_SIZE(percents); i++) {
		char key[16];

		snprintf(key, sizeof(key), "%s_ns", percent_names[i]);
		json_u64_field(json, key, metrics_percentile(m, phase, percents[i]));
	}
	json_key(json, "buckets");
	json_begin_array(json);
	for (unsigned int i = 0; i < MONAD_STORAGE_BUCKETS; i++) {
		if (!m->bucket[phase][i])
			continue;
		json_begin_object(json);
		/* Prometheus' word for "less than or equal"; none for what is longer than all */
		json_key(json, "le_ns");
		if (metrics_bucket_end(i) == UINT64_MAX)
			json_null(json);
		else
			json_u64(json, metrics_bucket_end(i));
		json_u64_field(json, "count", m->bucket[phase][i]);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void json_series(struct json_writer *json, const struct metrics_series *s)
{
	json_begin_object(json);
	json_string_field(json, "disk", s->disk);
	json_u64_field(json, "major", s->dev >> 20);
	json_u64_field(json, "minor", s->dev & 0xfffff);
	json_bool_field(json, "bio_based", s->bio_based);
	json_string_field(json, "op", metrics_op_name(s->op));
	json_u64_field(json, "ops", s->sum.ops);
	json_u64_field(json, "bytes", s->sum.bytes);
	json_u64_field(json, "errors", s->sum.errors);
	json_u64_field(json, "timeouts", s->sum.timeouts);
	json_u64_field(json, "partials", s->sum.partials);
	json_u64_field(json, "requeues_issued", s->sum.requeues_issued);
	json_u64_field(json, "requeues_unissued", s->sum.requeues_unissued);
	json_u64_field(json, "merged", s->sum.merged);
	for (int phase = 0; phase < MONAD_STORAGE_PHASES; phase++)
		json_phase(json, phase_names[phase], &s->sum, phase);
	json_end_object(json);
}

static void json_throttles(struct json_writer *json, const struct latency *latency,
			   const struct metrics *metrics)
{
	json_key(json, "writeback");
	json_begin_array(json);
	for (size_t i = 0; i < metrics->nr_throttles; i++) {
		const struct metrics_series *s = &metrics->throttles[i];

		if (!series_filter(&latency->filter, s->dev, s->disk, s->op))
			continue;
		json_begin_object(json);
		json_string_field(json, "disk", s->disk);
		json_u64_field(json, "major", s->dev >> 20);
		json_u64_field(json, "minor", s->dev & 0xfffff);
		json_u64_field(json, "throttles", s->sum.ops);
		json_u64_field(json, "dirtied_bytes", s->sum.bytes);
		json_phase(json, "slept", &s->sum, MONAD_STORAGE_PHASE_TOTAL);
		json_end_object(json);
	}
	json_end_array(json);
}

static void print_json(const struct latency *latency, const struct metrics *metrics,
		       uint64_t window_ns)
{
	struct json_writer json;

	json_init(&json, stdout, !latency->interval.ns);
	json_begin_object(&json);
	if (window_ns)
		json_u64_field(&json, "window_ns", window_ns);
	json_key(&json, "series");
	json_begin_array(&json);
	for (size_t i = 0; i < metrics->nr_series; i++) {
		const struct metrics_series *s = &metrics->series[i];

		if (series_filter(&latency->filter, s->dev, s->disk, s->op))
			json_series(&json, s);
	}
	json_end_array(&json);
	json_throttles(&json, latency, metrics);
	json_u64_field(&json, "unknown_ops", metrics->unknown.ops);
	json_end_object(&json);
	json_end(&json);
	fflush(stdout);
}

static void show(const void *what, struct metrics *metrics, uint64_t window_ns)
{
	const struct latency *latency = what;

	if (latency->json)
		print_json(latency, metrics, window_ns);
	else
		print(latency, metrics, window_ns);
}

int cmd_latency(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &series_filter_argp, 0, "Which I/O:", 1 }, {}
	};
	static const struct argp argp = { options, parse_option, INTERVAL_ARGS, doc, children,
					  NULL, NULL };
	struct latency latency = {};

	argp_parse(&argp, argc, argv, 0, NULL, &latency);
	return metrics_show(&latency.interval, show, &latency);
}
