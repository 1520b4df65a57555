// SPDX-License-Identifier: GPL-2.0
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "export_options.h"
#include "monad_storage.h"
#include "parse.h"

static const char doc[] =
	"Export what was counted since the start of the recording, and what happens, to those who "
	"watch: served to Prometheus over HTTP, or sent at intervals to receivers of OTLP "
	"(OpenTelemetry), of lines of JSON, or of batches as telemetry.proto has them. Any number "
	"of these at once, until it is interrupted.\n\n"
	"Or the metrics alone: printed once, or written to a file.\v"
	"Takes root. Recording may be stopped and started again meanwhile. While nothing is "
	"recorded, that is what it says (monad_storage_recording 0). A receiver that is not there "
	"keeps nobody waiting: what there is no more room for is dropped, and counted. Nobody who "
	"asks is asked for a password: serve other addresses than 127.0.0.1 in a network of your "
	"own only.\n\n"
	"EXAMPLES\n"
	"  monad-storage export --prometheus 19150     http://127.0.0.1:19150/metrics\n"
	"  monad-storage export --otlp http://collector:4318 --slow 50ms\n"
	"  monad-storage export --otlp http://prometheus:9090/api/v1/otlp --events=off\n"
	"  monad-storage export --json-lines - --slow 50ms | jq '.spontaneousEvents[]?'\n"
	"  monad-storage export --json-lines /var/log/storage.jsonl --slow 50ms\n"
	"  monad-storage export --once | grep latency\n"
	"  monad-storage export --textfile /var/lib/node-exporter/storage.prom\n"
	"                                              for node_exporter, from a timer\n";

enum {
	KEY_PROMETHEUS = 0x200, KEY_ONCE, KEY_TEXTFILE, KEY_OTLP, KEY_HEADER, KEY_JSON,
	KEY_TELEMETRY,
	KEY_COMPRESSION, KEY_INTERVAL, KEY_METRICS, KEY_QUEUE, KEY_EVENTS, KEY_SINCE, KEY_SLOW,
	KEY_CONGESTED, KEY_STUCK,
};

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "Whoever asks:", 1 },
	{ "prometheus", KEY_PROMETHEUS, "[ADDRESS:]PORT", 0,
	  "Serve /metrics there; on 127.0.0.1 unless it says where", 1 },
	{ NULL, 0, NULL, 0, "At intervals, metrics and events:", 2 },
	{ "otlp", KEY_OTLP, "URL", 0, "Post OTLP to URL/v1/metrics and URL/v1/logs", 2 },
	{ "otlp-header", KEY_HEADER, "HEADER", 0,
	  "With these headers, 'NAME: VALUE' or @FILE with a line for each", 2 },
	{ "otlp-compression", KEY_COMPRESSION, "gzip|none", 0, "How these are compressed (gzip)",
	  2 },
	{ "json-lines", KEY_JSON, "FILE", 0, "Write lines of JSON to the end of FILE; - is stdout",
	  2 },
	/* As it was called before --json meant a form of output everywhere else. */
	{ "telemetry", KEY_TELEMETRY, "ADDRESS", 0,
	  "Send batches to HOST:PORT or to the socket with that path", 2 },
	{ "interval", KEY_INTERVAL, "TIME", 0, "As often as that (10s)", 2 },
	{ "metrics", KEY_METRICS, "TIME|off", 0,
	  "Metrics no more often than that, or never (10s)", 2 },
	{ "queue", KEY_QUEUE, "N", 0,
	  "Keep so many of them for a receiver that is away, and 16 MiB at most (1024)", 2 },
	{ "events", KEY_EVENTS, "on|off", 0, "Whether events are sent, or metrics only (on)", 2 },
	{ "since", KEY_SINCE, "TIME", 0, "Begin with the events of then (with those from now on)",
	  2 },
	{ "slow", KEY_SLOW, "[DISK=]TIME", 0,
	  "I/O that takes as long is an event (what the recording marks as slow)", 2 },
	{ "congested", KEY_CONGESTED, "N", 0, "So many I/Os in flight on a disk are an event", 2 },
	{ "stuck", KEY_STUCK, "TIME", 0, "I/O in flight for so long is an event (30s)", 2 },
	{ NULL, 0, NULL, 0, "Now, metrics only:", 3 },
	{ "once", KEY_ONCE, NULL, 0, "Print the metrics and end", 3 },
	{ "textfile", KEY_TEXTFILE, "FILE", 0,
	  "Write the metrics to FILE, which is replaced at once, and end", 3 },
	{}
};

