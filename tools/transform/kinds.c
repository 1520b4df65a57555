// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kinds.h"

int kinds_init(struct kinds *kinds, unsigned int per_kind, unsigned int per_window,
	       unsigned int victims)
{
	size_t index = 2;

	memset(kinds, 0, sizeof(*kinds));
	kinds->per_kind = per_kind;
	kinds->nr_victims = victims;
	kinds->room = per_window < KINDS_MAX ? per_window : KINDS_MAX;
	kinds->pool_size = per_window;
	/* Never more than half full. */
	while (index < 2 * kinds->room)
		index *= 2;
	kinds->index_mask = index - 1;
	kinds->kinds = calloc(kinds->room, sizeof(*kinds->kinds));
	kinds->index = calloc(index, sizeof(*kinds->index));
	kinds->pool = calloc(per_window, sizeof(*kinds->pool));
	if (victims)
		kinds->victims = calloc((size_t)per_window * victims, sizeof(*kinds->victims));
	if (!kinds->kinds || !kinds->index || !kinds->pool || (victims && !kinds->victims))
		return -ENOMEM;
	kinds_clear(kinds);
	return 0;
}

void kinds_free(struct kinds *kinds)
{
	for (size_t i = 0; kinds->pool && i < kinds->pool_size; i++)
		held_stack_put(kinds->pool[i].stack);
	free(kinds->victims);
	free(kinds->pool);
	free(kinds->index);
	free(kinds->kinds);
	memset(kinds, 0, sizeof(*kinds));
}

void kinds_clear(struct kinds *kinds)
{
	kinds->nr = 0;
	memset(kinds->index, 0, (kinds->index_mask + 1) * sizeof(*kinds->index));
	kinds->unused = NULL;
	for (size_t i = kinds->pool_size; i--;) {
		struct noted *noted = &kinds->pool[i];

		held_stack_put(noted->stack);
		noted->stack = NULL;
		noted->victims = kinds->nr_victims ? &kinds->victims[i * kinds->nr_victims] : NULL;
		noted->next = kinds->unused;
		kinds->unused = noted;
	}
}

/*
 * Finding a kind
 */

#define OF_CALL 0x10000
#define OF_CACHE_FLUSH 0x20000
/* Of what was stuck, and is not any more: what is does not stand for it. */
#define OF_END 0x40000

static struct kind_key key_of(const struct facts *facts, enum reason reason)
{
	struct kind_key key = {
		.dev_major = facts->dev_major,
		.dev_minor = facts->dev_minor,
		.op = facts->op,
		.reason = reason,
		.error = facts->error,
	};

	if (facts_are_of_call(facts))
		key.op |= OF_CALL;
	else if (facts->type == MONAD_STORAGE_FLUSH_COMPLETE)
		key.op |= OF_CACHE_FLUSH;
	else if (facts->op >= MONAD_STORAGE_OP_COUNT)
		key.op = MONAD_STORAGE_OP_OTHER;
	if (reason == REASON_STUCK && (facts->type || facts->gone))
		key.op |= OF_END;
	return key;
}

static size_t hash_of(const struct kind_key *key)
{
	const uint32_t words[] = { key->dev_major, key->dev_minor, key->op, key->reason,
				   key->error };
	uint64_t hash = 0;

	for (int i = 0; i < 5; i++)
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ULL;
	return hash >> 32;
}

static struct kind *new_kind(struct kinds *kinds, uint32_t *place, const struct kind_key *key)
{
	struct kind *kind = &kinds->kinds[kinds->nr++];

	memset(kind, 0, sizeof(*kind));
	kind->key = *key;
	/* It is found by its place only. */
	kind->catch_all = kinds->nr == kinds->room;
	if (!kind->catch_all)
		*place = kinds->nr;
	return kind;
}

static struct kind *find_kind(struct kinds *kinds, const struct kind_key *key)
{
	size_t at = hash_of(key) & kinds->index_mask;

	for (; kinds->index[at]; at = (at + 1) & kinds->index_mask) {
		struct kind *kind = &kinds->kinds[kinds->index[at] - 1];

		if (!memcmp(&kind->key, key, sizeof(*key)))
			return kind;
	}
	if (kinds->nr < kinds->room)
		return new_kind(kinds, &kinds->index[at], key);
	return &kinds->kinds[kinds->room - 1];
}

/*
 * What a kind keeps
 */

static Monad__Severity severity_of(const struct noted *noted)
{
	return reason_severity(noted->reason, &noted->facts, &noted->limits, 1);
}

