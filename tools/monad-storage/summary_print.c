// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bar.h"
#include "disk.h"
#include "human.h"
#include "losses.h"
#include "monad_storage.h"
#include "printable.h"
#include "summary_data.h"

#define TOP_ACTORS 10
/* With fewer, the percentiles say it all. */
#define HISTOGRAM_MIN_OPS 10
/* This many empty lines of a histogram in a row are left out. */
#define HISTOGRAM_GAP 3

static const char *const phase_names[PHASES] = { "queue", "device", "total" };

static const char *row_disk(const struct summary_row *row, char name[32])
{
	if (row->disk[0])
		printable(name, 32, row->disk);
	else if (row->dev)
		disk_name(row->dev, name, 32);
	else
		snprintf(name, 32, "(no disk)");
	return name;
}

static const char *row_op(const struct summary_row *row)
{
	return row->cache_flush ? "cache_flush" : op_name(row->op);
}

static void print_percentiles(const struct histogram *h)
{
	char p50[HUMAN_LEN], p99[HUMAN_LEN], max[HUMAN_LEN];

	if (!h->samples) {
		printf(" |%7s %7s %7s", "-", "-", "-");
		return;
	}
	printf(" |%7s %7s %7s", human_duration(histogram_percentile(h, 50), p50),
	       human_duration(histogram_percentile(h, 99), p99), human_duration(h->max, max));
}

static void print_rows(struct summary_row **rows, unsigned int n)
{
	char name[32], bytes[HUMAN_LEN];
	bool cache_flushes = false;

	printf("%-35s|%-23s |%-23s |%-23s\n", "", " queue", " device", " total");
	printf("%-10s %-12s%7s %5s %4s", "DISK", "OP", "OPS", "SIZE", "ERR");
	for (int i = 0; i < PHASES; i++)
		printf(" |%7s %7s %7s", "p50", "p99", "max");
	putchar('\n');
	for (unsigned int i = 0; i < n; i++) {
		const struct summary_row *row = rows[i];

		printf("%-10s %-12s%7" PRIu64 " %5s %4" PRIu64, row_disk(row, name), row_op(row),
		       row->ops, human_bytes(row->bytes, bytes), row->errors);
		for (int phase = 0; phase < PHASES; phase++)
			print_percentiles(&row->times[phase]);
		putchar('\n');
		cache_flushes |= row->cache_flush;
	}
	if (cache_flushes)
		puts("\nflush: somebody waited for the write cache to be flushed. cache_flush: the "
		     "device\nwas told to; one can serve many who wait, and writes with FUA or "
		     "PREFLUSH.");
	for (unsigned int i = 0; i < n; i++) {
		const struct summary_row *row = rows[i];

		if (!row->timeouts && !row->requeues && !row->orphans)
			continue;
		printf("\n%s %s:", row_disk(row, name), row_op(row));
		if (row->timeouts)
			printf(" %" PRIu64 " timed out", row->timeouts);
		if (row->requeues)
			printf("%s %" PRIu64 " requeue%s", row->timeouts ? "," : "", row->requeues,
			       row->requeues == 1 ? "" : "s");
		if (row->orphans)
			printf("%s %" PRIu64 " whose start was not seen",
			       row->timeouts || row->requeues ? "," : "", row->orphans);
		putchar('\n');
	}
}

static bool power_is_empty(const struct summary_row *row, unsigned int power)
{
	for (int phase = 0; phase < PHASES; phase++) {
		if (histogram_power(&row->times[phase], power))
			return false;
	}
	return true;
}

static void print_power(const struct summary_row *row, unsigned int power, uint64_t most)
{
	char from[HUMAN_LEN], to[HUMAN_LEN];

	printf("  %8s - %-8s", human_duration(power ? 1ULL << power : 0, from),
	       human_duration(2ULL << power, to));
	for (int phase = 0; phase < PHASES; phase++)
		printf(" %8" PRIu64, histogram_power(&row->times[phase], power));
	print_bar(histogram_power(&row->times[PHASE_TOTAL], power), most);
}

