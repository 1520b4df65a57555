// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf_programs.h"
#include "disk.h"
#include "kernel_compat.h"
#include "monad_storage.h"
#include "storage_task.skel.h"
#include "task_programs.h"

#define MAX_LINKS 8

struct task_programs {
	struct storage_task *skel;
	struct bpf_link *links[MAX_LINKS];
	unsigned int nr_links;
};

/* What a kind attaches, per function: an end, and a beginning if it has one. */
struct hook_pair {
	enum task_kind kind;
	const char *name;
	struct bpf_program *end;
	struct bpf_program *begin;
};

#define MAX_PAIRS 12

static unsigned int list_pairs(struct storage_task *skel, const struct btf *btf,
			       struct hook_pair *pairs)
{
	int args = kernel_tracepoint_args(btf, "balance_dirty_pages");
	const struct hook_pair all[] = {
		{ TASK_VFS, "vfs_read", skel->progs.task_read_end, skel->progs.task_read_begin },
		{ TASK_VFS, "vfs_write", skel->progs.task_write_end,
		  skel->progs.task_write_begin },
		{ TASK_VFS, "vfs_readv", skel->progs.task_readv_end,
		  skel->progs.task_readv_begin },
		{ TASK_VFS, "vfs_writev", skel->progs.task_writev_end,
		  skel->progs.task_writev_begin },
		{ TASK_FSYNC, "vfs_fsync_range", skel->progs.task_fsync_end,
		  skel->progs.task_fsync_begin },
		{ TASK_FSYNC, "vfs_fsync", skel->progs.task_vfs_fsync_end,
		  skel->progs.task_vfs_fsync_begin },
		{ TASK_FSYNC, "__x64_sys_fsync", skel->progs.task_sys_fsync_end,
		  skel->progs.task_sys_fsync_begin },
		{ TASK_FSYNC, "__x64_sys_fdatasync", skel->progs.task_sys_fdatasync_end,
		  skel->progs.task_sys_fdatasync_begin },
		{ TASK_WRITEBACK, "balance_dirty_pages",
		  args == 8 ? skel->progs.task_throttle_8 : skel->progs.task_throttle_12, NULL },
	};

	memcpy(pairs, all, sizeof(all));
	return ARRAY_SIZE(all);
}

/* Whether this kernel has what the pair attaches to; a warning if not. */
static bool is_there(const struct btf *btf, const struct hook_pair *pair)
{
	int args;

	if (pair->begin) {
		if (btf__find_by_name_kind(btf, pair->name, BTF_KIND_FUNC) > 0)
			return true;
		warning("this kernel has no function %s, or has it inlined: going without it",
			pair->name);
		return false;
	}
	args = kernel_tracepoint_args(btf, pair->name);
	if (args == 8 || args == 12)
		return true;
	if (args < 0)
		warning("this kernel has no tracepoint %s", pair->name);
	else
		warning("the tracepoint %s has %d arguments, not 12 or 8 as in the kernels known",
			pair->name, args);
	return false;
}

static void choose_programs(struct storage_task *skel, const struct btf *btf, enum task_kind kind,
			    struct hook_pair *pairs, unsigned int *nr_pairs)
{
	unsigned int n = list_pairs(skel, btf, pairs), kept = 0;
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, skel->obj)
		bpf_program__set_autoload(prog, false);
	for (unsigned int i = 0; i < n; i++) {
		if (pairs[i].kind != kind || !is_there(btf, &pairs[i]))
			continue;
		bpf_program__set_autoload(pairs[i].end, true);
		if (pairs[i].begin)
			bpf_program__set_autoload(pairs[i].begin, true);
		pairs[kept++] = pairs[i];
	}
	bpf_program__set_autoload(skel->progs.task_unfinished,
				  kind == TASK_VFS || kind == TASK_FSYNC);
	*nr_pairs = kept;
}

static void list_syscalls(struct storage_task *skel)
{
	static const struct {
		unsigned int nr;
		enum monad_task_syscall what;
	} known[] = {
		{ SYS_fsync, MONAD_TASK_SYSCALL_FSYNC },
		{ SYS_fdatasync, MONAD_TASK_SYSCALL_FDATASYNC },
		{ SYS_msync, MONAD_TASK_SYSCALL_MSYNC },
		{ SYS_write, MONAD_TASK_SYSCALL_WRITE },
		{ SYS_pwrite64, MONAD_TASK_SYSCALL_WRITE },
		{ SYS_writev, MONAD_TASK_SYSCALL_WRITE },
		{ SYS_pwritev, MONAD_TASK_SYSCALL_WRITE },
		{ SYS_pwritev2, MONAD_TASK_SYSCALL_WRITE },
		{ SYS_sendfile, MONAD_TASK_SYSCALL_WRITE },
		{ SYS_splice, MONAD_TASK_SYSCALL_WRITE },
		{ SYS_copy_file_range, MONAD_TASK_SYSCALL_WRITE },
		{ SYS_io_submit, MONAD_TASK_SYSCALL_WRITE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].nr < MONAD_TASK_SYSCALLS)
			skel->rodata->syscalls[known[i].nr] = known[i].what;
	}
}

