// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "disk.h"
#include "human.h"
#include "print.h"
#include "printable.h"
#include "task_print.h"

const char *task_disk_name(uint32_t dev, char *buf, size_t size)
{
	if (dev)
		disk_name(dev, buf, size);
	else
		snprintf(buf, size, "-");
	return buf;
}

void task_print_begin(struct json_writer *json, enum task_kind kind, uint32_t task_id)
{
	if (json) {
		json_begin_object(json);
		json_string_field(json, "type", "begin");
		json_string_field(json, "kind", task_kind_names[kind]);
		json_u64_field(json, "task", task_id);
		json_end_object(json);
		json_end(json);
	} else if (kind == TASK_BLOCK) {
		print_header(false);
	} else {
		printf("%-15s %-15s %7s %-9s %-8s %-13s %5s %10s  %s\n", "TIME", "COMM", "PID",
		       "DISK", "FS", "OP", "SIZE", "LATENCY-MS", "FILE");
	}
}

static void print_call(enum task_kind kind, const struct monad_event_descriptor *desc,
		       const struct monad_storage_call *c)
{
	char clock[HUMAN_LEN], bytes[HUMAN_LEN], latency[HUMAN_LEN];
	char disk[32], comm[MONAD_STORAGE_COMM_LEN], file[MONAD_STORAGE_FILE_LEN],
		fs[MONAD_STORAGE_FS_LEN];

	printf("%-15s %-15s %7u %-9s %-8s %-13s %5s %10s  %s%s%s\n",
	       human_clock(desc->record_epoch_nanos, clock),
	       printable(comm, sizeof(comm), *c->comm ? c->comm : "-"), c->tgid,
	       task_disk_name(event_dev(desc), disk, sizeof(disk)),
	       printable(fs, sizeof(fs), *c->fs ? c->fs : "-"), task_op_name(kind, c->op),
	       human_bytes(c->bytes, bytes), human_ms(c->latency_ns, true, latency),
	       printable(file, sizeof(file), *c->file ? c->file : "-"), c->error ? "  " : "",
	       c->error ? errno_name(c->error) : "");
}

static void print_call_json(struct json_writer *json, enum task_kind kind,
			    const struct monad_event_descriptor *desc,
			    const struct monad_storage_call *c)
{
	char text[32];

	json_begin_object(json);
	json_u64_field(json, "seqno", desc->seqno);
	json_u64_field(json, "time_ns", desc->record_epoch_nanos);
	json_string_field(json, "type", event_type_name(desc->event_type));
	json_u64_field(json, "task", c->task_id);
	snprintf(text, sizeof(text), "%u:%u", c->dev_major, c->dev_minor);
	json_string_field(json, "dev", text);
	json_string_field(json, "disk", task_disk_name(event_dev(desc), text, sizeof(text)));
	json_string_field(json, "op", task_op_name(kind, c->op));
	json_string_field(json, "fs", *c->fs ? c->fs : NULL);
	json_u64_field(json, "inode", c->inode);
	json_string_field(json, "file", *c->file ? c->file : NULL);
	json_u64_field(json, "bytes", c->bytes);
	json_string_field(json, "error", c->error ? errno_name(c->error) : NULL);
	json_string_field(json, "comm", c->comm);
	json_u64_field(json, "pid", c->tgid);
	json_u64_field(json, "tid", c->pid);
	json_bool_field(json, "kthread", c->flags & MONAD_STORAGE_F_KTHREAD);
	json_u64_field(json, "cgroup_id", c->cgroup_id);
	json_u64_field(json, "cpu", c->cpu);
	json_u64_field(json, "latency_ns", c->latency_ns);
	json_end_object(json);
	json_end(json);
}

void task_print_event(struct json_writer *json, enum task_kind kind,
		      const struct task_event *event)
{
	if (!event->is_call && json)
		print_event_json(json, &event->block, NULL);
	else if (!event->is_call)
		print_event(&event->block, event->block.complete.disk, false);
	else if (json)
		print_call_json(json, kind, &event->desc, &event->call);
	else
		print_call(kind, &event->desc, &event->call);
}

/*
 * The output of a task that runs in this process
 */

static struct task_printer *printer(struct task_output *output)
{
	return (struct task_printer *)output;
}

static void print_begin(struct task_output *output, uint32_t id)
{
	task_print_begin(printer(output)->json, printer(output)->options->kind, id);
	fflush(stdout);
}

static void print_one(struct task_output *output, const struct task_event *event)
{
	task_print_event(printer(output)->json, printer(output)->options->kind, event);
}

bool task_output_gone(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO };

	return ferror(stdout) ||
	       (poll(&output, 1, 0) == 1 && output.revents & (POLLERR | POLLHUP | POLLNVAL));
}

static uint64_t flush_now(struct task_output *output)
{
	fflush(stdout);
	return UINT64_MAX;
}

static const char *print_gone(struct task_output *output)
{
	return task_output_gone() ? "output" : NULL;
}

static void print_end(struct task_output *output, const struct task_results *results)
{
	task_print_summary(printer(output)->json, printer(output)->options, results);
}

void task_printer_init(struct task_printer *p, const struct task_options *options)
{
	p->output = (struct task_output){
		.begin = print_begin,
		.event = print_one,
		.idle = flush_now,
		.gone = print_gone,
		.end = print_end,
	};
	p->options = options;
	json_init(&p->writer, stdout, false);
	p->json = options->json ? &p->writer : NULL;
}
