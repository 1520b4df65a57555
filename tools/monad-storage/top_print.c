// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "human.h"
#include "json_writer.h"
#include "monad_storage.h"
#include "printable.h"
#include "top.h"
#include "top_table.h"

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

static void put_rate(uint64_t n, const struct shown *shown, char text[TOP_CELL_LEN])
{
	snprintf(text, TOP_CELL_LEN, "%.1f", per_second(n, shown));
}

static void put_byte_rate(uint64_t n, const struct shown *shown, char text[TOP_CELL_LEN])
{
	human_bytes((uint64_t)per_second(n, shown), text);
}

static void put_number(uint64_t n, char text[TOP_CELL_LEN])
{
	snprintf(text, TOP_CELL_LEN, "%" PRIu64, n);
}

static void disk_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	snprintf(text, TOP_CELL_LEN, "%s", ((const struct disk_row *)row)->disk);
}

static void reads_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	put_rate(((const struct disk_row *)row)->ops[MONAD_STORAGE_READS], shown, text);
}

static void read_bytes_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	put_byte_rate(((const struct disk_row *)row)->bytes[MONAD_STORAGE_READS], shown, text);
}

static void writes_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	put_rate(((const struct disk_row *)row)->ops[MONAD_STORAGE_WRITES], shown, text);
}

static void written_bytes_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	put_byte_rate(((const struct disk_row *)row)->bytes[MONAD_STORAGE_WRITES], shown, text);
}

static void others_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	put_rate(((const struct disk_row *)row)->ops[MONAD_STORAGE_OTHERS], shown, text);
}

static void average_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	const struct monad_storage_metrics *sum = &((const struct disk_row *)row)->sum;
	uint64_t samples = metrics_samples(sum, PHASE);

	snprintf(text, TOP_CELL_LEN, "-");
	if (samples)
		human_duration(sum->sum_ns[PHASE] / samples, text);
}

static void p99_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	const struct monad_storage_metrics *sum = &((const struct disk_row *)row)->sum;

	snprintf(text, TOP_CELL_LEN, "-");
	if (metrics_samples(sum, PHASE))
		human_duration(metrics_percentile(sum, PHASE, 99), text);
}

static void disk_errors_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	put_number(((const struct disk_row *)row)->sum.errors, text);
}

static void inflight_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	put_number(((const struct disk_row *)row)->inflight, text);
}

/* 74 characters; 59 without the first two to go. */
static const struct top_column disk_columns[] = {
	{ "DISK", -12, 0, disk_cell },
	{ "READS/s", 8, 0, reads_cell },
	{ "B/s", 5, 3, read_bytes_cell },
	{ "WRITES/s", 8, 0, writes_cell },
	{ "B/s", 5, 3, written_bytes_cell },
	{ "OTHER/s", 7, 5, others_cell },
	{ "AVG", 6, 4, average_cell },
	{ "p99", 6, 0, p99_cell },
	{ "ERR", 4, 1, disk_errors_cell },
	{ "NOW", 4, 2, inflight_cell },
};

static void pid_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	put_number(((const struct summary_actor *)row)->tgid, text);
}

static void comm_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	const struct summary_actor *a = row;

	printable(text, MONAD_STORAGE_COMM_LEN, a->comm[0] ? a->comm : "(unknown)");
}

static void ops_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	put_rate(((const struct summary_actor *)row)->ops, shown, text);
}

static void bytes_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	put_byte_rate(((const struct summary_actor *)row)->bytes, shown, text);
}

static void errors_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	put_number(((const struct summary_actor *)row)->errors, text);
}

static void waited_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	human_duration(((const struct summary_actor *)row)->wait_ns, text);
}

static void slowest_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	human_duration(((const struct summary_actor *)row)->max_ns, text);
}

static void kthread_cell(const void *shown, const void *row, char text[TOP_CELL_LEN])
{
	snprintf(text, TOP_CELL_LEN, "%s",
		 ((const struct summary_actor *)row)->kthread ? " kernel thread" : "");
}

