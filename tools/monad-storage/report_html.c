// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "axis.h"
#include "disk.h"
#include "heatmap.h"
#include "html.h"
#include "human.h"
#include "losses.h"
#include "monad_storage.h"
#include "page_time.h"
#include "report_data.h"
#include "storage_state.h"
#include "summary_data.h"

#define TOP_ACTORS 20

static const char style[] =
	":root{color-scheme:light dark;--text:#1c1c1c;--page:#fff;--dim:#555;--rule:#ccc;"
	"--stripe:#f5f5f5;--bad:#a40000}"
	"@media(prefers-color-scheme:dark){:root{--text:#dedede;--page:#181818;--dim:#a2a2a2;"
	"--rule:#444;--stripe:#222;--bad:#ff7b72}}"
	"body{font:14px/1.45 system-ui,sans-serif;color:var(--text);background:var(--page);"
	"margin:2em auto;max-width:70em;padding:0 1em}"
	"h1{font-size:1.5em;margin:0}h2{font-size:1.15em;margin:2em 0 .4em;"
	"border-bottom:1px solid var(--rule)}h3{font-size:1em;margin:1.2em 0 .2em}"
	"div{overflow-x:auto}"
	"table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
	"th,td{padding:.15em .6em;text-align:right;white-space:nowrap}"
	"th{font-weight:600;border-bottom:1px solid var(--dim)}"
	"tr:nth-child(even) td{background:var(--stripe)}"
	"th[colspan]{text-align:center}th.t,td.t{text-align:left}"
	"td.bad{color:var(--bad);font-weight:600}"
	"th.g,td.g{border-left:1px solid var(--rule)}"
	".note{color:var(--dim)}.lost{border-left:4px solid var(--bad);padding-left:.8em}"
	"ul.lost{padding-left:2em}";

/* What is shown apart: what one waits for differs. */
enum kind { KIND_READS, KIND_WRITES, KIND_FLUSHES, KIND_OTHERS, KINDS };

static const char *const kind_titles[KINDS] = { "reads", "writes", "flushes", "others" };

static enum kind kind_of(unsigned int op)
{
	if (op == MONAD_STORAGE_OP_FLUSH)
		return KIND_FLUSHES;
	switch (monad_storage_direction(op)) {
	case MONAD_STORAGE_READS:
		return KIND_READS;
	case MONAD_STORAGE_WRITES:
		return KIND_WRITES;
	default:
		return KIND_OTHERS;
	}
}

/* When all of it was, as exactly as that is long. */
static void write_when(FILE *out, const struct summary *s, const struct page_zone *zone)
{
	uint64_t ns = s->last_ns - s->first_ns;
	char first[HUMAN_LEN], last[HUMAN_LEN], span[HUMAN_LEN];
	int digits = ns >= 10 * NSEC_PER_SEC ? 0 : ns >= NSEC_PER_SEC / 100 ? 3 : 6;

	if (!ns) {
		fprintf(out, ", at %s %s.</b> ", page_time(zone, s->first_ns, digits, first),
			zone->name);
		return;
	}
	fprintf(out, " in %s</b>, from %s to %s %s. ",
		ns < 10 * NSEC_PER_SEC ? human_duration(ns, span) : human_span(ns, span),
		page_time(zone, s->first_ns, digits, first),
		page_time(zone, s->last_ns, digits, last), zone->name);
}

/* What was asked for, where that is not all. */
static void write_period(FILE *out, const struct report *report, const struct page_zone *zone)
{
	char time[HUMAN_LEN];

	if (!report->since_ns && report->until_ns == UINT64_MAX)
		return;
	fputs("Asked for: ", out);
	if (report->since_ns)
		fprintf(out, "from %s%s", page_time(zone, report->since_ns, 0, time),
			report->until_ns == UINT64_MAX ? " on" : " ");
	if (report->until_ns != UINT64_MAX)
		fprintf(out, "until %s", page_time(zone, report->until_ns, 0, time));
	fputs(". ", out);
}

