// SPDX-License-Identifier: GPL-2.0
/*
 * From what was observed of a recording to the text that Prometheus reads, with
 * observations that are made up.
 */
#include <errno.h>

#include "monad_storage.h"
#include "pins.h"
#include "prometheus.h"
#include "samples.h"
#include "series_table.h"
#include "tap.h"

#define SECOND 1000000000ULL

static char *text; /* what was written last */

static void write_families(const struct families *families)
{
	size_t length;
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &length);
	if (!out)
		bail_out("no memory");
	prometheus_write(out, families);
	fclose(out);
}

/* Labels that would be taken off on the way to exporters; see series_table.c. */
static unsigned int labels_not_kept;

static void look_at_labels(const struct families *families)
{
	struct series_labels labels;

	for (size_t i = 0; i < families->nr; i++) {
		for (size_t k = 0; k < families->family[i].nr_samples; k++) {
			const struct sample *sample = &families->family[i].samples[k];

			series_labels_of_sample(&labels, sample);
			labels_not_kept += sample->nr_labels - labels.nr;
		}
	}
}

static void write_observation(const struct observation *seen)
{
	struct families families;

	samples_make(&families, seen);
	look_at_labels(&families);
	write_families(&families);
	families_free(&families);
}

/* How many lines of the text are this one. */
static unsigned int lines(const char *line)
{
	size_t length = strlen(line);
	unsigned int n = 0;

	for (const char *p = text; p && *p; p = strchr(p, '\n') + 1)
		n += !strncmp(p, line, length) && p[length] == '\n';
	return n;
}

static bool has(const char *line)
{
	if (lines(line) == 1)
		return true;
	diag("%u times in the text: %s", lines(line), line);
	return false;
}

/* How many lines begin so. */
static unsigned int begin_with(const char *prefix)
{
	unsigned int n = 0;

	for (const char *p = text; p && *p; p = strchr(p, '\n') + 1)
		n += !strncmp(p, prefix, strlen(prefix));
	return n;
}

static uint64_t value_of(const char *series)
{
	size_t length = strlen(series);

	for (const char *p = text; p && *p; p = strchr(p, '\n') + 1) {
		if (!strncmp(p, series, length) && p[length] == ' ')
			return strtoull(p + length + 1, NULL, 10);
	}
	diag("not in the text: %s", series);
	return UINT64_MAX;
}

/* Is @name one of the family's, by what its type allows? */
static bool belongs(const char *name, size_t length, const char *family, const char *type)
{
	static const char *const suffixes[] = { "_bucket", "_sum", "_count" };
	size_t stem = strlen(family);

	if (strncmp(name, family, stem))
		return false;
	if (strcmp(type, "histogram"))
		return length == stem;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (length == stem + strlen(suffixes[i]) &&
		    !strncmp(name + stem, suffixes[i], strlen(suffixes[i])))
			return true;
	}
	return false;
}

/* Rules for any text: families in one piece, each described once, no series twice. */
static bool well_formed(void)
{
	char family[128] = "", type[16] = "", help[128], prefix[256];

	for (const char *p = text; *p; p = strchr(p, '\n') + 1) {
		size_t length = strcspn(p, "{ ");

		if (!strchr(p, '\n'))
			return false;
		if (sscanf(p, "# HELP %127s", help) == 1) {
			snprintf(prefix, sizeof(prefix), "# HELP %s ", help);
			if (begin_with(prefix) != 1)
				return false;
			*family = '\0';
			continue;
		}
		if (sscanf(p, "# TYPE %127s %15s", family, type) == 2) {
			snprintf(prefix, sizeof(prefix), "# TYPE %s ", family);
			if (strcmp(family, help) || begin_with(prefix) != 1)
				return false;
			continue;
		}
		if (!belongs(p, length, family, type)) {
			diag("not of family %s, %s: %.60s", family, type, p);
			return false;
		}
		length = strchr(p, '\n') - p;
		while (p[length] != ' ')
			length--;
		snprintf(prefix, sizeof(prefix), "%.*s", (int)length + 1, p);
		if (begin_with(prefix) != 1) {
			diag("twice: %s", prefix);
			return false;
		}
	}
	return true;
}

