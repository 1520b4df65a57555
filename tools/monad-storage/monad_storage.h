/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of monad-storage have in common. */
#ifndef MONAD_STORAGE_H
#define MONAD_STORAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "xalloc.h"
#include "output.h"

#define MONAD_STORAGE_VERSION "1.0.0"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define NSEC_PER_SEC 1000000000ULL

/* What a clock says, as one number. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* The default ring. */
#define DEFAULT_RING "monad_ring"

/* Where tasks are asked for. */
#define DEFAULT_SOCKET "/run/monad-storage.sock"

/* "monad-storage: message" and a newline, on stderr, safe for a terminal. */
void __attribute__((format(printf, 1, 2))) error(const char *format, ...);
void __attribute__((format(printf, 1, 2))) warning(const char *format, ...);
/* ... and what is merely good to know, at the end of what ran for long. */
void __attribute__((format(printf, 1, 2))) inform(const char *format, ...);

/* The verbs; argv[0] is "monad-storage VERB". They return an exit status. */
int cmd_start(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_cgroups(int argc, char **argv);
int cmd_errors(int argc, char **argv);
int cmd_inflight(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_task(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_export(int argc, char **argv);

#endif /* MONAD_STORAGE_H */
