/* SPDX-License-Identifier: GPL-2.0 */
/* What the example's BPF program and its reader agree on. */
#ifndef EXEC_EVENTS_H
#define EXEC_EVENTS_H

/* The ring's content type: any number from MONAD_EVENT_CONTENT_TYPE_PRIVATE on. */
#define EXEC_EVENTS_CONTENT_TYPE (MONAD_EVENT_CONTENT_TYPE_PRIVATE + 1)

/* Event types, from 2 on: 0 and 1 mean the same in every ring. */
enum exec_event_type {
	EXEC_EVENT = 2,
};

/* The payload of an EXEC_EVENT. Its flow tag 0 is the pid. */
struct exec_event {
	uint32_t pid;
	uint32_t uid;
	char comm[16];
};

#endif /* EXEC_EVENTS_H */