/*
 * The writer
 */

static void test_escaping(void)
{
	const struct family family = {
		.name = "some_things",
		.help = "A \"help\" with\na \\ in \xff it.",
		.unit = "",
		.type = FAMILY_COUNTER,
	};
	struct families families = {};

	families_add(&families, &family);
	families_sample(&families, 7, 2, "a", "quote\" back\\slash new\nline",
			"b", "\xc3\xa9\xc3(");
	families_sample(&families, UINT64_MAX, 2, "a", "", "b", "{,}=");
	families_finish(&families);
	write_families(&families);
	families_free(&families);
	ok(has("# HELP some_things_total A \"help\" with\\na \\\\ in ? it."), "help is escaped");
	ok(has("# TYPE some_things_total counter"), "counters end in _total");
	ok(has("some_things_total{a=\"quote\\\" back\\\\slash new\\nline\",b=\"\xc3\xa9?(\"} 7"),
	   "values of labels are escaped, and UTF-8");
	ok(has("some_things_total{a=\"\",b=\"{,}=\"} 18446744073709551615"),
	   "what needs no escape is left alone");
	ok(well_formed(), "well formed");
}

static void test_numbers(void)
{
	static const struct {
		uint64_t nano;
		const char *line;
	} cases[] = {
		{ 0, "a_seconds{n=\"0\"} 0" },
		{ 1, "a_seconds{n=\"1\"} 0.000000001" },
		{ 8192, "a_seconds{n=\"2\"} 0.000008192" },
		{ 1500000000, "a_seconds{n=\"3\"} 1.5" },
		{ 1000000000, "a_seconds{n=\"4\"} 1" },
		{ 100000000, "a_seconds{n=\"5\"} 0.1" },
		{ UINT64_MAX, "a_seconds{n=\"6\"} 18446744073.709551615" },
	};
	const struct family family = {
		.name = "a_seconds", .help = "Time.", .unit = "seconds",
		.type = FAMILY_GAUGE, .nano = true,
	};
	struct families families = {};
	char n[2] = "0";

	families_add(&families, &family);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++, (*n)++)
		families_sample(&families, cases[i].nano, 1, "n", n);
	write_families(&families);
	families_free(&families);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ok(has(cases[i].line), "%s", cases[i].line);
}

static void test_bare_histogram(void)
{
	static const uint64_t bounds[] = { 1, 10 };
	const struct family family = {
		.name = "sizes", .help = "In size.", .unit = "", .type = FAMILY_HISTOGRAM,
		.bounds = bounds, .nr_bounds = ARRAY_SIZE(bounds),
	};
	struct families families = {};
	struct sample *sample;

	families_add(&families, &family);
	sample = families_sample(&families, 5, 0);
	sample->sum = 123;
	sample->buckets[0] = 2;
	sample->buckets[1] = 4;
	families_finish(&families);
	write_families(&families);
	families_free(&families);
	eq_str(text, "# HELP sizes In size.\n# TYPE sizes histogram\n"
	       "sizes_bucket{le=\"1\"} 2\nsizes_bucket{le=\"10\"} 4\nsizes_bucket{le=\"+Inf\"} 5\n"
	       "sizes_sum 123\nsizes_count 5\n", "a histogram without labels, to the byte");
}

static void test_order(void)
{
	const struct family family = { .name = "x", .help = "X.", .unit = "",
				       .type = FAMILY_GAUGE };
	const struct family empty = { .name = "y", .help = "Y.", .unit = "" };
	struct families families = {};

	families_add(&families, &family);
	families_sample(&families, 1, 1, "device", "sda10");
	families_sample(&families, 2, 1, "device", "sda2");
	families_sample(&families, 3, 1, "device", "sda10");
	families_add(&families, &empty);
	families_finish(&families);
	write_families(&families);
	families_free(&families);
	eq_str(text, "# HELP x X.\n# TYPE x gauge\nx{device=\"sda2\"} 2\nx{device=\"sda10\"} 4\n",
	       "in order, the same ones added up, families without samples left out");
}

