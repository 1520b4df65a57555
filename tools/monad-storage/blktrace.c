// SPDX-License-Identifier: GPL-2.0
/*
 * Makes blktrace's records of our events.
 *
 * What blktrace has and we do not see is left out (I, P, U, X, A), but for Q and G: whatever
 * reads such files takes a Q for the beginning of an I/O. The beginning of a request was seen,
 * or rather timed, by the programs, which write no event for it: its Q and G are made of the
 * times in the first event that has them. A bio's Q is an event.
 *
 * The time of an event is when it was put into the ring. The times between two of them were
 * taken by the programs, and are exact: so an issue (or a bio's Q) whose operation ended is
 * put as long before that end as it was. Then btt has the same D2C as we do.
 */
#include <stdlib.h>
#include <string.h>

#include "blktrace.h"
#include "monad_storage.h"

#define SECTOR_SHIFT 9

/* Room for one more of what @array has @nr of. */
static void *make_room(void *array, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return array;
	*room = *room * 2 + 1024;
	return xrealloc(array, *room * size);
}

void blktrace_add(struct blktrace *trace, const struct storage_event *event)
{
	const struct monad_storage_complete *c = &event->complete;
	const struct monad_storage_step *s = &event->step;
	uint64_t start = event->desc.content_ext[MONAD_STORAGE_TAG_START];
	struct blktrace_event e = {
		.op_seqno = start ? start : event->desc.seqno,
		.seqno = event->desc.seqno,
		.time_ns = event->desc.record_epoch_nanos,
		.dev = event_dev(&event->desc),
		.type = event->desc.event_type,
	};

	if (event->is_complete) {
		e.sector = c->sector;
		e.bytes = c->bytes;
		e.device_ns = c->device_ns;
		e.total_ns = c->total_ns;
		e.flags = c->flags;
		e.tid = c->pid;
		e.op = c->op;
		e.error = c->error;
		e.cpu = c->cpu;
		e.issue_cpu = c->issue_cpu;
		e.issues = c->issues;
		memcpy(e.comm, c->comm, sizeof(e.comm));
		memcpy(e.disk, c->disk, sizeof(e.disk));
	} else {
		e.sector = s->sector;
		e.bytes = s->bytes;
		e.total_ns = s->since_ns;
		e.flags = s->flags;
		e.tid = s->pid;
		e.op = s->op;
		e.error = s->error;
		e.cpu = s->cpu;
		e.issue_cpu = s->cpu;
		e.issues = s->issues;
		memcpy(e.comm, s->comm, sizeof(e.comm));
	}
	if (e.sector == MONAD_STORAGE_NO_SECTOR)
		e.sector = 0;
	trace->events = make_room(trace->events, trace->nr_events, &trace->events_room, sizeof(e));
	trace->events[trace->nr_events++] = e;
}

void blktrace_add_gap(struct blktrace *trace, uint64_t time_ns, uint64_t missed)
{
	const struct blktrace_gap gap = { time_ns, missed };

	trace->gaps = make_room(trace->gaps, trace->nr_gaps, &trace->gaps_room, sizeof(gap));
	trace->gaps[trace->nr_gaps++] = gap;
}

static bool is_end(const struct blktrace_event *e)
{
	return e->type == MONAD_STORAGE_RQ_COMPLETE || e->type == MONAD_STORAGE_BIO_COMPLETE ||
	       e->type == MONAD_STORAGE_FLUSH_COMPLETE;
}

/* The data of a write with flushes is with the device. */
static bool is_data_end(const struct blktrace_event *e)
{
	return e->type == MONAD_STORAGE_RQ_PARTIAL && (e->flags & MONAD_STORAGE_F_FLUSH_SEQ);
}

/* The kernel's own flush, which nobody queued. */
static bool is_cache_flush(const struct blktrace_event *e)
{
	return e->type == MONAD_STORAGE_FLUSH_COMPLETE ||
	       (e->type == MONAD_STORAGE_RQ_ISSUE && e->op == MONAD_STORAGE_OP_FLUSH);
}

static void add_record(struct blktrace *trace, const struct blktrace_event *e,
		       enum blktrace_kind kind, uint64_t time_ns)
{
	const struct blktrace_record record = { time_ns, e, kind };

	trace->records = make_room(trace->records, trace->nr_records, &trace->records_room,
				   sizeof(record));
	trace->records[trace->nr_records++] = record;
}

/* When the operation of an event began; false if that is not known. */
static bool start_of(const struct blktrace_event *e, uint64_t *start_ns)
{
	if (is_end(e) && !(e->flags & MONAD_STORAGE_F_TOTAL_NS))
		return false;
	if (!e->total_ns || e->total_ns > e->time_ns)
		return false;
	*start_ns = e->time_ns - e->total_ns;
	return true;
}