static void set_options(struct storage_task *skel, const struct task_options *options)
{
	skel->rodata->reader = getpid();
	skel->rodata->self = options->self;
	skel->rodata->filter_devices = options->nr_devs > 0;
	skel->rodata->filter_pids = options->pids.nr > 0;
	skel->rodata->ops = options->ops ? options->ops : ~0U;
	skel->rodata->min_latency_ns = options->min_latency_ns;
	skel->rodata->slow_ns = options->slow_ns;
	skel->rodata->sample_rate = options->sample_rate;
	skel->rodata->max_events = options->max_events;
	skel->rodata->tick_ns = kernel_tick_ns();
	skel->rodata->page_size = sysconf(_SC_PAGESIZE);
	list_syscalls(skel);
}

static int add_key(const struct bpf_map *map, uint32_t key)
{
	uint8_t one = 1;

	if (!bpf_map_update_elem(bpf_map__fd(map), &key, &one, BPF_ANY))
		return 0;
	error("filling the map of %s: %m", bpf_map__name(map));
	return -1;
}

/* File systems are on partitions as well. */
static int fill_filters(struct storage_task *skel, const struct task_options *options)
{
	uint32_t devs[MONAD_TASK_DEVICES];
	unsigned int n;

	for (unsigned int i = 0; i < options->pids.nr; i++) {
		if (add_key(skel->maps.pids, options->pids.pids[i]))
			return -1;
	}
	for (unsigned int i = 0; i < options->nr_devs; i++) {
		n = disk_partitions(options->devs[i], devs, ARRAY_SIZE(devs));
		if (add_key(skel->maps.devices, options->devs[i]))
			return -1;
		while (n) {
			if (add_key(skel->maps.devices, devs[--n]))
				return -1;
		}
	}
	return 0;
}

static int attach(struct task_programs *programs, const struct bpf_program *prog,
		  const char *name)
{
	struct bpf_link *link = bpf_program__attach(prog);

	if (!link) {
		warning("attaching to %s: %s: going without it", name,
			errno == E2BIG ? "as many programs as the kernel takes are there" :
					 strerror(errno));
		return -1;
	}
	programs->links[programs->nr_links++] = link;
	return 0;
}

/* Ends before beginnings: one that is never to be seen to end is not begun. */
static int attach_all(struct task_programs *programs, const struct hook_pair *pairs,
		      unsigned int nr_pairs)
{
	unsigned int attached = 0;

	for (unsigned int i = 0; i < nr_pairs; i++) {
		if (attach(programs, pairs[i].end, pairs[i].name))
			continue;
		if (pairs[i].begin && attach(programs, pairs[i].begin, pairs[i].name)) {
			bpf_link__destroy(programs->links[--programs->nr_links]);
			continue;
		}
		attached++;
	}
	return attached ? 0 : -1;
}

static int load(struct task_programs *programs, const struct btf *btf,
		const struct task_options *options, uint32_t ring_id, uint32_t task_id)
{
	struct hook_pair pairs[MAX_PAIRS];
	struct storage_task *skel;
	unsigned int nr_pairs;
	int err;

	skel = storage_task__open();
	programs->skel = skel;
	if (!skel) {
		error("opening the BPF programs: %m");
		return -1;
	}
	choose_programs(skel, btf, options->kind, pairs, &nr_pairs);
	skel->rodata->ring_id = ring_id;
	skel->rodata->task_id = task_id;
	set_options(skel, options);
	if (!nr_pairs)
		goto nothing;
	err = -storage_task__load(skel);
	if (err) {
		bpf_log_show();
		error("the kernel refused the BPF programs: %s (--verbose shows all it said)",
		      strerror(err));
		return -1;
	}
	if (fill_filters(skel, options))
		return -1;
	if (!attach_all(programs, pairs, nr_pairs))
		return 0;
nothing:
	error("there is nothing to attach to for %s", task_kind_names[options->kind]);
	return -1;
}

