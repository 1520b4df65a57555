// SPDX-License-Identifier: GPL-2.0
#include "monad_storage.h"
#include "pins.h"
#include "reader.h"
#include "ring_walk.h"
#include "stacks.h"
#include "task_stacks.h"

/* A reader of its own: of what was written before the task began, too. */
static struct {
	bool tried;
	bool open;
	struct reader reader;
	struct stacks *stacks;
} all;

static void open_all(void)
{
	struct monad_storage_session session;

	all.tried = true;
	if (pins_read_session(&session) || reader_open(&all.reader, session.ring, NULL))
		return;
	all.open = true;
	all.stacks = stacks_read(&all.reader);
	if (!all.stacks)
		return;
	/* A few may be read twice; those are known already. */
	monad_event_iterator_set_seqno(&all.reader.iter,
				       monad_event_ring_last_seqno(&all.reader.ring) + 1);
}

/* Those that were written since. */
static void read_more(void)
{
	struct monad_event_descriptor desc;
	struct ring_walk walk;
	uint64_t missed;

	ring_walk_begin(&walk, &all.reader.iter);
	/* What is being written at this moment can be waited for by who has the time. */
	walk.patience = 0;
	for (;;) {
		switch (ring_walk_next(&walk, &desc, &missed)) {
		case RING_WALK_EVENT:
			if (desc.event_type == MONAD_STORAGE_STACK)
				stacks_add(all.stacks, &all.reader.iter, &desc);
			break;
		case RING_WALK_GAP:
			break;
		case RING_WALK_END:
			return;
		}
	}
}

static const struct monad_storage_stack *find(void *arg, uint32_t id, uint64_t seqno)
{
	const struct monad_storage_stack *stack;

	if (!all.tried)
		open_all();
	if (!all.stacks)
		return NULL;
	stack = stacks_find(all.stacks, id, seqno);
	if (stack)
		return stack;
	read_more();
	return stacks_find(all.stacks, id, seqno);
}

void task_stacks_open(struct transform_sources *sources)
{
	sources->stack = find;
}

void task_stacks_close(void)
{
	stacks_free(all.stacks);
	if (all.open)
		reader_close(&all.reader);
}
