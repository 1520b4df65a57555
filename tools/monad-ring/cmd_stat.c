// SPDX-License-Identifier: GPL-2.0
/* monad-ring stat: how fast rings are written to, as vmstat and iostat show such things. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format.h"
#include "interrupt.h"
#include "json_writer.h"
#include "monad-ring.h"
#include "parse.h"
#include "printable.h"
#include "ring_contents.h"
#include "ring_handle.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

/* Lines on a terminal until the header comes again. */
#define HEADER_EVERY 40

/* Everything that grows. */
struct counters {
	uint64_t events;
	uint64_t bytes;
	uint64_t lost[MONAD_RING_LOST_COUNT];
	uint64_t discarded;
	uint64_t wakeups;
};

struct stat_ring {
	struct ring_handle handle;
	bool open;
	bool gone; /* and not made anew by now */
	struct counters last;
	uint64_t last_ns;  /* when these were looked at, CLOCK_MONOTONIC */
	bool first;	   /* next line is since it was created ... */
	uint64_t since_ns; /* ... which is so long ago; 0: not known */
};

struct stats {
	bool json;
	uint64_t interval_ns; /* 0: once */
	uint64_t count;	      /* 0: no limit */
	struct stat_ring *rings;
	size_t ring_count;
	unsigned int lines;
	struct json_writer writer;
};

/* What happened in an interval, a second. */
struct rates {
	bool known;
	double seconds;
	double events, bytes, lost[MONAD_RING_LOST_COUNT], lost_total, discarded, wakeups;
	double lap; /* seconds until all of the ring is overwritten; 0: never */
	bool lap_by_payload;
};

