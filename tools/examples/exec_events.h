/* SPDX-License-Identifier: GPL-2.0 */
/* What the exec tracer's programs write, in each of its ways, and its reader prints. */
#ifndef EXEC_EVENTS_H
#define EXEC_EVENTS_H

/* Event types, from 2 on: 0 and 1 mean the same in every ring. */
enum exec_event_type {
	EXEC_EVENT = 2,
};

#define EXEC_FILENAME_MAX 512

/* The file name follows, up to the end of the payload: a NUL is the last byte. Tag 0: the pid. */
struct exec_event {
	int pid;
	char comm[16];
};

#endif /* EXEC_EVENTS_H */
