// SPDX-License-Identifier: GPL-2.0
/* monad-storage status: is it recording, what did it count, what did it lose? */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <monad_event/event_ring_util.h>
#include <monad_event/event_snapshot.h>

#include "hooks.h"
#include "human.h"
#include "json_writer.h"
#include "losses.h"
#include "monad_storage.h"
#include "pins.h"
#include "printable.h"
#include "reader.h"
#include "start_options.h"

/* How many disks to name. */
#define SOME_DISKS 8

static const char doc[] =
	"Say whether disks are being recorded, by which hooks, how much is in the ring, "
	"what was counted and what was lost.\v"
	"Exit status: 0 recording, 1 not recording, half started, or recording without "
	"block_rq_issue or block_rq_complete, or the ring that is asked for cannot be read, 2 "
	"called wrongly.\n\n"
	"What the counters are: COUNTERS in monad-storage(8).\n\n"
	"recursion misses: hits of a tracepoint during which the same program was already "
	"running on that CPU; the kernel skips those. Where I/O ends, a second program "
	"catches nearly all of them: ends_caught. Runs and time per run are known while "
	"the sysctl kernel.bpf_stats_enabled is 1.\n";

static const struct argp_option options[] = {
	{ "ring", 'r', "NAME", 0, "Ring to look at (the one recorded to)", 0 },
	{ "json", 'j', NULL, 0, "As one JSON object", 0 },
	{}
};

enum recording { NOT_RECORDING, HALF_STARTED, RECORDING };

struct status {
	const char *ring;
	bool json;
	enum recording recording;
	struct hook hooks[NR_HOOKS]; /* none, if nothing was started */
	struct monad_storage_session session; /* while it is recording */
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

static void print_hooks(const struct hook *hooks)
{
	char count[HUMAN_LEN];

	puts("\nHooks");
	for (size_t i = 0; i < NR_HOOKS; i++) {
		const struct hook *hook = &hooks[i];

		if (hook->attached) {
			printf("  %-21s %" PRIu64 " misses", hook_names[i],
			       hook->recursion_misses);
			if (hook->runs)
				printf(", %s runs, %" PRIu64 " ns each",
				       human_count(hook->runs, count),
				       hook->run_time_ns / hook->runs);
			putchar('\n');
		} else if (hook_missing(hooks, i)) {
			printf("  %-21s not attached\n", hook_names[i]);
		}
	}
}

/* On all devices; 0 or -errno. */
static int count_inflight(struct inflight_device *sum)
{
	struct inflight_device *devices;
	size_t n;
	int err;

	memset(sum, 0, sizeof(*sum));
	err = pins_inflight_by_device(0, &devices, &n);
	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		sum->issued += devices[i].issued;
		sum->queued += devices[i].queued;
		sum->waiting += devices[i].waiting;
		sum->bios += devices[i].bios;
	}
	free(devices);
	return 0;
}

static void print_counters(const struct monad_storage_counters *counters)
{
	struct inflight_device inflight;

	puts("\nCounted since the start");
	for (int i = 0; i < MONAD_STORAGE_COUNTERS; i++)
		printf("  %-20s %" PRIu64 "\n", counter_names[i], counters->value[i]);
	if (!count_inflight(&inflight))
		printf("  %-20s %lu with a device, %lu queued, %lu waiting for a request, "
		       "%lu bios\n", "in flight", inflight.issued, inflight.queued,
		       inflight.waiting, inflight.bios);
}

/* How full it is; it stays full once it was. */
static double percent(uint64_t used, uint64_t size)
{
	return used < size ? 100.0 * (double)used / (double)size : 100;
}

static void print_ring_name(const char *name)
{
	char text[PATH_MAX];

	printf("\nRing %s\n", printable(text, sizeof(text), name));
}

/* How long ago something was; 0 if the clock was set back since. */
static uint64_t age_ns(uint64_t epoch_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	return now_ns > epoch_ns ? now_ns - epoch_ns : 0;
}

/* How far back in time one can look, which is further the longer nothing is written. */
static void print_reach(const struct reader_span *reach)
{
	char span[HUMAN_LEN], oldest[HUMAN_LEN], newest[HUMAN_LEN];

	human_span(reach->newest_ns > reach->oldest_ns ? reach->newest_ns - reach->oldest_ns : 0,
		   span);
	printf("  holds                %s, from %s to %s%s\n", span,
	       human_time(reach->oldest_ns, oldest), human_time(reach->newest_ns, newest),
	       reach->clock_set_back ? " (the clock was set back meanwhile)" : "");
	printf("  reaches back         %s; the newest event is %s old\n",
	       human_span(age_ns(reach->oldest_ns), oldest),
	       human_span(age_ns(reach->newest_ns), newest));
}

