/* SPDX-License-Identifier: GPL-2.0 */
/* Who has registered, and how far they have got. */
#ifndef MONAD_TELEMETRY_SESSIONS_H
#define MONAD_TELEMETRY_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSION_TOKEN 16

struct session {
	uint8_t token[SESSION_TOKEN];
	uint64_t last_sequence; /* all up to this one are here, or were never to come */
	uint64_t used;          /* when, as a number that grows */
	void *connection;       /* that is its own now; NULL */
};

struct sessions {
	struct session *all;
	size_t nr, room;
	uint64_t uses;
};

/* The session with that token; NULL if there is none. */
struct session *sessions_find(struct sessions *sessions, const uint8_t *token, size_t length);

/*
 * A new one, in place of one that was not used for longest when there are many. Others may
 * be elsewhere then. NULL if there is no room, no memory, or no chance (getrandom).
 */
struct session *sessions_new(struct sessions *sessions);

/*
 * What a file of ours has of sessions: each line's token and sequence. Half a line at its end
 * is taken off: nobody was told that it is here, and it will come again. 0, also when there is
 * no such file, or -errno.
 */
int sessions_recover(struct sessions *sessions, const char *path);

void sessions_free(struct sessions *sessions);

#endif /* MONAD_TELEMETRY_SESSIONS_H */
