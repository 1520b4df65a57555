// SPDX-License-Identifier: GPL-2.0
#include <time.h>

#include "human.h"
#include "monad_storage.h"
#include "parse.h"
#include "period.h"

void period_init(struct period *period)
{
	period->now_ns = clock_ns(CLOCK_REALTIME);
	period->since_ns = 0;
	period->until_ns = UINT64_MAX;
}

error_t period_option(struct period *period, int key, char *arg, struct argp_state *state)
{
	uint64_t *time_ns;

	if (key != PERIOD_KEY_SINCE && key != PERIOD_KEY_UNTIL)
		return ARGP_ERR_UNKNOWN;
	time_ns = key == PERIOD_KEY_SINCE ? &period->since_ns : &period->until_ns;
	if (parse_time(arg, period->now_ns, time_ns))
		argp_error(state, "'%s' is no time; say 60s, 03:12 or '2024-05-31 03:12:30'", arg);
	return 0;
}

int period_check(const struct period *period)
{
	char since[HUMAN_LEN], until[HUMAN_LEN];

	if (period->since_ns <= period->until_ns)
		return EXIT_OK;
	error("--since, %s, is later than --until, %s; say the date, too",
	      human_time(period->since_ns, since), human_time(period->until_ns, until));
	return EXIT_USAGE;
}

bool period_is_held(const struct period *period, struct reader *reader, struct reader_span *span)
{
	char since[HUMAN_LEN], reach[HUMAN_LEN];

	human_time(period->since_ns, since);
	if (period->since_ns > period->now_ns)
		warning("--since %s is in the future", since);
	if (!reader_span(reader, span) || span->first_seqno <= 1 ||
	    span->oldest_ns <= period->since_ns)
		return true;
	human_time(span->oldest_ns, reach);
	if (period->since_ns)
		warning("the ring reaches back to %s only, not to %s", reach, since);
	else
		warning("the ring reaches back to %s; what was before is overwritten", reach);
	return false;
}

bool period_next(const struct period *period, struct reader *reader, struct ring_walk *walk,
		 struct monad_event_descriptor *desc)
{
	while (reader_next(reader, walk, desc)) {
		if (desc->record_epoch_nanos < period->since_ns ||
		    desc->record_epoch_nanos >= period->until_ns)
			continue;
		reader_note_time(reader, desc->record_epoch_nanos);
		return true;
	}
	return false;
}