#define INTERVAL_LEAST 100000000ULL
#define INTERVAL_MOST (86400 * NSEC_PER_SEC)
#define QUEUE_MOST 100000

struct parse {
	struct export_options *options;
	uint64_t congested; /* 0: was not given */
	bool push_only;     /* an option was given that makes sense for these only */
	bool otlp;          /* --otlp was */
	bool compression;   /* --otlp-compression was */
};

static void add_target(struct push_options *push, enum export_kind kind, char *arg,
		       struct argp_state *state)
{
	if (!*arg)
		argp_error(state, "%s is missing",
			   kind == EXPORT_OTLP ? "the URL of --otlp" :
			   kind == EXPORT_JSON ? "the file of --json-lines" :
			   "the address of --telemetry");
	/* Two at once would write into each other's lines. */
	for (size_t i = 0; i < push->targets.nr; i++) {
		if (push->targets.target[i].kind == kind &&
		    !strcmp(push->targets.target[i].where, arg))
			argp_error(state, "'%s' is given twice", arg);
	}
	if (!export_targets_add(&push->targets, kind, arg))
		argp_error(state, "no more than %d of --otlp, --json-lines and --telemetry",
			   EXPORT_TARGETS_MAX);
}

static struct transform_threshold *get_threshold(struct push_options *push, uint32_t dev,
						 struct argp_state *state)
{
	struct transform_threshold *threshold;

	for (size_t i = 0; i < push->nr_thresholds; i++) {
		threshold = &push->thresholds[i];
		if (DISK_DEV(threshold->dev_major, threshold->dev_minor) == dev)
			return threshold;
	}
	if (push->nr_thresholds == EXPORT_THRESHOLDS_MAX)
		argp_error(state, "no more than %d of --slow", EXPORT_THRESHOLDS_MAX - 1);
	threshold = &push->thresholds[push->nr_thresholds++];
	threshold->dev_major = dev >> 20;
	threshold->dev_minor = dev & 0xfffff;
	return threshold;
}

static void parse_slow(struct push_options *push, char *arg, struct argp_state *state)
{
	char *equals = strrchr(arg, '='), *time = equals ? equals + 1 : arg;
	struct transform_threshold *threshold;
	uint32_t dev = 0;
	uint64_t ns;

	if (parse_latency(time, &ns) || !ns)
		argp_error(state, "slow is a time with its unit, 20ms or sda=200ms, not '%s'", arg);
	if (equals) {
		*equals = '\0';
		switch (disk_find(arg, &dev)) {
		case DISK_FOUND:
		case DISK_GONE_NUMBER:
			break;
		case DISK_GONE:
			argp_error(state, "--slow: there is no disk %s", arg);
			break;
		case DISK_INVALID:
			argp_error(state, "--slow: %s is none", arg);
			break;
		}
	}
	threshold = get_threshold(push, dev, state);
	threshold->slow_ns = ns;
}

static void parse_interval(struct push_options *push, const char *arg, struct argp_state *state)
{
	if (parse_duration(arg, &push->interval_ns) || push->interval_ns < INTERVAL_LEAST ||
	    push->interval_ns > INTERVAL_MOST)
		argp_error(state, "--interval %s: a time from 100ms to 24h", arg);
}

static void parse_queue(struct push_options *push, const char *arg, struct argp_state *state)
{
	uint64_t batches;

	if (!parse_u64(arg, &batches) || !batches || batches > QUEUE_MOST)
		argp_error(state, "--queue is 1 to %d batches, not '%s'", QUEUE_MOST, arg);
	push->targets.queue_batches = batches;
}

static void parse_metrics(struct push_options *push, const char *arg, struct argp_state *state)
{
	push->metrics_ns = UINT64_MAX;
	if (!strcmp(arg, "off"))
		return;
	if (parse_duration(arg, &push->metrics_ns) || push->metrics_ns < INTERVAL_LEAST ||
	    push->metrics_ns > INTERVAL_MOST)
		argp_error(state, "--metrics %s: off, or a time from 100ms to 24h", arg);
}

static void parse_compression(struct parse *parse, const char *arg, struct argp_state *state)
{
	if (strcmp(arg, "gzip") != 0 && strcmp(arg, "none") != 0)
		argp_error(state, "--otlp-compression is gzip or none, not '%s'", arg);
	parse->options->push.targets.plain = !strcmp(arg, "none");
	parse->compression = true;
}

static void parse_events(struct push_options *push, const char *arg, struct argp_state *state)
{
	if (strcmp(arg, "on") != 0 && strcmp(arg, "off") != 0)
		argp_error(state, "--events is on or off, not '%s'", arg);
	push->no_events = !strcmp(arg, "off");
}

