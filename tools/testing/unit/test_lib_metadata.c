// SPDX-License-Identifier: GPL-2.0
/* Names of content types and event types. Run from the root of the tree. */
#include <stdint.h>
#include <stdio.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_ring.h>

#include "tap.h"

/* Every entry is at its own index, and says something. */
static void check_table(uint16_t content_type, size_t expected)
{
	const char *type = monad_event_content_type_name(content_type);
	const struct monad_event_metadata *table;
	size_t count;

	table = monad_event_metadata_table(content_type, &count);
	eq_u64(count, expected, "%s: event types", type);
	for (size_t i = 0; table && i < count; i++) {
		if (table[i].event_type != i || !table[i].c_name || !table[i].description ||
		    !*table[i].description)
			ok(false, "%s: type %zu is complete", type, i);
		if (strcmp(monad_event_lookup_metadata(content_type, (uint16_t)i)->c_name,
			   table[i].c_name) != 0)
			ok(false, "%s: type %zu is found", type, i);
	}
	ok(!monad_event_lookup_metadata(content_type, (uint16_t)expected), "%s: no more", type);
	ok(!monad_event_lookup_metadata(content_type, 65535), "%s: nor 65535", type);
	eq_str(monad_event_lookup_metadata(content_type, 0)->c_name, "NONE", "%s: 0", type);
	eq_str(monad_event_lookup_metadata(content_type, 1)->c_name, "RECORD_ERROR", "%s: 1", type);
}

/* The table of storage events has what the enumeration in the uapi header has. */
static size_t check_storage_header(void)
{
	FILE *header = fopen("uapi/monad/storage_event.h", "re");
	char line[256], name[64];
	size_t types = 2;
	bool in_enum = false;
	unsigned int value;

	if (!header) {
		skip("not run from the root of the tree");
		monad_event_metadata_table(MONAD_EVENT_CONTENT_TYPE_STORAGE, &types);
		return types;
	}
	while (fgets(line, sizeof(line), header)) {
		const struct monad_event_metadata *metadata;

		if (strstr(line, "enum monad_storage_event_type {"))
			in_enum = true;
		else if (strchr(line, '}'))
			in_enum = false;
		if (!in_enum || sscanf(line, " MONAD_STORAGE_%63[A-Z_] = %u", name, &value) != 2)
			continue;
		types++;
		metadata = monad_event_lookup_metadata(MONAD_EVENT_CONTENT_TYPE_STORAGE,
						       (uint16_t)value);
		eq_str(metadata ? metadata->c_name : NULL, name, "storage: type %u", value);
	}
	fclose(header);
	return types;
}

int main(void)
{
	static const uint8_t zero[32];

	eq_str(g_monad_event_content_type_names[MONAD_EVENT_CONTENT_TYPE_NONE], "none", "none");
	eq_str(g_monad_event_content_type_names[MONAD_EVENT_CONTENT_TYPE_TEST], "test", "test");
	eq_str(g_monad_event_content_type_names[MONAD_EVENT_CONTENT_TYPE_EXEC], "exec", "exec");
	eq_str(g_monad_event_content_type_names[MONAD_EVENT_CONTENT_TYPE_PERF], "perf", "perf");
	eq_str(monad_event_content_type_name(256), "storage", "storage");
	eq_str(monad_event_content_type_name(3), "perf", "perf by function");
	eq_str(monad_event_content_type_name(4), "unknown", "4 is no type");
	eq_str(monad_event_content_type_name(65535), "unknown", "nor 65535");

	check_table(MONAD_EVENT_CONTENT_TYPE_TEST, 4);
	check_table(MONAD_EVENT_CONTENT_TYPE_EXEC, 25);
	check_table(MONAD_EVENT_CONTENT_TYPE_PERF, 3);
	check_table(MONAD_EVENT_CONTENT_TYPE_STORAGE, check_storage_header());
	eq_str(monad_event_lookup_metadata(MONAD_EVENT_CONTENT_TYPE_PERF, 2)->c_name, "SAMPLE",
	       "perf: 2");
	eq_str(g_monad_exec_event_metadata[10].c_name, "TXN_HEADER_START", "exec: 10");
	eq_str(g_monad_exec_event_metadata[24].c_name, "EVM_ERROR", "exec: 24");
	ok(memcmp(g_monad_test_event_schema_hash, zero, 32) == 0, "the hash of TEST is zero");
	return done_testing();
}