static void write_head(FILE *out, const struct report *report, const struct page_zone *zone)
{
	const struct summary *s = report->summary;
	char now[HUMAN_LEN], ops[HUMAN_LEN];
	struct utsname host;

	fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<meta name=\"viewport\" content=\"width=device-width\">"
		"<title>Storage report</title><style>%s%s</style></head><body>\n"
		"<h1>Storage report</h1>\n<p>", style, heatmap_style);
	if (s->ops) {
		fprintf(out, "<b>%s operation%s", human_count(s->ops, ops), s->ops == 1 ? "" : "s");
		write_when(out, s, zone);
	} else {
		fprintf(out, "<b>No %soperation ended in that time.</b> ",
			*report->only ? "such " : "");
	}
	write_period(out, report, zone);
	fprintf(out, "Written %s", page_time(zone, clock_ns(CLOCK_REALTIME), 0, now));
	if (!uname(&host)) {
		fputs(" on ", out);
		html_text(out, host.nodename);
		fputs(", Linux ", out);
		html_text(out, host.release);
	}
	fputs(", from ring ", out);
	html_text(out, report->ring);
	fprintf(out, ". All times are %s%s.</p>\n", zone->name,
		zone->offset_s ? ", of the machine that wrote this page" : "");
}

/* Of which operations all numbers are, where that is not all of them. */
static void write_only(FILE *out, const struct report *report)
{
	if (*report->only) {
		fputs("<p class=\"lost\"><b>Only a part was asked for:</b> ", out);
		html_text(out, report->only);
		fputs(". Nothing on this page is of others.</p>\n", out);
	}
	if (report->reader->notable_only)
		fputs("<p class=\"lost\"><b>Only what is notable was recorded</b> "
		      "(<code>--events=notable</code>): numbers and percentiles on this page are of "
		      "that alone. <code>monad-storage latency</code> has those of all I/O.</p>\n",
		      out);
}

/* What is not in this page, so that nobody takes a part for the whole. */
static void write_losses(FILE *out, const struct report *report, const struct page_zone *zone)
{
	const struct reader *reader = report->reader;
	const struct monad_ring_ext *ext = monad_event_ring_ext(&reader->ring);
	bool lost = reader->missed || reader->expired || report->reach_later ||
		    reader->clock_set_back;
	char reach[HUMAN_LEN];

	for (int i = 0; ext && i < MONAD_RING_LOST_COUNT; i++)
		lost |= ext->lost[i];
	fprintf(out, "<h2>What this page does not show</h2>\n<ul class=\"%s\">\n",
		lost ? "lost" : "note");
	if (report->reach_later)
		fprintf(out, "<li>What ended before %s: so far back the ring reaches.</li>\n",
			page_time(zone, report->reach_ns, 0, reach));
	if (reader->missed)
		fprintf(out, "<li>%" PRIu64 " events that were overwritten before they were "
			"read, or never written.</li>\n", reader->missed);
	if (reader->expired)
		fprintf(out, "<li>The contents of %" PRIu64 " events, overwritten while this was "
			"written.</li>\n", reader->expired);
	for (int i = 0; ext && i < MONAD_RING_LOST_COUNT; i++) {
		if (ext->lost[i])
			fprintf(out, "<li>%" PRIu64 " events that the ring refused: %s.</li>\n",
				ext->lost[i], ring_loss_names[i]);
	}
	if (reader->clock_set_back)
		fputs("<li>The clock was set back meanwhile: times of day, and how long it took, "
		      "are not right.</li>\n", out);
	fputs("<li>What had not ended: what hangs is in <code>monad-storage inflight</code>.</li>\n"
	      "<li>Files: the block layer does not know them.</li>\n"
	      "<li>A sum over all disks: devices upon devices (dm, md, loop) have an operation "
	      "on each level.</li>\n</ul>\n", out);
}

static void write_time(FILE *out, const struct histogram *h)
{
	char p50[HUMAN_LEN], p99[HUMAN_LEN], max[HUMAN_LEN];

	if (!h->samples) {
		fputs("<td class=\"g\">-</td><td>-</td><td>-</td>", out);
		return;
	}
	fprintf(out, "<td class=\"g\">%s</td><td>%s</td><td>%s</td>",
		human_duration(histogram_percentile(h, 50), p50),
		human_duration(histogram_percentile(h, 99), p99), human_duration(h->max, max));
}

static const char *row_disk(const struct summary_row *row, char name[32])
{
	if (row->disk[0])
		snprintf(name, 32, "%s", row->disk);
	else if (row->dev)
		disk_name(row->dev, name, 32);
	else
		snprintf(name, 32, "(no disk)");
	return name;
}

