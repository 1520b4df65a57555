// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "disk.h"
#include "monad_storage.h"
#include "parse.h"
#include "printable.h"
#include "start_options.h"

enum key {
	KEY_EVENTS = 0x100,
	KEY_SLOW,
	KEY_SAMPLE,
	KEY_MAX_RATE,
	KEY_NO_ATTRIBUTION,
	KEY_STACKS,
	KEY_MAX_INFLIGHT,
	KEY_MAX_SERIES,
	KEY_MAX_CGROUPS,
};

static const char doc[] =
	"Start recording what block devices do.\n\n"
	"Loads the BPF programs, attaches them and leaves: they go on recording into "
	"the ring, without any process, until 'monad-storage stop' or a reboot.\v"
	"Metrics (top, latency, cgroups, errors, export) have every I/O, whatever becomes an "
	"event. Notable is what failed, timed out or had to be issued again, and with --slow what "
	"took that long.\n\n"
	"A file has a line 'SETTING = VALUE' for each setting, with the names of the long options "
	"above and enable_attribution = yes or no; '#' begins a comment. What the command line "
	"says counts more.\n\n"
	"EXAMPLES\n"
	"  monad-storage start                    all disks, into the default ring\n"
	"  monad-storage start -d sda -d nvme0n1  only these two\n"
	"  monad-storage start --events=ends      twice as far back, without each step\n"
	"  monad-storage start --events=notable --slow=20ms --slow=sda=1s\n"
	"                                         days, of what is worth a look\n"
	"  monad-storage start --config=/etc/monad-storage.conf\n";

static const struct argp_option argp_options[] = {
	{ "ring", 'r', "NAME", 0, "Ring to write to (" DEFAULT_RING ")", 0 },
	{ "device", 'd', "DISK", 0, "Record this disk only; may be given again", 0 },
	{ "events", KEY_EVENTS, "WHICH", 0,
	  "What becomes an event: all steps of an I/O (all), its end only (ends), or the end of "
	  "what is notable (notable)", 0 },
	{ "slow", KEY_SLOW, "[DISK=]TIME", 0,
	  "With notable: what takes that long or longer; may be given again, for each disk", 0 },
	{ "sample", KEY_SAMPLE, "N", 0, "With notable: and one in N of the others", 0 },
	{ "max-rate", KEY_MAX_RATE, "N", 0,
	  "With ends or notable: no more than N a second; the others are counted", 0 },
	{ "no-attribution", KEY_NO_ATTRIBUTION, NULL, 0,
	  "Do not record which process asked for an I/O", 0 },
	{ "stacks", KEY_STACKS, "N", OPTION_ARG_OPTIONAL,
	  "And by which way through kernel and program, for up to N different ways (4096)", 0 },
	{ "max-inflight", KEY_MAX_INFLIGHT, "N", 0, "I/Os in flight to keep track of (16384)", 0 },
	{ "max-series", KEY_MAX_SERIES, "N", 0,
	  "Devices times operations to keep metrics of, 30 KiB each, up to 240 on many CPUs "
	  "(by the number of disks, in 64 MiB at most)", 0 },
	{ "max-cgroups", KEY_MAX_CGROUPS, "N", 0, "Cgroups to keep totals of (4096)", 0 },
	{ "config", 'f', "FILE", 0, "Take settings from FILE", 0 },
	{ "verbose", 'v', NULL, 0, "Say what libbpf says", 0 },
	{}
};

static const char *const events_names[] = {
	[MONAD_STORAGE_EVENTS_ALL] = "all",
	[MONAD_STORAGE_EVENTS_ENDS] = "ends",
	[MONAD_STORAGE_EVENTS_NOTABLE] = "notable",
};

const char *events_name(unsigned int events)
{
	return events < ARRAY_SIZE(events_names) ? events_names[events] : "unknown";
}

/*
 * One setting, wherever it comes from
 */

/* Why a setting was refused. */
struct refusal {
	int status; /* to exit with */
	char text[256];
};

__attribute__((format(printf, 2, 3)))
static bool refuse(struct refusal *why, const char *format, ...)
{
	va_list args;

	why->status = EXIT_USAGE;
	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return false;
}

static bool set_number(const char *setting, const char *value, unsigned int least,
		       unsigned int most, unsigned int *number, struct refusal *why)
{
	uint64_t n;

	if (!parse_u64(value, &n) || n < least || n > most)
		return refuse(why, "%s is %u to %u, not '%s'", setting, least, most, value);
	*number = (unsigned int)n;
	return true;
}