/* One line for each power of two from the fastest to the slowest. */
static void print_histogram(const struct summary_row *row)
{
	unsigned int power = 0, end = HISTOGRAM_POWERS, empty = 0;
	uint64_t most = 0;
	char name[32];

	while (end && power_is_empty(row, end - 1))
		end--;
	while (power < end && power_is_empty(row, power))
		power++;
	for (unsigned int i = power; i < end; i++) {
		uint64_t count = histogram_power(&row->times[PHASE_TOTAL], i);

		if (count > most)
			most = count;
	}
	printf("\n%s %s\n  %-19s %8s %8s %8s\n", row_disk(row, name), row_op(row), "time",
	       phase_names[PHASE_QUEUE], phase_names[PHASE_DEVICE], phase_names[PHASE_TOTAL]);
	for (; power < end; power++) {
		if (power_is_empty(row, power)) {
			empty++;
			continue;
		}
		if (empty >= HISTOGRAM_GAP)
			puts("       ...");
		for (; empty && empty < HISTOGRAM_GAP; empty--)
			print_power(row, power - empty, most);
		empty = 0;
		print_power(row, power, most);
	}
}

static void print_actors(const struct summary *summary)
{
	struct summary_actor *actors = summary_sorted_actors(summary);
	char bytes[HUMAN_LEN], wait[HUMAN_LEN], max[HUMAN_LEN], comm[MONAD_STORAGE_COMM_LEN];

	printf("\nWho waited longest (%u in all)\n  %-16s %8s %9s %6s %5s %10s %9s\n",
	       summary->nr_actors, "COMM", "PID", "OPS", "SIZE", "ERR", "WAITED", "SLOWEST");
	for (unsigned int i = 0; i < summary->nr_actors && i < TOP_ACTORS; i++) {
		const struct summary_actor *a = &actors[i];

		printf("  %-16s %8u %9" PRIu64 " %6s %5" PRIu64 " %10s %9s%s\n",
		       printable(comm, sizeof(comm), a->comm[0] ? a->comm : "(unknown)"), a->tgid,
		       a->ops, human_bytes(a->bytes, bytes), a->errors,
		       human_duration(a->wait_ns, wait), human_duration(a->max_ns, max),
		       a->kthread ? "  kernel thread" : "");
	}
	free(actors);
}

/* Never below zero, whatever the clock did. */
static uint64_t summary_span(const struct summary *summary)
{
	return summary->last_ns > summary->first_ns ? summary->last_ns - summary->first_ns : 0;
}

void summary_print(const struct summary *summary, const struct reader *reader, bool histograms)
{
	struct summary_row **rows = summary_sorted_rows(summary);
	char first[HUMAN_LEN], last[HUMAN_LEN], span[HUMAN_LEN], ops[HUMAN_LEN];

	if (!summary->nr_rows) {
		puts("No such operation ended in that time.\n");
	} else {
		printf("%s operations in %s, from %s to %s\n\n", human_count(summary->ops, ops),
		       human_span(summary_span(summary), span),
		       human_time(summary->first_ns, first), human_time(summary->last_ns, last));
		if (reader->notable_only)
			puts("Only what is notable was recorded (--events=notable): all numbers "
			     "are of that alone.\n");
		if (reader->clock_set_back)
			puts("The clock was set back meanwhile: that is not how long it took.\n");
		print_rows(rows, summary->nr_rows);
		for (unsigned int i = 0; histograms && i < summary->nr_rows; i++) {
			if (rows[i]->ops >= HISTOGRAM_MIN_OPS)
				print_histogram(rows[i]);
		}
		print_actors(summary);
		putchar('\n');
	}
	losses_print(reader, true);
	free(rows);
}

