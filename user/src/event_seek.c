// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Moving iterators to where something is. Rings are read while they are written, and
 * by anyone: whatever stands in one, each of these looks at every slot of it a small
 * constant number of times at most.
 */
#include <stdbool.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>

#include "schema.h"

/* Looks at any event; as monad_event_iterator_try_copy(). */
static enum monad_event_iter_result look(const struct monad_event_iterator *iter, uint64_t seqno,
					 struct monad_event_descriptor *event)
{
	struct monad_event_iterator there = *iter;

	monad_event_iterator_set_seqno(&there, seqno);
	return monad_event_iterator_try_copy(&there, event);
}

enum monad_event_seek_result monad_event_iterator_seek_seqno(struct monad_event_iterator *iter,
							     uint64_t seqno, uint64_t *distance)
{
	struct monad_event_descriptor event;
	uint64_t unused, last;

	if (!distance)
		distance = &unused;
	*distance = 0;
	monad_event_iterator_set_seqno(iter, seqno);
	switch (monad_event_iterator_try_copy(iter, &event)) {
	case MONAD_EVENT_SUCCESS:
		return MONAD_EVENT_SEEK_FOUND;
	case MONAD_EVENT_GAP:
		break;
	case MONAD_EVENT_NOT_READY:
		last = monad_event_last_seqno_(iter->header);
		if (last < iter->next_seqno) {
			*distance = iter->next_seqno - last;
			return MONAD_EVENT_SEEK_AHEAD;
		}
		if (last - iter->next_seqno <= iter->desc_capacity_mask)
			return MONAD_EVENT_SEEK_AHEAD;
		/* Its slot is being written over right now. */
		break;
	}
	*distance = monad_event_iterator_recover(iter);
	return MONAD_EVENT_SEEK_GONE;
}

/*
 * What a search for a time has found out of the ring so far. Let T be that time and
 * T' the slack before it. Events before one that is older than T' are older than T.
 */
struct time_search {
	const struct monad_event_iterator *iter;
	uint64_t time;	  /* T */
	uint64_t earlier; /* T' */
	bool overwritten; /* there were events before those there are ... */
	bool reaches;	  /* ... and all of them are older than T */
	struct monad_event_descriptor event;
};

static enum monad_event_iter_result search_look(struct time_search *search, uint64_t seqno)
{
	enum monad_event_iter_result result = look(search->iter, seqno, &search->event);

	if (result == MONAD_EVENT_GAP) {
		/* Since the search began; so are all before it, whatever they were. */
		search->overwritten = true;
		search->reaches = false;
	} else if (result == MONAD_EVENT_SUCCESS &&
		   search->event.record_epoch_nanos < search->earlier) {
		search->reaches = true;
	}
	return result;
}

/*
 * Bisects [@begin, @end): returns an event that none older than it can be of T or
 * later, if times are in order but for the slack; the scan goes on from there. Events
 * not written are passed over forwards, and are then not come upon again.
 */
static uint64_t search_begin(struct time_search *search, uint64_t begin, uint64_t end)
{
	while (begin < end) {
		const uint64_t middle = begin + (end - begin) / 2;
		enum monad_event_iter_result result = MONAD_EVENT_NOT_READY;
		uint64_t at = middle;

		for (; at < end; at++) {
			result = search_look(search, at);
			if (result != MONAD_EVENT_NOT_READY)
				break;
		}
		if (result == MONAD_EVENT_GAP ||
		    (result == MONAD_EVENT_SUCCESS &&
		     search->event.record_epoch_nanos < search->earlier))
			begin = at + 1;
		else
			end = middle;
	}
	return begin;
}

enum monad_event_seek_result monad_event_iterator_seek_time(struct monad_event_iterator *iter,
							    uint64_t epoch_nanos)
{
	const uint64_t end = monad_event_last_seqno_(iter->header) + 1;
	const uint64_t capacity = iter->desc_capacity_mask + 1;
	const uint64_t oldest = end > capacity ? end - capacity : 1;
	struct time_search search = {
		.iter = iter,
		.time = epoch_nanos,
		.earlier = epoch_nanos > MONAD_EVENT_TIME_SLACK_NANOS
				   ? epoch_nanos - MONAD_EVENT_TIME_SLACK_NANOS
				   : 0,
		.overwritten = oldest > 1,
	};
	uint64_t at = search_begin(&search, oldest, end);
	uint64_t place = at; /* behind the last event known not to be it */

	for (; at < end; at++) {
		enum monad_event_iter_result result = search_look(&search, at);

		if (result == MONAD_EVENT_SUCCESS && search.event.record_epoch_nanos >= search.time)
			break;
		if (result != MONAD_EVENT_NOT_READY)
			place = at + 1;
	}
	monad_event_iterator_set_seqno(iter, place);
	if (search.overwritten && !search.reaches)
		return MONAD_EVENT_SEEK_GONE;
	return at < end ? MONAD_EVENT_SEEK_FOUND : MONAD_EVENT_SEEK_AHEAD;
}

/* Bits of the tags that have to be equal for two events to be of one flow. */
static unsigned int flow_mask(const struct monad_event_flow_tag *tags, size_t count,
			      unsigned int index)
{
	unsigned int mask = 1U << index;

	for (int within = index < count ? tags[index].within : -1; within >= 0;
	     within = tags[within].within)
		mask |= 1U << within;
	return mask;
}

static bool same_flow(const struct monad_event_descriptor *a,
		      const struct monad_event_descriptor *b, unsigned int mask)
{
	for (unsigned int i = 0; i < 4; i++) {
		if (mask & 1U << i && a->content_ext[i] != b->content_ext[i])
			return false;
	}
	return true;
}

enum monad_event_seek_result
monad_event_iterator_seek_flow(struct monad_event_iterator *iter,
			       const struct monad_event_descriptor *event, unsigned int index,
			       uint64_t limit)
{
	const struct monad_event_flow_tag *tags = NULL;
	enum monad_event_seek_result result = MONAD_EVENT_SEEK_FOUND;
	struct monad_event_descriptor other;
	uint64_t first, floor = 1;
	unsigned int mask;
	size_t count = 0;

	if (index > 3 || event->content_ext[index] == 0 || event->seqno == 0)
		return MONAD_EVENT_SEEK_NONE;
	if (schema_is_known(iter->header))
		tags = monad_event_flow_tags(iter->header->content_type, &count);
	if (index < count && tags[index].is_seqno) {
		if (event->content_ext[index] > event->seqno)
			return MONAD_EVENT_SEEK_NONE;
		return monad_event_iterator_seek_seqno(iter, event->content_ext[index], NULL);
	}

	mask = flow_mask(tags, count, index);
	/* What counts within a flow does not begin before it does. */
	for (unsigned int i = 0; i < count; i++) {
		if (mask & 1U << i && tags[i].is_seqno && event->content_ext[i] > floor)
			floor = event->content_ext[i];
	}
	if (limit > iter->desc_capacity_mask + 1)
		limit = iter->desc_capacity_mask + 1;
	first = event->seqno;
	for (uint64_t at = event->seqno; at > floor && limit; limit--) {
		enum monad_event_iter_result there = look(iter, --at, &other);

		if (there == MONAD_EVENT_SUCCESS && same_flow(event, &other, mask))
			first = at;
		if (there == MONAD_EVENT_GAP) {
			result = MONAD_EVENT_SEEK_GONE;
			break;
		}
	}
	monad_event_iterator_set_seqno(iter, first);
	return result;
}