/*
 * Observations
 */

#define SDA 0x800000
#define SDB 0x800010
#define DM0 0xfd00000

static struct metrics_series *add_series(struct observation *seen, uint32_t dev, const char *disk,
					 uint32_t op)
{
	struct metrics *m = &seen->metrics;
	struct metrics_series *s;

	m->series = xrealloc(m->series, (m->nr_series + 1) * sizeof(*s));
	s = memset(&m->series[m->nr_series++], 0, sizeof(*s));
	s->dev = dev;
	s->op = op;
	snprintf(s->disk, sizeof(s->disk), "%s", disk);
	return s;
}

static struct observed_device *add_device(struct observation *seen, uint32_t dev, const char *disk)
{
	struct observed_device *device;

	seen->devices = xrealloc(seen->devices, (seen->nr_devices + 1) * sizeof(*device));
	device = memset(&seen->devices[seen->nr_devices++], 0, sizeof(*device));
	device->dev = dev;
	device->there = true;
	snprintf(device->disk, sizeof(device->disk), "%s", disk);
	return device;
}

static void begin(struct observation *seen)
{
	memset(seen, 0, sizeof(*seen));
	seen->recording = true;
	seen->started_ns = 1700000000 * SECOND + SECOND / 2;
	for (int i = 0; i < MONAD_STORAGE_COUNTERS; i++)
		seen->counters.value[i] = 1000 + i;
	for (int i = 0; i < NR_HOOKS; i++)
		seen->hooks[i].attached = i != 1;
}

/* The bucket that the programs put @ns into; see storage_state.h. */
static unsigned int bucket_for(uint64_t ns)
{
	uint64_t below = ns - 1;
	unsigned int power;

	if (below < 8)
		return below;
	if (below >> MONAD_STORAGE_MAX_SHIFT)
		return MONAD_STORAGE_BUCKETS - 1;
	power = 63 - __builtin_clzll(below) - 3;
	return power * 8 + (below >> power);
}

static void test_nothing(void)
{
	static const struct observation nothing;

	write_observation(&nothing);
	ok(has("monad_storage_recording 0"), "nothing is recorded: says so");
	ok(has("monad_storage_build_info{version=\"" MONAD_STORAGE_VERSION "\"} 1"),
	   "and which version it is");
	eq_u64(begin_with("monad_storage_"), 2, "and nothing else");
}

