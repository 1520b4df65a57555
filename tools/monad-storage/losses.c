// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "hooks.h"
#include "human.h"
#include "losses.h"
#include "monad_storage.h"
#include "pins.h"

const char *const ring_loss_names[MONAD_RING_LOST_COUNT] = {
	[MONAD_RING_LOST_TOO_LARGE] = "too_large", [MONAD_RING_LOST_STALLED] = "stalled",
	[MONAD_RING_LOST_NO_SLOT] = "no_slot",	   [MONAD_RING_LOST_CONTENDED] = "contended",
	[MONAD_RING_LOST_BAD_ARG] = "bad_arg",	   [MONAD_RING_LOST_RING_GONE] = "ring_gone",
};

static const char *const ring_loss_texts[MONAD_RING_LOST_COUNT] = {
	[MONAD_RING_LOST_TOO_LARGE] = "too large",
	[MONAD_RING_LOST_STALLED] = "stalled writer",
	[MONAD_RING_LOST_NO_SLOT] = "no slot",
	[MONAD_RING_LOST_CONTENDED] = "contended",
	[MONAD_RING_LOST_BAD_ARG] = "bad argument",
	[MONAD_RING_LOST_RING_GONE] = "ring gone",
};

/* Counters that say that something was not seen, or not in full. */
static const struct {
	enum monad_storage_counter counter;
	const char *text;
} probe_causes[] = {
	{ MONAD_STORAGE_NOT_RECORDED, "not taken by the ring" },
	{ MONAD_STORAGE_ORPHANS, "ends without a beginning" },
	{ MONAD_STORAGE_ENDS_UNSEEN, "ends not seen, counted later" },
	{ MONAD_STORAGE_TABLE_FULL, "not kept: table full" },
	{ MONAD_STORAGE_EVICTED, "bios forgotten" },
	{ MONAD_STORAGE_SERIES_FULL, "in no device's sums: table full" },
	{ MONAD_STORAGE_CGROUPS_FULL, "in no cgroup's sums: table full" },
	{ MONAD_STORAGE_CLOCK_BACKWARDS, "times left out: clock backwards" },
	{ MONAD_STORAGE_STACKS_FULL, "stacks not kept" },
	{ MONAD_STORAGE_RATE_LIMITED, "over --max-rate" },
};

bool losses_has(enum monad_storage_counter which)
{
	for (size_t i = 0; i < ARRAY_SIZE(probe_causes); i++) {
		if (probe_causes[i].counter == which)
			return true;
	}
	return false;
}

/* Hits that the kernel skipped, less those that were caught; @counters are from before now. */
static uint64_t hits_skipped(const struct monad_storage_counters *counters)
{
	struct hook hooks[NR_HOOKS];
	uint64_t misses = 0, caught = counters->value[MONAD_STORAGE_ENDS_CAUGHT];

	hooks_read(hooks);
	for (size_t i = 0; i < NR_HOOKS; i++)
		misses += hooks[i].recursion_misses;
	return misses > caught ? misses - caught : 0;
}

/* Nothing of nothing; @separator is NULL until there was something. */
static void print_part(const char **separator, uint64_t count, const char *text)
{
	if (!count)
		return;
	printf("%s%" PRIu64 " %s", *separator ?: "", count, text);
	*separator = ", ";
}

static void end_parts(const char *separator)
{
	puts(separator ? "" : "nothing");
}

void losses_gap(struct json_writer *json, uint64_t missed)
{
	if (json) {
		json_begin_object(json);
		json_string_field(json, "type", "gap");
		json_u64_field(json, "missed", missed);
		json_end_object(json);
		json_end(json);
	} else {
		printf("--- %" PRIu64
		       " events were overwritten before they could be read, or never written ---\n",
		       missed);
	}
}

