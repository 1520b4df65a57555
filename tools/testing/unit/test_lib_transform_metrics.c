// SPDX-License-Identifier: GPL-2.0
/*
 * Counters in windows: what was added, by few labels, with cgroups that may be many, over
 * restarts of what counts, and less often under pressure.
 */
#include "families.h"
#include "series.h"
#include "transform_events.h"

static const struct transform_config config = { .per_kind = 1, .per_window = 10, .cgroups = 2,
						.metrics_every = 1 };

static void begin(struct families *families, uint64_t since_ns)
{
	memset(families, 0, sizeof(*families));
	families->since_ns = since_ns;
}

static void add_family(struct families *families, enum family_type type, const char *name)
{
	const struct family family = { .name = name, .help = "Help.", .unit = "", .type = type };

	families_add(families, &family);
}

/* Hands them over at NOW + @seconds, and ends the window. */
static Monad__TelemetryBatch *hand_over(struct transformer *t, struct families *families,
					unsigned int seconds)
{
	Monad__TelemetryBatch *batch;

	families_finish(families);
	transform_metrics(t, families, NOW + seconds * SECOND);
	families_free(families);
	batch = transform_batch(t, NOW + seconds * SECOND);
	if (!batch)
		bail_out("no batch");
	return batch;
}

/* Of that name, and of the value of the label, if that is not NULL. */
static const Monad__MetricWrapper *find(const Monad__TelemetryBatch *batch, const char *name,
					const char *label, const char *value)
{
	for (size_t i = 0; i < batch->n_metrics; i++) {
		const Monad__MetricWrapper *m = batch->metrics[i];

		if (strcmp(m->name, name) != 0)
			continue;
		if (!label && !m->n_labels)
			return m;
		for (size_t k = 0; label && k < m->n_labels; k++) {
			if (!strcmp(m->labels[k]->name, label) &&
			    !strcmp(m->labels[k]->value, value))
				return m;
		}
	}
	return NULL;
}

static void eq(const Monad__MetricWrapper *metric, double value, double delta, uint64_t window_ns,
	       const char *what)
{
	if (!ok(metric, "%s: is there", what))
		return;
	if (!ok(metric->value == value && metric->delta == delta &&
		metric->window_ns == window_ns, "%s: %g, %g of it in %g s", what, value, delta,
		(double)window_ns / 1e9))
		diag("it is %g, %g in %g s", metric->value, metric->delta,
		     (double)metric->window_ns / 1e9);
}

/*
 * Windows
 */

/* A counter without labels. */
static const Monad__MetricWrapper *count(struct transformer *t, Monad__TelemetryBatch **batch,
					 uint64_t value, uint64_t since_ns, unsigned int seconds)
{
	struct families families;

	transform_batch_free(*batch);
	begin(&families, since_ns);
	add_family(&families, FAMILY_COUNTER, "things");
	families_sample(&families, value, 0);
	*batch = hand_over(t, &families, seconds);
	return find(*batch, "things", NULL, NULL);
}

