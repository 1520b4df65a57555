/* SPDX-License-Identifier: GPL-2.0 */
/* What is asked of a task in a message: the same as on the command line, and no more. */
#ifndef MONAD_STORAGE_TASK_REQUEST_H
#define MONAD_STORAGE_TASK_REQUEST_H

#include <stdbool.h>

#include "monad/telemetry.pb-c.h"
#include "task.h"

/* The longest task_id, in bytes. */
#define TASK_ID_MAX 64
/* The longest name of a device. */
#define TASK_DEVICE_MAX 127

/* 1 to TASK_ID_MAX bytes, UTF-8 without control characters. */
bool task_id_valid(const char *id);

/*
 * Fills in @options but for the devices, which are not looked for. False with what is wrong
 * in @why: which field, what it is, and what it may be. Whoever asks may be anybody.
 */
bool task_request_check(const Monad__TaskRequest *request, struct task_options *options,
			char *why, size_t why_size);

/* Looks for the devices of a request that was found to be right. 0, or -1 after a message. */
int task_request_devices(const Monad__TaskRequest *request, struct task_options *options);

/* What asks for @options; monad__task_request__free_unpacked(request, NULL). */
Monad__TaskRequest *task_request_new(const struct task_options *options, const char *id);

#endif /* MONAD_STORAGE_TASK_REQUEST_H */
