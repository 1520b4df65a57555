// SPDX-License-Identifier: GPL-2.0
#include <unistd.h>

#include <bpf/bpf.h>

#include "inflight_table.h"
#include "monad_storage.h"
#include "pins.h"
#include "tables.h"

/*
 * What began or was issued since then need not be looked at: it has hardly been missed, and for a
 * moment it is issued for the programs and not yet for the kernel.
 */
#define LOOK_NS NSEC_PER_SEC

struct visit {
	void (*each)(const struct inflight_io *io, void *arg);
	void *arg;
	int check; /* the program, or -1 */
	uint64_t unseen;
};

/* What is issued is with a device, and what is queued has a request that is somebody's. */
static bool is_over(const struct visit *visit, uint64_t key, bool issued)
{
	struct monad_storage_check check = { .key = key };
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts),
		.ctx_in = &check,
		.ctx_size_in = sizeof(check),
	};

	return visit->check >= 0 && !bpf_prog_test_run_opts(visit->check, &opts) && !opts.retval &&
	       (issued ? check.idle : check.unused);
}

/*
 * A request that is under way for the programs, and not for the kernel. That it is the same I/O
 * still is looked at after the kernel was asked.
 */
static bool has_ended(const struct visit *visit, const struct table *table, size_t nr, uint64_t key,
		      const struct inflight_io *io)
{
	const uint64_t issued_ns = io->io.last_issue_ns;
	struct monad_storage_io now;

	return io->age_ns >= LOOK_NS &&
	       (!issued_ns || clock_ns(CLOCK_MONOTONIC) - issued_ns >= LOOK_NS) &&
	       is_over(visit, key, io->io.state == MONAD_STORAGE_STATE_ISSUED) &&
	       table_copy(table, nr, key, &now) && now.state == io->io.state &&
	       now.start_ns == io->io.start_ns && now.last_issue_ns == io->io.last_issue_ns;
}

static int visit_table(struct visit *visit, const char *keys, const char *entries, bool bios)
{
	struct inflight_io io;
	struct table table;
	size_t at = 0;
	uint64_t key, now;
	int err;

	err = table_open(&table, keys, entries, sizeof(io.io), 1);
	while (!err && (key = table_next(&table, &at))) {
		if (bios && key == PART_KEY(key))
			continue;
		if (!table_copy(&table, at - 1, key, &io.io))
			continue;
		/* Its place is taken, and not filled in yet. */
		if (!io.io.start_ns && !io.io.first_issue_ns)
			continue;
		now = clock_ns(CLOCK_MONOTONIC);
		io.bio = bios && !(key & 1);
		/* What was not seen to start has been there since it was issued. */
		io.began_ns = io.io.start_ns || io.bio ? io.io.start_ns : io.io.first_issue_ns;
		io.age_ns = io.began_ns && now > io.began_ns ? now - io.began_ns : 0;
		if (!bios && has_ended(visit, &table, at - 1, key, &io))
			visit->unseen++;
		else
			visit->each(&io, visit->arg);
	}
	table_close(&table);
	return err;
}

int inflight_visit(void (*each)(const struct inflight_io *io, void *arg), void *arg,
		   uint64_t *unseen)
{
	struct visit visit = { .each = each, .arg = arg, .check = bpf_obj_get(PIN_CHECK) };
	int err;

	err = visit_table(&visit, "inflight_keys", "inflight", false);
	if (!err)
		err = visit_table(&visit, "bio_keys", "inflight_bios", true);
	if (visit.check >= 0)
		close(visit.check);
	if (unseen)
		*unseen = visit.unseen;
	return err;
}
