// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "event.h"
#include "html.h"
#include "human.h"
#include "monad_storage.h"
#include "report_writeback.h"

/* More are summed up. */
#define TOP_WRITERS 20
/* One program may be held up between it and the next. */
#define SLACK_NS (NSEC_PER_SEC / 100)

/* It is no operation, and does not fail. */
static bool wanted_at_all(const struct filter *filter)
{
	return !filter->ops && !filter->errors;
}

static bool wanted_disk(const struct filter *filter, uint32_t dev, const char *name)
{
	if ((!filter->nr_devs && !filter->nr_names) ||
	    filter_has(filter->devs, filter->nr_devs, dev))
		return true;
	for (unsigned int i = 0; i < filter->nr_names; i++) {
		if (!strcmp(filter->names[i], name))
			return true;
	}
	return false;
}

/*
 * Each of several tasks has its own event of a pause. That of another task is of the same if it
 * is of the same thread, as long and as much, written at about the same time: nobody is put to
 * sleep who sleeps.
 */
static bool seen_before(struct writeback *w, const struct monad_storage_call *call,
			uint64_t time_ns)
{
	size_t nr = w->nr_pauses < WRITEBACK_RECENT ? w->nr_pauses : WRITEBACK_RECENT;
	uint64_t task = 1ULL << call->task_id % 64;

	for (size_t i = 0; i < nr; i++) {
		struct writeback_pause *p = &w->recent[i];
		uint64_t apart = time_ns > p->time_ns ? time_ns - p->time_ns :
							p->time_ns - time_ns;

		if (p->pid == call->pid && p->pause_ns == call->latency_ns &&
		    p->dirtied == call->bytes && apart < p->pause_ns + SLACK_NS &&
		    !(p->tasks & task)) {
			p->tasks |= task;
			return true;
		}
	}
	w->recent[w->nr_pauses++ % WRITEBACK_RECENT] = (struct writeback_pause){
		.time_ns = time_ns, .pause_ns = call->latency_ns, .dirtied = call->bytes,
		.tasks = task, .pid = call->pid,
	};
	return false;
}

/* There are few: those who had to wait while somebody looked. */
static struct writeback_writer *find_writer(struct writeback *w,
					    const struct monad_storage_call *call, uint32_t dev)
{
	struct writeback_writer *writer;

	for (size_t i = 0; i < w->nr_writers; i++) {
		writer = &w->writers[i];
		if (writer->dev == dev && writer->tgid == call->tgid &&
		    !strcmp(writer->comm, call->comm))
			return writer;
	}
	w->writers = xrealloc(w->writers, (w->nr_writers + 1) * sizeof(*w->writers));
	writer = &w->writers[w->nr_writers++];
	memset(writer, 0, sizeof(*writer));
	writer->dev = dev;
	writer->tgid = call->tgid;
	memcpy(writer->comm, call->comm, sizeof(writer->comm));
	return writer;
}

void writeback_add(struct writeback *w, struct reader *reader, const struct filter *filter,
		   const struct monad_event_descriptor *desc)
{
	struct writeback_writer *writer;
	struct monad_storage_call call;
	uint32_t dev;

	if (!wanted_at_all(filter) ||
	    !cgroup_set_has(&filter->cgroups, desc->content_ext[MONAD_STORAGE_TAG_CGROUP]) ||
	    desc->content_ext[MONAD_STORAGE_TAG_LATENCY] < filter->min_latency_ns)
		return;
	if (desc->payload_size < sizeof(call)) {
		reader->unknown++;
		return;
	}
	if (!monad_event_iterator_payload_memcpy(&reader->iter, desc, &call, sizeof(call))) {
		reader->expired++;
		return;
	}
	call.comm[sizeof(call.comm) - 1] = '\0';
	dev = DISK_DEV(call.dev_major, call.dev_minor);
	if (!pid_set_has(&filter->pids, call.pid, call.tgid))
		return;
	if (seen_before(w, &call, desc->record_epoch_nanos))
		return;
	writer = find_writer(w, &call, dev);
	writer->times++;
	writer->dirtied += call.bytes;
	writer->slept_ns += call.latency_ns;
	if (call.latency_ns > writer->longest_ns)
		writer->longest_ns = call.latency_ns;
}

void writeback_note_disk(struct writeback *w, struct reader *reader,
			 const struct monad_event_descriptor *desc)
{
	struct storage_event event;

	if (event_is_operation(desc->event_type) &&
	    event_read(&reader->iter, desc, &event) == EVENT_OK)
		event_disk_name(&w->disks, &event);
}

void writeback_read_sums(struct writeback *w, const struct reader *reader)
{
	w->here = reader->recorded_to;
	w->has_sums = w->here && !metrics_read(&w->sums);
}

void writeback_free(struct writeback *w)
{
	free(w->writers);
	event_disks_free(&w->disks);
	if (w->has_sums)
		metrics_free(&w->sums);
	memset(w, 0, sizeof(*w));
}

static int compare_writers(const void *a, const void *b)
{
	const struct writeback_writer *x = a, *y = b;

	return (x->slept_ns < y->slept_ns) - (x->slept_ns > y->slept_ns);
}

/* As the ring has it; what it was recorded on may be another machine, with other disks. */
static void name_disk(const struct writeback *w, uint32_t dev, char *name, size_t size)
{
	const char *known = event_disk_known(&w->disks, dev);

	if (known)
		disk_event_name(known, name, size);
	else if (w->here)
		disk_name(dev, name, size);
	else
		snprintf(name, size, "%u:%u", dev >> 20, dev & 0xfffff);
}