static void print_ring(struct reader *reader, const struct reader_span *reach, const char *name)
{
	const struct monad_event_snapshot_info *snapshot =
		monad_event_ring_snapshot_info(&reader->ring);
	uint64_t last = monad_event_ring_last_seqno(&reader->ring);
	uint64_t capacity = reader->ring.desc_capacity_mask + 1;
	uint64_t payload = reader->ring.payload_buf_mask + 1;
	uint64_t next_byte = reader->ring.header->control.next_payload_byte;
	char text[HUMAN_LEN], size[HUMAN_LEN], span[HUMAN_LEN];

	print_ring_name(name);
	if (snapshot) {
		printf("  snapshot taken       %s, of events %" PRIu64 " to %" PRIu64 "\n",
		       human_time(snapshot->taken_epoch_nanos, text), snapshot->first_seqno,
		       snapshot->last_seqno);
		printf("  events               %s in it\n", human_count(snapshot->copied, text));
	} else {
		printf("  events               %s recorded, room for %s and %s of payload\n",
		       human_count(last, text), human_count(capacity, span),
		       human_bytes(payload, size));
		printf("  fill                 %.1f %% of the events, %.1f %% of the payload\n",
		       percent(last, capacity), percent(next_byte, payload));
	}
	if (reach->first_seqno)
		print_reach(reach);
	else
		printf("  holds                nothing: %s\n", last ?
		       "no event in it can be read" : "no event was written yet");
}

/* What was asked for, where not all disks are recorded. */
struct disks {
	struct recorded_disk *disk; /* free() it */
	int nr; /* or -errno */
	int there;
};

static void read_disks(struct disks *disks, const struct monad_storage_session *session)
{
	memset(disks, 0, sizeof(*disks));
	if (!session->filtered)
		return;
	disks->disk = xcalloc(MAX_DEVICES, sizeof(*disks->disk));
	disks->nr = pins_disks(disks->disk, MAX_DEVICES);
	for (int i = 0; i < disks->nr; i++)
		disks->there += disks->disk[i].there;
}

/* "all disks", or "sda, nvme0n1 and 3 more" */
static void print_disks(const struct monad_storage_session *session, const struct disks *disks)
{
	int shown = 0;

	if (!session->filtered) {
		fputs("all disks", stdout);
		return;
	}
	if (disks->nr <= 0) {
		fputs("some disks", stdout);
		return;
	}
	if (!disks->there)
		fputs("nothing", stdout);
	for (int i = 0; i < disks->nr && shown < SOME_DISKS; i++) {
		if (disks->disk[i].there)
			printf("%s%s", shown++ ? ", " : "", disks->disk[i].name);
	}
	if (disks->there > shown)
		printf(" and %d more", disks->there - shown);
}

/* Those that are not what they were. */
static void print_removed(const struct disks *disks)
{
	int shown = 0;

	for (int i = 0; i < disks->nr; i++) {
		const struct recorded_disk *disk = &disks->disk[i];

		if (disk->there)
			continue;
		if (shown++ == SOME_DISKS) {
			printf("%d disks in all were removed and are not recorded any more\n",
			       disks->nr - disks->there);
			return;
		}
		if (disk->elsewhere)
			printf("%s was removed and is not recorded any more: start again to "
			       "record what has its name now\n", disk->name);
		else
			printf("%s was removed and is not recorded any more, unless it comes back "
			       "as %u:%u\n", disk->name, disk->dev >> 20, disk->dev & 0xfffff);
	}
}

/* What becomes an event, when not everything does. */
static void print_policy(const struct monad_storage_session *session)
{
	char text[HUMAN_LEN];

	if (session->events == MONAD_STORAGE_EVENTS_NOTABLE) {
		fputs("Events are ends that failed, timed out or were issued again", stdout);
		if (session->slow_ns)
			printf(", or took %s or longer", human_duration(session->slow_ns, text));
		if (session->slow_devices)
			printf(", %u %s a time of their own", session->slow_devices,
			       session->slow_devices == 1 ? "disk with" : "disks with");
		if (session->sample_every)
			printf(", and one in %u others", session->sample_every);
	} else if (session->events == MONAD_STORAGE_EVENTS_ENDS) {
		fputs("Events are ends only", stdout);
	} else {
		return;
	}
	if (session->max_rate)
		printf("; %u a second at most", session->max_rate);
	puts(". Metrics have all.");
}

