/* SPDX-License-Identifier: GPL-2.0 */
/* An event in a line for people. */
#ifndef TRANSFORM_MESSAGE_H
#define TRANSFORM_MESSAGE_H

#include "wire.h"

#define MESSAGE_LEN 512

/* Adds how many others there were of its kind. False without memory. */
bool message_add_truncated(Monad__EventWrapper *event, uint64_t truncated);

/* @made: the payload, with the names in it. Returns @text. */
const char *message_make(const struct wire_event *event, const Monad__StorageEvent *made,
			 char text[MESSAGE_LEN]);

#endif /* TRANSFORM_MESSAGE_H */
