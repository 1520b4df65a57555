/* SPDX-License-Identifier: GPL-2.0 */
/* block-latency: of what the recording writes to its ring; no programs of its own. */
#ifndef MONAD_STORAGE_TASK_BLOCK_H
#define MONAD_STORAGE_TASK_BLOCK_H

#include "filter.h"
#include "reader.h"
#include "task.h"

struct task_block {
	struct filter filter;
	char ring[128];
	uint64_t started_ns;   /* of the recording */
	uint64_t not_recorded; /* as the recording counted before */
	uint64_t nr_sampled;
	uint64_t look_ns;      /* when to look next whether it is still there */
};

/* Finds the recording. 0, or -1 after a message that there is none, or not of that disk. */
int task_block_begin(struct task_block *block, const struct task_options *options);

/* Adds the event of @desc up, if it matches; true if it is one to be shown as well. */
bool task_block_take(struct task_block *block, const struct task_options *options,
		     struct task_results *results, struct reader *reader,
		     const struct monad_event_descriptor *desc, struct task_event *event);

/* Whether the recording was ended; looks now and then only. */
bool task_block_over(struct task_block *block);

/* What was lost meanwhile, and what is under way now; a warning if the recording was ended. */
void task_block_end(const struct task_block *block, const struct task_options *options,
		    struct task_results *results);

#endif /* MONAD_STORAGE_TASK_BLOCK_H */
