// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "file_limit.h"

static void only_xfsz(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGXFSZ);
}

void file_limit_begin(struct file_limit *limit)
{
	sigset_t set, pending;

	only_xfsz(&set);
	pthread_sigmask(SIG_BLOCK, &set, &limit->old_mask);
	limit->was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

void file_limit_end(const struct file_limit *limit)
{
	static const struct timespec now;
	sigset_t set;

	only_xfsz(&set);
	/* One that waited before is the caller's. */
	while (!limit->was_pending && sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &limit->old_mask, NULL);
}
