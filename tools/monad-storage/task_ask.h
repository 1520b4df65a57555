/* SPDX-License-Identifier: GPL-2.0 */
/* A task that a server runs, shown as if it ran here. */
#ifndef MONAD_STORAGE_TASK_ASK_H
#define MONAD_STORAGE_TASK_ASK_H

#include "task.h"

/* Until it has ended. An exit status. */
int task_ask(const struct task_options *options, const char *socket_path);

#endif /* MONAD_STORAGE_TASK_ASK_H */
