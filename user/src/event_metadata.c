// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Content types and the event types of each. */
#include <monad_event/event_metadata.h>
#include <monad_event/event_ring.h>

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
