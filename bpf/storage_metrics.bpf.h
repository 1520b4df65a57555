/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resident metrics: what ended, added up per device and operation, per cgroup, and
 * per error, from the start of the recording on and whether or not the ring took the
 * event.
 *
 * Each sum is there several times, one for each of a few shards, and a CPU always
 * adds to the same: one for all would have the CPUs wait for each other, and one for
 * each CPU would be large where there are many. Whoever reads adds them up.
 */
#ifndef MONAD_STORAGE_METRICS_BPF_H
#define MONAD_STORAGE_METRICS_BPF_H

#include "latency_bucket.h"
#include "storage.bpf.h"
#include "storage_event.bpf.h"
#include "storage_table.bpf.h"

const volatile uint32_t series_shift;
const volatile uint32_t cgroup_shift;
const volatile uint32_t error_shift;
/* entries of the tables: also the index of the first entry behind those of the table */
const volatile uint32_t nr_series;
const volatile uint32_t nr_cgroups;
const volatile uint32_t nr_errors;
/* a power of two */
const volatile uint32_t shards;

/* MONAD_STORAGE_SERIES_KEY to struct monad_storage_series and monad_storage_metrics */
TABLE_MAP(series_keys, struct monad_storage_bucket);
TABLE_MAP(series, struct monad_storage_series);
TABLE_MAP(metrics, struct monad_storage_metrics);

/*
 * By number, bits of the name of the disk that had its first I/O of some kind last: for
 * what ends without its disk.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u32);
} latest_names SEC(".maps");

TABLE_MAP(cgroup_keys, struct monad_storage_bucket);
TABLE_MAP(cgroups, struct monad_storage_cgroup);

TABLE_MAP(error_keys, struct monad_storage_bucket);
TABLE_MAP(errors, uint64_t);

static __always_inline void add(uint64_t *to, u64 n)
{
	__sync_fetch_and_add(to, n);
}

static __always_inline u32 shard_of(u32 index)
{
	return index * shards + (bpf_get_smp_processor_id() & (shards - 1));
}

/*
 * Functions that are not static are looked at by the verifier once, and not each time that they
 * are called: that is for what is done seldom.
 */

/*
 * The first I/O of its kind on a device has ended. @name: NULL where it is not known; @gendisk:
 * the address of the disk, or 0
 */
__noinline u32 new_series(u64 key, u32 dev, const struct monad_storage_disk_name *name,
			  u64 gendisk)
{
	struct gendisk *disk = (struct gendisk *)gendisk;
	u32 bits = MONAD_STORAGE_SERIES_NAME(key);
	struct monad_storage_series *new;
	struct place p;

	table_claim(&series_keys, series_shift, key, &p);
	if (p.index == TABLE_NONE) {
		count(MONAD_STORAGE_SERIES_FULL);
		return nr_series;
	}
	new = bpf_map_lookup_elem(&series, &p.index);
	if (!new || !name)
		return p.index;
	new->disk = *name;
	bpf_map_update_elem(&latest_names, &dev, &bits, BPF_ANY);
	if (!gendisk)
		return p.index;
	new->bio_based = !!BPF_CORE_READ(disk, fops, submit_bio);
	if (bpf_core_field_exists(disk->diskseq))
		new->diskseq = BPF_CORE_READ(disk, diskseq);
	return p.index;
}

/*
 * The place in the table of the series of a disk with that number and name, nr_series when
 * there is no room for it. Where the name is not known (@name is NULL), it is the latest
 * disk of that number. @disk: the disk itself, or NULL; then @gendisk is its address, or 0
 */
static __always_inline u32 find_series_of(u32 dev, u32 op,
					  const struct monad_storage_disk_name *name,
					  struct gendisk *disk, u64 gendisk)
{
	u32 bits = 0, *latest;
	struct place p;
	u64 key;

	if (name) {
		bits = monad_storage_name_bits(name->word);
	} else {
		latest = bpf_map_lookup_elem(&latest_names, &dev);
		if (latest)
			bits = *latest;
	}
	key = MONAD_STORAGE_SERIES_KEY(dev, bits, op);
	table_find(&series_keys, series_shift, key, &p);
	if (p.index != TABLE_NONE)
		return p.index;
	if (disk)
		gendisk = address_of(disk);
	return new_series(key, dev, name, gendisk);
}

/*
 * The same, of I/O that came with @disk. That need not be @dev: there may be none any more,
 * a bio was passed on to it, or a request's address is used again for it.
 */
static __always_inline u32 find_series(u32 dev, u32 op, struct gendisk *disk)
{
	struct monad_storage_disk_name name;

	if (!disk || disk_dev(disk) != dev)
		return find_series_of(dev, op, NULL, NULL, 0);
	copy_name(&name, disk);
	return find_series_of(dev, op, &name, disk, 0);
}