void losses_totals(struct json_writer *json, const struct reader *reader)
{
	if (json) {
		json_begin_object(json);
		json_string_field(json, "type", "totals");
		json_u64_field(json, "events", reader->printed);
		json_u64_field(json, "missed", reader->missed);
		json_u64_field(json, "expired", reader->expired);
		json_u64_field(json, "unknown", reader->unknown);
		json_end_object(json);
		json_end(json);
	}
	if (reader->missed || reader->expired)
		warning("%" PRIu64 " events, and the payload of %" PRIu64
			" more, were overwritten before they could be read, or never written",
			reader->missed, reader->expired);
}

bool losses_any(const struct reader *reader)
{
	const struct monad_ring_ext *ext = monad_event_ring_ext(&reader->ring);
	struct monad_storage_counters counters;
	uint64_t sum = 0;

	if (reader->recorded_to && !pins_read_counters(&counters)) {
		for (size_t i = 0; i < ARRAY_SIZE(probe_causes); i++)
			sum += counters.value[probe_causes[i].counter];
		sum += hits_skipped(&counters);
	}
	for (int i = 0; ext && i < MONAD_RING_LOST_COUNT; i++)
		sum += ext->lost[i];
	return sum > 0;
}

static void print_reader(const struct reader *reader)
{
	const char *separator = NULL;

	fputs("  by this reader    ", stdout);
	print_part(&separator, reader->missed,
		   "events overwritten before it came to them, or never written");
	print_part(&separator, reader->expired, "payloads overwritten");
	print_part(&separator, reader->unknown, "events discarded, or of unknown types");
	end_parts(separator);
}

static void print_ring(const struct monad_ring_ext *ext)
{
	const char *separator = NULL;

	fputs("  by the ring       ", stdout);
	if (!ext) {
		puts("not known: it does not count them");
		return;
	}
	for (int i = 0; i < MONAD_RING_LOST_COUNT; i++)
		print_part(&separator, ext->lost[i], ring_loss_texts[i]);
	end_parts(separator);
}

static void print_programs(const struct reader *reader)
{
	struct monad_storage_counters counters;
	const char *separator = NULL;

	fputs("  by the programs   ", stdout);
	if (!reader->recorded_to || pins_read_counters(&counters)) {
		puts("not known: it is not recorded to now");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(probe_causes); i++)
		print_part(&separator, counters.value[probe_causes[i].counter],
			   probe_causes[i].text);
	print_part(&separator, hits_skipped(&counters), "hits skipped");
	end_parts(separator);
	if (reader->notable_only)
		printf("  left out by choice %" PRIu64
		       " ends that were not notable (--events=notable)\n",
		       counters.value[MONAD_STORAGE_LEFT_OUT]);
}

void losses_print(const struct reader *reader, bool by_reader)
{
	puts("Losses");
	if (by_reader)
		print_reader(reader);
	print_ring(monad_event_ring_ext(&reader->ring));
	print_programs(reader);
}

void losses_print_json(struct json_writer *json, const struct reader *reader)
{
	const struct monad_ring_ext *ext = monad_event_ring_ext(&reader->ring);
	struct monad_storage_counters counters;

	json_key(json, "losses");
	json_begin_object(json);
	json_key(json, "reader");
	json_begin_object(json);
	json_u64_field(json, "missed", reader->missed);
	json_u64_field(json, "expired", reader->expired);
	json_u64_field(json, "unknown", reader->unknown);
	json_end_object(json);
	if (ext) {
		json_key(json, "ring");
		json_begin_object(json);
		for (int i = 0; i < MONAD_RING_LOST_COUNT; i++)
			json_u64_field(json, ring_loss_names[i], ext->lost[i]);
		json_end_object(json);
	}
	if (reader->recorded_to && !pins_read_counters(&counters)) {
		json_key(json, "probe");
		json_begin_object(json);
		for (size_t i = 0; i < ARRAY_SIZE(probe_causes); i++)
			json_u64_field(json, counter_names[probe_causes[i].counter],
				       counters.value[probe_causes[i].counter]);
		json_u64_field(json, "recursion_misses", hits_skipped(&counters));
		json_end_object(json);
	}
	json_end_object(json);
}
