/* SPDX-License-Identifier: GPL-2.0 */
/* What a task shows: its events as they happen, and one summary at its end. */
#ifndef MONAD_STORAGE_TASK_PRINT_H
#define MONAD_STORAGE_TASK_PRINT_H

#include "json_writer.h"
#include "task_run.h"

/* All of it, on stdout. */
struct task_printer {
	struct task_output output; /* for task_run() */
	const struct task_options *options;
	struct json_writer writer;
	struct json_writer *json; /* &writer, or NULL */
};

void task_printer_init(struct task_printer *printer, const struct task_options *options);

/* Whether who reads stdout has gone away. */
bool task_output_gone(void);

/* Above the events, once it has begun: the head of the table, or {"type":"begin",...}. */
void task_print_begin(struct json_writer *json, enum task_kind kind, uint32_t task_id);

/* One line; as JSON with @json. */
void task_print_event(struct json_writer *json, enum task_kind kind,
		      const struct task_event *event);

/* With @json, one line of that: {"type":"summary",...}. */
void task_print_summary(struct json_writer *json, const struct task_options *options,
			const struct task_results *results);

/* What a device is called; "-" if there is none. */
const char *task_disk_name(uint32_t dev, char *buf, size_t size);

#endif /* MONAD_STORAGE_TASK_PRINT_H */
