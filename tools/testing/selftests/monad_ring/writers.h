/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fresh module with the small ring, and the programs of writer.bpf.c loaded and pointed
 * at it.
 */
#ifndef SELFTEST_WRITERS_H
#define SELFTEST_WRITERS_H

#include <errno.h>

#include "reader.h"
#include "ring.h"
#include "writer.h"
#include "writer.skel.h"

struct writers {
	struct writer_bpf *bpf;
	struct writer *writer; /* all WRITERS of them */
	struct ring ring;
};

/* @name: which of @rings; NULL for the default ring. 0 or a negative errno. */
static inline int writers_setup(struct writers *w, const char *rings, const char *name)
{
	unsigned int i;
	int err;

	quiet_libbpf();
	memset(w, 0, sizeof(*w));
	w->ring.fd = -1;
	err = module_fresh(rings) ?: ring_open(&w->ring, name);
	if (err)
		return err;
	w->bpf = writer_bpf__open();
	if (!w->bpf)
		return -errno;
	bpf_program__set_autoload(w->bpf->progs.perf, kernel_at_least(6, 12));
	err = writer_bpf__load(w->bpf);
	if (err)
		return err;
	w->writer = w->bpf->bss->writers;
	for (i = 0; i < WRITERS; i++) {
		w->writer[i].ring = w->ring.info.ring_id;
		w->writer[i].random = (i + 1) * 88172645463325252ULL;
	}
	return 0;
}

static inline void writers_teardown(struct writers *w)
{
	writer_bpf__destroy(w->bpf);
	ring_close(&w->ring);
}

/* Has @writer try @events of them. 0 or a negative errno. */
static inline int writers_burst(struct writers *w, unsigned int writer, unsigned int events)
{
	struct writer_run run = { .writer = writer };

	w->writer[writer].events = events;
	return run_program(w->bpf->progs.burst, &run, sizeof(run));
}

/* The sum of one count over all writers. */
#define writers_sum(w, count) \
	({ \
		uint64_t sum_ = 0; \
		for (unsigned int i_ = 0; i_ < WRITERS; i_++) \
			sum_ += (w)->writer[i_].count; \
		sum_; \
	})

/* For the start of a fixture: skips where the module cannot be had, fails otherwise. */
#define SETUP_WRITERS(w, name) do { \
	int err_ = writers_setup(w, SMALL_RINGS, name); \
	if (module_missing(err_)) \
		SKIP(return, "the module cannot be loaded: %s", strerror(-err_)); \
	ASSERT_EQ(0, err_); \
} while (0)

#endif /* SELFTEST_WRITERS_H */
