// SPDX-License-Identifier: GPL-2.0
/* monad-ring snapshot: a ring, or a part of it, in one compressed file. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <monad_event/event_snapshot.h>

#include "monad-ring.h"
#include "parse.h"
#include "ring_handle.h"
#include "snapshot_report.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

#define NO_TIME "wants a time: 60s (that long ago), 03:12, '2024-05-31 03:12:30' or @SECONDS, not"

enum { OPT_FROM = 256, OPT_TO, OPT_FIRST, OPT_LAST };

struct snapshot {
	bool json;
	bool since_given;
	const char *output; /* NULL: a name of our own */
	uint64_t now_ns;
	struct monad_event_snapshot_options options;
};

static void print_help(void)
{
	fputs("Usage: monad-ring snapshot [OPTIONS] RING\n"
	      "\n"
	      "Writes what is in RING, or a part of it, to a compressed file, while writers go\n"
	      "on. All commands read such a file as they read rings, and zstd -d makes a ring\n"
	      "file of it. Events that were overwritten while they were being copied are\n"
	      "counted as missed.\n"
	      "\n"
	      "Options:\n"
	      "  -o, --output FILE     write it to FILE, which is replaced; - is standard\n"
	      "                        output. Without it, to RING-YYYYmmdd-HHMMSS.zst\n"
	      "  -s, --since DURATION  what was recorded in that time up to now: 30s, 5m, 2h\n"
	      "      --from TIME       what was recorded from then on ...\n"
	      "      --to TIME         ... and up to then\n"
	      "      --first SEQNO     the events from that one on ...\n"
	      "      --last SEQNO      ... and up to that one\n"
	      "  -l, --level N         compression level of zstd (3)\n"
	      "  -j, --json            print JSON\n"
	      "  -h, --help            this\n"
	      "\n",
	      stdout);
	fputs("A TIME is how long ago (60s, 5m), a time of day (03:12, 03:12:30), a date and\n"
	      "time ('2024-05-31 03:12:30'), or @SECONDS since 1970.\n"
	      "\n"
	      "EXAMPLES\n"
	      "  monad-ring snapshot monad_ring\n"
	      "  monad-ring snapshot --since 5m -o incident.zst monad_ring\n"
	      "  monad-ring snapshot --from 03:11 --to 03:13 monad_ring\n"
	      "  monad-ring snapshot -o - monad_ring | ssh collector 'cat >host.zst'\n",
	      stdout);
}

static bool parse_level(const char *text, int32_t *level)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	*level = (int32_t)value;
	return end != text && !*end && !errno && value && value == *level;
}

/* NULL, or what is wrong with the value of option @opt. */
static const char *take_option(struct snapshot *snapshot, int opt, const char *value)
{
	struct monad_event_snapshot_options *options = &snapshot->options;
	uint64_t ago;

	switch (opt) {
	case 'o':
		snapshot->output = value;
		return NULL;
	case 's':
		if (parse_duration(value, &ago) != 0)
			return "--since wants a duration, such as 30s, 5m or 2h, not";
		snapshot->since_given = true;
		options->from_epoch_nanos = ago < snapshot->now_ns ? snapshot->now_ns - ago : 1;
		return NULL;
	case OPT_FROM:
		return parse_time(value, snapshot->now_ns, &options->from_epoch_nanos)
			       ? "--from " NO_TIME
			       : NULL;
	case OPT_TO:
		if (parse_time(value, snapshot->now_ns, &options->to_epoch_nanos))
			return "--to " NO_TIME;
		/* To the library, 0 is no limit. */
		if (!options->to_epoch_nanos)
			options->to_epoch_nanos = 1;
		return NULL;
	case OPT_FIRST:
		return parse_u64(value, &options->first_seqno) && options->first_seqno
			       ? NULL
			       : "--first wants a sequence number, not";
	case OPT_LAST:
		return parse_u64(value, &options->last_seqno) && options->last_seqno
			       ? NULL
			       : "--last wants a sequence number, not";
	case 'l':
		return parse_level(value, &options->level) ? NULL
							   : "--level wants a level of zstd, not";
	case 'j':
		snapshot->json = true;
		return NULL;
	default:
		return "unknown option";
	}
}

/* RING-YYYYmmdd-HHMMSS.zst, or with a number when that is there. */
static void choose_name(char *name, size_t size, const struct ring_handle *handle,
			uint64_t now_ns)
{
	const char *slash = strrchr(handle->path, '/');
	const char *base = slash ? slash + 1 : handle->path;
	time_t now = (time_t)(now_ns / NSEC_PER_SEC);
	char stamp[32] = "0";
	struct tm tm;
	int len = (int)strlen(base);

	if (localtime_r(&now, &tm))
		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	/* Of ring.zst: ring-..., not ring.zst-... */
	if (len > 4 && strcmp(base + len - 4, ".zst") == 0)
		len -= 4;
	snprintf(name, size, "%.*s-%s.zst", len, base, stamp);
	for (int i = 2; access(name, F_OK) == 0 && i < 1000; i++)
		snprintf(name, size, "%.*s-%s-%d.zst", len, base, stamp, i);
}

