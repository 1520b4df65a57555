// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <limits.h>

#include "format.h"
#include "json_writer.h"
#include "monad-ring.h"
#include "printable.h"
#include "snapshot_report.h"

void snapshot_warn(const struct monad_event_snapshot_options *options,
		   const struct monad_event_snapshot_stats *stats)
{
	char time[FORMAT_TIME_LEN];

	if (!stats->copied)
		complain("warning: there are no such events in the ring; what is written has none");
	/* Were there any before the oldest one? */
	if (options->from_epoch_nanos && stats->oldest_epoch_nanos > options->from_epoch_nanos &&
	    stats->first_seqno > 1)
		complain("warning: the ring goes back to %s only",
			 format_time(time, sizeof(time), stats->oldest_epoch_nanos));
}

static void report_json(FILE *out, const char *path, const struct monad_event_snapshot_stats *stats)
{
	struct json_writer json;

	json_init(&json, out, true);
	json_begin_object(&json);
	json_string_field(&json, "path", path);
	json_u64_field(&json, "first_seqno", stats->first_seqno);
	json_u64_field(&json, "last_seqno", stats->last_seqno);
	json_u64_field(&json, "copied", stats->copied);
	json_u64_field(&json, "missed", stats->missed);
	json_u64_field(&json, "expired", stats->expired);
	json_u64_field(&json, "not_ready", stats->not_ready);
	json_u64_field(&json, "base_seqno", stats->base_seqno);
	json_u64_field(&json, "first_ns", stats->first_epoch_nanos);
	json_u64_field(&json, "last_ns", stats->last_epoch_nanos);
	json_u64_field(&json, "image_size", stats->image_size);
	json_u64_field(&json, "file_size", stats->file_size);
	json_end_object(&json);
	json_end(&json);
}

/*
 * That is more than one would think, of few events: their ring is as large as the format's other
 * readers want it to be, and what is not used of it is zeroes, which compress to nothing.
 */
static void report_image(FILE *out, uint64_t bytes)
{
	struct monad_event_ring_size least;
	char size[FORMAT_SIZE_LEN];

	monad_event_ring_init_size(MONAD_EVENT_MIN_DESCRIPTORS_SHIFT,
				   MONAD_EVENT_MIN_PAYLOAD_BUF_SHIFT, 0, &least);
	fprintf(out, "%-19s %s%s\n", "decompressed:", format_size(size, sizeof(size), bytes),
		bytes <= monad_event_ring_calc_storage(&least) ?
		", the least that all readers of rings take" : "");
}

void snapshot_report(FILE *out, bool json, const char *path,
		     const struct monad_event_snapshot_stats *stats)
{
	char size[FORMAT_SIZE_LEN], safe[PATH_MAX];
	char from[FORMAT_TIME_LEN], to[FORMAT_TIME_LEN];

	if (json) {
		report_json(out, path, stats);
		return;
	}
	fprintf(out, "%-19s %s (%s)\n", "written:", printable(safe, sizeof(safe), path),
		format_size(size, sizeof(size), stats->file_size));
	if (stats->image_size != stats->file_size)
		report_image(out, stats->image_size);
	if (stats->last_seqno)
		fprintf(out, "%-19s %" PRIu64 " to %" PRIu64 "\n", "events:", stats->first_seqno,
			stats->last_seqno);
	if (stats->copied)
		fprintf(out, "%-19s %s to %s\n", "recorded:",
			format_time(from, sizeof(from), stats->first_epoch_nanos),
			format_time(to, sizeof(to), stats->last_epoch_nanos));
	fprintf(out, "%-19s %" PRIu64 "\n", "copied:", stats->copied);
	fprintf(out, "%-19s %" PRIu64 " (%" PRIu64 " for their payload)\n", "missed:",
		stats->missed, stats->expired);
	fprintf(out, "%-19s %" PRIu64 "\n", "not written yet:", stats->not_ready);
}
