// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "lock_holder.h"

/* Readers that wait have the lock, shared, for some microseconds, four times a second. */
#define TRIES	 20
#define PAUSE_NS 1000000

int lock_for_writing(int fd)
{
	const struct timespec pause = {0, PAUSE_NS};

	for (int tries = 0;;) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || ++tries == TRIES)
			return errno;
		nanosleep(&pause, NULL);
	}
}

int try_shared_lock(int fd)
{
	char path[32];
	int own, err;

	/* Locks belong to open files: one of our own, so that nobody's is converted. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (own < 0)
		return errno;
	err = flock(own, LOCK_SH | LOCK_NB) == 0 ? EOWNERDEAD : errno;
	close(own);
	return err == EWOULDBLOCK ? 0 : err;
}

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