static void test_windows(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch = NULL;
	const Monad__MetricWrapper *m;

	m = count(t, &batch, 1000, 5, 0);
	eq(m, 1000, 0, 0, "the first time, nothing is known of the window");
	ok(m && m->start_ns == 5 && m->time_ns == NOW &&
	   m->type == MONAD__METRIC_TYPE__METRIC_TYPE_COUNTER && !strcmp(m->help, "Help.") &&
	   !*m->unit, "what it is, and since when it counts");
	eq(count(t, &batch, 1010, 5, 10), 1010, 10, 10 * SECOND, "then what was added");
	eq(count(t, &batch, 1010, 5, 11), 1010, 0, SECOND, "or nothing");
	eq(count(t, &batch, 1009, 5, 12), 1009, 0, 0, "one that went back is not known");
	eq(count(t, &batch, 1012, 5, 13), 1012, 3, SECOND, "and goes on from there");
	eq(count(t, &batch, 7, NOW + 15 * SECOND, 17), 7, 7, 2 * SECOND,
	   "one that began anew has all it has since then");
	eq(count(t, &batch, 9, NOW + 15 * SECOND, 18), 9, 2, SECOND, "and goes on");
	eq(count(t, &batch, 5000, NOW + 19 * SECOND, 20), 5000, 5000, SECOND,
	   "also if it is beyond where it was");
	eq(count(t, &batch, 6000, NOW + 1 * SECOND, 21), 6000, 0, 0,
	   "a beginning that is no later than what was seen before is not known");
	eq(count(t, &batch, 6001, NOW + 1 * SECOND, 21), 6001, 0, 0, "nor is a time that stands");
	eq(count(t, &batch, 6005, NOW + 1 * SECOND, 20), 6005, 0, 0, "or goes back");
	eq(count(t, &batch, UINT64_MAX, NOW + 1 * SECOND, 30), (double)UINT64_MAX,
	   (double)(UINT64_MAX - 6005), 10 * SECOND, "all that fits");
	transform_batch_free(batch);
	batch = end_window(t);
	eq_u64(batch->n_metrics, 0, "metrics that were sent are not sent again");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_twice_in_a_window(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch = NULL;
	struct families families;

	count(t, &batch, 10, 5, 0);
	begin(&families, 5);
	add_family(&families, FAMILY_COUNTER, "things");
	families_sample(&families, 15, 0);
	transform_metrics(t, &families, NOW + 5 * SECOND);
	families_free(&families);
	eq(count(t, &batch, 22, 5, 10), 22, 12, 10 * SECOND, "the later ones are for all of it");
	eq_u64(batch->n_metrics, 1, "in place of the earlier ones");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_new_series(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;
	struct families families;

	begin(&families, 5);
	add_family(&families, FAMILY_COUNTER, "errors");
	batch = hand_over(t, &families, 0);
	eq_u64(batch->n_metrics, 0, "a family without series is nothing to send");
	transform_batch_free(batch);
	begin(&families, 5);
	add_family(&families, FAMILY_COUNTER, "errors");
	families_sample(&families, 2, 1, "device", "sda");
	add_family(&families, FAMILY_COUNTER, "ring_events");
	families_sample(&families, 1000000, 0);
	batch = hand_over(t, &families, 10);
	eq(find(batch, "errors", "device", "sda"), 2, 2, 10 * SECOND,
	   "a series that is new began in the window");
	eq(find(batch, "ring_events", NULL, NULL), 1000000, 0, 0,
	   "but not where nobody looked before");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_gauges(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	struct family family = { .name = "ratio", .help = "", .unit = "ratio", .nano = true,
				 .type = FAMILY_GAUGE };
	const Monad__MetricWrapper *m;
	Monad__TelemetryBatch *batch;
	struct families families;

	for (unsigned int i = 0; i < 2; i++) {
		begin(&families, 5);
		families_add(&families, &family);
		families_sample(&families, 250000000, 0);
		batch = hand_over(t, &families, i);
		m = find(batch, "ratio", NULL, NULL);
		eq(m, 0.25, 0, 0, "a gauge");
		ok(m && m->type == MONAD__METRIC_TYPE__METRIC_TYPE_GAUGE && !m->start_ns &&
		   !strcmp(m->unit, "ratio"), "has no beginning");
		transform_batch_free(batch);
	}
	transformer_free(t);
}

static void test_histograms(void)
{
	static const uint64_t bounds[] = { 1000000, 500000000 };
	const struct family family = { .name = "time_seconds", .help = "", .unit = "seconds",
				       .nano = true, .type = FAMILY_HISTOGRAM, .bounds = bounds,
				       .nr_bounds = 2 };
	struct transformer *t = new_transformer(&config, NULL);
	const Monad__Histogram *h = NULL;
	Monad__TelemetryBatch *batch = NULL;
	struct families families;
	struct sample *sample;

	for (unsigned int i = 0; i < 2; i++) {
		transform_batch_free(batch);
		begin(&families, 5);
		families_add(&families, &family);
		sample = families_sample(&families, 10 + i, 1, "device", "sda");
		sample->sum = 2500000000;
		sample->buckets[0] = 4;
		sample->buckets[1] = 9;
		batch = hand_over(t, &families, i);
	}
	eq(find(batch, "time_seconds", "device", "sda"), 11, 1, SECOND, "a histogram's count");
	if (batch->n_metrics)
		h = batch->metrics[0]->histogram;
	if (ok(h && h->n_bounds == 2 && h->n_buckets == 3, "a bucket more than bounds")) {
		ok(h->bounds[0] == 0.001 && h->bounds[1] == 0.5 && h->sum == 2.5, "in seconds");
		ok(h->buckets[0] == 4 && h->buckets[1] == 5 && h->buckets[2] == 2 &&
		   h->count == 11, "each bucket alone");
	}
	transform_batch_free(batch);
	/* Buckets that were read while they grew. */
	begin(&families, 5);
	families_add(&families, &family);
	sample = families_sample(&families, 3, 1, "device", "sdb");
	sample->buckets[0] = 6;
	sample->buckets[1] = 5;
	batch = hand_over(t, &families, 3);
	h = batch->metrics[0]->histogram;
	ok(h->buckets[0] == 6 && !h->buckets[1] && !h->buckets[2] && h->count == 6,
	   "never less than none in a bucket, and all of them are the count");
	transform_batch_free(batch);
	transformer_free(t);
}

/*
 * Labels
 */

static void test_labels(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;
	struct families families;

	begin(&families, 5);
	add_family(&families, FAMILY_COUNTER, "things");
	families_sample(&families, 1, 3, "device", "sda", "pid", "100", "file", "a");
	families_sample(&families, 2, 3, "device", "sda", "pid", "101", "file", "b");
	families_sample(&families, 4, 3, "device", "sdb", "pid", "102", "file", "c");
	add_family(&families, FAMILY_GAUGE, "oldest");
	families.family[1].merge = FAMILY_LARGEST;
	families_sample(&families, 7, 1, "comm", "x");
	families_sample(&families, 9, 1, "comm", "y");
	families_sample(&families, 8, 1, "comm", "z\xff");
	batch = hand_over(t, &families, 0);
	eq_u64(batch->n_metrics, 3, "labels that can have any value are not kept");
	eq(find(batch, "things", "device", "sda"), 3, 0, 0, "what they told apart is added up");
	eq(find(batch, "things", "device", "sdb"), 4, 0, 0, "the rest is left alone");
	eq(find(batch, "oldest", NULL, NULL), 9, 0, 0, "or the largest is taken");
	eq_u64(find(batch, "things", "device", "sdb")->n_labels, 1, "one label is left");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_text(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;
	struct families families;

	begin(&families, 5);
	add_family(&families, FAMILY_COUNTER, "things");
	families_sample(&families, 1, 1, "model", "a\nb\xff");
	families_sample(&families, 1, 1, "model", "");
	batch = hand_over(t, &families, 0);
	ok(find(batch, "things", "model", "a?b?"), "labels are text, whatever is in them");
	ok(find(batch, "things", "model", ""), "an empty one is one");
	transform_batch_free(batch);
	transformer_free(t);
}

/*
 * Cgroups
 */

/* What each cgroup has, in two families; NULL ends them. */
struct had {
	const char *cgroup;
	uint64_t reads, writes;
	uint64_t id;
};

static Monad__TelemetryBatch *have(struct transformer *t, const struct had *had, uint64_t since_ns,
				   unsigned int seconds)
{
	struct families families;

	begin(&families, since_ns);
	add_family(&families, FAMILY_COUNTER, "before");
	families_sample(&families, 1, 0);
	add_family(&families, FAMILY_COUNTER, "cgroup_bytes");
	for (; had->cgroup; had++) {
		families_sample(&families, had->reads, 2, "cgroup", had->cgroup, "operation",
				"read")->id = had->id;
		families_sample(&families, had->writes, 2, "cgroup", had->cgroup, "operation",
				"write")->id = had->id;
	}
	add_family(&families, FAMILY_COUNTER, "behind");
	families_sample(&families, 1, 0);
	return hand_over(t, &families, seconds);
}

/* Of a cgroup: reads, or writes. */
static const Monad__MetricWrapper *of(const Monad__TelemetryBatch *batch, const char *cgroup,
				      const char *operation)
{
	for (size_t i = 0; i < batch->n_metrics; i++) {
		const Monad__MetricWrapper *m = batch->metrics[i];

		if (m->n_labels == 2 && !strcmp(m->labels[0]->value, cgroup) &&
		    !strcmp(m->labels[1]->value, operation))
			return m;
	}
	return NULL;
}

static void test_cgroups(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	const struct had first[] = { { "/a", 100, 0, 0 }, { "/b", 50, 0, 0 }, { "/c", 20, 9, 0 },
				     { "/d", 10, 1, 0 }, {} };
	const struct had second[] = { { "/a", 110, 0, 0 }, { "/b", 52, 0, 0 }, { "/c", 220, 10, 0 },
				      { "/d", 11, 1, 0 }, { "/e", 5, 0, 0 }, {} };
	const struct had third[] = { { "/a", 1110, 0, 0 }, { "/b", 1052, 0, 0 },
				     { "/c", 223, 10, 0 },
				     { "/d", 11, 1, 0 }, { "/e", 5, 0, 0 }, {} };
	Monad__TelemetryBatch *batch;

	batch = have(t, first, 5, 0);
	eq_u64(batch->n_metrics, 8, "two cgroups, the others, and what is none");
	eq(of(batch, "/a", "read"), 100, 0, 0, "the largest");
	eq(of(batch, "/b", "write"), 0, 0, 0, "and the second one, in all it has");
	eq(of(batch, "other", "read"), 30, 0, 0, "the others are one");
	eq(of(batch, "other", "write"), 10, 0, 0, "in each respect");
	transform_batch_free(batch);
	/* /c overtakes /b, /e is new. */
	batch = have(t, second, 5, 10);
	ok(!of(batch, "/b", "read"), "one that is overtaken goes to the others");
	eq(of(batch, "/c", "read"), 220, 200, 10 * SECOND, "the one that came has all it had");
	eq(of(batch, "other", "read"), 30 + 2 + 1 + 5, 8, 10 * SECOND,
	   "the others go on by what they added, never back");
	eq(of(batch, "other", "write"), 10, 0, 10 * SECOND, "or nothing");
	transform_batch_free(batch);
	/* And back. */
	batch = have(t, third, 5, 20);
	eq(of(batch, "/b", "read"), 1052, 1000, 10 * SECOND, "back again, what was added is known");
	eq(of(batch, "other", "read"), 38 + 3, 3, 10 * SECOND, "of the others, too");
	transform_batch_free(batch);
	/* Recorded anew. */
	batch = have(t, first, NOW + 25 * SECOND, 30);
	eq(of(batch, "/a", "read"), 100, 100, 5 * SECOND, "a recording that began anew");
	eq(of(batch, "other", "read"), 30, 30, 5 * SECOND, "others begin anew, too");
	transform_batch_free(batch);
	transformer_free(t);
}

/* Others that appear once there are more. */
static void test_others_come(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	const struct had first[] = { { "/a", 100, 0, 0 }, { "/b", 50, 0, 0 }, {} };
	const struct had second[] = { { "/a", 100, 0, 0 }, { "/b", 51, 0, 0 },
				      { "/c", 200, 0, 0 }, {} };
	Monad__TelemetryBatch *batch;

	batch = have(t, first, 5, 0);
	ok(!of(batch, "other", "read"), "two of two: there are no others");
	transform_batch_free(batch);
	batch = have(t, second, 5, 10);
	eq(of(batch, "/c", "read"), 200, 200, 10 * SECOND, "one that is new");
	eq(of(batch, "other", "read"), 1, 1, 10 * SECOND,
	   "one that is among others now brings what it added only");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_removed(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	const struct had first[] = { { "(removed)", 1000, 7, 0 }, { "/a", 500, 0, 0 },
				     { "/b", 400, 0, 0 },
				     {} };
	const struct had second[] = { { "(removed)", 1903, 7, 0 }, {} };
	const struct had third[] = { { "(removed)", 1904, 7, 0 }, { "/x", 3, 1, 0 }, {} };
	const struct had fourth[] = { { "(removed)", 1900, 7, 0 }, {} };
	Monad__TelemetryBatch *batch;

	transform_batch_free(have(t, first, 5, 0));
	batch = have(t, second, 5, 10);
	eq(of(batch, "(removed)", "read"), 1903, 3, 10 * SECOND,
	   "what a removed cgroup had is nothing that was added");
	transform_batch_free(batch);
	batch = have(t, third, 5, 20);
	eq(of(batch, "(removed)", "read"), 1904, 1, 10 * SECOND, "then it goes on");
	transform_batch_free(batch);
	batch = have(t, fourth, 5, 30);
	eq(of(batch, "(removed)", "read"), 1900, 0, 0, "never less than nothing");
	transform_batch_free(batch);
	transformer_free(t);
}

/* One that is removed and made again, under the same path, within a window. */
static void test_made_again(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	const struct had first[] = { { "(removed)", 1, 0, 0 }, { "/web", 1000, 0, 7 }, {} };
	const struct had second[] = { { "(removed)", 1001, 0, 0 }, { "/web", 300, 0, 8 }, {} };
	const struct had third[] = { { "(removed)", 1001, 0, 0 }, { "/web", 310, 0, 8 }, {} };
	const struct had fourth[] = { { "(removed)", 1311, 0, 0 }, { "/web", 5000, 0, 9 }, {} };
	const struct had fifth[] = { { "(removed)", 6311, 0, 0 }, {} };
	const struct had sixth[] = { { "(removed)", 6311, 0, 0 }, { "/web", 20, 0, 10 }, {} };
	const Monad__MetricWrapper *m;
	Monad__TelemetryBatch *batch;

	transform_batch_free(have(t, first, 5, 0));
	batch = have(t, second, 5, 10);
	m = of(batch, "/web", "read");
	eq(m, 300, 300, 10 * SECOND, "made again: it did all it has");
	ok(m && m->start_ns == NOW, "since it may have been there");
	eq(of(batch, "(removed)", "read"), 1001, 0, 10 * SECOND, "what the first one had is not");
	transform_batch_free(batch);
	batch = have(t, third, 5, 20);
	m = of(batch, "/web", "read");
	eq(m, 310, 10, 10 * SECOND, "then it goes on");
	ok(m && m->start_ns == NOW, "since the same time");
	transform_batch_free(batch);
	batch = have(t, fourth, 5, 30);
	eq(of(batch, "/web", "read"), 5000, 5000, 10 * SECOND, "a third one, which has more");
	eq(of(batch, "(removed)", "read"), 1311, 0, 10 * SECOND, "no news, again");
	transform_batch_free(batch);
	transform_batch_free(have(t, fifth, 5, 40));
	batch = have(t, sixth, 5, 50);
	m = of(batch, "/web", "read");
	eq(m, 20, 20, 10 * SECOND, "made again after a while");
	ok(m && m->start_ns == NOW + 40 * SECOND, "it is another one, too");
	transform_batch_free(batch);
	transformer_free(t);
}

/* The same among the others, and a clock that is set back. */
static void test_others_made_again(void)
{
	const struct transform_config none = { .per_kind = 1, .per_window = 1, .cgroups = 0,
					       .metrics_every = 1 };
	const struct had first[] = { { "/a", 100, 0, 7 }, {} };
	const struct had second[] = { { "/a", 50, 0, 8 }, {} };
	const struct had third[] = { { "/a", 550, 0, 8 }, {} };
	const struct had fourth[] = { { "/a", 560, 0, 8 }, {} };
	struct transformer *t = new_transformer(&none, NULL);
	Monad__TelemetryBatch *batch;

	transform_batch_free(have(t, first, 5, 0));
	batch = have(t, second, 5, 20);
	eq(of(batch, "other", "read"), 150, 50, 20 * SECOND, "others have what both did");
	ok(of(batch, "other", "read")->start_ns == 5, "since the same time");
	transform_batch_free(batch);
	batch = have(t, third, 5, 15);
	eq(of(batch, "other", "read"), 650, 0, 0, "the clock was set back: nothing is left out");
	transform_batch_free(batch);
	batch = have(t, fourth, 5, 25);
	eq(of(batch, "other", "read"), 660, 10, 10 * SECOND, "and they go on");
	transform_batch_free(batch);
	transformer_free(t);
}

static void test_all_cgroups_are_others(void)
{
	const struct transform_config none = { .per_kind = 1, .per_window = 1, .cgroups = 0,
					       .metrics_every = 1 };
	const struct had had[] = { { "/a", 100, 0, 0 }, { "/b", 50, 1, 0 }, {} };
	struct transformer *t = new_transformer(&none, NULL);
	Monad__TelemetryBatch *batch = have(t, had, 5, 0);

	eq_u64(batch->n_metrics, 4, "none of its own");
	eq(of(batch, "other", "read"), 150, 0, 0, "all are others");
	transform_batch_free(batch);
	transformer_free(t);
}

/* Any number: each increase is in one series, whoever is among the others. */
static void test_every_increase_once(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	struct had had[41] = {};
	char names[40][16];
	uint64_t seed = 1;
	bool exact = true;

	for (int i = 0; i < 40; i++) {
		snprintf(names[i], sizeof(names[i]), "/%d", i);
		had[i].cgroup = names[i];
	}
	for (unsigned int window = 0; window < 50; window++) {
		Monad__TelemetryBatch *batch;
		double deltas = 0;
		uint64_t added = 0;

		for (int i = 0; i < 40; i++) {
			uint64_t more;

			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			more = (seed >> 33) % (seed >> 60 ? 10 : 10000);
			had[i].reads += more;
			added += more;
		}
		batch = have(t, had, 5, window);
		for (size_t i = 0; i < batch->n_metrics; i++)
			deltas += batch->metrics[i]->delta;
		exact = exact && batch->n_metrics == 8 && (!window || deltas == (double)added);
		transform_batch_free(batch);
	}
	ok(exact, "40 cgroups, 50 windows: what was added is in one series each");
	transformer_free(t);
}

/*
 * Bounds
 */

static void test_too_many(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;
	struct families families;
	char name[16];

	for (unsigned int window = 0; window < 2; window++) {
		begin(&families, 5);
		add_family(&families, FAMILY_COUNTER, "things");
		for (unsigned int i = 0; i < SERIES_MAX + 100; i++) {
			snprintf(name, sizeof(name), "sd%06u", i);
			families_sample(&families, i, 1, "device", name);
		}
		add_family(&families, FAMILY_COUNTER, "last");
		families_sample(&families, 5, 0);
		batch = hand_over(t, &families, window);
		eq_u64(batch->n_metrics, SERIES_MAX - 1, "there is an end to series");
		eq_u64(transform_counters(t)->series_left_out, (window + 1) * 102,
		       "what is beyond is counted");
		transform_batch_free(batch);
	}
	memset(&families, 0, sizeof(families));
	transform_families(t, &families);
	eq_u64(family_value(&families, "monad_storage_telemetry_left_out_series"), 204,
	       "and exported");
	families_free(&families);
	/* One that was left out before is not new. */
	begin(&families, 5);
	add_family(&families, FAMILY_COUNTER, "things");
	families_sample(&families, SERIES_MAX + 99, 1, "device", "sd016483");
	batch = hand_over(t, &families, 2);
	eq(find(batch, "things", "device", "sd016483"), SERIES_MAX + 99, 0, 0,
	   "of what was left out, nothing is known");
	transform_batch_free(batch);
	transformer_free(t);
}

/*
 * Pressure
 */

static void test_less_often(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch = NULL;
	const Monad__MetricWrapper *m;

	count(t, &batch, 100, 5, 0);
	transform_pressure(t, 400);
	for (unsigned int i = 1; i <= 3; i++) {
		ok(!transform_wants_metrics(t), "window %u has no metrics", i);
		ok(!count(t, &batch, 100 + i, 5, i), "if there are some, they are not sent");
	}
	ok(transform_wants_metrics(t), "the fourth one has");
	m = count(t, &batch, 110, 5, 4);
	eq(m, 110, 10, 4 * SECOND, "and they are for all four");
	ok(!transform_wants_metrics(t), "then again not");
	eq_u64(transform_counters(t)->metrics_skipped, 3, "which is counted");
	transform_pressure(t, 0);
	ok(transform_wants_metrics(t), "until the pressure is gone");
	eq(count(t, &batch, 111, 5, 5), 111, 1, SECOND, "at once");
	transform_batch_free(batch);
	transformer_free(t);
}

/* Metrics in one of three windows, whichever these are. */
static void test_every_third(void)
{
	struct transform_config third = config;
	Monad__TelemetryBatch *batch = NULL;
	struct transformer *t;

	third.metrics_every = 3;
	t = new_transformer(&third, NULL);
	for (unsigned int i = 0; i < 9; i++) {
		ok(transform_wants_metrics(t) == (i % 3 == 0), "window %u of three", i % 3 + 1);
		ok(!!count(t, &batch, 100 + i, 5, i) == (i % 3 == 0), "it is so");
	}
	eq_u64(transform_counters(t)->metrics_skipped, 0, "none was skipped");
	/* One in four of these. */
	transform_pressure(t, 400);
	for (unsigned int i = 9; i < 26; i++)
		ok(!!count(t, &batch, 100 + i, 5, i) == (i == 18), "window %u under pressure", i);
	eq_u64(transform_counters(t)->metrics_skipped, 5, "those that were skipped");
	transform_last_window(t);
	eq(count(t, &batch, 200, 5, 26), 200, 82, 8 * SECOND, "the last one has them");
	transform_batch_free(batch);
	transformer_free(t);
	third.metrics_every = 0;
	t = new_transformer(&third, NULL);
	batch = NULL;
	for (unsigned int i = 0; i < 3; i++) {
		if (i == 2)
			transform_last_window(t);
		ok(!transform_wants_metrics(t) && !count(t, &batch, 100 + i, 5, i), "never");
	}
	eq_u64(transform_counters(t)->metrics_skipped, 0, "which skips none");
	transform_batch_free(batch);
	transformer_free(t);
}

/* Its own counters began with it, whatever becomes of the recording. */
static void test_own_counters(void)
{
	struct transformer *t = new_transformer(&config, NULL);
	Monad__TelemetryBatch *batch;
	struct families families;

	for (unsigned int i = 0; i < 2; i++) {
		for (int k = 0; k < 3; k++) {
			const struct raw_event event = quick_read();

			transform_event(t, &event);
		}
		begin(&families, NOW + i * SECOND - SECOND / 2);
		transform_families(t, &families);
		batch = hand_over(t, &families, i);
		eq(find(batch, "monad_storage_telemetry_events", NULL, NULL), 3 * (i + 1), 3 * i,
		   i * SECOND, "its own counter");
		transform_batch_free(batch);
	}
	transformer_free(t);
}

int main(void)
{
	test_windows();
	test_twice_in_a_window();
	test_new_series();
	test_gauges();
	test_histograms();
	test_labels();
	test_text();
	test_cgroups();
	test_others_come();
	test_removed();
	test_made_again();
	test_others_made_again();
	test_all_cgroups_are_others();
	test_every_increase_once();
	test_too_many();
	test_less_often();
	test_every_third();
	test_own_counters();
	return done_testing();
}