static void print_help(void)
{
	fputs("Usage: monad-ring stat [OPTIONS] RING...\n"
	      "\n"
	      "Shows how fast each RING is written to: since it was created, and then, with\n"
	      "--interval, in each interval. LAP is how long it takes to overwrite all of the\n"
	      "ring at this rate, its descriptors or its payload buffer, whichever is first;\n"
	      "GOES BACK is how old its oldest event is. Events that could not be recorded are\n"
	      "shown by cause if there were any.\n"
	      "\n"
	      "Options:\n"
	      "  -i, --interval SECONDS  go on, one line a ring, until interrupted\n"
	      "  -n, --count N           stop after N of them, 1 second apart if not said\n"
	      "                          otherwise\n"
	      "  -j, --json              one JSON object a line\n"
	      "  -h, --help              this\n"
	      "\n"
	      "EXAMPLES\n"
	      "  monad-ring stat monad_ring\n"
	      "  monad-ring stat --interval 1 monad_ring mine\n"
	      "  monad-ring stat --json --count 2 monad_ring | tail -1 | jq .events_per_s\n",
	      stdout);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void get_counters(struct counters *counters, const struct ring_handle *handle)
{
	const struct monad_event_ring_control *control = &handle->ring.header->control;
	const uint64_t *lost = ring_handle_lost(handle);

	memset(counters, 0, sizeof(*counters));
	counters->events = monad_event_ring_last_seqno(&handle->ring);
	counters->bytes = __atomic_load_n(&control->next_payload_byte, __ATOMIC_RELAXED);
	for (unsigned int i = 0; lost && i < MONAD_RING_LOST_COUNT; i++) {
		/* Offered to a ring that does not exist, so not lost by this one. */
		if (i != MONAD_RING_LOST_RING_GONE)
			counters->lost[i] = __atomic_load_n(&lost[i], __ATOMIC_RELAXED);
	}
	counters->discarded = ring_handle_discarded(handle);
	counters->wakeups = ring_handle_wakeups(handle);
}

/* When its device node or file appeared; 0 when the file system does not say. */
static uint64_t born_ns(const struct ring_handle *handle)
{
	struct statx stx;

	if (statx(handle->fd, "", AT_EMPTY_PATH, STATX_BTIME, &stx) == 0 &&
	    stx.stx_mask & STATX_BTIME)
		return (uint64_t)stx.stx_btime.tv_sec * NSEC_PER_SEC + stx.stx_btime.tv_nsec;
	if (handle->device)
		return (uint64_t)handle->st.st_ctim.tv_sec * NSEC_PER_SEC +
		       (uint64_t)handle->st.st_ctim.tv_nsec;
	return 0;
}

/*
 * How long ago the ring was created, or its first event recorded if that is earlier, as in a
 * file that is a copy. 0 when nothing tells.
 */
static uint64_t age_of(const struct ring_handle *handle)
{
	const uint64_t now = now_ns(CLOCK_REALTIME);
	uint64_t born = born_ns(handle);
	struct ring_contents contents;

	ring_contents_get(&contents, handle);
	if (contents.has_oldest && (!born || contents.oldest.record_epoch_nanos < born))
		born = contents.oldest.seqno == 1 ? contents.oldest.record_epoch_nanos : 0;
	return born && born < now ? now - born : 0;
}

/* A counter that became smaller began anew. */
static double rate(uint64_t now, uint64_t before, double seconds)
{
	return (double)(now >= before ? now - before : now) / seconds;
}

static void get_rates(struct rates *rates, struct stat_ring *ring)
{
	const struct counters before = ring->last;
	const uint64_t now = now_ns(CLOCK_MONOTONIC);
	const struct monad_event_ring *mapped = &ring->handle.ring;
	uint64_t elapsed = ring->first ? ring->since_ns : now - ring->last_ns;
	double by_payload;

	memset(rates, 0, sizeof(*rates));
	get_counters(&ring->last, &ring->handle);
	ring->last_ns = now;
	if (!elapsed)
		return;
	rates->known = true;
	rates->seconds = (double)elapsed / 1e9;
	rates->events = rate(ring->last.events, before.events, rates->seconds);
	rates->bytes = rate(ring->last.bytes, before.bytes, rates->seconds);
	for (unsigned int i = 0; i < MONAD_RING_LOST_COUNT; i++) {
		rates->lost[i] = rate(ring->last.lost[i], before.lost[i], rates->seconds);
		rates->lost_total += rates->lost[i];
	}
	rates->discarded = rate(ring->last.discarded, before.discarded, rates->seconds);
	rates->wakeups = rate(ring->last.wakeups, before.wakeups, rates->seconds);
	if (rates->events > 0)
		rates->lap = (double)(mapped->desc_capacity_mask + 1) / rates->events;
	if (rates->bytes > 0) {
		by_payload = (double)(mapped->payload_buf_mask + 1) / rates->bytes;
		rates->lap_by_payload = !(rates->lap > 0) || by_payload < rates->lap;
		if (rates->lap_by_payload)
			rates->lap = by_payload;
	}
}

/* "12345", and small ones "0.25". */
static const char *format_rate(char *buf, size_t size, double value)
{
	snprintf(buf, size, value > 0 && value < 10 ? "%.2f" : "%.0f", value);
	return buf;
}

static const char *format_seconds(char *buf, size_t size, double seconds)
{
	if (!(seconds > 0))
		return "-";
	if (seconds * 1e9 > 1e18)
		return "years";
	return format_duration(buf, size, (uint64_t)(seconds * 1e9));
}

static void print_header(struct stats *stats)
{
	if (stats->lines++ % HEADER_EVERY != 0 || (stats->lines > 1 && !isatty(STDOUT_FILENO)))
		return;
	printf("%-28s %10s %12s %12s %12s %9s %11s %9s\n", "RING", "EVENTS/s", "PAYLOAD/s", "LAP",
	       "GOES BACK", "LOST/s", "DISCARDED/s", "WAKEUPS/s");
}

static void print_plain(struct stats *stats, const struct stat_ring *ring,
			const struct rates *rates, const struct ring_contents *contents)
{
	char name[PATH_MAX], events[24] = "-", bytes[FORMAT_SIZE_LEN] = "-", lap[32], back[32];
	char lost[24] = "-", discarded[24] = "-", wakeups[24] = "-";

	print_header(stats);
	if (rates->known) {
		format_rate(events, sizeof(events), rates->events);
		format_size(bytes, sizeof(bytes), (uint64_t)rates->bytes);
		format_rate(lost, sizeof(lost), rates->lost_total);
		format_rate(discarded, sizeof(discarded), rates->discarded);
		format_rate(wakeups, sizeof(wakeups), rates->wakeups);
	}
	printf("%-28s %10s %12s %12s %12s %9s %11s %9s",
	       printable(name, sizeof(name), ring->handle.name), events, bytes,
	       format_seconds(lap, sizeof(lap), rates->lap),
	       format_seconds(back, sizeof(back),
			      contents->has_oldest ? (double)contents->age_ns / 1e9 : 0),
	       lost, discarded, wakeups);
	for (unsigned int i = 0; i < MONAD_RING_LOST_COUNT; i++) {
		if (rates->lost[i] > 0)
			printf("  %s=%s", ring_lost_name(i),
			       format_rate(lost, sizeof(lost), rates->lost[i]));
	}
	puts(ring->gone ? "  gone" : "");
}

static void print_json(struct stats *stats, const struct stat_ring *ring,
		       const struct rates *rates, const struct ring_contents *contents)
{
	struct json_writer *json = &stats->writer;

	json_begin_object(json);
	json_string_field(json, "path", ring->handle.path);
	json_u64_field(json, "time_ns", now_ns(CLOCK_REALTIME));
	json_bool_field(json, "since_creation", ring->first);
	json_bool_field(json, "gone", ring->gone);
	json_u64_field(json, "last_seqno", ring->last.events);
	json_key(json, "age_ns");
	if (contents->has_oldest)
		json_u64(json, contents->age_ns);
	else
		json_null(json);
	if (rates->known) {
		json_double_field(json, "seconds", rates->seconds);
		json_double_field(json, "events_per_s", rates->events);
		json_double_field(json, "payload_bytes_per_s", rates->bytes);
		if (rates->lap > 0) {
			json_double_field(json, "lap_s", rates->lap);
			json_string_field(json, "lap_by",
					  rates->lap_by_payload ? "payload" : "descriptors");
		}
		json_key(json, "lost_per_s");
		json_begin_object(json);
		for (unsigned int i = 0; i < MONAD_RING_LOST_COUNT; i++) {
			if (rates->lost[i] > 0)
				json_double_field(json, ring_lost_name(i), rates->lost[i]);
		}
		json_end_object(json);
		json_double_field(json, "discarded_per_s", rates->discarded);
		json_double_field(json, "wakeups_per_s", rates->wakeups);
	}
	json_end_object(json);
	json_end(json);
}

static bool open_ring(struct stat_ring *ring, const char *name)
{
	if (ring_handle_open(&ring->handle, name) != 0)
		return false;
	memset(&ring->last, 0, sizeof(ring->last));
	ring->open = true;
	ring->gone = false;
	ring->first = true;
	ring->since_ns = age_of(&ring->handle);
	return true;
}

/* The ring of that name may be another one by now, or none. */
static void look_again(struct stat_ring *ring)
{
	const char *name = ring->handle.name;
	struct stat_ring anew = {0};
	uint32_t state;

	if (ring_handle_is_stale(&ring->handle) && open_ring(&anew, name)) {
		ring_handle_close(&ring->handle);
		*ring = anew;
		return;
	}
	ring->gone = !ring_handle_refresh(&ring->handle) ||
		     (ring_handle_state(&ring->handle, &state) && state == MONAD_RING_STATE_GONE);
}

/* One line a ring. False: there is nothing to come. */
static bool report(struct stats *stats)
{
	struct ring_contents contents;
	struct rates rates;
	bool all_gone = true;

	for (size_t i = 0; i < stats->ring_count; i++) {
		struct stat_ring *ring = &stats->rings[i];

		look_again(ring);
		get_rates(&rates, ring);
		ring_contents_get(&contents, &ring->handle);
		if (stats->json)
			print_json(stats, ring, &rates, &contents);
		else
			print_plain(stats, ring, &rates, &contents);
		ring->first = false;
		all_gone &= ring->gone;
	}
	fflush(stdout);
	/* A device does not come back by itself; a file that is closed may have a writer soon. */
	return !ferror(stdout) && !(all_gone && stats->rings[0].handle.device);
}

/* On time, however long a report takes. */
static void sleep_until(uint64_t at_ns)
{
	const struct timespec at = {
		.tv_sec = (time_t)(at_ns / NSEC_PER_SEC),
		.tv_nsec = (long)(at_ns % NSEC_PER_SEC),
	};

	while (!interrupted &&
	       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static void run(struct stats *stats)
{
	uint64_t next = now_ns(CLOCK_MONOTONIC);

	for (uint64_t done = 1; report(stats) && stats->interval_ns; done++) {
		if (stats->count && done >= stats->count)
			return;
		next += stats->interval_ns;
		sleep_until(next);
		if (interrupted)
			return;
	}
}

static bool parse_interval(const char *text, uint64_t *interval_ns)
{
	/* Longer than a nanosecond, and not in years. */
	return parse_duration(text, interval_ns) == 0 && *interval_ns >= 1000000 &&
	       *interval_ns <= UINT64_C(366) * 86400 * NSEC_PER_SEC;
}

static int stat_rings(struct stats *stats, char **names)
{
	int ret = EXIT_OK;

	stats->rings = calloc(stats->ring_count, sizeof(*stats->rings));
	if (!stats->rings) {
		complain("out of memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < stats->ring_count && ret == EXIT_OK; i++) {
		if (!open_ring(&stats->rings[i], names[i])) {
			complain_lib();
			ret = EXIT_FAILED;
		} else if (stats->rings[i].handle.snapshot) {
			complain("%s is a snapshot, to which nobody writes; see monad-ring info",
				 names[i]);
			ret = EXIT_FAILED;
		}
	}
	if (ret == EXIT_OK) {
		json_init(&stats->writer, stdout, false);
		catch_interrupts();
		run(stats);
		ret = finish_output();
	}
	for (size_t i = 0; i < stats->ring_count; i++) {
		if (stats->rings[i].open)
			ring_handle_close(&stats->rings[i].handle);
	}
	free(stats->rings);
	return ret;
}

int cmd_stat(int argc, char **argv, bool json)
{
	static const struct option options[] = {
		{"interval", required_argument, NULL, 'i'},
		{"count", required_argument, NULL, 'n'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct stats stats = {.json = json};
	int opt;

	while ((opt = getopt_long(argc, argv, "i:n:jh", options, NULL)) != -1) {
		switch (opt) {
		case 'i':
			if (!parse_interval(optarg, &stats.interval_ns))
				return usage_error("stat", "--interval wants seconds, not", optarg);
			break;
		case 'n':
			if (!parse_u64(optarg, &stats.count) || !stats.count)
				return usage_error("stat", "--count wants a number above 0, not",
						   optarg);
			break;
		case 'j':
			stats.json = true;
			break;
		case 'h':
			print_help();
			return finish_output();
		default:
			return usage_error("stat", "unknown option, or value missing:",
					   argv[optind - 1]);
		}
	}
	if (optind == argc)
		return usage_error("stat", "wants the name of a ring", NULL);
	if (stats.count && !stats.interval_ns)
		stats.interval_ns = NSEC_PER_SEC;
	stats.ring_count = (size_t)(argc - optind);
	return stat_rings(&stats, argv + optind);
}
