/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names and descriptions of event types, and the schema hashes that go with them. */
#ifndef MONAD_EVENT_EVENT_METADATA_H
#define MONAD_EVENT_EVENT_METADATA_H

#include <stddef.h>
#include <stdint.h>

#include <monad/event_ring.h>
#include <monad_event/exec_event_ctypes.h>
#include <monad_event/perf_event_ctypes.h>
#include <monad_event/test_event_ctypes.h>

#ifdef __cplusplus
extern "C" {
#endif

struct monad_event_metadata {
	uint16_t event_type;	 /* as in struct monad_event_descriptor */
	const char *c_name;	 /* as in the enum, without its prefix */
	const char *description; /* one line */
};

/*
 * One entry per event type, at the index of that type. How many there are of
 * STORAGE: monad_event_metadata_table().
 */
extern const struct monad_event_metadata g_monad_test_event_metadata[MONAD_TEST_EVENT_COUNT];
extern const struct monad_event_metadata g_monad_exec_event_metadata[MONAD_EXEC_EVENT_COUNT];
extern const struct monad_event_metadata g_monad_perf_event_metadata[MONAD_PERF_EVENT_COUNT];
extern const struct monad_event_metadata g_monad_storage_event_metadata[];

/* For monad_event_ring_check_content_type(). */
extern const uint8_t g_monad_test_event_schema_hash[32];
extern const uint8_t g_monad_perf_event_schema_hash[32];
extern const uint8_t g_monad_storage_event_schema_hash[32];

/*
 * Metadata of one event type; NULL when this library does not know it. Types 0
 * and 1 are known in every content type.
 */
const struct monad_event_metadata *monad_event_lookup_metadata(uint16_t content_type,
							       uint16_t event_type);

/* All event types of a content type; NULL, and 0 in @count, when unknown. */
const struct monad_event_metadata *monad_event_metadata_table(uint16_t content_type, size_t *count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MONAD_EVENT_EVENT_METADATA_H */
