// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <monad_event/event_ring_util.h>

#include "monad_storage.h"
#include "printable.h"
#include "ring_walk.h"
#include "stacks.h"
#include "symbols.h"

#define DEPTH MONAD_STORAGE_STACK_DEPTH

/* One STACK event; in the order of the ring. */
struct stack {
	uint64_t seqno;
	uint64_t epoch_ns;
	size_t older; /* another one in the same bucket, counted from 1 */
	struct monad_storage_stack what;
};

#define BUCKETS 4096

struct stacks {
	struct stack *all;
	size_t nr;
	size_t room;
	size_t newest[BUCKETS]; /* of all ids that are alike in their last bits, counted from 1 */
};

/* It comes again and again, so that the ring always has it. */
static bool is_known(const struct stacks *stacks, const struct monad_storage_stack *what)
{
	size_t i = stacks->nr ? stacks->newest[what->id % BUCKETS] : 0;

	for (; i; i = stacks->all[i - 1].older) {
		if (stacks->all[i - 1].what.id == what->id)
			return !memcmp(&stacks->all[i - 1].what, what, sizeof(*what));
	}
	return false;
}

void stacks_add(struct stacks *stacks, struct monad_event_iterator *iter,
		const struct monad_event_descriptor *desc)
{
	struct monad_storage_stack what;
	struct stack *stack;

	if (stacks->nr && desc->seqno <= stacks->all[stacks->nr - 1].seqno)
		return;
	if (desc->payload_size < sizeof(what) ||
	    !monad_event_iterator_payload_memcpy(iter, desc, &what, sizeof(what)) ||
	    is_known(stacks, &what))
		return;
	if (stacks->nr == stacks->room) {
		stacks->room = stacks->room ? 2 * stacks->room : 256;
		stacks->all = xrealloc(stacks->all, stacks->room * sizeof(*stack));
	}
	stack = &stacks->all[stacks->nr];
	stack->what = what;
	stack->seqno = desc->seqno;
	stack->epoch_ns = desc->record_epoch_nanos;
	stack->older = stacks->newest[stack->what.id % BUCKETS];
	stacks->newest[stack->what.id % BUCKETS] = ++stacks->nr;
}

struct stacks *stacks_read(struct reader *reader)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));
	struct monad_event_descriptor desc;
	struct monad_event_iterator iter;
	enum ring_walk_result result;
	struct ring_walk walk;
	uint64_t missed;

	if (!stacks || monad_event_ring_init_iterator(&reader->ring, &iter)) {
		error("%s", stacks ? lib_error() : "no memory");
		free(stacks);
		return NULL;
	}
	ring_seek_start(&iter, &reader->ring);
	ring_walk_begin(&walk, &iter);
	/* Gaps are for those who read the events themselves. */
	while ((result = ring_walk_next(&walk, &desc, &missed)) != RING_WALK_END) {
		if (result == RING_WALK_EVENT && desc.event_type == MONAD_STORAGE_STACK)
			stacks_add(stacks, &iter, &desc);
	}
	if (!stacks->nr)
		warning("there are no stacks in this ring: 'monad-storage start --stacks' records "
			"them");
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	free(stacks->all);
	free(stacks);
	symbols_free();
}

/* The last one before the I/O, or, where that is overwritten, the first one after it. */
static const struct stack *find_id(const struct stacks *stacks, uint32_t id, uint64_t seqno)
{
	const struct stack *found = NULL;

	if (!id)
		return NULL;
	for (size_t i = stacks->newest[id % BUCKETS], older; i; i = older) {
		const struct stack *stack = &stacks->all[i - 1];

		older = stack->older;

		if (stack->what.id != id)
			continue;
		found = stack;
		if (stack->seqno < seqno)
			break;
	}
	return found;
}

static const struct stack *find(const struct stacks *stacks, const struct storage_event *event)
{
	return find_id(stacks, event->is_complete ? event->complete.stack : 0, event->desc.seqno);
}