/* Not before: the name of a disk may be in a later event. */
static void forget_other_disks(struct writeback *w, const struct filter *filter)
{
	size_t nr = 0;
	char name[32];

	for (size_t i = 0; i < w->nr_writers; i++) {
		name_disk(w, w->writers[i].dev, name, sizeof(name));
		if (wanted_disk(filter, w->writers[i].dev, name))
			w->writers[nr++] = w->writers[i];
	}
	w->nr_writers = nr;
}

static void write_writers(FILE *out, struct writeback *w)
{
	char name[32], dirtied[HUMAN_LEN], slept[HUMAN_LEN], longest[HUMAN_LEN];

	if (!w->nr_writers) {
		fputs("<p class=\"note\">This page cannot show who it was: that is recorded only "
		      "while <code>monad-storage task writeback-pressure</code> runs, and nothing "
		      "of this time was.</p>\n", out);
		return;
	}
	qsort(w->writers, w->nr_writers, sizeof(*w->writers), compare_writers);
	fputs("<h3>Who, in this time</h3>\n<div><table><tr><th class=\"t\">disk</th>"
	      "<th class=\"t\">process</th><th>pid</th><th>times</th><th>dirtied</th>"
	      "<th>slept</th><th>longest</th></tr>\n", out);
	for (size_t i = 0; i < w->nr_writers && i < TOP_WRITERS; i++) {
		const struct writeback_writer *writer = &w->writers[i];

		name_disk(w, writer->dev, name, sizeof(name));
		fputs("<tr><td class=\"t\">", out);
		html_text(out, writer->dev ? name : "(no disk)");
		fputs("</td><td class=\"t\">", out);
		html_text(out, writer->comm);
		fprintf(out, "</td><td>%u</td><td>%" PRIu64 "</td><td>%s</td><td>%s</td>"
			"<td>%s</td></tr>\n", writer->tgid, writer->times,
			human_bytes(writer->dirtied, dirtied),
			human_duration(writer->slept_ns, slept),
			human_duration(writer->longest_ns, longest));
	}
	fputs("</table></div>\n", out);
	if (w->nr_writers > TOP_WRITERS)
		fprintf(out, "<p class=\"note\">%zu more.</p>\n", w->nr_writers - TOP_WRITERS);
	fputs("<p class=\"note\">Only while <code>monad-storage task writeback-pressure</code> "
	      "looked: of other times there are no events.</p>\n", out);
}

static void write_sum(FILE *out, const struct metrics_series *s)
{
	const enum monad_storage_phase phase = MONAD_STORAGE_PHASE_TOTAL;
	char dirtied[HUMAN_LEN], slept[HUMAN_LEN], p50[HUMAN_LEN], p99[HUMAN_LEN];

	fputs("<tr><td class=\"t\">", out);
	html_text(out, s->disk);
	fprintf(out, "</td><td>%" PRIu64 "</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
		s->sum.ops, human_bytes(s->sum.bytes, dirtied),
		human_duration(s->sum.sum_ns[phase], slept),
		human_duration(metrics_percentile(&s->sum, phase, 50), p50),
		human_duration(metrics_percentile(&s->sum, phase, 99), p99));
}

static void write_sums(FILE *out, const struct writeback *w, const struct filter *filter,
		       const struct page_zone *zone)
{
	char since[HUMAN_LEN];
	bool any = false;

	if (!w->has_sums) {
		fputs("<p class=\"note\">This page cannot show how often that was for each disk: "
		      "the programs that record add it up, outside of the ring, and this one is not "
		      "recorded to now.</p>\n", out);
		return;
	}
	if (filter->pids.nr || filter->min_latency_ns) {
		fputs("<p class=\"note\">This page cannot show how often that was for each disk: "
		      "it is added up for all processes and lengths together "
		      "(<code>monad-storage latency</code>).</p>\n", out);
		return;
	}
	page_time(zone, w->sums.started_ns, 0, since);
	for (size_t i = 0; i < w->sums.nr_throttles; i++) {
		const struct metrics_series *s = &w->sums.throttles[i];

		if (!s->sum.ops || !wanted_disk(filter, s->dev, s->disk))
			continue;
		if (!any)
			fprintf(out, "<h3>All, since %s</h3>\n<div><table><tr>"
				"<th class=\"t\">disk</th><th>times</th><th>dirtied</th><th>slept</th><th>p50</th>"
				"<th>p99</th></tr>\n", since);
		any = true;
		write_sum(out, s);
	}
	if (any)
		fputs("</table></div>\n<p class=\"note\">Since the recording was started, "
		      "whatever the time of this page. dirtied: since they were put to sleep "
		      "before.</p>\n", out);
	else
		fprintf(out, "<p>Nobody was put to sleep since the recording was started, %s."
			"</p>\n", since);
}

void writeback_write(FILE *out, struct writeback *w, const struct filter *filter,
		     const struct page_zone *zone)
{
	fputs("<h2>Writeback</h2>\n", out);
	if (!wanted_at_all(filter)) {
		fputs("<p>Not asked for: it is no operation.</p>\n", out);
		return;
	}
	fputs("<p>Those who write to files are put to sleep when they have dirtied more memory "
	      "than the disk keeps up with. No operation has to wait for that: it is in no other "
	      "table.</p>\n", out);
	write_sums(out, w, filter, zone);
	forget_other_disks(w, filter);
	write_writers(out, w);
}
