// SPDX-License-Identifier: GPL-2.0
/* monad-storage start: loads the programs and pins them, so that they stay. */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <monad/ring_ioctl.h>

#include "bpf_programs.h"
#include "kallsyms.h"
#include "kernel_compat.h"
#include "metrics_room.h"
#include "monad_storage.h"
#include "monad_storage.skel.h"
#include "page_disks.h"
#include "pins.h"
#include "printable.h"
#include "start_options.h"

static int check_system(void)
{
	struct statfs fs;

	if (bpf_check_system("recording"))
		return -1;
	if (statfs(PIN_ROOT, &fs) || fs.f_type != BPF_FS_MAGIC) {
		error("no BPF file system on %s: mount -t bpf -o mode=700 none %s", PIN_ROOT,
		      PIN_ROOT);
		return -1;
	}
	return 0;
}

/* The tracepoint or function behind a program, from its section "tp_btf/NAME". */
static const char *hook_of(const struct bpf_program *prog)
{
	const char *slash = strchr(bpf_program__section_name(prog), '/');

	return slash ? slash + 1 : "";
}

/* Chooses the programs for this kernel; warns of what will be missing. */
static int choose_programs(struct monad_storage *skel, const struct btf *btf)
{
	bool io_start = kernel_has_tracepoint(btf, "block_io_start");
	bool issue = kernel_has_tracepoint(btf, "block_rq_issue");
	bool complete = kernel_has_tracepoint(btf, "block_rq_complete");
	int throttle_args = kernel_tracepoint_args(btf, "balance_dirty_pages");
	struct bpf_program *prog;

	if (!issue && !complete) {
		error("this kernel has neither tracepoint block_rq_issue nor block_rq_complete: "
		      "nothing to record (CONFIG_BLOCK, CONFIG_TRACEPOINTS)");
		return -1;
	}
	skel->rodata->have_io_start = io_start;
	bpf_program__set_autoload(skel->progs.storage_io_start, io_start);
	bpf_object__for_each_program(prog, skel->obj) {
		const char *hook = hook_of(prog);

		if (prog == skel->progs.storage_io_start || prog == skel->progs.storage_check)
			continue;
		if (prog == (throttle_args == 8 ? skel->progs.storage_throttle_12 :
						  skel->progs.storage_throttle_8)) {
			bpf_program__set_autoload(prog, false);
			continue;
		}
		if (prog == skel->progs.storage_getrq && io_start) {
			bpf_program__set_autoload(prog, false);
			continue;
		}
		if (prog == skel->progs.storage_timeout && !kernel_has_function(btf, hook)) {
			bpf_program__set_autoload(prog, false);
			warning("no function %s in this kernel: timeouts that a driver waits out "
				"are not seen", hook);
		} else if (prog != skel->progs.storage_timeout &&
			   !kernel_has_tracepoint(btf, hook)) {
			bpf_program__set_autoload(prog, false);
			warning("no tracepoint %s in this kernel; recording without it", hook);
		}
	}
	return 0;
}

/* Other upper bits than an earlier recording in the same ring had, most likely. */
static uint32_t stack_salt(void)
{
	return (uint32_t)(clock_ns(CLOCK_REALTIME) / 1000000) << MONAD_STORAGE_STACK_BITS;
}

static void warn_of_room(const struct metrics_room *room)
{
	unsigned int all = room->series + room->left_out;
	struct metrics_room more;

	if (!room->left_out)
		return;
	all = all < MAX_SERIES ? all : MAX_SERIES;
	metrics_room(&more, all, 0, 1);
	warning("metrics get %u MiB: room for %u devices and operations, not for the %u there seem "
		"to be. What does not fit is counted as (unknown); --max-series=%u makes room, in "
		"%u MiB of memory",
		(unsigned int)(metrics_room_bytes(room) >> 20), room->series,
		room->series + room->left_out, all,
		(unsigned int)(metrics_room_bytes(&more) >> 20));
}

/* The programs, loaded but attached to nothing; NULL after a message. */
static struct monad_storage *load(struct start_options *options, const struct monad_ring_info *info,
				  struct metrics_room *room)
{
	struct kernel_compat compat;
	struct monad_storage *skel;
	struct btf *btf;
	int err;

