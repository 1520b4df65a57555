// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "stuck.h"

void stuck_forget(struct stuck *stuck)
{
	free(stuck->ios);
	stuck->ios = NULL;
	stuck->nr = 0;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static uint64_t two(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* By what does not change as long as it is in flight. */
static int compare(const void *a, const void *b)
{
	const struct raw_inflight *x = &((const struct stuck_io *)a)->io;
	const struct raw_inflight *y = &((const struct stuck_io *)b)->io;
	int order = compare_u64(x->start_ns, y->start_ns);

	if (!order)
		order = compare_u64(two(x->dev_major, x->dev_minor),
				    two(y->dev_major, y->dev_minor));
	if (!order)
		order = compare_u64(x->sector, y->sector);
	return order ? order : compare_u64(two(x->op, x->tgid), two(y->op, y->tgid));
}

static bool is_end_of(const struct facts *facts, const struct raw_inflight *io)
{
	return io->dev_major == facts->dev_major && io->dev_minor == facts->dev_minor &&
	       io->sector == facts->sector && io->op == facts->op && io->tgid == facts->tgid &&
	       facts->latency_ns >= io->age_ns;
}

void stuck_note_end(struct stuck *stuck, const struct facts *facts, uint64_t stuck_ns)
{
	/* Of all other ends there may be very many, and nothing is searched for them. */
	if (!facts->has_latency || facts->latency_ns < stuck_ns)
		return;
	for (size_t i = 0; i < stuck->nr; i++) {
		struct stuck_io *entry = &stuck->ios[i];

		if (entry->ended || !is_end_of(facts, &entry->io))
			continue;
		entry->ended = true;
		return;
	}
}

/* The next of once, twice, four times, ... @stuck_ns that is above @age_ns. */
static uint64_t next_after(uint64_t age_ns, uint64_t stuck_ns)
{
	uint64_t next = stuck_ns;

	while (next <= age_ns && next <= UINT64_MAX / 2)
		next *= 2;
	return next > age_ns ? next : UINT64_MAX;
}

/* Those that are, in order; NULL without memory. */
static struct stuck_io *list(const struct raw_inflight *ios, size_t nr, uint64_t stuck_ns,
			     size_t *nr_stuck)
{
	struct stuck_io *now;
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		n += ios[i].age_ns >= stuck_ns;
	now = calloc(n + 1, sizeof(*now));
	if (!now)
		return NULL;
	*nr_stuck = 0;
	for (size_t i = 0; i < nr; i++) {
		if (ios[i].age_ns >= stuck_ns)
			now[(*nr_stuck)++].io = ios[i];
	}
	qsort(now, *nr_stuck, sizeof(*now), compare);
	return now;
}

void stuck_look(struct stuck *stuck, const struct raw_inflight *ios, size_t nr, bool whole,
		uint64_t stuck_ns, stuck_tell *tell, void *arg)
{
	size_t nr_now, then = 0;
	struct stuck_io *now;

	if (!stuck_ns)
		return;
	now = list(ios, nr, stuck_ns, &nr_now);
	if (!now)
		return;
	/* Both are in the same order; what is in one of them only has come, or gone. */
	for (size_t i = 0; i < nr_now || then < stuck->nr;) {
		int order = i == nr_now ? -1 : then == stuck->nr ? 1 :
			    compare(&stuck->ios[then], &now[i]);

		if (order < 0) {
			if (!stuck->ios[then].ended && whole)
				tell(arg, &stuck->ios[then].io, STUCK_GONE);
			then++;
			continue;
		}
		if (!order)
			now[i].next_ns = stuck->ios[then++].next_ns;
		if (now[i].io.age_ns >= now[i].next_ns) {
			tell(arg, &now[i].io, STUCK_STILL);
			now[i].next_ns = next_after(now[i].io.age_ns, stuck_ns);
		}
		i++;
	}
	stuck_forget(stuck);
	stuck->ios = now;
	stuck->nr = nr_now;
}