static void test_latencies(void)
{
	static const char *const labels = "device=\"sda\",operation=\"read\",phase=\"total\"";
	struct monad_storage_metrics *m;
	struct observation seen;
	uint64_t sum = 0, count = 0;
	char series[256];
	bool exact = true;

	begin(&seen);
	m = &add_series(&seen, SDA, "sda", MONAD_STORAGE_OP_READ)->sum;
	add_device(&seen, SDA, "sda");
	for (int shift = 1; shift < 42; shift++) {
		for (int off = -1; off <= 1; off++) {
			uint64_t ns = (1ULL << shift) + off;

			m->bucket[MONAD_STORAGE_PHASE_TOTAL][bucket_for(ns)]++;
			sum += ns;
			count++;
		}
	}
	m->sum_ns[MONAD_STORAGE_PHASE_TOTAL] = sum;
	m->ops = count;
	write_observation(&seen);
	for (int shift = 13; shift <= 36; shift++) {
		uint64_t want = 0;

		snprintf(series, sizeof(series),
			 "monad_storage_latency_seconds_bucket{%s,le=\"%llu.%09llu\"}", labels,
			 (1ULL << shift) / SECOND, (1ULL << shift) % SECOND);
		/* 9 digits are as many as they have: 2^n ns with n > 9 ends in a 2, 4, 6 or 8 */
		for (int s = 1; s < 42; s++)
			for (int off = -1; off <= 1; off++)
				want += (1ULL << s) + off <= 1ULL << shift;
		if (value_of(series) != want) {
			diag("%s is %llu, not %llu", series, (unsigned long long)value_of(series),
			     (unsigned long long)want);
			exact = false;
		}
	}
	ok(exact, "buckets hold what is not longer than 2^13 to 2^36 ns, exactly");
	eq_u64(begin_with("monad_storage_latency_seconds_bucket{device=\"sda\""), 25,
	       "24 and +Inf; no other phases, which have no samples");
	snprintf(series, sizeof(series), "monad_storage_latency_seconds_bucket{%s,le=\"+Inf\"}",
		 labels);
	eq_u64(value_of(series), count, "+Inf is all of them");
	snprintf(series, sizeof(series), "monad_storage_latency_seconds_count{%s}", labels);
	eq_u64(value_of(series), count, "and so is _count");
	snprintf(series, sizeof(series), "monad_storage_latency_seconds_sum{%s} %llu.%09llu",
		 labels, (unsigned long long)(sum / SECOND), (unsigned long long)(sum % SECOND));
	ok(has(series), "_sum is in seconds");
	ok(well_formed(), "well formed");
	free(seen.metrics.series);
	free(seen.devices);
}

