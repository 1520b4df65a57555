/* SPDX-License-Identifier: GPL-2.0 */
/* One storage event, of any type, taken out of the ring. */
#ifndef MONAD_STORAGE_EVENT_H
#define MONAD_STORAGE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <monad/storage_event.h>
#include <monad_event/event_iterator.h>

#include "storage_names.h"

struct storage_event {
	struct monad_event_descriptor desc;
	bool is_complete; /* which one of the two is there */
	union {
		struct monad_storage_step step;
		struct monad_storage_complete complete;
	};
};

enum event_result {
	EVENT_OK,
	EVENT_EXPIRED,  /* its payload has been overwritten */
	EVENT_UNKNOWN,  /* of a type we do not know, or discarded */
};

/* Copies the event that @desc describes. */
enum event_result event_read(struct monad_event_iterator *iter,
			     const struct monad_event_descriptor *desc,
			     struct storage_event *event);

/* The flow tag, as disk.h has devices. */
uint32_t event_dev(const struct monad_event_descriptor *desc);
/* Whether @op is one of @ops (1 << op; 0: all). */
static inline bool ops_have(uint32_t ops, unsigned int op)
{
	return !ops || (op < 32 && ops >> op & 1);
}

unsigned int event_op(const struct monad_event_descriptor *desc);
bool event_failed(const struct monad_event_descriptor *desc);

/*
 * Events that are nothing that happened to an I/O, but what others refer to: no reader
 * shows or counts them.
 */
bool event_is_reference(unsigned int type);

/* RQ_COMPLETE and BIO_COMPLETE: one operation that somebody asked for has ended. */
bool event_is_operation(unsigned int type);

/* A struct monad_storage_call: of a task, and of no interest to others. */
bool event_is_call(unsigned int type);

/* As the kernel's blk_fill_rwbs() writes it: "WS", "FF", "RM". At least 10 bytes. */
#define RWBS_LEN 10
void event_rwbs(unsigned int op, uint32_t flags, char rwbs[RWBS_LEN]);

#endif /* MONAD_STORAGE_EVENT_H */
