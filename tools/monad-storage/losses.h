/* SPDX-License-Identifier: GPL-2.0 */
/* What is not in a reader's output, per cause. */
#ifndef MONAD_STORAGE_LOSSES_H
#define MONAD_STORAGE_LOSSES_H

#include "json_writer.h"
#include "reader.h"
#include "storage_state.h"

/* Keys of the causes for which a ring loses events: "no_slot". */
extern const char *const ring_loss_names[MONAD_RING_LOST_COUNT];

/* Whether a counter says that something was not seen, or not in full. */
bool losses_has(enum monad_storage_counter which);

/* A gap, where it is in the output: @json NULL, as text. */
void losses_gap(struct json_writer *json, uint64_t missed);

/* At the end: in JSON an object of totals, and a line on stderr if there were any. */
void losses_totals(struct json_writer *json, const struct reader *reader);

/* @by_reader: and what @reader itself missed, which makes sense only when it has read. */
void losses_print(const struct reader *reader, bool by_reader);

/*
 * Whether anything was lost or not seen, by the ring and the programs, since they began. What
 * was under way when the recording began does not count.
 */
bool losses_any(const struct reader *reader);

void losses_print_json(struct json_writer *json, const struct reader *reader);

#endif /* MONAD_STORAGE_LOSSES_H */
