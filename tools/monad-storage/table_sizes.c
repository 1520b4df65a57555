// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>

#include <bpf/libbpf.h>

#include "metrics_room.h"
#include "monad_storage.h"
#include "monad_storage.skel.h"
#include "storage_state.h"
#include "table_sizes.h"

#define ERRORS 256
#define FLUSH_REQUESTS 1024

/*
 * Makes room for @n keys and, @each times, for their entries and @more behind them;
 * the number of entries for keys.
 */
static unsigned int size_table(struct bpf_map *keys, struct bpf_map *entries, unsigned int n,
			       unsigned int more, unsigned int each)
{
	n = table_round_up(n);
	bpf_map__set_max_entries(keys, n / MONAD_STORAGE_WAYS);
	bpf_map__set_max_entries(entries, (n + more) * each);
	return n;
}

/* For a table of @n entries: 64 less the bits of a bucket's number. */
static unsigned int shift_of(unsigned int n)
{
	return 64 - __builtin_ctz(n / MONAD_STORAGE_WAYS);
}

static unsigned int count_disks(void)
{
	DIR *dir = opendir("/sys/block");
	struct dirent *entry;
	unsigned int n = 0;

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

void tables_size(struct monad_storage *skel, const struct table_sizes *sizes,
		 struct metrics_room *room)
{
	int cpus = libbpf_num_possible_cpus();
	unsigned int n;

	n = size_table(skel->maps.inflight_keys, skel->maps.inflight,
		       sizes->inflight * TABLE_SPARE, 0, 1);
	size_table(skel->maps.bio_keys, skel->maps.inflight_bios, sizes->inflight * TABLE_SPARE,
		   0, 1);
	skel->rodata->inflight_shift = shift_of(n);

	n = size_table(skel->maps.flush_keys, skel->maps.flushes, FLUSH_REQUESTS * TABLE_SPARE,
		       0, 1);
	skel->rodata->flush_shift = shift_of(n);

	metrics_room(room, sizes->series, count_disks(), cpus > 0 ? cpus : 1);
	n = room->places;
	skel->rodata->shards = room->shards;
	size_table(skel->maps.series_keys, skel->maps.series, n, 0, 1);
	size_table(skel->maps.series_keys, skel->maps.metrics, n, 1,
		   room->shards);
	skel->rodata->series_shift = shift_of(n);
	skel->rodata->nr_series = n;

	n = size_table(skel->maps.cgroup_keys, skel->maps.cgroups, sizes->cgroups * TABLE_SPARE, 2,
		       room->shards);
	skel->rodata->cgroup_shift = shift_of(n);
	skel->rodata->nr_cgroups = n;

	/* Without stacks, as small as it gets. */
	n = size_table(skel->maps.stack_keys, skel->maps.stack_seqnos,
		       sizes->stacks ? sizes->stacks * TABLE_SPARE : 1, 0, 1);
	skel->rodata->stack_shift = shift_of(n);

	n = size_table(skel->maps.error_keys, skel->maps.errors, ERRORS * TABLE_SPARE, 1, 1);
	skel->rodata->error_shift = shift_of(n);
	skel->rodata->nr_errors = n;
}