static void test_series(void)
{
	struct observation seen;
	struct metrics_error errors[] = {
		{ SDA, MONAD_STORAGE_OP_READ, ENODATA, 3, "sda" },
		{ SDA, MONAD_STORAGE_OP_READ, 999, 1, "sda" },
	};
	struct metrics_series *s;
	struct observed_device *d;

	begin(&seen);
	s = add_series(&seen, SDA, "sda", MONAD_STORAGE_OP_READ);
	s->sum = (struct monad_storage_metrics){
		.ops = 11, .bytes = 4096, .errors = 4, .timeouts = 2, .partials = 5,
		.requeues_issued = 6, .requeues_unissued = 7, .merged = 8,
	};
	add_series(&seen, SDA, "sda", MONAD_STORAGE_OP_CACHE_FLUSH)->sum.ops = 9;
	d = add_device(&seen, SDA, "sda");
	snprintf(d->model, sizeof(d->model), "Mo\"del");
	snprintf(d->serial, sizeof(d->serial), "S\\1");
	snprintf(d->wwid, sizeof(d->wwid), "naa.5");
	d->queued = 2;
	d->issued = 1;
	d->oldest_ns = 2500000000;
	d = add_device(&seen, DM0, "dm-0");
	d->bio_based = true;
	snprintf(d->dm_name, sizeof(d->dm_name), "vg-home");
	seen.metrics.errors = errors;
	seen.metrics.nr_errors = ARRAY_SIZE(errors);
	write_observation(&seen);
	ok(well_formed(), "well formed");
#define SDA_READ "device=\"sda\",operation=\"read\""
	ok(has("monad_storage_operations_total{" SDA_READ "} 11"), "operations");
	ok(has("monad_storage_operations_total{device=\"sda\",operation=\"cache_flush\"} 9"),
	   "flushes of the device's cache");
	ok(has("monad_storage_bytes_total{" SDA_READ "} 4096"), "bytes");
	ok(has("monad_storage_failed_operations_total{" SDA_READ "} 4"), "failed");
	ok(has("monad_storage_errors_total{" SDA_READ ",error=\"ENODATA\"} 3"), "errors by name");
	ok(has("monad_storage_errors_total{" SDA_READ ",error=\"E999\"} 1"), "or number");
	ok(has("monad_storage_timeouts_total{" SDA_READ "} 2"), "timeouts");
	ok(has("monad_storage_partial_completions_total{" SDA_READ "} 5"), "partial completions");
	ok(has("monad_storage_requeues_total{" SDA_READ ",state=\"issued\"} 6"), "requeues");
	ok(has("monad_storage_requeues_total{" SDA_READ ",state=\"unissued\"} 7"),
	   "of those not issued");
	ok(has("monad_storage_merges_total{" SDA_READ "} 8"), "merges");
	ok(has("monad_storage_inflight{device=\"sda\",state=\"queued\"} 2"), "in flight: waiting");
	ok(has("monad_storage_inflight{device=\"sda\",state=\"issued\"} 1"), "with the device");
	ok(has("monad_storage_inflight_oldest_seconds{device=\"sda\"} 2.5"), "since when");
	ok(has("monad_storage_inflight_oldest_seconds{device=\"dm-0\"} 0"), "or 0");
	ok(has("monad_storage_device_info{device=\"sda\",major=\"8\",minor=\"0\",kind=\"request\","
	       "model=\"Mo\\\"del\",serial=\"S\\\\1\",wwid=\"naa.5\",dm_name=\"\"} 1"),
	   "who it is");
	ok(has("monad_storage_device_info{device=\"dm-0\",major=\"253\",minor=\"0\",kind=\"bio\","
	       "model=\"\",serial=\"\",wwid=\"\",dm_name=\"vg-home\"} 1"),
	   "one without requests");
	ok(has("monad_storage_start_time_seconds 1700000000.5"), "since when it is recorded");
	ok(has("monad_storage_recording 1"), "it is recorded");
	ok(has("monad_storage_recording_filtered 0"), "all disks are");
	ok(!strstr(text, "device=\"(unknown)"), "nothing that is not known");
	eq_u64(begin_with("monad_storage_ring"), 0, "no ring could be looked at, none is shown");

	/* What had no room. */
	seen.metrics.unknown.ops = 1;
	seen.metrics.unknown.requeues_unissued = 2;
	seen.metrics.unknown.bucket[MONAD_STORAGE_PHASE_TOTAL][0] = 3;
	seen.metrics.unknown_errors = 4;
	seen.filtered = true;
	write_observation(&seen);
	ok(well_formed(), "well formed");
#define UNKNOWN "device=\"(unknown)\",operation=\"(unknown)\""
	ok(has("monad_storage_operations_total{" UNKNOWN "} 1"), "operations without a place");
	ok(has("monad_storage_requeues_total{" UNKNOWN ",state=\"unissued\"} 2"), "requeues");
	ok(has("monad_storage_latency_seconds_count{" UNKNOWN ",phase=\"total\"} 3"), "times");
	ok(has("monad_storage_errors_total{" UNKNOWN ",error=\"(unknown)\"} 4"), "errors");
	ok(has("monad_storage_recording_filtered 1"), "some disks are recorded");
	free(seen.metrics.series);
	free(seen.devices);
}

