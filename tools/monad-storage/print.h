/* SPDX-License-Identifier: GPL-2.0 */
/* One event on one line, for people or as JSON. */
#ifndef MONAD_STORAGE_PRINT_H
#define MONAD_STORAGE_PRINT_H

#include "event.h"
#include "json_writer.h"

void print_header(bool all_types);
void print_event(const struct storage_event *event, bool all_types);
void print_event_json(struct json_writer *json, const struct storage_event *event);

#endif /* MONAD_STORAGE_PRINT_H */
