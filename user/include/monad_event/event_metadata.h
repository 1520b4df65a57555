/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names and descriptions of event types, and the schema hashes that go with them. */
#ifndef MONAD_EVENT_EVENT_METADATA_H
#define MONAD_EVENT_EVENT_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <monad/event_ring.h>
#include <monad_event/exec_event_ctypes.h>
#include <monad_event/perf_event_ctypes.h>
#include <monad_event/test_event_ctypes.h>

#ifdef __cplusplus
extern "C" {
#endif

struct monad_event_ring;

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

/*
 * A flow tag: what stands in content_ext[index] of a descriptor, so that events which
 * belong together can be found without their payloads. 0 stands for none.
 */
struct monad_event_flow_tag {
	uint8_t index;
	bool is_seqno;		 /* the value is the seqno of the flow's first event */
	int within;		 /* index of the tag in whose flow this one counts, or -1 */
	const char *c_name;	 /* lower case, one word: "txn_id" */
	const char *description; /* one line */
	const void *reserved[2];
};

/*
 * The flow tags of a content type, one entry per index from 0 on; NULL, and 0 in
 * @count, when it has none or is unknown.
 */
const struct monad_event_flow_tag *monad_event_flow_tags(uint16_t content_type, size_t *count);

/*
 * The content type called @name, in upper or lower case, as
 * monad_event_content_type_name() calls it. ENOENT: none is, "none" itself included;
 * the message lists them. EFAULT: a NULL argument.
 */
int monad_event_lookup_content_type(const char *name, uint16_t *content_type);

/*
 * The schema hash (32 bytes) of the events that this library's names, flow tags and
 * structures are of; NULL for content types that it has no hash of, which are EXEC,
 * whose payloads it does not know, and those it does not know at all.
 */
const uint8_t *monad_event_schema_hash(uint16_t content_type);

/*
 * Whether names from this header mean something in @ring: its content type is known,
 * and its schema hash is the one of monad_event_schema_hash(), if that has one.
 * False as well when nothing is mapped.
 */
bool monad_event_ring_schema_known(const struct monad_event_ring *ring);

/*
 * monad_event_lookup_metadata() for an event of @ring. NULL as well when the ring's
 * events are laid out by another schema, and the type is not 0 or 1.
 */
const struct monad_event_metadata *
monad_event_ring_lookup_metadata(const struct monad_event_ring *ring, uint16_t event_type);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MONAD_EVENT_EVENT_METADATA_H */