struct task_programs *task_programs_new(const struct task_options *options, uint32_t ring_id,
					uint32_t task_id)
{
	struct task_programs *programs = xcalloc(1, sizeof(*programs));
	struct btf *btf = btf__load_vmlinux_btf();
	int err;

	if (!btf) {
		error("reading the kernel's BTF: %m");
		free(programs);
		return NULL;
	}
	err = load(programs, btf, options, ring_id, task_id);
	btf__free(btf);
	if (!err)
		return programs;
	task_programs_free(programs);
	return NULL;
}

void task_programs_begin(struct task_programs *programs, uint64_t deadline_ns)
{
	__atomic_store_n(&programs->skel->bss->deadline_ns, deadline_ns, __ATOMIC_RELAXED);
}

bool task_programs_full(const struct task_programs *programs)
{
	return __atomic_load_n(&programs->skel->bss->nr_events, __ATOMIC_RELAXED) >=
	       programs->skel->rodata->max_events;
}

/* Adds up the values of all CPUs, which are @words numbers each. @max: one that is no sum. */
static int read_percpu(const struct bpf_map *map, uint32_t key, uint64_t *sum, size_t words,
		       size_t max)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *values;
	int err = 0;

	values = xcalloc((size_t)cpus * words, sizeof(*values));
	if (bpf_map_lookup_elem(bpf_map__fd(map), &key, values)) {
		error("reading the map of %s: %m", bpf_map__name(map));
		err = -1;
	}
	memset(sum, 0, words * sizeof(*sum));
	for (size_t i = 0; !err && i < (size_t)cpus * words; i++) {
		uint64_t *to = &sum[i % words];

		if (i % words != max)
			*to += values[i];
		else if (values[i] > *to)
			*to = values[i];
	}
	free(values);
	return err;
}

static void read_devices(const struct bpf_map *map, struct task_results *results)
{
	uint32_t key, *previous = NULL;
	struct task_device *device;

	results->devices = xcalloc(MONAD_TASK_DEVICES, sizeof(*results->devices));
	while (results->nr_devices < MONAD_TASK_DEVICES &&
	       !bpf_map_get_next_key(bpf_map__fd(map), previous, &key)) {
		device = &results->devices[results->nr_devices];
		previous = &device->dev;
		device->dev = key;
		if (!bpf_map_lookup_elem(bpf_map__fd(map), &key, &device->sum))
			results->nr_devices++;
	}
	task_sort_devices(results);
}

static void read_misses(const struct task_programs *programs, struct task_results *results)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, programs->skel->obj) {
		struct bpf_prog_info info = {};
		uint32_t size = sizeof(info);

		if (bpf_program__fd(prog) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
			results->recursion_misses += info.recursion_misses;
	}
}

/* False at the end. */
static bool read_whole(int fd, void *buf, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = read(fd, (char *)buf + done, size - done);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/* Whose calls have not ended. What cannot be looked at is in their number all the same. */
static void read_unfinished(const struct task_programs *programs, struct task_results *results)
{
	const struct bpf_program *prog = programs->skel->progs.task_unfinished;
	struct monad_storage_call call;
	struct bpf_link *link;
	int fd;

	if (bpf_program__fd(prog) < 0)
		return;
	link = bpf_program__attach_iter(prog, NULL);
	fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	if (fd < 0)
		warning("looking for calls that have not ended: %m");
	while (fd >= 0 && read_whole(fd, &call, sizeof(call)))
		task_note_unfinished(results, &call);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
}

static void detach(struct task_programs *programs)
{
	while (programs->nr_links)
		bpf_link__destroy(programs->links[--programs->nr_links]);
}

int task_programs_end(struct task_programs *programs, struct task_results *results)
{
	const size_t max_ns = offsetof(struct monad_task_totals, max_ns) / sizeof(uint64_t);
	struct storage_task *skel = programs->skel;
	int err;

	task_programs_begin(programs, 0);
	read_unfinished(programs, results);
	detach(programs);
	err = read_percpu(skel->maps.counters, 0, results->counters.value, MONAD_TASK_COUNTERS,
			  SIZE_MAX);
	for (uint32_t op = 0; !err && op < MONAD_STORAGE_CALL_COUNT; op++)
		err = read_percpu(skel->maps.totals, op, (uint64_t *)&results->ops[op],
				  sizeof(results->ops[op]) / sizeof(uint64_t), max_ns);
	if (err)
		return err;
	read_devices(skel->maps.device_totals, results);
	read_misses(programs, results);
	return 0;
}

void task_programs_free(struct task_programs *programs)
{
	if (!programs)
		return;
	detach(programs);
	storage_task__destroy(programs->skel);
	free(programs);
}