/* 73 characters; 58 without the last */
static const struct top_column actor_columns[] = {
	{ "PID", 7, 0, pid_cell },
	{ "COMM", -15, 0, comm_cell },
	{ "OPS/s", 8, 2, ops_cell },
	{ "B/s", 5, 3, bytes_cell },
	{ "ERR", 4, 1, errors_cell },
	{ "WAITED", 7, 0, waited_cell },
	{ "SLOWEST", 7, 4, slowest_cell },
	{ "", -14, 5, kthread_cell },
};

static void print_disks(FILE *out, const struct shown *shown, unsigned int room,
			unsigned int columns)
{
	unsigned int idle = 0, left_out = 0;
	struct top_table table;
	size_t longest = 0;

	for (size_t i = 0; i < shown->nr_disks; i++) {
		size_t len = strlen(shown->disks[i].disk);

		longest = len > longest ? len : longest;
	}
	top_table_begin(&table, out, disk_columns, ARRAY_SIZE(disk_columns), columns, longest);
	for (size_t i = 0; i < shown->nr_disks; i++) {
		const struct disk_row *row = &shown->disks[i];

		if (!row->sum.ops && !row->inflight) {
			idle++;
			continue;
		}
		if (!room) {
			left_out++;
			continue;
		}
		room--;
		top_table_row(&table, out, shown, row);
	}
	if (left_out)
		fprintf(out, "(%u more, and %u without I/O)\n", left_out, idle);
	else if (idle)
		fprintf(out, "(%u more without I/O)\n", idle);
}

static void print_actors(FILE *out, const struct shown *shown, unsigned int room,
			 unsigned int columns)
{
	struct top_table table;

	fputc('\n', out);
	top_table_begin(&table, out, actor_columns, ARRAY_SIZE(actor_columns), columns, 0);
	for (unsigned int i = 0; i < shown->nr_actors && i < room; i++)
		top_table_row(&table, out, shown, &shown->actors[i]);
	if (shown->nr_actors > room)
		fprintf(out, "(%u more)\n", shown->nr_actors - room);
}

static void print_title(FILE *out, const struct top *top, const struct shown *shown,
			unsigned int columns)
{
	static const char keys[] = "   (keys: w o b s e sort, q ends)";
	char window[HUMAN_WINDOW_LEN];

	fprintf(out, "%s, sorted by %s", human_window(shown->end_ns, shown->window_ns, window),
		top_sorts[top->sort].name);
	if (shown->missed)
		fprintf(out, ", %" PRIu64 " events missed", shown->missed);
	if (shown->notable_only)
		fputs(", actors of notable I/O only", out);
	if (top->screen && ftell(out) + strlen(keys) <= columns)
		fputs(keys, out);
	fputc('\n', out);
}

static void print(const struct top *top, const struct shown *shown)
{
	unsigned int columns = UINT_MAX, disks = UINT_MAX, actors = top->rows ? top->rows : 20;
	unsigned int rows = 0;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (top->screen || top->left) {
		top_screen_size(&rows, &columns);
		/* headings and remarks take 7 lines */
		disks = rows > 12 ? (rows - 7) / 2 : 2;
		disks = shown->nr_disks < disks ? shown->nr_disks : disks;
		if (!top->rows)
			actors = rows > 7 + disks ? rows - 7 - disks : 1;
	}
	out = open_memstream(&text, &size);
	if (!out) {
		error("no memory for what is to be shown");
		return;
	}
	print_title(out, top, shown, columns);
	print_disks(out, shown, disks, columns);
	print_actors(out, shown, actors, columns);
	if (fclose(out))
		error("no memory for what is to be shown");
	else if (top->screen)
		top_screen_put(text, rows, columns);
	else
		puts(text);
	free(text);
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
	json_bool_field(&json, "notable_only", shown->notable_only);
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

