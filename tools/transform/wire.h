/* SPDX-License-Identifier: GPL-2.0 */
/* Events as messages: what is known of them by name (4), and who it was (5) and hit (6). */
#ifndef TRANSFORM_WIRE_H
#define TRANSFORM_WIRE_H

#include "reason.h"

/* One that had to wait. */
struct victim {
	uint64_t age_ns;
	uint64_t cgroup_id;
	uint64_t mount_namespace;
	uint32_t pid;
	uint32_t tgid;
	uint32_t flags;
	char comm[MONAD_STORAGE_COMM_LEN];
};

/* All there is to say of an event. */
struct wire_event {
	const struct facts *facts;
	const struct limits *limits;
	enum reason reason;
	Monad__Severity severity;
	uint64_t frequency;  /* of its kind in the window, if it is worse for that; or 0 */
	const char *task_id; /* or NULL */
	bool attribution;    /* who it was, and from where */
	uint64_t mount_namespace;
	const struct monad_storage_stack *stack; /* or NULL */
	const struct victim *victims;
	size_t nr_victims;
	uint64_t affected;
};

/* NULL without memory. @sources and @dictionary may be NULL. */
Monad__EventWrapper *wire_make(const struct wire_event *event,
			       const struct transform_sources *sources,
			       Monad__Dictionary *dictionary);

#endif /* TRANSFORM_WIRE_H */
