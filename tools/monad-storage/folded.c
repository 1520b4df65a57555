// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folded.h"
#include "monad_storage.h"

struct line {
	char *stack;
	uint64_t ns;
};

struct folded {
	void *lines; /* struct line, a tree of <search.h> */
};

static void no_memory(void)
{
	error("no memory for the sums of so many stacks");
	exit(EXIT_FAILED);
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->stack, ((const struct line *)b)->stack);
}

static void line_free(void *line)
{
	free(((struct line *)line)->stack);
	free(line);
}

static void line_print(const void *node, VISIT visit, int depth)
{
	const struct line *line = *(const struct line *const *)node;

	if (visit == postorder || visit == leaf)
		printf("%s %" PRIu64 "\n", line->stack, line->ns / 1000);
}

struct folded *folded_new(void)
{
	struct folded *folded = calloc(1, sizeof(*folded));

	if (!folded)
		no_memory();
	return folded;
}

void folded_add(struct folded *folded, const struct stacks *stacks,
		const struct storage_event *event)
{
	struct line *line, **place;

	if (!event->is_complete)
		return;
	line = calloc(1, sizeof(*line));
	if (line)
		line->stack = stacks_fold(stacks, event);
	place = line && line->stack ? tsearch(line, &folded->lines, compare) : NULL;
	if (!place)
		no_memory();
	(*place)->ns += event->complete.total_ns;
	if (*place != line)
		line_free(line);
}

void folded_print(const struct folded *folded)
{
	twalk(folded->lines, line_print);
}

void folded_free(struct folded *folded)
{
	if (!folded)
		return;
	tdestroy(folded->lines, line_free);
	free(folded);
}
