/* SPDX-License-Identifier: GPL-2.0 */
/* An open ring and what can be asked of it, be it a device or a file. */
#ifndef MONAD_RING_TOOL_RING_HANDLE_H
#define MONAD_RING_TOOL_RING_HANDLE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>

struct ring_handle {
	const char *name; /* as given; the caller's */
	char path[PATH_MAX];
	int fd;
	bool device;
	bool snapshot; /* ring is in memory, fd is the file it came from */
	struct stat st;
	struct monad_event_ring ring;
	struct monad_ring_info info; /* of a device, when it was opened */
};

/* "device", "file" or "snapshot". */
const char *ring_handle_kind(const struct ring_handle *handle);

/* 0, or a positive errno with lib_error() saying more; then nothing is open. */
int ring_handle_open(struct ring_handle *handle, const char *name);
void ring_handle_close(struct ring_handle *handle);

/* Whether @handle->name leads to another ring by now than the one that is open. */
bool ring_handle_is_stale(const struct ring_handle *handle);

/* Names of enum monad_ring_lost; NULL beyond. */
const char *ring_lost_name(unsigned int cause);

/* Where a ring keeps its loss counters: of @handle, or NULL if it has none. */
const uint64_t *ring_handle_lost(const struct ring_handle *handle);

/* Sum of the loss counters; 0 when there are none. */
uint64_t ring_handle_lost_total(const struct ring_handle *handle);

/* What else is counted; 0 when it is not. */
uint64_t ring_handle_discarded(const struct ring_handle *handle);
uint64_t ring_handle_wakeups(const struct ring_handle *handle);

/*
 * Of a device, these are what they were when it was opened, until this asks again. False, and
 * nothing changed: it does not answer.
 */
bool ring_handle_refresh(struct ring_handle *handle);

/* enum monad_ring_state; false when the ring does not say. */
bool ring_handle_state(const struct ring_handle *handle, uint32_t *state);
const char *ring_state_name(uint32_t state);

/* The process that writes a ring file; 0 when there is none. */
pid_t ring_handle_writer_pid(const struct ring_handle *handle);

/* Whether this program's names and decoders are those of the ring's writer. */
bool ring_handle_schema_known(const struct ring_handle *handle);

#endif /* MONAD_RING_TOOL_RING_HANDLE_H */
