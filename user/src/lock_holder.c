// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lock_holder.h"

/* The command that @pid runs, as ps(1) shows it; "?" if that is not to be had. */
static void command_of(pid_t pid, char *buf, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(buf, size, "?");
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(buf, (int)size, file))
		buf[strcspn(buf, "\n")] = '\0';
	fclose(file);
}

const char *lock_holder(int fd, char buf[LOCK_HOLDER_MAX])
{
	struct monad_event_flock_info locks[8];
	size_t count = sizeof(locks) / sizeof(locks[0]);
	char command[32];
	int err;

	err = monad_event_ring_query_flocks(fd, locks, &count);
	if (count > sizeof(locks) / sizeof(locks[0]))
		count = sizeof(locks) / sizeof(locks[0]);
	else if (err)
		count = 0;
	if (!count) {
		snprintf(buf, LOCK_HOLDER_MAX, "a process that cannot be seen from here");
		return buf;
	}
	command_of(locks[0].pid, command, sizeof(command));
	snprintf(buf, LOCK_HOLDER_MAX, "%s %d (%s)%s%s",
		 locks[0].pid == getpid() ? "this process," : "process", (int)locks[0].pid, command,
		 locks[0].lock == LOCK_EX ? "" : ", shared", count > 1 ? " and others" : "");
	return buf;
}