const struct monad_storage_stack *stacks_find(const struct stacks *stacks, uint32_t id,
					      uint64_t seqno)
{
	const struct stack *stack = find_id(stacks, id, seqno);

	return stack ? &stack->what : NULL;
}

static unsigned int depth(const uint64_t frames[DEPTH])
{
	unsigned int n = 0;

	while (n < DEPTH && frames[n])
		n++;
	return n;
}

static const char *kernel_name(const struct stack *stack, unsigned int i, char name[SYMBOL_LEN])
{
	return symbols_kernel(stack->what.kernel[i], stack->what.text, name);
}

static const char *user_name(const struct stack *stack, unsigned int i, char name[SYMBOL_LEN])
{
	return symbols_user(stack->what.tgid, stack->what.user[i], stack->epoch_ns, name);
}

struct kernel_frames {
	const struct stack *stack;
	char name[SYMBOL_LEN];
};

static const char *kernel_function(void *arg, unsigned int i)
{
	struct kernel_frames *frames = arg;

	return kernel_name(frames->stack, i, frames->name);
}

/* Where the kernel's own way begins: behind what recorded it. */
static unsigned int first_frame(const struct stack *stack, unsigned int n)
{
	struct kernel_frames frames = { .stack = stack };

	return tracing_frames(n, kernel_function, &frames);
}

void stacks_print(const struct stacks *stacks, const struct storage_event *event)
{
	const struct stack *stack = find(stacks, event);
	char name[SYMBOL_LEN], text[2 * SYMBOL_LEN];
	unsigned int n;

	if (!stack)
		return;
	n = depth(stack->what.kernel);
	for (unsigned int i = first_frame(stack, n); i < n; i++)
		printf("        %s\n", kernel_name(stack, i, name));
	n = depth(stack->what.user);
	for (unsigned int i = 0; i < n; i++)
		printf("        %s (user)\n",
		       printable(text, sizeof(text), user_name(stack, i, name)));
}

void stacks_print_json(const struct stacks *stacks, const struct storage_event *event,
		       struct json_writer *json)
{
	const struct stack *stack = find(stacks, event);
	char name[SYMBOL_LEN];
	unsigned int n;

	if (!stack) {
		json_string_field(json, "kernel_stack", NULL);
		json_string_field(json, "user_stack", NULL);
		return;
	}
	n = depth(stack->what.kernel);
	json_key(json, "kernel_stack");
	json_begin_array(json);
	for (unsigned int i = first_frame(stack, n); i < n; i++)
		json_string(json, kernel_name(stack, i, name));
	json_end_array(json);
	n = depth(stack->what.user);
	json_key(json, "user_stack");
	json_begin_array(json);
	for (unsigned int i = 0; i < n; i++)
		json_string(json, user_name(stack, i, name));
	json_end_array(json);
}

/* The format has ';' and ' ' for itself. */
static void fold_frame(FILE *out, const char *name)
{
	char text[2 * SYMBOL_LEN];

	printable(text, sizeof(text), name);
	for (char *p = text; *p; p++) {
		if (*p == ';' || *p == ' ')
			*p = '_';
	}
	fputs(text, out);
}

char *stacks_fold(const struct stacks *stacks, const struct storage_event *event)
{
	const struct stack *stack = find(stacks, event);
	const char *comm = event->is_complete ? event->complete.comm : event->step.comm;
	unsigned int first, n;
	char name[SYMBOL_LEN];
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	fold_frame(out, *comm ? comm : "-");
	if (!stack) {
		fputs(";(unknown)", out);
	} else {
		for (n = depth(stack->what.user); n--;) {
			fputc(';', out);
			fold_frame(out, user_name(stack, n, name));
		}
		n = depth(stack->what.kernel);
		for (first = first_frame(stack, n); n > first; n--) {
			fputc(';', out);
			fold_frame(out, kernel_name(stack, n - 1, name));
		}
	}
	return fclose(out) ? NULL : line;
}