static bool find_disk(const char *name, uint32_t *dev, struct refusal *why)
{
	switch (disk_find(name, dev)) {
	case DISK_FOUND:
		return true;
	case DISK_GONE:
	case DISK_GONE_NUMBER:
		refuse(why, "there is no disk %s", name);
		break;
	case DISK_INVALID:
		refuse(why, "'%s' is no disk", name);
		break;
	}
	why->status = EXIT_FAILED;
	return false;
}

static bool set_device(struct start_options *options, const char *name, struct refusal *why)
{
	if (options->nr_devices == MAX_DEVICES)
		return refuse(why, "no more than %d disks", MAX_DEVICES);
	return find_disk(name, &options->devices[options->nr_devices], why) &&
	       ++options->nr_devices;
}

static bool set_events(struct start_options *options, const char *value, struct refusal *why)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(events_names); i++) {
		if (!strcmp(value, events_names[i])) {
			options->events = i;
			return true;
		}
	}
	return refuse(why, "events is all, ends or notable, not '%s'", value);
}

/* "20ms", or "sda=200ms" */
static bool set_slow(struct start_options *options, const char *value, struct refusal *why)
{
	const char *time = strrchr(value, '=');
	struct slow_limit *limit;
	char disk[256];
	uint64_t ns;

	if (parse_latency(time ? time + 1 : value, &ns) || !ns)
		return refuse(why, "slow is a time with its unit, 20ms or sda=200ms, not '%s'",
			      value);
	if (!time) {
		options->slow_ns = ns;
		return true;
	}
	if (options->nr_slow == MAX_DEVICES)
		return refuse(why, "no more than %d disks with a time of their own", MAX_DEVICES);
	limit = &options->slow[options->nr_slow];
	snprintf(disk, sizeof(disk), "%.*s", (int)(time - value), value);
	if (!find_disk(disk, &limit->dev, why))
		return false;
	limit->ns = ns;
	options->nr_slow++;
	return true;
}

static bool set_attribution(struct start_options *options, const char *value, struct refusal *why)
{
	static const char *const yes[] = { "yes", "true", "on", "1" };
	static const char *const no[] = { "no", "false", "off", "0" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (!strcasecmp(value, yes[i]) || !strcasecmp(value, no[i])) {
			options->attribution = !strcasecmp(value, yes[i]);
			return true;
		}
	}
	return refuse(why, "enable_attribution is yes or no, not '%s'", value);
}

static bool set_ring(struct start_options *options, const char *value, struct refusal *why)
{
	if (!*value || strlen(value) >= sizeof(options->ring))
		return refuse(why, "ring is a name of 1 to %zu characters",
			      sizeof(options->ring) - 1);
	snprintf(options->ring, sizeof(options->ring), "%s", value);
	return true;
}

static bool set(struct start_options *options, const char *setting, const char *value,
		struct refusal *why)
{
	const struct {
		const char *name;
		unsigned int *number;
		unsigned int least;
		unsigned int most;
	} numbers[] = {
		{ "sample", &options->sample, 1, 1000000000 },
		{ "max-rate", &options->max_rate, 1, 1000000000 },
		{ "stacks", &options->sizes.stacks, 16, 1 << 16 },
		{ "max-inflight", &options->sizes.inflight, 16, 1 << 22 },
		{ "max-series", &options->sizes.series, 8, MAX_SERIES },
		{ "max-cgroups", &options->sizes.cgroups, 8, 1 << 20 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!strcmp(setting, numbers[i].name))
			return set_number(setting, value, numbers[i].least, numbers[i].most,
					  numbers[i].number, why);
	}
	if (!strcmp(setting, "ring"))
		return set_ring(options, value, why);
	if (!strcmp(setting, "device"))
		return set_device(options, value, why);
	if (!strcmp(setting, "events"))
		return set_events(options, value, why);
	if (!strcmp(setting, "slow"))
		return set_slow(options, value, why);
	if (!strcmp(setting, "enable_attribution"))
		return set_attribution(options, value, why);
	return refuse(why, "there is no setting '%s'", setting);
}