/* The operation of @n events, which has begun with a request, or a bio whose Q is not there. */
static void add_start(struct blktrace *trace, const struct blktrace_event *events, size_t n)
{
	const struct blktrace_event *from = NULL;
	uint64_t start_ns = 0;

	for (size_t i = 0; i < n; i++) {
		/* What became part of another one is in that one's Q. */
		if (events[i].type == MONAD_STORAGE_BIO_QUEUE || is_cache_flush(&events[i]) ||
		    events[i].type == MONAD_STORAGE_RQ_MERGE ||
		    (events[i].flags & MONAD_STORAGE_F_PASSTHROUGH))
			return;
		/* The end knows it best: how large it got, too. */
		if ((!from || is_end(&events[i])) && start_of(&events[i], &start_ns))
			from = &events[i];
	}
	if (!from)
		return;
	add_record(trace, from, BLKTRACE_QUEUE, start_ns);
	if (from->type != MONAD_STORAGE_BIO_COMPLETE)
		add_record(trace, from, BLKTRACE_GETRQ, start_ns);
}

/* From the event at which the device was done, when its work began. */
static uint64_t issue_time(const struct blktrace_event *events, size_t n, size_t issue)
{
	const struct blktrace_event *last = &events[n - 1], *done = last;
	uint64_t time_ns;

	if (!is_end(last) || !(last->flags & MONAD_STORAGE_F_DEVICE_NS))
		return events[issue].time_ns;
	for (size_t i = issue + 1; i < n; i++) {
		/* It was not this issue that was timed. */
		if (events[i].type == MONAD_STORAGE_RQ_ISSUE)
			return events[issue].time_ns;
		if (is_data_end(&events[i]))
			done = &events[i];
	}
	if (last->device_ns > done->time_ns)
		return events[issue].time_ns;
	time_ns = done->time_ns - last->device_ns;
	/* Not before what came before it: a requeue, say. */
	if (issue && time_ns < events[issue - 1].time_ns &&
	    events[issue - 1].time_ns < events[issue].time_ns)
		time_ns = events[issue - 1].time_ns;
	return time_ns;
}

static void add_end(struct blktrace *trace, struct blktrace_event *events, size_t n)
{
	struct blktrace_event *end = &events[n - 1];

	if (end->flags & MONAD_STORAGE_F_END_UNSEEN) {
		trace->unseen++;
		return;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		if (events[i].type == MONAD_STORAGE_RQ_PARTIAL)
			end->done += events[i].bytes;
	}
	if (end->done > end->bytes)
		end->done = end->bytes;
	add_record(trace, end, BLKTRACE_COMPLETE, end->time_ns);
}

static bool is_selected(const struct blktrace *trace, const struct blktrace_event *events, size_t n)
{
	bool failed = !trace->errors, slow = !trace->min_latency_ns;

	for (size_t i = 0; i < n; i++) {
		failed |= events[i].error != 0;
		slow |= events[i].total_ns >= trace->min_latency_ns;
	}
	return failed && slow;
}

