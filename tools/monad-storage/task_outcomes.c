// SPDX-License-Identifier: GPL-2.0
#include "task_outcomes.h"

static const char *const names[TASK_OUTCOMES] = {
	[MONAD_TASK_BEGUN] = "begun",
	[MONAD_TASK_ENDED] = "ended",
	[MONAD_TASK_ASYNC] = "async",
	[MONAD_TASK_ENDS_UNSEEN] = "ends_unseen",
	[MONAD_TASK_NESTED] = "nested",
	[MONAD_TASK_NOT_KEPT] = "not_kept",
	[MONAD_TASK_NOT_PAUSED] = "not_paused",
	[MONAD_TASK_DEVICES_FULL] = "devices_full",
	[MONAD_TASK_QUICK] = "quick",
	[MONAD_TASK_SAMPLED_OUT] = "sampled_out",
	[MONAD_TASK_BEYOND_MAX] = "beyond_max_events",
	[MONAD_TASK_NOT_RECORDED] = "not_recorded",
	[MONAD_TASK_RECORDED] = "recorded",
	[MONAD_TASK_COUNTERS] = "missed",
	[MONAD_TASK_COUNTERS + 1] = "unsent",
	[MONAD_TASK_COUNTERS + 2] = "recursion_misses",
};

const char *task_outcome_name(unsigned int outcome)
{
	return names[outcome];
}

uint64_t *task_outcome(struct task_results *results, unsigned int outcome)
{
	switch (outcome) {
	case MONAD_TASK_COUNTERS:
		return &results->missed;
	case MONAD_TASK_COUNTERS + 1:
		return &results->unsent;
	case MONAD_TASK_COUNTERS + 2:
		return &results->recursion_misses;
	default:
		return &results->counters.value[outcome];
	}
}
