/* SPDX-License-Identifier: GPL-2.0 */
/* The socket that others find by a path. */
#ifndef MONAD_STORAGE_SOCKET_FILE_H
#define MONAD_STORAGE_SOCKET_FILE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct socket_file {
	int fd; /* listens, and does not block */
	char path[108];
	bool ours; /* the path is to be removed again */
	struct stat made; /* what it was */
};

/*
 * Listens at @path, where nobody is let in but the user this runs as and, unless it is
 * (gid_t)-1, @group. A socket that is there and nobody listens at is replaced; anything
 * else that is there stays. 0, or -1 after a message.
 */
int socket_file_listen(struct socket_file *file, const char *path, gid_t group);

/*
 * The socket that systemd hands over (sd_listen_fds(3)): 1 if there is one, 0 if not, or -1
 * after a message.
 */
int socket_file_inherit(struct socket_file *file);

/* Removes it, if it is still the one that was made. */
void socket_file_close(struct socket_file *file);

/* Connects to @path; the socket does not block. -1 after a message. */
int socket_file_connect(const char *path);

#endif /* MONAD_STORAGE_SOCKET_FILE_H */