/* Whether there is room for all disks. */
static void print_room(const struct monad_storage_session *session)
{
	if (session->series_left_out)
		printf("Metrics have room for %u devices and operations in %u MiB, not for the %u "
		       "there seemed to be: what does not fit is counted as (unknown). Start again "
		       "with a larger --max-series for more\n", session->series,
		       session->metrics_mib, session->series + session->series_left_out);
}

static void print_recording(const struct monad_storage_session *session,
			    const struct disks *disks)
{
	char text[HUMAN_LEN], ring[PATH_MAX];

	fputs("Recording ", stdout);
	print_disks(session, disks);
	printf(" into %s since %s%s\n", printable(ring, sizeof(ring), session->ring),
	       human_time(pins_session_began(session), text),
	       session->stacks ? ", with stacks" :
	       session->attribution ? "" : ", without who asked for it");
	print_policy(session);
	print_removed(disks);
	print_room(session);
}

/* Whether all is well, before the numbers. */
static void print_verdict(const struct hook *hooks, const struct reader *reader,
			  const struct reader_span *reach, const struct disks *disks)
{
	unsigned int missing = 0;
	char oldest[HUMAN_LEN];

	for (size_t i = 0; i < NR_HOOKS; i++)
		missing += !hooks[i].attached && hook_missing(hooks, i);
	if (missing)
		printf("%u %s not attached: see Hooks\n", missing, missing == 1 ? "hook is" :
		       "hooks are");
	if (reader)
		puts(losses_any(reader) ? "Some was lost or not seen in full: see Losses" :
		     disks->there < disks->nr ? "Of what is recorded, nothing was lost." :
						"Nothing was lost.");
	if (reader && reach->first_seqno > 1)
		printf("The ring went round: it has what is from %s on.\n",
		       human_time(reach->oldest_ns, oldest));
}

/* False after a message, if the ring that was asked for is none. */
static bool print_status(struct status *status)
{
	struct monad_storage_counters counters;
	bool unused = false, ring;
	struct reader_span reach = {};
	struct disks disks = {};
	struct reader reader;

	switch (status->recording) {
	case RECORDING:
		read_disks(&disks, &status->session);
		print_recording(&status->session, &disks);
		break;
	case HALF_STARTED:
		puts("Half started: 'monad-storage start' begins anew, 'monad-storage stop' "
		     "cleans up");
		break;
	case NOT_RECORDING:
		puts("Not recording");
		break;
	}
	ring = !reader_open(&reader, status->ring, &unused);
	if (ring)
		reader_span(&reader, &reach);
	else if (!unused && status->recording == RECORDING &&
		 status->ring == status->session.ring)
		puts("That ring is gone, and no event is recorded: 'monad-storage stop', then "
		     "start again. Metrics have all.");
	if (status->recording != NOT_RECORDING && (!ring || reader.recorded_to)) {
		print_verdict(status->hooks, ring ? &reader : NULL, &reach, &disks);
		print_hooks(status->hooks);
		if (!pins_read_counters(&counters))
			print_counters(&counters);
	}
	if (ring) {
		print_ring(&reader, &reach, status->ring);
		putchar('\n');
		losses_print(&reader, false);
		reader_close(&reader);
	} else if (unused) {
		print_ring_name(status->ring);
		puts("  nothing was ever recorded in it");
	}
	free(disks.disk);
	return ring || unused;
}

