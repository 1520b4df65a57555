/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The limit on the size of files (ulimit -f) as an error: past it, system calls fail with EFBIG,
 * and besides the kernel sends SIGXFSZ, which ends who does not expect it.
 *
 *	file_limit_begin(&limit);
 *	...				EFBIG
 *	file_limit_end(&limit);
 *
 * Concerns the calling thread. A signal that was sent in between by somebody else is lost.
 */
#ifndef MONAD_EVENT_SRC_FILE_LIMIT_H
#define MONAD_EVENT_SRC_FILE_LIMIT_H

#include <signal.h>
#include <stdbool.h>

struct file_limit {
	sigset_t old_mask;
	bool was_pending;
};

void file_limit_begin(struct file_limit *limit);
void file_limit_end(const struct file_limit *limit);

#endif /* MONAD_EVENT_SRC_FILE_LIMIT_H */