static void json_histogram(struct json_writer *json, const char *key, const struct histogram *h)
{
	json_key(json, key);
	json_begin_object(json);
	json_u64_field(json, "samples", h->samples);
	json_u64_field(json, "sum_ns", h->sum);
	json_u64_field(json, "p50_ns", histogram_percentile(h, 50));
	json_u64_field(json, "p99_ns", histogram_percentile(h, 99));
	json_u64_field(json, "max_ns", h->max);
	/* what each power of two, from 2^0 on, has up to the next one */
	json_key(json, "log2");
	json_begin_array(json);
	for (unsigned int power = 0; power < HISTOGRAM_POWERS; power++) {
		if (h->max >> power || !power)
			json_u64(json, histogram_power(h, power));
	}
	json_end_array(json);
	json_end_object(json);
}

static void json_row(struct json_writer *json, const struct summary_row *row)
{
	char dev[32];

	json_begin_object(json);
	snprintf(dev, sizeof(dev), "%u:%u", row->dev >> 20, row->dev & 0xfffff);
	json_string_field(json, "dev", dev);
	json_string_field(json, "disk", row->disk);
	json_string_field(json, "layer", row->bio_based ? "bio" : "request");
	json_string_field(json, "op", row->cache_flush ? "cache_flush" : op_name(row->op));
	json_u64_field(json, "ops", row->ops);
	json_u64_field(json, "bytes", row->bytes);
	json_u64_field(json, "errors", row->errors);
	json_u64_field(json, "timeouts", row->timeouts);
	json_u64_field(json, "requeues", row->requeues);
	json_u64_field(json, "orphans", row->orphans);
	for (int phase = 0; phase < PHASES; phase++)
		json_histogram(json, phase_names[phase], &row->times[phase]);
	json_end_object(json);
}

static void json_diskstats(struct json_writer *json, const struct summary *summary,
			   const struct summary_row *row)
{
	struct diskstats stats;

	summary_diskstats(summary, row->disk, &stats);
	json_key(json, row->disk);
	json_begin_object(json);
	json_u64_field(json, "reads", stats.reads);
	json_u64_field(json, "read_sectors", stats.read_sectors);
	json_u64_field(json, "writes", stats.writes);
	json_u64_field(json, "written_sectors", stats.written_sectors);
	json_u64_field(json, "discards", stats.discards);
	json_u64_field(json, "discarded_sectors", stats.discarded_sectors);
	json_u64_field(json, "flushes", stats.flushes);
	json_end_object(json);
}

void summary_print_json(struct json_writer *json, const struct summary *summary,
			const struct reader *reader)
{
	struct summary_actor *actors = summary_sorted_actors(summary);
	struct summary_row **rows = summary_sorted_rows(summary);

	json_begin_object(json);
	json_u64_field(json, "first_ns", summary->first_ns);
	json_u64_field(json, "last_ns", summary->last_ns);
	json_bool_field(json, "clock_set_back", reader->clock_set_back);
	json_key(json, "rows");
	json_begin_array(json);
	for (unsigned int i = 0; i < summary->nr_rows; i++)
		json_row(json, rows[i]);
	json_end_array(json);
	/* what the differences in /proc/diskstats are over the same time */
	json_key(json, "diskstats");
	json_begin_object(json);
	for (unsigned int i = 0; i < summary->nr_rows; i++) {
		if (!rows[i]->bio_based && rows[i]->dev &&
		    (!i || strcmp(rows[i]->disk, rows[i - 1]->disk) != 0))
			json_diskstats(json, summary, rows[i]);
	}
	json_end_object(json);
	json_key(json, "actors");
	json_begin_array(json);
	for (unsigned int i = 0; i < summary->nr_actors; i++) {
		json_begin_object(json);
		json_string_field(json, "comm", actors[i].comm);
		json_u64_field(json, "pid", actors[i].tgid);
		json_bool_field(json, "kthread", actors[i].kthread);
		json_u64_field(json, "ops", actors[i].ops);
		json_u64_field(json, "bytes", actors[i].bytes);
		json_u64_field(json, "errors", actors[i].errors);
		json_u64_field(json, "wait_ns", actors[i].wait_ns);
		json_u64_field(json, "max_ns", actors[i].max_ns);
		json_end_object(json);
	}
	json_end_array(json);
	losses_print_json(json, reader);
	json_end_object(json);
	json_end(json);
	free(actors);
	free(rows);
}