static void write_rows(FILE *out, struct summary_row **rows, unsigned int nr)
{
	char name[32], bytes[HUMAN_LEN];
	bool cache_flushes = false;

	fputs("<h2>Latencies</h2>\n<div><table><tr><th class=\"t\"></th><th></th><th></th><th></th>"
	      "<th></th>"
	      "<th class=\"g\" colspan=\"3\">queue</th><th class=\"g\" colspan=\"3\">device</th>"
	      "<th class=\"g\" colspan=\"3\">total</th></tr>\n<tr><th class=\"t\">disk</th>"
	      "<th class=\"t\">operation</th><th>number</th><th>size</th><th>failed</th>", out);
	for (int phase = 0; phase < PHASES; phase++)
		fputs("<th class=\"g\">p50</th><th>p99</th><th>max</th>", out);
	fputs("</tr>\n", out);
	for (unsigned int i = 0; i < nr; i++) {
		const struct summary_row *row = rows[i];

		fputs("<tr><td class=\"t\">", out);
		html_text(out, row_disk(row, name));
		fprintf(out, "</td><td class=\"t\">%s</td><td>%" PRIu64 "</td><td>%s</td>"
			"<td%s>%" PRIu64 "</td>",
			row->cache_flush ? "cache flush" : op_name(row->op), row->ops,
			human_bytes(row->bytes, bytes), row->errors ? " class=\"bad\"" : "",
			row->errors);
		for (int phase = 0; phase < PHASES; phase++)
			write_time(out, &row->times[phase]);
		fputs("</tr>\n", out);
		cache_flushes |= row->cache_flush;
	}
	fprintf(out, "</table></div>\n<p class=\"note\">queue: until it was first handed to the "
		"device; device: from when it was last handed over; total: from beginning to "
		"end.%s</p>\n", cache_flushes ? " cache flush: the device was told to flush its "
		"write cache, for any number of those who wait for a flush." : "");
}

static void write_actors(FILE *out, const struct report *report)
{
	struct summary_actor *actors = summary_sorted_actors(report->summary);
	unsigned int nr = report->summary->nr_actors;
	char bytes[HUMAN_LEN], wait[HUMAN_LEN], max[HUMAN_LEN];

	fputs("<h2>Who waited longest</h2>\n<div><table><tr><th class=\"t\">process</th>"
	      "<th>pid</th><th>operations</th><th>size</th><th>failed</th><th>waited</th><th>slowest</th>"
	      "</tr>\n", out);
	for (unsigned int i = 0; i < nr && i < TOP_ACTORS; i++) {
		const struct summary_actor *a = &actors[i];

		fputs("<tr><td class=\"t\">", out);
		html_text(out, a->comm[0] ? a->comm : "(unknown)");
		fprintf(out, "%s</td><td>%u</td><td>%" PRIu64 "</td><td>%s</td><td%s>%" PRIu64
			"</td><td>%s</td><td>%s</td></tr>\n", a->kthread ? " (kernel thread)" : "",
			a->tgid, a->ops, human_bytes(a->bytes, bytes),
			a->errors ? " class=\"bad\"" : "", a->errors,
			human_duration(a->wait_ns, wait), human_duration(a->max_ns, max));
	}
	fputs("</table></div>\n", out);
	if (nr > TOP_ACTORS)
		fprintf(out, "<p class=\"note\">%u more.</p>\n", nr - TOP_ACTORS);
	free(actors);
}

static void write_error(FILE *out, const struct storage_event *event,
			const struct page_zone *zone)
{
	const struct monad_storage_complete *c = &event->complete;
	char time[HUMAN_LEN], total[HUMAN_LEN], size[HUMAN_LEN];
	char comm[MONAD_STORAGE_COMM_LEN + 1], disk[MONAD_STORAGE_DISK_LEN + 1];

	snprintf(comm, sizeof(comm), "%.*s", MONAD_STORAGE_COMM_LEN, c->comm);
	snprintf(disk, sizeof(disk), "%.*s", MONAD_STORAGE_DISK_LEN, c->disk);
	fprintf(out, "<tr><td class=\"t\">%s</td><td class=\"t\">",
		page_time(zone, event->desc.record_epoch_nanos, 6, time));
	html_text(out, disk);
	fprintf(out, "</td><td class=\"t\">%s</td><td class=\"t bad\">%s</td><td>", op_name(c->op),
		errno_name(c->error));
	if (c->sector == MONAD_STORAGE_NO_SECTOR)
		fputs("-", out);
	else
		fprintf(out, "%" PRIu64, c->sector);
	fprintf(out, "</td><td>%s</td><td>%s</td><td class=\"t\">", human_bytes(c->bytes, size),
		c->flags & MONAD_STORAGE_F_TOTAL_NS ? human_duration(c->total_ns, total) : "-");
	html_text(out, comm);
	fprintf(out, "</td><td>%u</td></tr>\n", c->tgid);
}

