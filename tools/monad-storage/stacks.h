/* SPDX-License-Identifier: GPL-2.0 */
/* The stacks that a ring has, and which I/O came from which. */
#ifndef MONAD_STORAGE_STACKS_H
#define MONAD_STORAGE_STACKS_H

#include "event.h"
#include "json_writer.h"
#include "reader.h"

struct stacks;

/* All stacks that are in the ring now; NULL after a message. stacks_free() it. */
struct stacks *stacks_read(struct reader *reader);
void stacks_free(struct stacks *stacks);

/* Takes one that may have come since. */
void stacks_add(struct stacks *stacks, struct monad_event_iterator *iter,
		const struct monad_event_descriptor *desc);

/* The one with that number, as of the event @seqno; NULL if it is not there (any more). */
const struct monad_storage_stack *stacks_find(const struct stacks *stacks, uint32_t id,
					      uint64_t seqno);

/* Below its line: a line for each function, innermost first. */
void stacks_print(const struct stacks *stacks, const struct storage_event *event);

/* "kernel_stack" and "user_stack", arrays of names or null, into the object that is open. */
void stacks_print_json(const struct stacks *stacks, const struct storage_event *event,
		       struct json_writer *json);

/*
 * "comm;outermost;...;innermost", as programs that draw flame graphs want it; never NULL
 * but without memory. free() it.
 */
char *stacks_fold(const struct stacks *stacks, const struct storage_event *event);

#endif /* MONAD_STORAGE_STACKS_H */