/* Those that say how, and not where to. */
static error_t parse_how(struct parse *parse, int key, char *arg, struct argp_state *state)
{
	struct push_options *push = &parse->options->push;

	switch (key) {
	case KEY_HEADER:
		if (!export_targets_add_header(&push->targets, arg))
			argp_error(state, "no more than %d of --otlp-header", EXPORT_HEADERS_MAX);
		break;
	case KEY_COMPRESSION:
		parse_compression(parse, arg, state);
		break;
	case KEY_INTERVAL:
		parse_interval(push, arg, state);
		break;
	case KEY_METRICS:
		parse_metrics(push, arg, state);
		break;
	case KEY_QUEUE:
		parse_queue(push, arg, state);
		break;
	case KEY_EVENTS:
		parse_events(push, arg, state);
		break;
	case KEY_SINCE:
		if (parse_time(arg, clock_ns(CLOCK_REALTIME), &push->since_ns))
			argp_error(state, "'%s' is no time; say 60s, 03:12 or "
				   "'2024-05-31 03:12:30'", arg);
		/* All there is. */
		if (!push->since_ns)
			push->since_ns = 1;
		break;
	case KEY_SLOW:
		parse_slow(push, arg, state);
		break;
	case KEY_CONGESTED:
		if (!parse_u64(arg, &parse->congested) || !parse->congested)
			argp_error(state, "--congested %s: a number of I/Os", arg);
		break;
	case KEY_STUCK:
		if (parse_duration(arg, &push->stuck_ns) || !push->stuck_ns)
			argp_error(state, "--stuck %s: a time, as 30s", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	parse->push_only = true;
	return 0;
}

static void finish(struct parse *parse, struct argp_state *state)
{
	struct export_options *options = parse->options;
	struct push_options *push = &options->push;
	bool lasting = options->listen || push->targets.nr;

	if (!lasting && !options->once && !options->textfile)
		argp_error(state, "where to? --once prints the metrics; --textfile FILE, "
			   "--prometheus PORT, --otlp URL, --json-lines FILE and --telemetry "
			   "ADDRESS");
	if (lasting + options->once + !!options->textfile > 1)
		argp_error(state, "--once and --textfile each go with no other of --once, "
			   "--textfile, --prometheus, --otlp, --json-lines and --telemetry");
	if (parse->push_only && !push->targets.nr)
		argp_error(state, "what is said of intervals, events and headers goes with --otlp, "
			   "--json-lines or --telemetry");
	if (push->no_events && push->metrics_ns == UINT64_MAX)
		argp_error(state, "--events=off and --metrics=off: that leaves nothing to send");
	if (push->targets.nr_headers && !parse->otlp)
		argp_error(state, "--otlp-header goes with --otlp");
	if (parse->compression && !parse->otlp)
		argp_error(state, "--otlp-compression goes with --otlp");
	if (!parse->congested)
		return;
	get_threshold(push, 0, state);
	for (size_t i = 0; i < push->nr_thresholds; i++)
		push->thresholds[i].inflight = parse->congested;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct export_options *options = parse->options;
	const char *wrong;

	switch (key) {
	case KEY_PROMETHEUS:
		wrong = http_parse_address(arg, &options->address);
		if (wrong)
			argp_error(state, "--prometheus %s: %s", arg, wrong);
		options->listen = arg;
		return 0;
	case KEY_OTLP:
		add_target(&options->push, EXPORT_OTLP, arg, state);
		parse->otlp = true;
		return 0;
	case KEY_JSON:
		add_target(&options->push, EXPORT_JSON, arg, state);
		return 0;
	case KEY_TELEMETRY:
		add_target(&options->push, EXPORT_TELEMETRY, arg, state);
		return 0;
	case KEY_ONCE:
		options->once = true;
		return 0;
	case KEY_TEXTFILE:
		if (!*arg)
			argp_error(state, "--textfile wants a file");
		options->textfile = arg;
		return 0;
	case ARGP_KEY_END:
		finish(parse, state);
		return 0;
	}
	return parse_how(parse, key, arg, state);
}

void export_parse(struct export_options *options, int argc, char **argv)
{
	static const struct argp argp = {
		option_table, parse_option, NULL, doc, NULL, NULL, NULL
	};
	struct parse parse = { .options = options };

	memset(options, 0, sizeof(*options));
	options->push.interval_ns = 10 * NSEC_PER_SEC;
	options->push.metrics_ns = 10 * NSEC_PER_SEC;
	argp_parse(&argp, argc, argv, 0, NULL, &parse);
}
