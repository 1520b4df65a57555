// SPDX-License-Identifier: GPL-2.0
/* monad-storage status: is it recording, what did it count, what did it lose? */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <monad_event/event_ring_util.h>

#include "human.h"
#include "json_writer.h"
#include "losses.h"
#include "monad_storage.h"
#include "pins.h"
#include "reader.h"

static const char doc[] =
	"Say whether disks are being recorded, by which hooks, how much is in the ring, "
	"what was counted and what was lost.\v"
	"Exit status: 0 recording, 1 not recording or in trouble, 2 called wrongly.\n\n"
	"recursion misses: hits of a tracepoint during which the same program was already "
	"running on that CPU; the kernel skips those. Runs and time per run are known while "
	"the sysctl kernel.bpf_stats_enabled is 1.\n";

static const struct argp_option options[] = {
	{ "ring", 'r', "NAME", 0, "Ring to look at (the one recorded to)", 0 },
	{ "json", 'j', NULL, 0, "As one JSON object", 0 },
	{}
};

struct status {
	const char *ring;
	bool json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct status *status = state->input;

	switch (key) {
	case 'r':
		status->ring = arg;
		return 0;
	case 'j':
		status->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* The hooks there can be; the first two stand in for each other. */
static const char *const hooks[] = {
	"block_io_start", "block_getrq",  "block_rq_issue",  "block_rq_complete",
	"block_rq_requeue", "block_rq_merge", "block_bio_queue", "block_bio_complete",
};

#define NR_HOOKS ARRAY_SIZE(hooks)

struct hook {
	bool attached;
	struct bpf_prog_info info;
};

static void note_hook(const char *name, int link_fd, void *arg)
{
	struct hook *found = arg;

	for (size_t i = 0; i < NR_HOOKS; i++) {
		if (!strcmp(name, hooks[i]))
			found[i].attached = !pins_link_program(link_fd, &found[i].info);
	}
}

static void print_hooks(const struct hook *found)
{
	char count[HUMAN_LEN];

	puts("\nHooks");
	for (size_t i = 0; i < NR_HOOKS; i++) {
		if (found[i].attached) {
			printf("  %-20s %" PRIu64 " misses", hooks[i],
			       (uint64_t)found[i].info.recursion_misses);
			if (found[i].info.run_cnt)
				printf(", %s runs, %" PRIu64 " ns each",
				       human_count(found[i].info.run_cnt, count),
				       (uint64_t)(found[i].info.run_time_ns /
						  found[i].info.run_cnt));
			putchar('\n');
		} else if (i > 1 || !found[!i].attached) {
			printf("  %-20s not attached\n", hooks[i]);
		}
	}
}

static void print_counters(const struct monad_storage_counters *counters)
{
	struct inflight_count inflight;

	puts("\nCounted since the start");
	for (int i = 0; i < MONAD_STORAGE_COUNTERS; i++)
		printf("  %-20s %" PRIu64 "\n", counter_names[i], counters->value[i]);
	if (!pins_count_inflight(&inflight))
		printf("  %-20s %lu with a device, %lu waiting, %lu bios\n", "in flight",
		       inflight.issued, inflight.queued, inflight.bios);
}

/* How full it is; it stays full once it was. */
static double percent(uint64_t used, uint64_t size)
{
	return used < size ? 100.0 * (double)used / (double)size : 100;
}

static void print_ring(struct reader *reader, const char *name)
{
	uint64_t oldest, newest, last = monad_event_ring_last_seqno(&reader->ring);
	uint64_t capacity = reader->ring.desc_capacity_mask + 1;
	uint64_t payload = reader->ring.payload_buf_mask + 1;
	uint64_t next_byte = reader->ring.header->control.next_payload_byte;
	char text[HUMAN_LEN], size[HUMAN_LEN], span[HUMAN_LEN];

	printf("\nRing %s\n", name);
	printf("  events               %s recorded, room for %s and %s of payload\n",
	       human_count(last, text), human_count(capacity, span),
	       human_bytes(payload, size));
	printf("  fill                 %.1f %% of the events, %.1f %% of the payload\n",
	       percent(last, capacity), percent(next_byte, payload));
	if (reader_span(reader, &oldest, &newest)) {
		human_span(newest - oldest, span);
		printf("  reaches back         %s, from %s", span, human_time(oldest, text));
		printf(" to %s\n", human_time(newest, text));
	}
}

static void print_status(struct status *status, bool running, const char *ring)
{
	struct monad_storage_session session;
	struct monad_storage_counters counters;
	struct hook found[NR_HOOKS] = {};
	struct reader reader;
	char text[HUMAN_LEN];

	if (running && !pins_read_session(&session))
		printf("Recording%s since %s\n", session.filtered ? " some disks" : "",
		       human_time(session.started_ns, text));
	else
		puts(running ? "Half started: 'monad-storage stop', then start again" :
			       "Not recording");
	if (running) {
		pins_visit_links(note_hook, found);
		print_hooks(found);
		if (!pins_read_counters(&counters))
			print_counters(&counters);
	}
	if (!reader_open(&reader, ring)) {
		print_ring(&reader, ring);
		putchar('\n');
		losses_print(&reader);
		reader_close(&reader);
	}
}

static void json_hooks(struct json_writer *json, const struct hook *found)
{
	json_key(json, "hooks");
	json_begin_array(json);
	for (size_t i = 0; i < NR_HOOKS; i++) {
		json_begin_object(json);
		json_string_field(json, "hook", hooks[i]);
		json_bool_field(json, "attached", found[i].attached);
		json_u64_field(json, "recursion_misses", found[i].info.recursion_misses);
		json_u64_field(json, "runs", found[i].info.run_cnt);
		json_u64_field(json, "run_time_ns", found[i].info.run_time_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

static void json_counters(struct json_writer *json, const struct monad_storage_counters *counters)
{
	struct inflight_count inflight;

	json_key(json, "counters");
	json_begin_object(json);
	for (int i = 0; i < MONAD_STORAGE_COUNTERS; i++)
		json_u64_field(json, counter_names[i], counters->value[i]);
	json_end_object(json);
	if (!pins_count_inflight(&inflight)) {
		json_key(json, "inflight");
		json_begin_object(json);
		json_u64_field(json, "issued", inflight.issued);
		json_u64_field(json, "queued", inflight.queued);
		json_u64_field(json, "bios", inflight.bios);
		json_end_object(json);
	}
}

static void print_status_json(struct status *status, bool running, const char *ring)
{
	struct json_writer json;
	struct monad_storage_session session;
	struct monad_storage_counters counters;
	struct hook found[NR_HOOKS] = {};
	uint64_t oldest, newest;
	struct reader reader;

	json_init(&json, stdout, true);
	json_begin_object(&json);
	json_bool_field(&json, "recording", running);
	if (running) {
		if (!pins_read_session(&session)) {
			json_u64_field(&json, "started_ns", session.started_ns);
			json_bool_field(&json, "filtered", session.filtered);
		}
		pins_visit_links(note_hook, found);
		json_hooks(&json, found);
		if (!pins_read_counters(&counters))
			json_counters(&json, &counters);
	}
	if (!reader_open(&reader, ring)) {
		json_key(&json, "ring");
		json_begin_object(&json);
		json_string_field(&json, "name", ring);
		json_u64_field(&json, "last_seqno", monad_event_ring_last_seqno(&reader.ring));
		json_u64_field(&json, "capacity", reader.ring.desc_capacity_mask + 1);
		json_u64_field(&json, "payload_bytes", reader.ring.payload_buf_mask + 1);
		json_u64_field(&json, "next_payload_byte",
			       reader.ring.header->control.next_payload_byte);
		if (reader_span(&reader, &oldest, &newest)) {
			json_u64_field(&json, "oldest_ns", oldest);
			json_u64_field(&json, "newest_ns", newest);
		}
		json_end_object(&json);
		losses_print_json(&json, &reader);
		reader_close(&reader);
	}
	json_end_object(&json);
	json_end(&json);
}

int cmd_status(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, NULL, doc, NULL, NULL, NULL };
	static struct monad_storage_session session;
	struct status status = {};
	const char *ring;
	bool running;

	argp_parse(&argp, argc, argv, 0, NULL, &status);
	if (access(PIN_DIR, F_OK) && errno == EACCES) {
		error("looking at %s takes root", PIN_DIR);
		return EXIT_FAILED;
	}
	running = pins_exist();
	ring = status.ring;
	if (!ring)
		ring = running && !pins_read_session(&session) ? session.ring : DEFAULT_RING;
	if (status.json)
		print_status_json(&status, running, ring);
	else
		print_status(&status, running, ring);
	return running ? EXIT_OK : EXIT_FAILED;
}
