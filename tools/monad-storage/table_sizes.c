// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>

#include <bpf/libbpf.h>

#include "monad_storage.h"
#include "monad_storage.skel.h"
#include "storage_state.h"
#include "table_sizes.h"

/* So that a bucket is hardly ever full; see bpf/storage_table.bpf.h. */
#define SPARE 4

/* read, write, discard, flush, the device's own flush, write zeroes */
#define USUAL_OPS 6

/* With more than this, metrics have fewer shards. */
#define METRICS_BYTES (64 << 20)

#define ERRORS 256
#define FLUSH_REQUESTS 1024

static unsigned int round_up(unsigned int n)
{
	unsigned int power = MONAD_STORAGE_WAYS;

	while (power < n)
		power *= 2;
	return power;
}

/*
 * Makes room for @n keys and, @each times, for their entries and @more behind them;
 * the number of entries for keys.
 */
static unsigned int size_table(struct bpf_map *keys, struct bpf_map *entries, unsigned int n,
			       unsigned int more, unsigned int each)
{
	n = round_up(n);
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

static unsigned int choose_shards(unsigned int series)
{
	int cpus = libbpf_num_possible_cpus();
	unsigned int shards = 1;

	while (shards < MONAD_STORAGE_MAX_SHARDS && (int)shards < cpus &&
	       (uint64_t)series * shards * 2 * sizeof(struct monad_storage_metrics) <=
		       METRICS_BYTES)
		shards *= 2;
	return shards;
}

void tables_size(struct monad_storage *skel, const struct table_sizes *sizes)
{
	unsigned int series = sizes->series, n, shards;

	/* Disks come, too. */
	if (!series)
		series = 16 + count_disks() * USUAL_OPS;

	n = size_table(skel->maps.inflight_keys, skel->maps.inflight, sizes->inflight * SPARE, 0,
		       1);
	size_table(skel->maps.bio_keys, skel->maps.inflight_bios, sizes->inflight * SPARE, 0, 1);
	skel->rodata->inflight_shift = shift_of(n);

	n = size_table(skel->maps.flush_keys, skel->maps.flushes, FLUSH_REQUESTS * SPARE, 0, 1);
	skel->rodata->flush_shift = shift_of(n);

	n = round_up(series * SPARE);
	shards = choose_shards(n);
	skel->rodata->shards = shards;
	size_table(skel->maps.series_keys, skel->maps.series, n, 0, 1);
	size_table(skel->maps.series_keys, skel->maps.metrics, n, 1, shards);
	skel->rodata->series_shift = shift_of(n);
	skel->rodata->nr_series = n;

	n = size_table(skel->maps.cgroup_keys, skel->maps.cgroups, sizes->cgroups * SPARE, 2,
		       shards);
	skel->rodata->cgroup_shift = shift_of(n);
	skel->rodata->nr_cgroups = n;

	/* Without stacks, as small as it gets. */
	n = size_table(skel->maps.stack_keys, skel->maps.stack_seqnos,
		       sizes->stacks ? sizes->stacks * SPARE : 1, 0, 1);
	skel->rodata->stack_shift = shift_of(n);

	n = size_table(skel->maps.error_keys, skel->maps.errors, ERRORS * SPARE, 1, 1);
	skel->rodata->error_shift = shift_of(n);
	skel->rodata->nr_errors = n;
}