static void write_errors(FILE *out, const struct report *report, const struct page_zone *zone)
{
	size_t shown = report->nr_errors < REPORT_ERRORS ? report->nr_errors : REPORT_ERRORS;

	fprintf(out, "<h2>What failed</h2>\n");
	if (!shown) {
		fprintf(out, "<p>Nothing%s.</p>\n", *report->only ? " of that" :
			report->summary->ops ? "" : ": no operation ended");
		return;
	}
	if (shown < report->nr_errors)
		fprintf(out, "<p>The last %zu of %zu.</p>\n", shown, report->nr_errors);
	fputs("<div><table><tr><th class=\"t\">when</th><th class=\"t\">disk</th>"
	      "<th class=\"t\">operation</th><th class=\"t\">error</th><th>sector</th><th>size</th>"
	      "<th>took</th>"
	      "<th class=\"t\">process</th><th>pid</th></tr>\n", out);
	for (size_t i = report->nr_errors - shown; i < report->nr_errors; i++)
		write_error(out, &report->errors[i % REPORT_ERRORS], zone);
	fputs("</table></div>\n", out);
}

/* The pictures of one disk. */
static void write_disk(FILE *out, const struct report *report, const struct summary_row *of,
		       const struct page_axis *axis)
{
	struct heatmap *maps = xcalloc(KINDS, sizeof(*maps));
	char name[32];

	for (int kind = 0; kind < KINDS; kind++)
		maps[kind].axis = axis;
	for (size_t i = 0; i < report->nr_points; i++) {
		const struct report_point *p = &report->points[i];

		if (p->dev == of->dev && !strcmp(p->disk, of->disk))
			heatmap_add(&maps[kind_of(p->op)], p->end_ns, p->total_ns, p->bytes,
				    p->failed);
	}
	fputs("<h2>", out);
	html_text(out, row_disk(of, name));
	fputs("</h2>\n", out);
	for (int kind = 0; kind < KINDS; kind++) {
		if (!maps[kind].total)
			continue;
		fprintf(out, "<h3>%s</h3>\n<div>", kind_titles[kind]);
		heatmap_write(out, &maps[kind]);
		fputs("</div>\n", out);
	}
	free(maps);
}

static void write_pictures(FILE *out, const struct report *report, struct summary_row **rows,
			   const struct page_axis *axis)
{
	char column[HUMAN_LEN];

	for (unsigned int i = 0; i < report->summary->nr_rows; i++) {
		if (!i || rows[i]->dev != rows[i - 1]->dev ||
		    strcmp(rows[i]->disk, rows[i - 1]->disk) != 0)
			write_disk(out, report, rows[i], axis);
	}
	fprintf(out, "<p class=\"note\">Pictures: each operation when it ended, time (%s) from "
		"left to right, %s a column; latency from bottom to top, in cells of which darker ones "
		"have more operations (in a dark page: brighter ones). Below: operations, red where "
		"some failed.</p>\n", axis->zone.name, axis_duration(axis->column_ns, column));
}

void report_write(FILE *out, struct report *report)
{
	struct summary_row **rows = summary_sorted_rows(report->summary);
	unsigned int nr = report->summary->nr_rows;
	struct page_axis axis;

	if (nr)
		page_axis_init(&axis, report->summary->first_ns, report->summary->last_ns);
	else
		page_zone_init(&axis.zone, clock_ns(CLOCK_REALTIME));
	write_head(out, report, &axis.zone);
	write_only(out, report);
	if (nr) {
		write_rows(out, rows, nr);
		write_actors(out, report);
	}
	write_errors(out, report, &axis.zone);
	writeback_write(out, &report->writeback, report->filter, &axis.zone);
	if (nr)
		write_pictures(out, report, rows, &axis);
	write_losses(out, report, &axis.zone);
	fputs("</body></html>\n", out);
	free(rows);
}
