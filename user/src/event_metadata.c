// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Content types and the event types of each. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include <monad/storage_event.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_ring.h>

#include "error.h"
#include "schema.h"
#include "storage_metadata.h"

const char *const g_monad_event_content_type_names[MONAD_EVENT_CONTENT_TYPE_COUNT] = {
	[MONAD_EVENT_CONTENT_TYPE_NONE] = "none",
	[MONAD_EVENT_CONTENT_TYPE_TEST] = "test",
	[MONAD_EVENT_CONTENT_TYPE_EXEC] = "exec",
	[MONAD_EVENT_CONTENT_TYPE_PERF] = "perf",
};

/* The layout of TEST events never changes: its hash is all zero. */
const uint8_t g_monad_test_event_schema_hash[32] = {0};

#define NONE_DESCRIPTION	 "discarded by its writer; carries nothing"
#define RECORD_ERROR_DESCRIPTION "an event could not be recorded as it was meant"

#define TEST(name, text) \
	[MONAD_TEST_EVENT_##name] = {MONAD_TEST_EVENT_##name, #name, text}
#define EXEC(name, text) \
	[MONAD_EXEC_##name] = {MONAD_EXEC_##name, #name, text}
#define PERF(name, text) \
	[MONAD_PERF_##name] = {MONAD_PERF_##name, #name, text}

const struct monad_event_metadata g_monad_test_event_metadata[MONAD_TEST_EVENT_COUNT] = {
	TEST(NONE, NONE_DESCRIPTION),
	TEST(RECORD_ERROR, RECORD_ERROR_DESCRIPTION),
	TEST(COUNTER, "a writer's number and how many events it has written"),
	TEST(VLT, "any number of bytes"),
};

const struct monad_event_metadata g_monad_exec_event_metadata[MONAD_EXEC_EVENT_COUNT] = {
	EXEC(NONE, NONE_DESCRIPTION),
	EXEC(RECORD_ERROR, RECORD_ERROR_DESCRIPTION),
	EXEC(BLOCK_START, "execution of a proposed block begins"),
	EXEC(BLOCK_REJECT, "the block was rejected as invalid"),
	EXEC(BLOCK_PERF_EVM_ENTER, "the block's transactions begin to execute"),
	EXEC(BLOCK_PERF_EVM_EXIT, "the block's transactions have executed"),
	EXEC(BLOCK_END, "execution of the block has ended"),
	EXEC(BLOCK_QC, "a quorum certificate for the block was seen"),
	EXEC(BLOCK_FINALIZED, "the block was finalized"),
	EXEC(BLOCK_VERIFIED, "the block's state root was verified"),
	EXEC(TXN_HEADER_START, "a transaction's header; its lists follow"),
	EXEC(TXN_ACCESS_LIST_ENTRY, "one entry of a transaction's access list"),
	EXEC(TXN_AUTH_LIST_ENTRY, "one entry of a transaction's authorization list"),
	EXEC(TXN_HEADER_END, "the transaction's header is complete"),
	EXEC(TXN_REJECT, "the transaction was rejected"),
	EXEC(TXN_PERF_EVM_ENTER, "the transaction begins to execute"),
	EXEC(TXN_PERF_EVM_EXIT, "the transaction has executed"),
	EXEC(TXN_EVM_OUTPUT, "the transaction's outcome"),
	EXEC(TXN_LOG, "a log record the transaction emitted"),
	EXEC(TXN_CALL_FRAME, "one call of the transaction's call tree"),
	EXEC(TXN_END, "everything about the transaction has been recorded"),
	EXEC(ACCOUNT_ACCESS_LIST_HEADER, "how many ACCOUNT_ACCESS events follow"),
	EXEC(ACCOUNT_ACCESS, "an account that was read or written"),
	EXEC(STORAGE_ACCESS, "a storage slot of an account that was read or written"),
	EXEC(EVM_ERROR, "execution failed for an internal reason"),
};

const struct monad_event_metadata g_monad_perf_event_metadata[MONAD_PERF_EVENT_COUNT] = {
	PERF(NONE, NONE_DESCRIPTION),
	PERF(RECORD_ERROR, RECORD_ERROR_DESCRIPTION),
	PERF(SAMPLE, "where a CPU was when a sampler looked"),
};

/* What all content types have in common, those that are not known here as well. */
static const struct monad_event_metadata common_metadata[] = {
	{MONAD_EVENT_NONE_EVENT_TYPE, "NONE", NONE_DESCRIPTION},
	{MONAD_EVENT_RECORD_ERROR_EVENT_TYPE, "RECORD_ERROR", RECORD_ERROR_DESCRIPTION},
};

/* Index, whether it is a sequence number, the tag it counts within, name, description. */
#define TAG(i, seqno, in, name, text) \
	{.index = (i), .is_seqno = (seqno), .within = (in), .c_name = (name), .description = (text)}

static const struct monad_event_flow_tag exec_flow_tags[] = {
	TAG(MONAD_FLOW_BLOCK_SEQNO, true, -1, "block_seqno", "sequence number of the BLOCK_START"),
	TAG(MONAD_FLOW_TXN_ID, false, MONAD_FLOW_BLOCK_SEQNO, "txn_id", "transaction index + 1"),
	TAG(MONAD_FLOW_ACCOUNT_INDEX, false, MONAD_FLOW_TXN_ID, "account_index",
	    "index of the ACCOUNT_ACCESS in its list"),
};

static const struct monad_event_flow_tag perf_flow_tags[] = {
	TAG(MONAD_PERF_FLOW_PID, false, -1, "pid", "process that the CPU ran"),
	TAG(MONAD_PERF_FLOW_TID, false, -1, "tid", "thread that the CPU ran"),
	TAG(MONAD_PERF_FLOW_CPU, false, -1, "cpu_id", "number of the CPU + 1"),
};

static const struct monad_event_flow_tag storage_flow_tags[] = {
	TAG(MONAD_STORAGE_TAG_START, true, -1, "start", "sequence number of the I/O's first event"),
	TAG(MONAD_STORAGE_TAG_DEVICE, false, -1, "device", "device, whether it failed, operation"),
	TAG(MONAD_STORAGE_TAG_CGROUP, false, -1, "cgroup", "id of the cgroup that is charged"),
	TAG(MONAD_STORAGE_TAG_LATENCY, false, -1, "latency",
	    "nanoseconds since it was first seen"),
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

const char *monad_event_content_type_name(uint16_t content_type)
{
	if (content_type < MONAD_EVENT_CONTENT_TYPE_COUNT)
		return g_monad_event_content_type_names[content_type];
	if (content_type == MONAD_EVENT_CONTENT_TYPE_STORAGE)
		return "storage";
	return "unknown";
}

const struct monad_event_metadata *monad_event_metadata_table(uint16_t content_type, size_t *count)
{
	switch (content_type) {
	case MONAD_EVENT_CONTENT_TYPE_TEST:
		*count = COUNT_OF(g_monad_test_event_metadata);
		return g_monad_test_event_metadata;
	case MONAD_EVENT_CONTENT_TYPE_EXEC:
		*count = COUNT_OF(g_monad_exec_event_metadata);
		return g_monad_exec_event_metadata;
	case MONAD_EVENT_CONTENT_TYPE_PERF:
		*count = COUNT_OF(g_monad_perf_event_metadata);
		return g_monad_perf_event_metadata;
	case MONAD_EVENT_CONTENT_TYPE_STORAGE:
		return storage_metadata_table(count);
	default:
		*count = 0;
		return NULL;
	}
}

const struct monad_event_metadata *monad_event_lookup_metadata(uint16_t content_type,
							       uint16_t event_type)
{
	const struct monad_event_metadata *table;
	size_t count;

	if (event_type < COUNT_OF(common_metadata))
		return &common_metadata[event_type];
	table = monad_event_metadata_table(content_type, &count);
	/* A type some table leaves out has no name in it. */
	return table && event_type < count && table[event_type].c_name ? &table[event_type] : NULL;
}

const struct monad_event_flow_tag *monad_event_flow_tags(uint16_t content_type, size_t *count)
{
	switch (content_type) {
	case MONAD_EVENT_CONTENT_TYPE_EXEC:
		*count = COUNT_OF(exec_flow_tags);
		return exec_flow_tags;
	case MONAD_EVENT_CONTENT_TYPE_PERF:
		*count = COUNT_OF(perf_flow_tags);
		return perf_flow_tags;
	case MONAD_EVENT_CONTENT_TYPE_STORAGE:
		*count = COUNT_OF(storage_flow_tags);
		return storage_flow_tags;
	default:
		*count = 0;
		return NULL;
	}
}

int monad_event_lookup_content_type(const char *name, uint16_t *content_type)
{
	static const uint16_t types[] = {
		MONAD_EVENT_CONTENT_TYPE_TEST,
		MONAD_EVENT_CONTENT_TYPE_EXEC,
		MONAD_EVENT_CONTENT_TYPE_PERF,
		MONAD_EVENT_CONTENT_TYPE_STORAGE,
	};

	if (!name || !content_type)
		return FAIL(EFAULT, "%s is NULL", name ? "content type" : "name of a content type");
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		if (strcasecmp(monad_event_content_type_name(types[i]), name) == 0) {
			*content_type = types[i];
			return 0;
		}
	}
	return FAIL_HINT(ENOENT, "there are test, exec, perf and storage",
			 "no content type is called `%s`", name);
}

const uint8_t *monad_event_schema_hash(uint16_t content_type)
{
	switch (content_type) {
	case MONAD_EVENT_CONTENT_TYPE_TEST:
		return g_monad_test_event_schema_hash;
	case MONAD_EVENT_CONTENT_TYPE_PERF:
		return g_monad_perf_event_schema_hash;
	case MONAD_EVENT_CONTENT_TYPE_STORAGE:
		return g_monad_storage_event_schema_hash;
	default:
		return NULL;
	}
}

bool schema_is_known(const struct monad_event_ring_header *header)
{
	const uint8_t *hash = monad_event_schema_hash(header->content_type);

	if (hash)
		return memcmp(hash, header->schema_hash, sizeof(header->schema_hash)) == 0;
	return header->content_type == MONAD_EVENT_CONTENT_TYPE_EXEC;
}

bool monad_event_ring_schema_known(const struct monad_event_ring *ring)
{
	return ring && ring->header && schema_is_known(ring->header);
}

const struct monad_event_metadata *
monad_event_ring_lookup_metadata(const struct monad_event_ring *ring, uint16_t event_type)
{
	if (event_type >= COUNT_OF(common_metadata) && !monad_event_ring_schema_known(ring))
		return NULL;
	return monad_event_lookup_metadata(ring && ring->header ? ring->header->content_type : 0,
					   event_type);
}
