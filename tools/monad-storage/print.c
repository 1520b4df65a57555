// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "disk.h"
#include "human.h"
#include "monad_storage.h"
#include "print.h"
#include "printable.h"

void print_header(bool all_types)
{
	printf("%-15s %-15s %7s %-9s ", "TIME", "COMM", "PID", "DISK");
	if (all_types)
		printf("%-14s ", "EVENT");
	printf("%-12s %-5s %12s %5s %10s %10s %10s  %s\n", "OP", "RWBS", "SECTOR", "SIZE",
	       "QUEUE-MS", "DEVICE-MS", "TOTAL-MS", "REMARKS");
}

static void remark(const char **separator, const char *text)
{
	printf("%s%s", *separator, text);
	*separator = ", ";
}

static void print_remarks(const struct storage_event *event)
{
	const struct monad_storage_complete *c = &event->complete;
	uint32_t flags = event->is_complete ? c->flags : event->step.flags;
	unsigned int err = event->is_complete ? c->error : event->step.error;
	const char *separator = "  ";
	char text[64];

	if (err)
		remark(&separator, errno_name(err));
	if (flags & MONAD_STORAGE_F_TIMED_OUT)
		remark(&separator, "timed out");
	if (event->is_complete) {
		if (c->issues > 1) {
			snprintf(text, sizeof(text), "issued %u times", c->issues);
			remark(&separator, text);
		}
		if (c->requeues_issued + c->requeues_unissued) {
			snprintf(text, sizeof(text), "requeued %u times",
				 c->requeues_issued + c->requeues_unissued);
			remark(&separator, text);
		}
	}
	if (flags & MONAD_STORAGE_F_CLOCK_BACKWARDS)
		remark(&separator, "clock went backwards");
	if (flags & MONAD_STORAGE_F_END_UNSEEN)
		remark(&separator, "end not seen");
	if (flags & MONAD_STORAGE_F_ORPHAN)
		remark(&separator, "start not seen");
	else if (flags & MONAD_STORAGE_F_ACTOR_ISSUER)
		remark(&separator, "issued by, not asked by");
	putchar('\n');
}

void print_event(const struct storage_event *event, const char *disk, bool all_types)
{
	const struct monad_storage_complete *c = &event->complete;
	const struct monad_storage_step *s = &event->step;
	bool complete = event->is_complete;
	uint32_t flags = complete ? c->flags : s->flags;
	uint64_t sector = complete ? c->sector : s->sector;
	unsigned int op = complete ? c->op : s->op;
	char clock[HUMAN_LEN], bytes[HUMAN_LEN], queue[HUMAN_LEN], device[HUMAN_LEN],
		total[HUMAN_LEN], name[32], comm[MONAD_STORAGE_COMM_LEN], rwbs[RWBS_LEN];
	const char *who = complete ? c->comm : s->comm;

	if (*disk)
		printable(name, sizeof(name), disk);
	else if (event_dev(&event->desc))
		disk_name(event_dev(&event->desc), name, sizeof(name));
	else
		snprintf(name, sizeof(name), "-");
	event_rwbs(op, flags, rwbs);
	printf("%-15s %-15s %7u %-9s ", human_clock(event->desc.record_epoch_nanos, clock),
	       printable(comm, sizeof(comm), *who ? who : "-"), complete ? c->tgid : s->tgid, name);
	if (all_types)
		printf("%-14s ", event_type_name(event->desc.event_type));
	printf("%-12s %-5s ", op_name(op), rwbs);
	if (sector == MONAD_STORAGE_NO_SECTOR)
		printf("%12s ", "-");
	else
		printf("%12" PRIu64 " ", sector);
	human_bytes(complete ? c->bytes : s->bytes, bytes);
	if (complete) {
		human_ms(c->queue_ns, flags & MONAD_STORAGE_F_QUEUE_NS, queue);
		human_ms(c->device_ns, flags & MONAD_STORAGE_F_DEVICE_NS, device);
		human_ms(c->total_ns, flags & MONAD_STORAGE_F_TOTAL_NS, total);
	} else {
		const bool first = event->desc.event_type == MONAD_STORAGE_RQ_ISSUE &&
				   s->issues == 1;

		human_ms(s->since_ns, first, queue);
		human_ms(0, false, device);
		human_ms(s->since_ns, !first, total);
	}
	printf("%5s %10s %10s %10s", bytes, queue, device, total);
	print_remarks(event);
}

