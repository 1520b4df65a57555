/* SPDX-License-Identifier: GPL-2.0 */
/* One event on one line, for people or as JSON. */
#ifndef MONAD_STORAGE_PRINT_H
#define MONAD_STORAGE_PRINT_H

#include "event.h"
#include "json_writer.h"
#include "stacks.h"

void print_header(bool all_types);
/* @disk: what event_disk_name() says */
void print_event(const struct storage_event *event, const char *disk, bool all_types);
/* @stacks: NULL, or with the stack */
void print_event_json(struct json_writer *json, const struct storage_event *event,
		      const struct stacks *stacks);

/* What the table shows, for --help. */
#define COLUMNS_DOC \
	"COLUMNS\n" \
	"  COMM, PID  who asked for the I/O, when it was queued\n" \
	"  RWBS       as blktrace writes it: F flush, R read, W write, D discard,\n" \
	"             F FUA, A readahead, S sync, M metadata\n" \
	"  QUEUE-MS   from then until it was handed to the device\n" \
	"  DEVICE-MS  from the last time it was handed over until it was done\n" \
	"  TOTAL-MS   all of it\n" \
	"  SECTOR     of 512 bytes, on the whole disk; SIZE in bytes\n" \
	"  REMARKS    the error, timeouts, requeues, and what is not known of it\n\n"

#endif /* MONAD_STORAGE_PRINT_H */