static void json_hooks(struct json_writer *json, const struct hook *hooks)
{
	json_key(json, "hooks");
	json_begin_array(json);
	for (size_t i = 0; i < NR_HOOKS; i++) {
		json_begin_object(json);
		json_string_field(json, "hook", hook_names[i]);
		json_bool_field(json, "attached", hooks[i].attached);
		json_u64_field(json, "recursion_misses", hooks[i].recursion_misses);
		json_u64_field(json, "runs", hooks[i].runs);
		json_u64_field(json, "run_time_ns", hooks[i].run_time_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

static void json_counters(struct json_writer *json, const struct monad_storage_counters *counters)
{
	struct inflight_device inflight;

	json_key(json, "counters");
	json_begin_object(json);
	for (int i = 0; i < MONAD_STORAGE_COUNTERS; i++)
		json_u64_field(json, counter_names[i], counters->value[i]);
	json_end_object(json);
	if (!count_inflight(&inflight)) {
		json_key(json, "inflight");
		json_begin_object(json);
		json_u64_field(json, "issued", inflight.issued);
		json_u64_field(json, "waiting", inflight.waiting);
		json_u64_field(json, "queued", inflight.queued);
		json_u64_field(json, "bios", inflight.bios);
		json_end_object(json);
	}
}

static void json_ring(struct json_writer *json, struct reader *reader, const char *name)
{
	struct reader_span span;

	json_key(json, "ring");
	json_begin_object(json);
	json_string_field(json, "name", name);
	json_u64_field(json, "last_seqno", monad_event_ring_last_seqno(&reader->ring));
	json_u64_field(json, "capacity", reader->ring.desc_capacity_mask + 1);
	json_u64_field(json, "payload_bytes", reader->ring.payload_buf_mask + 1);
	json_u64_field(json, "next_payload_byte", reader->ring.header->control.next_payload_byte);
	if (reader_span(reader, &span)) {
		json_u64_field(json, "oldest_ns", span.oldest_ns);
		json_u64_field(json, "newest_ns", span.newest_ns);
		json_u64_field(json, "reach_ns", age_ns(span.oldest_ns));
		json_bool_field(json, "clock_set_back", span.clock_set_back);
	}
	json_end_object(json);
}

static void json_disks(struct json_writer *json, const struct monad_storage_session *session)
{
	struct disks disks;
	char dev[32];

	json_bool_field(json, "filtered", session->filtered);
	read_disks(&disks, session);
	if (!session->filtered)
		return;
	json_key(json, "disks");
	json_begin_array(json);
	for (int i = 0; i < disks.nr; i++) {
		const struct recorded_disk *disk = &disks.disk[i];

		json_begin_object(json);
		json_string_field(json, "disk", disk->name);
		snprintf(dev, sizeof(dev), "%u:%u", disk->dev >> 20, disk->dev & 0xfffff);
		json_string_field(json, "dev", dev);
		json_bool_field(json, "recorded", disk->there);
		json_bool_field(json, "renumbered", disk->elsewhere);
		json_end_object(json);
	}
	json_end_array(json);
	free(disks.disk);
}

static void json_policy(struct json_writer *json, const struct monad_storage_session *session)
{
	json_string_field(json, "events", events_name(session->events));
	json_u64_field(json, "slow_ns", session->slow_ns);
	json_u64_field(json, "slow_devices", session->slow_devices);
	json_u64_field(json, "sample", session->sample_every);
	json_u64_field(json, "max_rate", session->max_rate);
	json_bool_field(json, "attribution", session->attribution);
	json_u64_field(json, "stacks", session->stacks);
	json_u64_field(json, "max_series", session->series);
	json_u64_field(json, "series_without_room", session->series_left_out);
}

/* Likewise. */
static bool print_status_json(struct status *status)
{
	struct monad_storage_counters counters;
	struct json_writer json;
	bool unused = false, ring;
	struct reader reader;

	json_init(&json, stdout, true);
	json_begin_object(&json);
	json_bool_field(&json, "recording", status->recording == RECORDING);
	json_bool_field(&json, "half_started", status->recording == HALF_STARTED);
	if (status->recording == RECORDING) {
		json_u64_field(&json, "started_ns", pins_session_began(&status->session));
		json_disks(&json, &status->session);
		json_policy(&json, &status->session);
	}
	if (status->recording != NOT_RECORDING) {
		json_hooks(&json, status->hooks);
		if (!pins_read_counters(&counters))
			json_counters(&json, &counters);
	}
	ring = !reader_open(&reader, status->ring, &unused);
	if (ring) {
		json_ring(&json, &reader, status->ring);
		losses_print_json(&json, &reader);
		reader_close(&reader);
	}
	json_end_object(&json);
	json_end(&json);
	return ring || unused;
}

/* 0, or -1 after a message. */
static int look(struct status *status)
{
	int err;

	switch (pins_look()) {
	case PINS_NOT_OURS:
		return -1;
	case PINS_NONE:
		status->recording = NOT_RECORDING;
		return 0;
	case PINS_THERE:
		break;
	}
	err = pins_read_session(&status->session);
	if (err && err != -ENOENT) {
		pins_complain(err);
		return -1;
	}
	status->recording = err ? HALF_STARTED : RECORDING;
	return 0;
}

int cmd_status(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, NULL, doc, NULL, NULL, NULL };
	struct status status = {};
	bool ring;

	argp_parse(&argp, argc, argv, 0, NULL, &status);
	if (look(&status))
		return EXIT_FAILED;
	/* If a start is under way, it is half started until that is done. */
	if (status.recording == HALF_STARTED && (pins_lock() || look(&status)))
		return EXIT_FAILED;
	if (status.recording != NOT_RECORDING)
		hooks_read(status.hooks);
	if (!status.ring)
		status.ring = status.recording == RECORDING ? status.session.ring : DEFAULT_RING;
	ring = status.json ? print_status_json(&status) : print_status(&status);
	return ring && status.recording == RECORDING && !hooks_crippled(status.hooks) ?
		       EXIT_OK : EXIT_FAILED;
}