static void json_time(struct json_writer *json, const char *key, uint64_t ns, bool known)
{
	json_key(json, key);
	if (known)
		json_u64(json, ns);
	else
		json_null(json);
}

static void json_flags(struct json_writer *json, uint32_t flags)
{
	json_key(json, "flags");
	json_begin_array(json);
	for (unsigned int bit = 0; bit < 32; bit++) {
		const char *name = flags >> bit & 1 ? flag_name(bit) : NULL;

		if (name)
			json_string(json, name);
	}
	json_end_array(json);
}

void print_event_json(struct json_writer *json, const struct storage_event *event,
		      const struct stacks *stacks)
{
	const struct monad_storage_complete *c = &event->complete;
	const struct monad_storage_step *s = &event->step;
	bool complete = event->is_complete;
	uint32_t flags = complete ? c->flags : s->flags;
	uint64_t sector = complete ? c->sector : s->sector;
	unsigned int op = complete ? c->op : s->op, err = complete ? c->error : s->error;
	uint32_t dev = event_dev(&event->desc);
	char text[32], rwbs[RWBS_LEN];

	json_begin_object(json);
	json_u64_field(json, "seqno", event->desc.seqno);
	json_u64_field(json, "time_ns", event->desc.record_epoch_nanos);
	json_string_field(json, "type", event_type_name(event->desc.event_type));
	json_u64_field(json, "start_seqno", event->desc.content_ext[MONAD_STORAGE_TAG_START]);
	snprintf(text, sizeof(text), "%u:%u", dev >> 20, dev & 0xfffff);
	json_string_field(json, "dev", text);
	if (complete)
		json_string_field(json, "disk", c->disk);
	json_string_field(json, "op", op_name(op));
	event_rwbs(op, flags, rwbs);
	json_string_field(json, "rwbs", rwbs);
	json_flags(json, flags);
	json_key(json, "sector");
	if (sector == MONAD_STORAGE_NO_SECTOR)
		json_null(json);
	else
		json_u64(json, sector);
	json_u64_field(json, "bytes", complete ? c->bytes : s->bytes);
	json_string_field(json, "error", err ? errno_name(err) : NULL);
	json_string_field(json, "comm", complete ? c->comm : s->comm);
	json_u64_field(json, "pid", complete ? c->tgid : s->tgid);
	json_u64_field(json, "tid", complete ? c->pid : s->pid);
	json_u64_field(json, "cgroup_id", event->desc.content_ext[MONAD_STORAGE_TAG_CGROUP]);
	json_u64_field(json, "cpu", complete ? c->cpu : s->cpu);
	json_u64_field(json, "issues", complete ? c->issues : s->issues);
	if (complete) {
		json_u64_field(json, "actor_cgroup_id", c->actor_cgroup_id);
		json_time(json, "queue_ns", c->queue_ns, flags & MONAD_STORAGE_F_QUEUE_NS);
		json_time(json, "device_ns", c->device_ns, flags & MONAD_STORAGE_F_DEVICE_NS);
		json_time(json, "total_ns", c->total_ns, flags & MONAD_STORAGE_F_TOTAL_NS);
		json_u64_field(json, "requeues_issued", c->requeues_issued);
		json_u64_field(json, "requeues_unissued", c->requeues_unissued);
		json_u64_field(json, "partials", c->partials);
		json_u64_field(json, "issue_cpu", c->issue_cpu);
	} else {
		json_u64_field(json, "since_ns", s->since_ns);
	}
	if (stacks)
		stacks_print_json(stacks, event, json);
	json_end_object(json);
	json_end(json);
}