static void convert_operation(struct blktrace *trace, struct blktrace_event *events, size_t n)
{
	if (!is_selected(trace, events, n))
		return;
	add_start(trace, events, n);
	for (size_t i = 0; i < n; i++) {
		struct blktrace_event *e = &events[i];

		switch (e->type) {
		case MONAD_STORAGE_BIO_QUEUE:
			add_record(trace, e, BLKTRACE_QUEUE, issue_time(events, n, i));
			break;
		case MONAD_STORAGE_RQ_ISSUE:
			add_record(trace, e, BLKTRACE_ISSUE, issue_time(events, n, i));
			break;
		case MONAD_STORAGE_RQ_REQUEUE:
			add_record(trace, e, BLKTRACE_REQUEUE, e->time_ns);
			break;
		case MONAD_STORAGE_RQ_MERGE:
			add_record(trace, e, BLKTRACE_MERGE, e->time_ns);
			break;
		case MONAD_STORAGE_RQ_PARTIAL:
			add_record(trace, e, BLKTRACE_COMPLETE, e->time_ns);
			break;
		default:
			add_end(trace, events, i + 1);
		}
	}
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_operation(const void *a, const void *b)
{
	const struct blktrace_event *x = a, *y = b;
	int order = compare(x->op_seqno, y->op_seqno);

	return order ? order : compare(x->seqno, y->seqno);
}

static int by_time(const void *a, const void *b)
{
	const struct blktrace_record *x = a, *y = b;
	int order = compare(x->event->dev, y->event->dev);

	order = order ? order : compare(x->time_ns, y->time_ns);
	order = order ? order : compare(x->kind, y->kind);
	return order ? order : compare(x->event->seqno, y->event->seqno);
}

void blktrace_convert(struct blktrace *trace)
{
	struct blktrace_event *events = trace->events;
	size_t n;

	if (!trace->nr_events)
		return;
	qsort(events, trace->nr_events, sizeof(*events), by_operation);
	for (size_t i = 0; i < trace->nr_events; i += n) {
		for (n = 1; i + n < trace->nr_events; n++) {
			if (events[i + n].op_seqno != events[i].op_seqno)
				break;
		}
		convert_operation(trace, &events[i], n);
	}
	if (trace->nr_records)
		qsort(trace->records, trace->nr_records, sizeof(*trace->records), by_time);
}

/* What the kernel calls a write: all that the device is given something for. */
static bool is_write(const struct blktrace_event *e)
{
	switch (e->op) {
	case MONAD_STORAGE_OP_READ:
	case MONAD_STORAGE_OP_DRV_IN:
	case MONAD_STORAGE_OP_OTHER:
		return false;
	case MONAD_STORAGE_OP_FLUSH:
		/* An fsync is a write of nothing; a flush that was issued is a command. */
		return !is_cache_flush(e) && !(e->type == MONAD_STORAGE_RQ_COMPLETE && e->issues);
	}
	return true;
}

/*
 * The flags that blktrace has: the kernel takes those off that it does itself, by flushes around
 * a request. Where both were asked for, it is not known whether FUA was left to the device.
 */
static uint32_t flags_of(const struct blktrace_record *record)
{
	const uint32_t both = MONAD_STORAGE_F_PREFLUSH | MONAD_STORAGE_F_FUA;
	const struct blktrace_event *e = record->event;
	uint32_t flags = e->flags;

	if (record->kind == BLKTRACE_QUEUE || record->kind == BLKTRACE_GETRQ ||
	    e->type == MONAD_STORAGE_BIO_COMPLETE)
		return flags;
	if (flags & MONAD_STORAGE_F_FLUSH_SEQ && (flags & both) == MONAD_STORAGE_F_FUA)
		flags &= ~MONAD_STORAGE_F_FUA;
	return flags & ~MONAD_STORAGE_F_PREFLUSH;
}

static uint32_t categories(const struct blktrace_record *record)
{
	static const struct {
		uint32_t flag, category;
	} map[] = {
		{ MONAD_STORAGE_F_SYNC, BLK_TC_SYNC },
		{ MONAD_STORAGE_F_META, BLK_TC_META },
		{ MONAD_STORAGE_F_RAHEAD, BLK_TC_AHEAD },
		{ MONAD_STORAGE_F_PREFLUSH, BLK_TC_FLUSH },
		{ MONAD_STORAGE_F_FUA, BLK_TC_FUA },
	};
	const struct blktrace_event *e = record->event;
	uint32_t bits = is_write(e) ? BLK_TC_WRITE : BLK_TC_READ, flags = flags_of(record);

	for (size_t i = 0; i < ARRAY_SIZE(map); i++) {
		if (flags & map[i].flag)
			bits |= map[i].category;
	}
	/* The end of an fsync is that of a write of nothing. */
	if (e->op == MONAD_STORAGE_OP_FLUSH && !is_write(e))
		bits |= BLK_TC_FLUSH;
	if (e->op == MONAD_STORAGE_OP_DISCARD || e->op == MONAD_STORAGE_OP_SECURE_ERASE)
		bits |= BLK_TC_DISCARD;
	/* Bios have neither. */
	if (record->kind == BLKTRACE_QUEUE || record->kind == BLKTRACE_GETRQ ||
	    e->type == MONAD_STORAGE_BIO_COMPLETE)
		return bits;
	return bits | (e->flags & MONAD_STORAGE_F_PASSTHROUGH ? BLK_TC_PC : BLK_TC_FS);
}

void blktrace_encode(const struct blktrace_record *record, struct blk_io_trace *encoded)
{
	static const uint32_t actions[] = {
		[BLKTRACE_QUEUE] = BLK_TA_QUEUE,     [BLKTRACE_GETRQ] = BLK_TA_GETRQ,
		[BLKTRACE_MERGE] = BLK_TA_BACKMERGE, [BLKTRACE_ISSUE] = BLK_TA_ISSUE,
		[BLKTRACE_REQUEUE] = BLK_TA_REQUEUE, [BLKTRACE_COMPLETE] = BLK_TA_COMPLETE,
	};
	const struct blktrace_event *e = record->event;
	uint64_t sector = e->sector, bytes = e->bytes;
	uint16_t cpu = e->cpu, error = 0;

	if (record->kind == BLKTRACE_COMPLETE) {
		bytes -= e->done;
		if (bytes)
			sector += e->done >> SECTOR_SHIFT;
		/* As the kernel has it: what fits of the negative number. */
		error = (uint16_t)-e->error;
	} else if (record->kind == BLKTRACE_QUEUE || record->kind == BLKTRACE_GETRQ) {
		cpu = e->issue_cpu;
	}
	*encoded = (struct blk_io_trace){
		.magic = BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION,
		.time = record->time_ns,
		.sector = sector,
		.bytes = bytes < UINT32_MAX ? bytes : UINT32_MAX,
		.action = actions[record->kind] | BLK_TC_ACT(categories(record)),
		.pid = e->tid,
		.device = e->dev,
		.cpu = cpu,
		.error = error,
	};
}

void blktrace_free(struct blktrace *trace)
{
	free(trace->events);
	free(trace->gaps);
	free(trace->records);
}