/* One was unplugged, another came and is called the same. */
static void test_same_name(void)
{
	struct metrics_error errors[] = {
		{ SDA, MONAD_STORAGE_OP_READ, EIO, 1, "sda" },
		{ SDB, MONAD_STORAGE_OP_READ, EIO, 2, "sda" },
	};
	struct observation seen;
	struct metrics_series *s;

	begin(&seen);
	s = add_series(&seen, SDA, "sda", MONAD_STORAGE_OP_READ);
	s->sum.ops = 1;
	s->sum.bucket[MONAD_STORAGE_PHASE_TOTAL][bucket_for(9000)] = 1;
	s->sum.sum_ns[MONAD_STORAGE_PHASE_TOTAL] = 9000;
	add_series(&seen, SDA, "sda", MONAD_STORAGE_OP_WRITE)->sum.ops = 100;
	s = add_series(&seen, SDB, "sda", MONAD_STORAGE_OP_READ);
	s->sum.ops = 10;
	s->sum.bucket[MONAD_STORAGE_PHASE_TOTAL][bucket_for(20000)] = 10;
	s->sum.sum_ns[MONAD_STORAGE_PHASE_TOTAL] = 200000;
	add_device(&seen, SDA, "sda")->there = false;
	seen.devices[0].oldest_ns = 7 * SECOND;
	seen.devices[0].issued = 1;
	add_device(&seen, SDB, "sda")->oldest_ns = 3 * SECOND;
	seen.devices[1].issued = 2;
	seen.metrics.errors = errors;
	seen.metrics.nr_errors = ARRAY_SIZE(errors);
	write_observation(&seen);
	ok(well_formed(), "no series twice");
	ok(has("monad_storage_operations_total{" SDA_READ "} 11"), "added up");
	ok(has("monad_storage_operations_total{device=\"sda\",operation=\"write\"} 100"),
	   "by operation");
	ok(has("monad_storage_errors_total{" SDA_READ ",error=\"EIO\"} 3"), "errors, too");
	ok(has("monad_storage_latency_seconds_bucket{" SDA_READ
	       ",phase=\"total\",le=\"0.000016384\"} 1"), "buckets");
	ok(has("monad_storage_latency_seconds_bucket{" SDA_READ
	       ",phase=\"total\",le=\"0.000032768\"} 11"), "each of them");
	ok(has("monad_storage_latency_seconds_sum{" SDA_READ ",phase=\"total\"} 0.000209"),
	   "their sums");
	ok(has("monad_storage_inflight{device=\"sda\",state=\"issued\"} 3"), "in flight");
	ok(has("monad_storage_inflight_oldest_seconds{device=\"sda\"} 7"), "the oldest of both");
	eq_u64(begin_with("monad_storage_device_info"), 1, "one is there");
	ok(has("monad_storage_device_info{device=\"sda\",major=\"8\",minor=\"16\","
	       "kind=\"request\",model=\"\",serial=\"\",wwid=\"\",dm_name=\"\"} 1"),
	   "it is the new one");
	free(seen.metrics.series);
	free(seen.devices);
}

static void test_cgroups(void)
{
	struct metrics_cgroup cgroups[] = {
		{ .id = 1, .sum = { .ops = { 1, 2, 3 }, .bytes = { 10, 20, 30 },
				    .total_ns = { SECOND, 0, 5 }, .errors = 4 } },
		{ .id = 5, .sum = { .ops = { 100 }, .errors = 1 } },
		{ .id = 6, .sum = { .ops = { 1000 } } },
		{ .id = 77, .sum = { .ops = { 7 } } },
	};
	struct observed_cgroup seen_cgroups[] = {
		{ &cgroups[0], (char *)"/", false },
		{ &cgroups[1], (char *)"5", true },
		{ &cgroups[2], (char *)"6", true },
		{ &cgroups[3], (char *)"77", false },
	};
	struct observation seen;

	begin(&seen);
	seen.metrics.cgroups = cgroups;
	seen.metrics.nr_cgroups = ARRAY_SIZE(cgroups);
	seen.metrics.gone_cgroups.ops[MONAD_STORAGE_READS] = 10000;
	seen.metrics.gone_cgroups.errors = 5;
	seen.metrics.unknown_cgroup.ops[MONAD_STORAGE_WRITES] = 6;
	seen.cgroups = seen_cgroups;
	write_observation(&seen);
	ok(well_formed(), "well formed");
	ok(has("monad_storage_cgroup_operations_total{cgroup=\"/\",operation=\"read\"} 1"),
	   "reads");
	ok(has("monad_storage_cgroup_operations_total{cgroup=\"/\",operation=\"write\"} 2"),
	   "writes");
	ok(has("monad_storage_cgroup_operations_total{cgroup=\"/\",operation=\"other\"} 3"),
	   "others");
	ok(has("monad_storage_cgroup_bytes_total{cgroup=\"/\",operation=\"write\"} 20"), "bytes");
	ok(has("monad_storage_cgroup_seconds_total{cgroup=\"/\",operation=\"read\"} 1"), "time");
	ok(has("monad_storage_cgroup_seconds_total{cgroup=\"/\",operation=\"other\"} 0.000000005"),
	   "in seconds");
	ok(has("monad_storage_cgroup_failed_operations_total{cgroup=\"/\"} 4"), "failed");
	ok(has("monad_storage_cgroup_operations_total{cgroup=\"(removed)\",operation=\"read\"} "
	       "11100"), "those removed and those gone are one");
	ok(has("monad_storage_cgroup_failed_operations_total{cgroup=\"(removed)\"} 6"),
	   "in each respect");
	ok(has("monad_storage_cgroup_operations_total{cgroup=\"77\",operation=\"read\"} 7"),
	   "one without a path is there by its id");
	ok(has("monad_storage_cgroup_operations_total{cgroup=\"(unknown)\",operation=\"write\"} 6"),
	   "charged to nobody");
}

