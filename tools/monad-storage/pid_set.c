// SPDX-License-Identifier: GPL-2.0
#include "parse.h"
#include "pid_set.h"

void pid_set_add(struct pid_set *set, const char *arg, const struct argp_state *state)
{
	uint64_t pid;

	if (!parse_u64(arg, &pid) || !pid || pid > INT32_MAX)
		argp_error(state, "'%s' is no process id", arg);
	if (set->nr == MONAD_TASK_PIDS)
		argp_error(state, "no more than %d process ids", MONAD_TASK_PIDS);
	set->pids[set->nr++] = pid;
}

bool pid_set_has(const struct pid_set *set, uint32_t pid, uint32_t tgid)
{
	for (unsigned int i = 0; i < set->nr; i++) {
		if (set->pids[i] == pid || set->pids[i] == tgid)
			return true;
	}
	return !set->nr;
}
