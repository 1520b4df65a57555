// SPDX-License-Identifier: GPL-2.0
/* monad-ring check: whether a ring is what the format says. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "arguments.h"
#include "interrupt.h"
#include "json_writer.h"
#include "monad-ring.h"
#include "printable.h"
#include "ring_check.h"
#include "ring_handle.h"

/* Findings of one kind that are told one by one; the others are counted. */
#define TELL 20

static const char help[] =
	"Usage: monad-ring check [--json] RING\n"
	"\n"
	"Checks all of RING, a device, a ring file or a snapshot, against the format:\n"
	"the header, positions, the extension block, each descriptor and where its\n"
	"payload is. Prints what it finds, at most 20 of a kind, and a verdict. What is\n"
	"worth knowing but not wrong is a note: events that were not finished, clocks\n"
	"that were set back, a writer that died.\n"
	"\n"
	"A ring can be checked while it is written to. The offset of a finding is that\n"
	"in the ring file, or of what the device maps.\n"
	"\n"
	"Options:\n"
	"  -j, --json  print JSON\n"
	"  -h, --help  this\n"
	"\n"
	"Exit status: 0 nothing is wrong, 1 something is, or RING cannot be opened.\n"
	"\n"
	"EXAMPLES\n"
	"  monad-ring check monad_ring\n"
	"  monad-ring check ./incident.zst\n"
	"  monad-ring check --json ./ring | jq .counts\n";

static void found_plain(struct ring_check *check, enum check_kind kind, uint64_t seqno,
			uint64_t offset, const char *text)
{
	if (check->counts[kind] > TELL)
		return;
	printf("%-5s %-12s ", kind < CHECK_NOTES ? "WRONG" : "note", check_kind_name(kind));
	if (seqno)
		printf("event %" PRIu64 " ", seqno);
	printf("at 0x%" PRIx64 ": %s\n", offset, text);
}

static void found_json(struct ring_check *check, enum check_kind kind, uint64_t seqno,
		       uint64_t offset, const char *text)
{
	struct json_writer *json = check->data;

	if (check->counts[kind] > TELL)
		return;
	json_begin_object(json);
	json_string_field(json, "kind", check_kind_name(kind));
	json_bool_field(json, "wrong", kind < CHECK_NOTES);
	if (seqno)
		json_u64_field(json, "seqno", seqno);
	json_u64_field(json, "offset", offset);
	json_string_field(json, "text", text);
	json_end_object(json);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void print_end(const struct ring_check *check, const char *path)
{
	const uint64_t wrong = ring_check_wrong(check);
	uint64_t notes = 0;
	char safe[PATH_MAX];

	for (int kind = 0; kind < CHECK_COUNT; kind++) {
		if (check->counts[kind] > TELL)
			printf("%-5s %-12s %" PRIu64 " more\n",
			       kind < CHECK_NOTES ? "WRONG" : "note",
			       check_kind_name((enum check_kind)kind), check->counts[kind] - TELL);
		if (kind >= CHECK_NOTES)
			notes += check->counts[kind];
	}
	if (check->overlap_unchecked)
		puts("note  overlap      not checked, since there is not enough memory to compare "
		     "all payloads");
	printf("%s: %" PRIu64 " event%s (%" PRIu64 " discarded, %" PRIu64 " payload%s expired, %"
	       PRIu64 " overwritten meanwhile): ",
	       printable(safe, sizeof(safe), path), check->events, plural(check->events),
	       check->discarded, check->expired, plural(check->expired), check->overwritten);
	if (wrong)
		printf("%" PRIu64 " thing%s WRONG", wrong, plural(wrong));
	else
		fputs(check->interrupted ? "nothing wrong, as far as it was looked at" : "sound",
		      stdout);
	if (notes)
		printf(", %" PRIu64 " note%s", notes, plural(notes));
	putchar('\n');
}

static void json_end_document(struct json_writer *json, const struct ring_check *check)
{
	json_end_array(json);
	json_key(json, "counts");
	json_begin_object(json);
	for (int kind = 0; kind < CHECK_COUNT; kind++) {
		if (check->counts[kind])
			json_u64_field(json, check_kind_name((enum check_kind)kind),
				       check->counts[kind]);
	}
	json_end_object(json);
	json_u64_field(json, "events", check->events);
	json_u64_field(json, "discarded", check->discarded);
	json_u64_field(json, "payloads_expired", check->expired);
	json_u64_field(json, "overwritten", check->overwritten);
	json_bool_field(json, "complete", !check->interrupted && !check->overlap_unchecked);
	json_u64_field(json, "wrong", ring_check_wrong(check));
	json_bool_field(json, "sound", !ring_check_wrong(check));
	json_end_object(json);
	json_end(json);
}

static int run(const struct ring_handle *handle, bool json)
{
	struct ring_check check = {.found = json ? found_json : found_plain};
	struct json_writer writer;
	int ret;

	catch_interrupts();
	if (json) {
		check.data = &writer;
		json_init(&writer, stdout, true);
		json_begin_object(&writer);
		json_string_field(&writer, "path", handle->path);
		json_string_field(&writer, "kind", ring_handle_kind(handle));
		json_key(&writer, "findings");
		json_begin_array(&writer);
	}
	ring_check_run(&check, handle);
	if (json)
		json_end_document(&writer, &check);
	else
		print_end(&check, handle->path);
	ret = finish_output();
	return ring_check_wrong(&check) ? EXIT_FAILED : ret;
}

int cmd_check(int argc, char **argv, bool json)
{
	struct ring_handle handle;
	int ret;

	if (!take_plain_options(argc, argv, help, &json, &ret))
		return ret;
	ret = open_only_ring(argc, argv, &handle);
	if (ret != EXIT_OK)
		return ret;
	ret = run(&handle, json);
	ring_handle_close(&handle);
	return ret;
}
