/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What exporters that cannot keep up ask of those who run tasks: to refuse them.
 *
 * Each exporter has a file of a few bytes in a directory of root's, which it keeps locked as
 * long as it lives; what a dead one said does not count. Those who look need not wait for
 * anybody.
 */
#ifndef MONAD_STORAGE_PRESSURE_H
#define MONAD_STORAGE_PRESSURE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define PRESSURE_DIR "/run/monad-storage"

struct pressure {
	int fd;
	struct pressure_shared *shared; /* NULL: nobody is told */
	char path[PATH_MAX];
};

/*
 * The exporter's side: makes the directory if there is none, and a file in it that asks for
 * nothing yet. 0 or -errno; nobody is told then, and the other calls do nothing.
 */
int pressure_open(struct pressure *pressure, const char *directory);
void pressure_set(struct pressure *pressure, bool refuse_tasks);
/* How many tasks were refused since then. */
uint64_t pressure_refused(const struct pressure *pressure);
void pressure_close(struct pressure *pressure);

/* The other side: whether one of them asks. */
bool pressure_refuses_tasks(const char *directory);
/* A task was refused: tells all who asked for it. */
void pressure_count_refused(const char *directory);

#endif /* MONAD_STORAGE_PRESSURE_H */
