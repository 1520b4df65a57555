/* SPDX-License-Identifier: GPL-2.0 */
/* Many events in a few tables: per device and operation, and per actor. */
#ifndef MONAD_STORAGE_SUMMARY_H
#define MONAD_STORAGE_SUMMARY_H

#include "event.h"
#include "json_writer.h"
#include "reader.h"

struct summary;

struct summary *summary_new(void);
void summary_free(struct summary *summary);
void summary_add(struct summary *summary, const struct storage_event *event);
/* @histograms: of the rows that have some operations, too */
void summary_print(const struct summary *summary, const struct reader *reader, bool histograms);
void summary_print_json(struct json_writer *json, const struct summary *summary,
			const struct reader *reader);

#endif /* MONAD_STORAGE_SUMMARY_H */