/* The same, of a disk of which there is only the address. */
static __always_inline u32 find_series_at(u32 dev, u32 op, u64 gendisk)
{
	struct monad_storage_disk_name name = {};

	if (!gendisk)
		return find_series_of(dev, op, NULL, NULL, 0);
	bpf_probe_read_kernel_str(&name, sizeof(name), ((struct gendisk *)gendisk)->disk_name);
	return find_series_of(dev, op, &name, NULL, gendisk);
}

static __always_inline struct monad_storage_metrics *metrics_of(u32 series_nr)
{
	u32 index = shard_of(series_nr);

	return bpf_map_lookup_elem(&metrics, &index);
}

static __always_inline void add_time(struct monad_storage_metrics *m,
				     enum monad_storage_phase phase, u64 ns)
{
	u32 bucket = latency_bucket(ns);

	/* The verifier cannot know. */
	if (bucket < MONAD_STORAGE_BUCKETS)
		add(&m->bucket[phase][bucket], 1);
	add(&m->sum_ns[phase], ns);
}

/* Something on a device of that place failed. */
__noinline int count_error(u32 series_nr, u32 error)
{
	struct place p = { .index = TABLE_NONE };
	uint64_t *n;

	if (series_nr != nr_series)
		table_claim(&error_keys, error_shift, MONAD_STORAGE_ERROR_KEY(series_nr, error),
			    &p);
	if (p.index == TABLE_NONE)
		p.index = nr_errors;
	n = bpf_map_lookup_elem(&errors, &p.index);
	if (n)
		add(n, 1);
	return 0;
}

/* The place of a cgroup that is not in the table yet; nr_cgroups if there is no room. */
__noinline u32 new_cgroup(u64 id)
{
	struct place p;

	table_claim(&cgroup_keys, cgroup_shift, id, &p);
	if (p.index != TABLE_NONE)
		return p.index;
	count(MONAD_STORAGE_CGROUPS_FULL);
	return nr_cgroups;
}

static __always_inline u32 find_cgroup(u64 id)
{
	struct place p;

	if (!id)
		return nr_cgroups;
	table_find(&cgroup_keys, cgroup_shift, id, &p);
	return p.index == TABLE_NONE ? new_cgroup(id) : p.index;
}

static __always_inline void measure_cgroup(const struct monad_storage_io *io,
					   const struct io_times *t)
{
	u32 direction = monad_storage_direction(io->op);
	u32 index = shard_of(find_cgroup(io->cgroup_id));
	struct monad_storage_cgroup *c;

	c = bpf_map_lookup_elem(&cgroups, &index);
	if (!c)
		return;
	add(&c->ops[direction], 1);
	add(&c->bytes[direction], io->bytes_done);
	add(&c->total_ns[direction], t->total_ns);
	if (io->error)
		add(&c->errors, 1);
}

/*
 * What it does comes again as I/O of the devices below, charged to the same cgroup (dm, md,
 * bcache): it is counted there, once.
 */
static __always_inline bool is_on_top(struct gendisk *disk)
{
	return disk && bpf_core_field_exists(disk->slave_bdevs) &&
	       disk->slave_bdevs.next != &disk->slave_bdevs;
}

/* @io has ended, and is counted in the series of that place in the table. */
static __always_inline void measure_device(const struct monad_storage_io *io,
					   const struct io_times *t, u32 series_nr)
{
	struct monad_storage_metrics *m = metrics_of(series_nr);

	if (m) {
		add(&m->ops, 1);
		add(&m->bytes, io->bytes_done);
		if (t->flags & MONAD_STORAGE_F_QUEUE_NS)
			add_time(m, MONAD_STORAGE_PHASE_QUEUE, t->queue_ns);
		if (t->flags & MONAD_STORAGE_F_DEVICE_NS)
			add_time(m, MONAD_STORAGE_PHASE_DEVICE, t->device_ns);
		if (t->flags & MONAD_STORAGE_F_TOTAL_NS)
			add_time(m, MONAD_STORAGE_PHASE_TOTAL, t->total_ns);
		if (io->partials)
			add(&m->partials, io->partials);
		if (io->flags & MONAD_STORAGE_F_TIMED_OUT)
			add(&m->timeouts, 1);
		if (io->error)
			add(&m->errors, 1);
	}
	if (io->error)
		count_error(series_nr, io->error);
}

/* ... and of its cgroup. */
static __always_inline void measure(const struct monad_storage_io *io, u32 op,
				    const struct io_times *t, struct gendisk *disk)
{
	measure_device(io, t, find_series(io->dev, op, disk));
	if (op != MONAD_STORAGE_OP_CACHE_FLUSH && !is_on_top(disk))
		measure_cgroup(io, t);
}

/* A request or a bio became part of another request. */
static __always_inline void measure_merge(u32 dev, u32 op, struct gendisk *disk)
{
	struct monad_storage_metrics *m = metrics_of(find_series(dev, op, disk));

	if (m)
		add(&m->merged, 1);
}

#endif /* MONAD_STORAGE_METRICS_BPF_H */