/* Of a kind, latencies tell; where there is everything, severity comes first. */
static bool is_worse(const struct kind *kind, const struct facts *facts, Monad__Severity severity)
{
	const struct noted *worst = kind->worst;

	if (!worst)
		return true;
	if (kind->catch_all && severity != severity_of(worst))
		return severity > severity_of(worst);
	return facts->latency_ns > worst->facts.latency_ns;
}

static bool is_graver(const struct kind *kind, Monad__Severity severity)
{
	return !kind->gravest || severity > severity_of(kind->gravest);
}

/* How well a kind can do without it. */
static int rank(const struct kind *kind, const struct noted *noted)
{
	if (!kind_must_keep(kind, noted))
		return 2;
	return noted == kind->worst ? 0 : 1;
}

/* Takes one out: the last of those that need not stay; NULL if there is none at all. */
static struct noted *take_last(struct kind *kind)
{
	struct noted *found = NULL, *in_front = NULL, *before = NULL;

	for (struct noted *noted = kind->first; noted; before = noted, noted = noted->next) {
		if (found && rank(kind, noted) < rank(kind, found))
			continue;
		found = noted;
		in_front = before;
	}
	if (!found)
		return NULL;
	if (in_front)
		in_front->next = found->next;
	else
		kind->first = found->next;
	if (kind->last == found)
		kind->last = in_front;
	if (kind->worst == found)
		kind->worst = NULL;
	if (kind->gravest == found)
		kind->gravest = kind->worst;
	kind->nr--;
	held_stack_put(found->stack);
	found->stack = NULL;
	return found;
}

/* From the kind that matters least, below @severity; of those, from that which has most. */
static struct noted *take_from_others(struct kinds *kinds, Monad__Severity severity)
{
	struct kind *from = NULL;

	for (size_t i = 0; i < kinds->nr; i++) {
		struct kind *kind = &kinds->kinds[i];

		if (kind->nr < 2 || kind->severity >= severity)
			continue;
		if (!from || kind->severity < from->severity ||
		    (kind->severity == from->severity && kind->nr > from->nr))
			from = kind;
	}
	return from ? take_last(from) : NULL;
}

/* NULL if the kind has enough, or others are as important. */
static struct noted *room_for(struct kinds *kinds, struct kind *kind, Monad__Severity severity)
{
	struct noted *noted = kinds->unused;

	if (kind->nr && kind->nr >= kinds->per_kind)
		return NULL;
	if (noted) {
		kinds->unused = noted->next;
		return noted;
	}
	/* A new kind has to have one. */
	return take_from_others(kinds, kind->nr ? severity :
				MONAD__SEVERITY__SEVERITY_CRITICAL + 1);
}

static void append(struct kind *kind, struct noted *noted, Monad__Severity severity)
{
	if (is_worse(kind, &noted->facts, severity))
		kind->worst = noted;
	if (is_graver(kind, severity))
		kind->gravest = noted;
	/* One for both, where that is possible. */
	if (severity_of(kind->worst) == severity_of(kind->gravest))
		kind->gravest = kind->worst;
	noted->next = NULL;
	if (kind->last)
		kind->last->next = noted;
	else
		kind->first = noted;
	kind->last = noted;
	kind->nr++;
	if (severity > kind->severity)
		kind->severity = severity;
}

/* In place of another of its kind, if it is the worst or the gravest; the first ones stay. */
static struct noted *replace(struct kind *kind, const struct facts *facts,
			     Monad__Severity severity)
{
	const bool worse = is_worse(kind, facts, severity), graver = is_graver(kind, severity);

	/* Where there is only one, latency tells. */
	if (!kind->nr || (!worse && (!graver || kind->nr == 1)))
		return NULL;
	/* Those that were need not stay. */
	if (graver || (worse && severity == severity_of(kind->gravest)))
		kind->gravest = NULL;
	if (worse)
		kind->worst = NULL;
	return take_last(kind);
}

struct noted *kinds_add(struct kinds *kinds, const struct facts *facts,
			const struct limits *limits, enum reason reason)
{
	const struct kind_key key = key_of(facts, reason);
	struct kind *kind = find_kind(kinds, &key);
	const Monad__Severity severity = reason_severity(reason, facts, limits, 1);
	struct noted *noted;

	kind->count++;
	noted = room_for(kinds, kind, severity);
	if (!noted)
		noted = replace(kind, facts, severity);
	if (!noted)
		return NULL;
	noted->facts = *facts;
	noted->limits = *limits;
	noted->reason = reason;
	noted->mount_namespace = 0;
	noted->nr_victims = 0;
	noted->affected = 0;
	append(kind, noted, severity);
	return noted;
}
