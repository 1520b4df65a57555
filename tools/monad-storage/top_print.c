// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "human.h"
#include "json_writer.h"
#include "monad_storage.h"
#include "printable.h"
#include "top.h"

/* What AVG and p99 are of. */
#define PHASE MONAD_STORAGE_PHASE_TOTAL

static enum sort compare_by; /* for qsort() */

static uint64_t weight(const struct summary_actor *a)
{
	switch (compare_by) {
	case BY_OPS:
		return a->ops;
	case BY_BYTES:
		return a->bytes;
	case BY_SLOWEST:
		return a->max_ns;
	case BY_ERRORS:
		return a->errors;
	default:
		return a->wait_ns;
	}
}

static int compare_actors(const void *a, const void *b)
{
	uint64_t x = weight(a), y = weight(b);

	return (x < y) - (x > y);
}

static double per_second(uint64_t n, const struct shown *shown)
{
	return (double)n * NSEC_PER_SEC / (double)shown->window_ns;
}

static uint64_t bytes_per_second(uint64_t n, const struct shown *shown)
{
	return (uint64_t)per_second(n, shown);
}

static void print_disks(const struct shown *shown, unsigned int room)
{
	char read[HUMAN_LEN], written[HUMAN_LEN], average[HUMAN_LEN], p99[HUMAN_LEN];
	unsigned int idle = 0, left_out = 0;

	printf("%-12s %9s %6s %9s %6s %8s %7s %7s %5s %5s\n", "DISK", "READS/s", "B/s", "WRITES/s",
	       "B/s", "OTHER/s", "AVG", "p99", "ERR", "NOW");
	for (size_t i = 0; i < shown->nr_disks; i++) {
		const struct disk_row *row = &shown->disks[i];
		uint64_t samples = metrics_samples(&row->sum, PHASE);

		if (!row->sum.ops && !row->inflight) {
			idle++;
			continue;
		}
		if (!room) {
			left_out++;
			continue;
		}
		room--;
		printf("%-12s %9.1f %6s %9.1f %6s %8.1f %7s %7s %5" PRIu64 " %5" PRIu64 "\n",
		       row->disk, per_second(row->ops[MONAD_STORAGE_READS], shown),
		       human_bytes(bytes_per_second(row->bytes[MONAD_STORAGE_READS], shown), read),
		       per_second(row->ops[MONAD_STORAGE_WRITES], shown),
		       human_bytes(bytes_per_second(row->bytes[MONAD_STORAGE_WRITES], shown),
				   written),
		       per_second(row->ops[MONAD_STORAGE_OTHERS], shown),
		       samples ? human_duration(row->sum.sum_ns[PHASE] / samples, average) : "-",
		       samples ? human_duration(metrics_percentile(&row->sum, PHASE, 99), p99) :
				 "-",
		       row->sum.errors, row->inflight);
	}
	if (left_out)
		printf("(%u more, and %u without I/O)\n", left_out, idle);
	else if (idle)
		printf("(%u more without I/O)\n", idle);
}

static void print_actors(const struct shown *shown, unsigned int room)
{
	char bytes[HUMAN_LEN], wait[HUMAN_LEN], max[HUMAN_LEN], comm[MONAD_STORAGE_COMM_LEN];

	printf("\n%8s %-16s %9s %6s %5s %9s %9s\n", "PID", "COMM", "OPS/s", "B/s", "ERR", "WAITED",
	       "SLOWEST");
	for (unsigned int i = 0; i < shown->nr_actors && i < room; i++) {
		const struct summary_actor *a = &shown->actors[i];

		printf("%8u %-16s %9.1f %6s %5" PRIu64 " %9s %9s%s\n", a->tgid,
		       printable(comm, sizeof(comm), a->comm[0] ? a->comm : "(unknown)"),
		       per_second(a->ops, shown),
		       human_bytes(bytes_per_second(a->bytes, shown), bytes),
		       a->errors, human_duration(a->wait_ns, wait), human_duration(a->max_ns, max),
		       a->kthread ? "  kernel thread" : "");
	}
	if (shown->nr_actors > room)
		printf("(%u more)\n", shown->nr_actors - room);
}