/* Writes to what is open; @name: of that. */
static int write_to(const struct ring_handle *handle, int fd, const char *name,
		    const struct snapshot *snapshot, struct monad_event_snapshot_stats *stats)
{
	if (isatty(fd)) {
		complain("snapshots are not written to a terminal; use a pipe, or -o FILE");
		return EXIT_USAGE;
	}
	if (monad_event_snapshot_write(&handle->ring, fd, &snapshot->options, stats) != 0) {
		complain("%s: %s", name, lib_error());
		return EXIT_FAILED;
	}
	/* A file, perhaps, which has to be there after a crash. EINVAL: a pipe. */
	if (fsync(fd) != 0 && errno != EINVAL) {
		complain("cannot sync %s: %s", name, strerror(errno));
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

static int write_to_path(const struct ring_handle *handle, const char *path,
			 const struct snapshot *snapshot, struct monad_event_snapshot_stats *stats)
{
	struct stat st;
	int fd, ret;

	if (stat(path, &st) == 0) {
		if (st.st_dev == handle->st.st_dev && st.st_ino == handle->st.st_ino) {
			complain("%s is the ring itself; choose another name", path);
			return EXIT_USAGE;
		}
		/* A pipe with a name, /dev/stdout */
		if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)) {
			fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
			if (fd < 0) {
				complain("cannot open %s: %s", path, strerror(errno));
				return EXIT_FAILED;
			}
			ret = write_to(handle, fd, path, snapshot, stats);
			close(fd);
			return ret;
		}
	}
	if (monad_event_snapshot_write_file(&handle->ring, path, &snapshot->options, stats) == 0)
		return EXIT_OK;
	complain_lib();
	return EXIT_FAILED;
}

static int take_snapshot(const struct snapshot *snapshot, const char *ring)
{
	struct monad_event_snapshot_stats stats = {.size = sizeof(stats)};
	struct ring_handle handle;
	char name[NAME_MAX + 32];
	const char *output = snapshot->output;
	bool to_stdout = output && strcmp(output, "-") == 0;
	int ret;

	if (to_stdout && isatty(STDOUT_FILENO)) {
		complain("snapshots are not written to a terminal; use a pipe, or -o FILE");
		return EXIT_USAGE;
	}
	if (ring_handle_open(&handle, ring) != 0) {
		complain_lib();
		return EXIT_FAILED;
	}
	if (!output) {
		choose_name(name, sizeof(name), &handle, snapshot->now_ns);
		output = name;
	}
	if (to_stdout)
		ret = write_to(&handle, STDOUT_FILENO, "standard output", snapshot, &stats);
	else
		ret = write_to_path(&handle, output, snapshot, &stats);
	if (ret == EXIT_OK) {
		snapshot_warn(&snapshot->options, &stats);
		snapshot_report(to_stdout ? stderr : stdout, snapshot->json,
				to_stdout ? "standard output" : output, &stats);
	}
	ring_handle_close(&handle);
	return ret == EXIT_OK && !to_stdout ? finish_output() : ret;
}

int cmd_snapshot(int argc, char **argv, bool json)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"since", required_argument, NULL, 's'},
		{"from", required_argument, NULL, OPT_FROM},
		{"to", required_argument, NULL, OPT_TO},
		{"first", required_argument, NULL, OPT_FIRST},
		{"last", required_argument, NULL, OPT_LAST},
		{"level", required_argument, NULL, 'l'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct snapshot snapshot = {.json = json, .options = {.size = sizeof(snapshot.options)}};
	bool from_given = false;
	struct timespec now;
	const char *wrong;
	int opt;

	clock_gettime(CLOCK_REALTIME, &now);
	snapshot.now_ns = (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
	while ((opt = getopt_long(argc, argv, "o:s:l:jh", options, NULL)) != -1) {
		if (opt == 'h') {
			print_help();
			return finish_output();
		}
		if (opt == '?')
			return usage_error("snapshot",
					   "unknown option, or value missing:", argv[optind - 1]);
		wrong = take_option(&snapshot, opt, optarg);
		if (wrong)
			return usage_error("snapshot", wrong, optarg);
		from_given |= opt == OPT_FROM;
	}
	if (snapshot.since_given && (from_given || snapshot.options.to_epoch_nanos))
		return usage_error("snapshot", "--since does not go with --from and --to", NULL);
	if (snapshot.options.to_epoch_nanos &&
	    snapshot.options.from_epoch_nanos > snapshot.options.to_epoch_nanos)
		return usage_error("snapshot", "--from is later than --to", NULL);
	if (snapshot.options.last_seqno &&
	    snapshot.options.first_seqno > snapshot.options.last_seqno)
		return usage_error("snapshot", "--first is after --last", NULL);
	if (argc - optind != 1)
		return usage_error("snapshot", "wants the name of one ring", NULL);
	return take_snapshot(&snapshot, argv[optind]);
}