/* What belongs together; the command line and the file may each have a part of it. */
static bool consistent(const struct start_options *options, struct refusal *why)
{
	bool notable = options->events == MONAD_STORAGE_EVENTS_NOTABLE;

	if ((options->slow_ns || options->nr_slow) && !notable)
		return refuse(why, "slow says what is notable: set events to notable, too");
	if (options->sizes.stacks && !options->attribution)
		return refuse(why, "stacks say who asked for an I/O: they go with attribution");
	if (options->sample && !notable)
		return refuse(why, "sample is of what is not notable: set events to notable, too");
	if (options->max_rate && options->events == MONAD_STORAGE_EVENTS_ALL)
		return refuse(why, "max-rate counts ends: it goes with events ends or notable");
	return true;
}

/*
 * The file
 */

struct config {
	struct start_options *options;
	FILE *file;
	int lines; /* so many were read */
	int why_line; /* the first line that was refused; 0: none */
	struct refusal why; /* and why that was */
};

static int config_line(void *arg, const char *section, const char *setting, const char *value)
{
	struct config *config = arg;
	struct refusal why = {};

	if (*section)
		refuse(&why, "there are no sections, such as [%s]", section);
	else if (set(config->options, setting, value, &why))
		return 1;
	if (!config->why_line) {
		config->why = why;
		config->why_line = config->lines;
	}
	return 0;
}

/* Counts the lines that inih reads, as it says of the first wrong one only which it is. */
static char *next_line(char *buf, int size, void *arg)
{
	struct config *config = arg;

	config->lines++;
	return fgets(buf, size, config->file);
}

static void read_config(struct start_options *options, const char *path)
{
	struct config config = { .options = options };
	char text[512], name[512];
	bool refused;
	FILE *file;
	int line;

	file = fopen(path, "re");
	config.file = file;
	line = file ? ini_parse_stream(next_line, &config, config_line, &config) : 0;
	if (!file || line < 0 || ferror(file)) {
		error("%s: %m", printable(name, sizeof(name), path));
		exit(EXIT_USAGE);
	}
	fclose(file);
	refused = config.why_line == line;
	if (line > 0) {
		error("%s:%d: %s", printable(name, sizeof(name), path), line,
		      refused ? printable(text, sizeof(text), config.why.text) :
				"this is not SETTING = VALUE");
		exit(refused ? config.why.status : EXIT_USAGE);
	}
}

/*
 * The command line
 */

/* The file is read before anything else, so it has a pass of its own. */
struct parse {
	struct start_options *options;
	bool config_pass;
	bool devices_given;
	bool slow_given;
};

static const char *long_name(int key)
{
	for (const struct argp_option *option = argp_options; option->name; option++) {
		if (option->key == key)
			return option->name;
	}
	return NULL;
}

/* Disks of the command line are instead of the file's, not besides. */
static void replace_lists(struct parse *parse, int key)
{
	if (key == 'd' && !parse->devices_given) {
		parse->devices_given = true;
		parse->options->nr_devices = 0;
	}
	if (key == KEY_SLOW && !parse->slow_given) {
		parse->slow_given = true;
		parse->options->nr_slow = 0;
		parse->options->slow_ns = 0;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	const char *name = long_name(key);
	struct refusal why;
	char text[512];

	if (!name)
		return ARGP_ERR_UNKNOWN;
	if (parse->config_pass) {
		if (key == 'f')
			read_config(parse->options, arg);
		return 0;
	}
	switch (key) {
	case 'f':
		return 0;
	case 'v':
		parse->options->verbose = true;
		return 0;
	case KEY_NO_ATTRIBUTION:
		parse->options->attribution = false;
		return 0;
	}
	if (key == KEY_STACKS && !arg)
		arg = "4096";
	replace_lists(parse, key);
	if (!set(parse->options, name, arg, &why)) {
		error("%s", printable(text, sizeof(text), why.text));
		exit(why.status);
	}
	return 0;
}

void start_options_parse(struct start_options *options, int argc, char **argv)
{
	static const struct argp argp = {
		argp_options, parse_option, NULL, doc, NULL, NULL, NULL
	};
	struct parse parse = { .options = options, .config_pass = true };
	struct refusal why;

	*options = (struct start_options){
		.ring = DEFAULT_RING,
		.sizes = { .inflight = 16384, .cgroups = 4096 },
		.attribution = true,
	};
	argp_parse(&argp, argc, argv, 0, NULL, &parse);
	parse.config_pass = false;
	argp_parse(&argp, argc, argv, 0, NULL, &parse);
	if (!consistent(options, &why)) {
		error("%s", why.text);
		exit(EXIT_USAGE);
	}
}