	btf = btf__load_vmlinux_btf();
	if (!btf) {
		error("reading the kernel's BTF: %m");
		return NULL;
	}
	skel = monad_storage__open();
	if (!skel) {
		error("opening the BPF programs: %m");
		goto out;
	}
	err = kernel_compat_init(&compat, btf);
	if (!err)
		err = choose_programs(skel, btf);
	if (err)
		goto destroy;
	page_disks_warn(btf);
	skel->rodata->ring_id = info->ring_id;
	skel->rodata->filter_devices = options->nr_devices > 0;
	skel->rodata->events_kept = options->events;
	skel->rodata->slow_ns = options->slow_ns;
	skel->rodata->slow_by_device = options->nr_slow > 0;
	skel->rodata->sample_every = options->sample;
	skel->rodata->max_rate = options->max_rate;
	skel->rodata->attribution = options->attribution;
	skel->rodata->record_stacks = options->sizes.stacks > 0;
	/* Not by __ksym: for those libbpf keeps all symbols, which is a third of a start's time. */
	skel->rodata->bio_chain_endio = kallsyms_address("bio_chain_endio");
	if (options->sizes.stacks)
		skel->rodata->kernel_text = kallsyms_address("_stext");
	skel->rodata->tick_ns = kernel_tick_ns();
	skel->rodata->page_size = sysconf(_SC_PAGESIZE);
	skel->rodata->stack_salt = stack_salt();
	/* Twice a quarter: what is not written again in time is still there for half a ring. */
	skel->rodata->stack_refresh = info->descriptor_capacity / 4;
	skel->rodata->rqf_flush_seq = compat.rqf_flush_seq;
	skel->rodata->rqf_timed_out = compat.rqf_timed_out;
	skel->rodata->rqf_io_stat = compat.rqf_io_stat;
	memcpy(skel->rodata->op_of, compat.op_of, sizeof(compat.op_of));
	memcpy(skel->rodata->flags_of, compat.flags_of, sizeof(compat.flags_of));
	memcpy(skel->rodata->errno_of, compat.errno_of, sizeof(compat.errno_of));
	tables_size(skel, &options->sizes, room);
	warn_of_room(room);

	err = -monad_storage__load(skel);
	if (err) {
		bpf_log_show();
		error("the kernel refused the BPF programs: %s (--verbose shows all it said)",
		      strerror(err));
		if (err == EPERM)
			error("this takes CAP_SYS_ADMIN, and a kernel that is not locked down to "
			      "confidentiality");
		goto destroy;
	}
	goto out;
destroy:
	monad_storage__destroy(skel);
	skel = NULL;
out:
	btf__free(btf);
	return skel;
}

static int fill_maps(struct start_options *options, const struct monad_ring_info *info,
		     const char *path, const struct metrics_room *room,
		     struct monad_storage *skel)
{
	struct monad_storage_session session = {
		.ring_id = info->ring_id,
		.ring_start.last_seqno = info->last_seqno,
		.ring_start.next_byte = info->next_payload_byte,
		.ring_start.discarded = info->discarded,
		.filtered = options->nr_devices > 0,
		.shards = skel->rodata->shards,
		.events = options->events,
		.slow_ns = options->slow_ns,
		.slow_devices = options->nr_slow,
		.sample_every = options->sample,
		.max_rate = options->max_rate,
		.attribution = options->attribution,
		.stacks = options->sizes.stacks,
		.series = room->series,
		.series_left_out = room->left_out,
		.metrics_mib = metrics_room_bytes(room) >> 20,
	};
	uint32_t zero = 0;

	session.started_ns = clock_ns(CLOCK_REALTIME);
	session.started_boot_ns = clock_ns(CLOCK_BOOTTIME);
	_Static_assert(sizeof(session.ring_start.lost) == sizeof(info->lost), "causes of loss");
	memcpy(session.ring_start.lost, info->lost, sizeof(info->lost));
	snprintf(session.ring, sizeof(session.ring), "%s", path);
	snprintf(session.version, sizeof(session.version), "%s", MONAD_STORAGE_VERSION);
	for (size_t i = 0; i < options->nr_devices; i++) {
		struct monad_storage_disk_name name;

		pins_note_name(options->devices[i], &name);
		if (bpf_map_update_elem(bpf_map__fd(skel->maps.devices), &options->devices[i],
					&name, BPF_ANY)) {
			error("filling the map of devices: %m");
			return errno;
		}
	}
	for (size_t i = 0; i < options->nr_slow; i++) {
		if (bpf_map_update_elem(bpf_map__fd(skel->maps.slow_limits), &options->slow[i].dev,
					&options->slow[i].ns, BPF_ANY)) {
			error("filling the map of what is slow: %m");
			return errno;
		}
	}
	if (bpf_map_update_elem(bpf_map__fd(skel->maps.session), &zero, &session, BPF_ANY)) {
		error("filling the session map: %m");
		return errno;
	}
	return 0;
}

static int pin_map(struct bpf_map *map)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), PIN_DIR "/" PIN_MAP_PREFIX "%s", bpf_map__name(map));
	err = -bpf_map__pin(map, path);
	if (err)
		error("pinning %s: %s", path, strerror(err));
	return err;
}

/* All but the session: with that one the start is complete. */
static int pin_maps(struct monad_storage *skel)
{
	struct bpf_map *map;
	int err;

	bpf_object__for_each_map(map, skel->obj) {
		if (bpf_map__is_internal(map) || map == skel->maps.session)
			continue;
		err = pin_map(map);
		if (err)
			return err;
	}
	return 0;
}

/* The one that is run by those who look. */
static int pin_check(struct monad_storage *skel)
{
	int err = -bpf_program__pin(skel->progs.storage_check, PIN_CHECK);

	if (err)
		error("pinning %s: %s", PIN_CHECK, strerror(err));
	return err;
}

