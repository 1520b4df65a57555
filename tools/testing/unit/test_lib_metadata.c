// SPDX-License-Identifier: GPL-2.0
/* Names of content types and event types. Run from the root of the tree. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_ring.h>

#include "ring_image.h"
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

static void test_lookup_type(void)
{
	static const struct {
		const char *name;
		uint16_t type;
	} names[] = {{"test", 1}, {"exec", 2}, {"perf", 3}, {"storage", 256}, {"STORAGE", 256}};
	static const char *const none[] = {"", "none", "unknown", "tes", "tests", "1"};
	uint16_t type = 77;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		eq_int(monad_event_lookup_content_type(names[i].name, &type), 0, "'%s'",
		       names[i].name);
		eq_u64(type, names[i].type, "is %u", names[i].type);
	}
	type = 77;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		eq_int(monad_event_lookup_content_type(none[i], &type), ENOENT, "'%s' is none",
		       none[i]);
	eq_u64(type, 77, "and nothing is filled in");
	ok(strstr(monad_event_ring_get_last_error(), "there are test, exec, perf and storage"),
	   "the message has those there are");
	eq_int(monad_event_lookup_content_type(NULL, &type), EFAULT, "NULL name");
	eq_int(monad_event_lookup_content_type("test", NULL), EFAULT, "NULL type");
}

/* index: name, is it a seqno, within which tag */
static void check_tags(uint16_t content_type, const char *want)
{
	const struct monad_event_flow_tag *tags;
	char got[256] = "";
	size_t count = 99, len = 0;

	tags = monad_event_flow_tags(content_type, &count);
	for (size_t i = 0; i < count && len < sizeof(got) - 64; i++) {
		len += (size_t)snprintf(got + len, sizeof(got) - len, "%u:%s%s%d ", tags[i].index,
					tags[i].c_name, tags[i].is_seqno ? "*" : "",
					tags[i].within);
		ok(tags[i].index == i && tags[i].description && *tags[i].description,
		   "%s: tag %zu is complete", monad_event_content_type_name(content_type), i);
	}
	eq_str(got, want, "%s: flow tags", monad_event_content_type_name(content_type));
	ok(!tags == !count, "%s: none is NULL", monad_event_content_type_name(content_type));
}

/* Names are for rings whose events are the ones they are of. */
static void test_schema(void)
{
	static const uint16_t known[] = {1, 3, 256};
	struct monad_event_ring ring = {0};
	struct image image;

	ok(!monad_event_schema_hash(MONAD_EVENT_CONTENT_TYPE_EXEC), "no hash of EXEC");
	ok(!monad_event_schema_hash(0) && !monad_event_schema_hash(4), "nor of unknown types");
	ok(monad_event_schema_hash(3) == g_monad_perf_event_schema_hash, "the hash of PERF");
	ok(!monad_event_ring_schema_known(NULL) && !monad_event_ring_schema_known(&ring),
	   "nothing is known of nothing");
	ok(!monad_event_ring_lookup_metadata(NULL, 2), "nor has it names");

	image_create(&image, 10, 21, 0);
	if (monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 0, "x"))
		bail_out("%s", monad_event_ring_get_last_error());
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *name = monad_event_content_type_name(known[i]);

		put(&image, 6, known[i], 2);
		memcpy(image.map + 8, monad_event_schema_hash(known[i]), 32);
		ok(monad_event_ring_schema_known(&ring), "%s: its own schema", name);
		ok(monad_event_ring_lookup_metadata(&ring, 2), "%s: has names", name);
		image.map[39] ^= 1;
		ok(!monad_event_ring_schema_known(&ring), "%s: another one", name);
		ok(!monad_event_ring_lookup_metadata(&ring, 2), "%s: has not", name);
		eq_str(monad_event_ring_lookup_metadata(&ring, 1)->c_name, "RECORD_ERROR",
		       "%s: but for those that all have", name);
	}
	put(&image, 6, MONAD_EVENT_CONTENT_TYPE_EXEC, 2);
	ok(monad_event_ring_schema_known(&ring), "exec: any schema");
	eq_str(monad_event_ring_lookup_metadata(&ring, 2)->c_name, "BLOCK_START", "exec: names");
	put(&image, 6, 40000, 2);
	ok(!monad_event_ring_schema_known(&ring), "other content types: none");
	eq_str(monad_event_ring_lookup_metadata(&ring, 0)->c_name, "NONE", "but for two names");
	monad_event_ring_unmap(&ring);
	image_destroy(&image);
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
	test_lookup_type();
	check_tags(MONAD_EVENT_CONTENT_TYPE_EXEC, "0:block_seqno*-1 1:txn_id0 2:account_index1 ");
	check_tags(MONAD_EVENT_CONTENT_TYPE_PERF, "0:pid-1 1:tid-1 2:cpu_id-1 ");
	check_tags(MONAD_EVENT_CONTENT_TYPE_STORAGE,
		   "0:start*-1 1:device-1 2:cgroup-1 3:latency-1 ");
	check_tags(MONAD_EVENT_CONTENT_TYPE_TEST, "");
	check_tags(40000, "");
	test_schema();
	ok(memcmp(g_monad_test_event_schema_hash, zero, 32) == 0, "the hash of TEST is zero");
	return done_testing();
}