static void test_itself(void)
{
	struct observation seen;
	unsigned int found = 0;
	char line[128];

	begin(&seen);
	seen.hooks[2].recursion_misses = 12;
	seen.hooks[4].attached = false;
	seen.has_ring = true;
	seen.ring = (struct observed_ring){
		.events = 3, .last_seqno = 3, .capacity = 4, .bytes = 1ULL << 41,
		.next_byte = 1ULL << 41, .byte_capacity = 1ULL << 40,
		.discarded = 9, .lost = { [MONAD_RING_LOST_NO_SLOT] = 8 },
	};
	write_observation(&seen);
	ok(well_formed(), "well formed");
	for (int i = 0; i < MONAD_STORAGE_COUNTERS; i++) {
		snprintf(line, sizeof(line), "monad_storage_program_events_total{event=\"%s\"} %d",
			 counter_names[i], 1000 + i);
		found += lines(line);
		snprintf(line, sizeof(line), "monad_storage_program_losses_total{cause=\"%s\"} %d",
			 counter_names[i], 1000 + i);
		found += lines(line);
	}
	eq_u64(found, MONAD_STORAGE_COUNTERS, "each of the programs' counters is there");
	snprintf(line, sizeof(line), "monad_storage_program_losses_total{cause=\"%s\"} %d",
		 "not_recorded", 1000 + MONAD_STORAGE_NOT_RECORDED);
	ok(has(line), "what was lost apart from what was not");
	ok(has("monad_storage_hook_attached{hook=\"block_io_start\"} 1"), "a hook");
	ok(has("monad_storage_hook_attached{hook=\"block_rq_requeue\"} 0"), "one that is missing");
	ok(!strstr(text, "block_getrq"), "one that is not needed");
	ok(has("monad_storage_hook_recursion_misses_total{hook=\"block_rq_issue\"} 12"), "misses");
	ok(has("monad_storage_ring_events_total 3"), "the ring");
	ok(has("monad_storage_ring_fill_ratio{part=\"events\"} 0.75"), "three quarters of it");
	ok(has("monad_storage_ring_fill_ratio{part=\"payload\"} 1"), "full");
	ok(has("monad_storage_ring_capacity_bytes 1099511627776"), "its size");
	ok(has("monad_storage_ring_lost_events_total{cause=\"no_slot\"} 8"), "what it lost");
	ok(has("monad_storage_ring_lost_events_total{cause=\"contended\"} 0"), "or did not");
	ok(has("monad_storage_ring_discarded_events_total 9"), "what it discarded");
	seen.ring.next_byte = (1ULL << 40) / 2;
	seen.hooks[0].attached = false;
	write_observation(&seen);
	ok(has("monad_storage_ring_fill_ratio{part=\"payload\"} 0.5"), "a large one, half full");
	ok(has("monad_storage_hook_attached{hook=\"block_getrq\"} 0"), "neither of two");
}

int main(void)
{
	test_escaping();
	test_numbers();
	test_bare_histogram();
	test_order();
	test_nothing();
	test_latencies();
	test_series();
	test_same_name();
	test_cgroups();
	test_itself();
	eq_u64(labels_not_kept, 0, "each label is one that telemetry keeps");
	free(text);
	return done_testing();
}