static void print(const struct top *top, const struct shown *shown)
{
	unsigned int rows, disks = UINT_MAX, actors = top->rows ? top->rows : 20;
	char window[HUMAN_WINDOW_LEN];

	if (top->screen) {
		top_screen_size(&rows);
		rows = rows < 12 ? 12 : rows;
		/* headings and remarks take 7 lines */
		disks = shown->nr_disks < (rows - 7) / 2 ? shown->nr_disks : (rows - 7) / 2;
		if (!top->rows)
			actors = rows - 7 - disks;
		fputs("\033[H\033[J", stdout);
	}
	printf("%s, sorted by %s", human_window(shown->window_ns, window),
	       top_sorts[top->sort].name);
	if (shown->missed)
		printf(", %" PRIu64 " events were overwritten before they were read",
		       shown->missed);
	if (shown->notable_only)
		fputs(", actors of notable I/O only", stdout);
	if (top->screen)
		fputs("   (keys: w o b s e sort, q ends)", stdout);
	putchar('\n');
	print_disks(shown, disks);
	print_actors(shown, actors);
	if (!top->screen)
		putchar('\n');
	fflush(stdout);
}

static void print_json(const struct top *top, const struct shown *shown)
{
	unsigned int rows = top->rows ? top->rows : UINT_MAX;
	struct json_writer json;

	json_init(&json, stdout, false);
	json_begin_object(&json);
	json_u64_field(&json, "window_ns", shown->window_ns);
	json_u64_field(&json, "missed", shown->missed);
	json_key(&json, "disks");
	json_begin_array(&json);
	for (size_t i = 0; i < shown->nr_disks; i++) {
		const struct disk_row *row = &shown->disks[i];

		json_begin_object(&json);
		json_string_field(&json, "disk", row->disk);
		json_u64_field(&json, "reads", row->ops[MONAD_STORAGE_READS]);
		json_u64_field(&json, "read_bytes", row->bytes[MONAD_STORAGE_READS]);
		json_u64_field(&json, "writes", row->ops[MONAD_STORAGE_WRITES]);
		json_u64_field(&json, "written_bytes", row->bytes[MONAD_STORAGE_WRITES]);
		json_u64_field(&json, "others", row->ops[MONAD_STORAGE_OTHERS]);
		json_u64_field(&json, "errors", row->sum.errors);
		json_u64_field(&json, "total_ns", row->sum.sum_ns[PHASE]);
		json_u64_field(&json, "p99_ns", metrics_percentile(&row->sum, PHASE, 99));
		json_u64_field(&json, "inflight", row->inflight);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_key(&json, "actors");
	json_begin_array(&json);
	for (unsigned int i = 0; i < shown->nr_actors && i < rows; i++) {
		const struct summary_actor *a = &shown->actors[i];

		json_begin_object(&json);
		json_u64_field(&json, "tgid", a->tgid);
		json_string_field(&json, "comm", a->comm);
		json_bool_field(&json, "kthread", a->kthread);
		json_u64_field(&json, "ops", a->ops);
		json_u64_field(&json, "bytes", a->bytes);
		json_u64_field(&json, "errors", a->errors);
		json_u64_field(&json, "waited_ns", a->wait_ns);
		json_u64_field(&json, "slowest_ns", a->max_ns);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	json_end(&json);
	fflush(stdout);
}

void top_show(const struct top *top, struct shown *shown)
{
	compare_by = top->sort;
	if (shown->nr_actors)
		qsort(shown->actors, shown->nr_actors, sizeof(*shown->actors), compare_actors);
	if (top->json)
		print_json(top, shown);
	else
		print(top, shown);
}