/*
 * Attaches and pins one program. Ends are attached before beginnings: an I/O
 * whose end is seen and its beginning not is an orphan and counted; the other
 * way round it would stay in flight for ever. @second: what comes behind the name of the
 * hook, where there are two for one.
 */
static int attach(struct bpf_program *prog, const char *second)
{
	struct bpf_link *link;
	char path[128];
	int err;

	link = bpf_program__attach(prog);
	if (!link) {
		err = errno;
		warning("attaching to %s: %s", hook_of(prog), strerror(err));
		return err;
	}
	snprintf(path, sizeof(path), PIN_DIR "/" PIN_LINK_PREFIX "%s%s", hook_of(prog),
		 second);
	err = -bpf_link__pin(link, path);
	if (err)
		error("pinning %s: %s", path, strerror(err));
	bpf_link__destroy(link);
	return err;
}

/*
 * Ends have a second program, for what the kernel skips the first one at. Programs of one
 * tracepoint are called in the order they were attached in.
 */
static void attach_second(struct monad_storage *skel, const struct bpf_program *first)
{
	if (first == skel->progs.storage_rq_complete)
		attach(skel->progs.storage_rq_complete_skipped, "_skipped");
	else if (first == skel->progs.storage_bio_complete)
		attach(skel->progs.storage_bio_complete_skipped, "_skipped");
}

static int attach_all(struct monad_storage *skel, unsigned int *attached)
{
	struct bpf_program *order[] = {
		skel->progs.storage_rq_complete,  skel->progs.storage_bio_complete,
		skel->progs.storage_rq_merge,	  skel->progs.storage_rq_requeue,
		skel->progs.storage_bio_backmerge, skel->progs.storage_bio_frontmerge,
		skel->progs.storage_timeout,
		skel->progs.storage_rq_issue,	  skel->progs.storage_getrq,
		skel->progs.storage_io_start,	  skel->progs.storage_bio_queue,
		skel->progs.storage_cgroup_release, skel->progs.storage_throttle_12,
		skel->progs.storage_throttle_8,
	};
	unsigned int core = 0;

	*attached = 0;
	/* Until then what ends without a beginning began before us. */
	skel->bss->attached_ns = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (!bpf_program__autoload(order[i]) || attach(order[i], ""))
			continue;
		++*attached;
		attach_second(skel, order[i]);
		if (order[i] == skel->progs.storage_rq_issue ||
		    order[i] == skel->progs.storage_rq_complete)
			core++;
	}
	skel->bss->attached_ns = clock_ns(CLOCK_MONOTONIC);
	if (!core) {
		error("neither block_rq_issue nor block_rq_complete could be attached");
		return -1;
	}
	return 0;
}

static int start(struct start_options *options)
{
	struct monad_storage_session session;
	struct monad_ring_info info;
	struct monad_storage *skel;
	struct metrics_room room;
	unsigned int attached;
	char path[128], text[128];
	int err;

	if (check_system())
		return EXIT_FAILED;
	if (pins_lock())
		return EXIT_FAILED;
	switch (pins_look()) {
	case PINS_THERE:
		/* (Nobody else is starting one: there is the lock.) */
		if (pins_read_session(&session) != -ENOENT) {
			error("already recording (%s exists); 'monad-storage status' says more, "
			      "'monad-storage stop' ends it", PIN_DIR);
			return EXIT_FAILED;
		}
		warning("a recording that was not quite begun is there: it is removed first");
		if (pins_remove() < 0)
			return EXIT_FAILED;
		break;
	case PINS_NOT_OURS:
		return EXIT_FAILED;
	case PINS_NONE:
		break;
	}
	if (bpf_prepare_ring(options->ring, path, sizeof(path), &info))
		return EXIT_FAILED;
	skel = load(options, &info, &room);
	if (!skel)
		return EXIT_FAILED;

	if (mkdir(PIN_DIR, 0700)) {
		error("creating %s: %m", PIN_DIR);
		monad_storage__destroy(skel);
		return EXIT_FAILED;
	}
	err = fill_maps(options, &info, path, &room, skel);
	if (!err)
		err = pin_maps(skel);
	if (!err)
		err = pin_check(skel);
	if (!err)
		err = attach_all(skel, &attached);
	if (!err)
		err = pin_map(skel->maps.session);
	monad_storage__destroy(skel);
	if (err) {
		pins_remove();
		return EXIT_FAILED;
	}
	printf("recording to %s with %u hooks\n", printable(text, sizeof(text), path), attached);
	return EXIT_OK;
}

int cmd_start(int argc, char **argv)
{
	struct start_options *options = malloc(sizeof(*options));
	int status;

	if (!options) {
		error("%m");
		return EXIT_FAILED;
	}
	start_options_parse(options, argc, argv);
	bpf_log_begin(options->verbose);
	status = start(options);
	free(options);
	return status;
}
