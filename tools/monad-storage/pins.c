// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "disk.h"
#include "monad_storage.h"
#include "event.h"
#include "inflight_table.h"
#include "pins.h"
#include "printable.h"
#include "tables.h"

const char *const counter_names[MONAD_STORAGE_COUNTERS] = {
	[MONAD_STORAGE_STARTED] = "started",
	[MONAD_STORAGE_ISSUED] = "issued",
	[MONAD_STORAGE_REISSUED] = "reissued",
	[MONAD_STORAGE_COMPLETED] = "completed",
	[MONAD_STORAGE_FLUSHED] = "flushed",
	[MONAD_STORAGE_PARTIALS] = "partials",
	[MONAD_STORAGE_MERGED] = "merged",
	[MONAD_STORAGE_BIO_MERGED] = "bio_merged",
	[MONAD_STORAGE_REQUEUED_ISSUED] = "requeues_issued",
	[MONAD_STORAGE_REQUEUED_UNISSUED] = "requeues_unissued",
	[MONAD_STORAGE_ERRORS] = "errors",
	[MONAD_STORAGE_TIMEOUTS] = "timeouts",
	[MONAD_STORAGE_BIO_QUEUED] = "bio_queued",
	[MONAD_STORAGE_BIO_COMPLETED] = "bio_completed",
	[MONAD_STORAGE_BIO_PARTS] = "bio_parts",
	[MONAD_STORAGE_GIVEN_UP] = "given_up",
	[MONAD_STORAGE_BEGUN_BEFORE] = "begun_before",
	[MONAD_STORAGE_ORPHANS] = "orphans",
	[MONAD_STORAGE_ENDS_UNSEEN] = "ends_unseen",
	[MONAD_STORAGE_ENDS_CAUGHT] = "ends_caught",
	[MONAD_STORAGE_CLOCK_BACKWARDS] = "clock_backwards",
	[MONAD_STORAGE_TABLE_FULL] = "table_full",
	[MONAD_STORAGE_EVICTED] = "evicted",
	[MONAD_STORAGE_SERIES_FULL] = "series_full",
	[MONAD_STORAGE_CGROUPS_FULL] = "cgroups_full",
	[MONAD_STORAGE_NOT_RECORDED] = "not_recorded",
	[MONAD_STORAGE_STACKS_FULL] = "stacks_full",
	[MONAD_STORAGE_LEFT_OUT] = "left_out",
	[MONAD_STORAGE_RATE_LIMITED] = "rate_limited",
};

/*
 * The directory, or -errno: -ENOTDIR if it is not one that root made on the BPF
 * file system. Where that lets anybody create files, somebody else could have put
 * his own there, or a link to elsewhere.
 */
static int open_pin_dir(void)
{
	struct statfs fs;
	struct stat st;
	int fd;

	fd = open(PIN_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP ? -ENOTDIR : -errno;
	if (fstat(fd, &st) || fstatfs(fd, &fs) || st.st_uid || fs.f_type != BPF_FS_MAGIC) {
		close(fd);
		return -ENOTDIR;
	}
	return fd;
}

static void complain_pin_dir(int err)
{
	struct stat st;

	if (err == EACCES || err == EPERM)
		error("looking at %s takes root", PIN_DIR);
	else if (err == ENOTDIR && !lstat(PIN_DIR, &st))
		error("%s is not what 'monad-storage start' makes, a directory of root on the BPF "
		      "file system: it is a %s of user %u. Look at it, then remove it; and mount "
		      "the BPF file system so that only root can create files: mount -t bpf -o "
		      "mode=700 none %s",
		      PIN_DIR, S_ISLNK(st.st_mode) ? "symbolic link" :
		      S_ISDIR(st.st_mode) ? "directory" : "file",
		      st.st_uid, PIN_ROOT);
	else
		error("opening %s: %s", PIN_DIR, strerror(err));
}

enum pins_state pins_look(void)
{
	int fd = open_pin_dir();

	if (fd >= 0) {
		close(fd);
		return PINS_THERE;
	}
	if (fd == -ENOENT)
		return PINS_NONE;
	complain_pin_dir(-fd);
	return PINS_NOT_OURS;
}

int pins_lock(void)
{
	int fd = open(PIN_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || flock(fd, LOCK_EX)) {
		error("locking %s: %m", PIN_LOCK);
		return -1;
	}
	return 0;
}

int pins_remove(void)
{
	struct dirent *entry;
	int removed = 0, fd;
	DIR *dir;

	fd = open_pin_dir();
	if (fd == -ENOENT)
		return 0;
	if (fd < 0) {
		complain_pin_dir(-fd);
		return -1;
	}
	dir = fdopendir(fd);
	if (!dir) {
		error("reading %s: %m", PIN_DIR);
		close(fd);
		return -1;
	}
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(fd, entry->d_name, 0)) {
			error("removing %s/%s: %m", PIN_DIR, entry->d_name);
			closedir(dir);
			return -1;
		}
		removed++;
	}
	closedir(dir);
	if (rmdir(PIN_DIR)) {
		error("removing %s: %m", PIN_DIR);
		return -1;
	}
	return removed;
}

int pins_open_map(const char *name, size_t value_size)
{
	struct bpf_map_info info = {};
	uint32_t size = sizeof(info);
	char path[128];
	int dir, fd;

	dir = open_pin_dir();
	if (dir < 0)
		return dir;
	close(dir);
	snprintf(path, sizeof(path), PIN_DIR "/" PIN_MAP_PREFIX "%s", name);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return fd;
	/* Of another version of this program: the kernel would write more than there is. */
	if (bpf_obj_get_info_by_fd(fd, &info, &size) || info.value_size != value_size) {
		close(fd);
		return -EPROTO;
	}
	return fd;
}

void pins_complain(int err)
{
	if (err == -ENOENT)
		error("not recording: 'monad-storage start' begins it");
	else if (err == -EPERM || err == -EACCES)
		error("looking at what is recorded takes root");
	else if (err == -EPROTO)
		error("what is recording is of another version of this program: stop it with that "
		      "one, or 'monad-storage stop', and start it again");
	else
		error("reading what was recorded: %s", strerror(-err));
}

int pins_read_session(struct monad_storage_session *session)
{
	int fd = pins_open_map(PIN_SESSION, sizeof(*session));
	uint32_t zero = 0;
	int err;

	if (fd < 0)
		return fd;
	err = bpf_map_lookup_elem(fd, &zero, session);
	close(fd);
	session->ring[sizeof(session->ring) - 1] = '\0';
	session->version[sizeof(session->version) - 1] = '\0';
	return err;
}

uint64_t pins_session_began(const struct monad_storage_session *session)
{
	static uint64_t of_boot_ns, began_ns;
	uint64_t now = clock_ns(CLOCK_REALTIME), by_now;

	if (of_boot_ns == session->started_boot_ns && began_ns <= now)
		return began_ns;
	by_now = now - (clock_ns(CLOCK_BOOTTIME) - session->started_boot_ns);
	of_boot_ns = session->started_boot_ns;
	began_ns = session->started_ns;
	/* (Whole seconds, so that each process that looks comes to the same.) */
	if (by_now > began_ns + NSEC_PER_SEC || began_ns > by_now + NSEC_PER_SEC)
		began_ns = by_now - by_now % NSEC_PER_SEC;
	return began_ns;
}

/*
 * sysfs has "!" where the kernel has "/", and where it has "!", too: which of them it is
 * cannot be told, so the number is all that such a disk is known by.
 */
void pins_note_name(uint32_t dev, struct monad_storage_disk_name *name)
{
	char text[NAME_MAX + 1];

	memset(name, 0, sizeof(*name));
	if (disk_sysfs_name(dev, text, sizeof(text)) && !strchr(text, '!') &&
	    strlen(text) < sizeof(name->text))
		memcpy(name->text, text, strlen(text));
}

bool pins_records(uint32_t dev)
{
	struct monad_storage_disk_name asked, now;
	struct monad_storage_session session;
	int fd, err;

	if (pins_read_session(&session) || !session.filtered)
		return true;
	fd = pins_open_map("devices", sizeof(asked));
	if (fd < 0)
		return true;
	err = bpf_map_lookup_elem(fd, &dev, &asked);
	close(fd);
	if (err)
		return err != -ENOENT;
	pins_note_name(dev, &now);
	return !*asked.text || !memcmp(&asked, &now, sizeof(now));
}

int pins_disks(struct recorded_disk *disks, size_t max)
{
	struct monad_storage_disk_name asked, now;
	uint32_t dev, other, *last = NULL;
	int fd, n = 0;

	fd = pins_open_map("devices", sizeof(asked));
	if (fd < 0)
		return fd;
	while ((size_t)n < max && !bpf_map_get_next_key(fd, last, &dev)) {
		struct recorded_disk *disk = &disks[n];

		last = &dev;
		if (bpf_map_lookup_elem(fd, &dev, &asked))
			continue;
		asked.text[sizeof(asked.text) - 1] = '\0';
		memset(disk, 0, sizeof(*disk));
		disk->dev = dev;
		pins_note_name(dev, &now);
		disk->there = *asked.text ? !memcmp(&asked, &now, sizeof(now)) : disk_there(dev);
		if (*asked.text)
			printable(disk->name, sizeof(disk->name), asked.text);
		else
			disk_name(dev, disk->name, sizeof(disk->name));
		disk->elsewhere = !disk->there && *asked.text &&
				  disk_by_sysfs_name(asked.text, &other);
		n++;
	}
	close(fd);
	return n;
}

int pins_read_counters(struct monad_storage_counters *sum)
{
	int cpus = libbpf_num_possible_cpus();
	struct monad_storage_counters *each;
	uint32_t zero = 0;
	int fd, err;

	if (cpus < 0)
		return cpus;
	fd = pins_open_map("counters", sizeof(*each));
	if (fd < 0)
		return fd;
	each = xcalloc(cpus, sizeof(*each));
	err = bpf_map_lookup_elem(fd, &zero, each);
	close(fd);
	memset(sum, 0, sizeof(*sum));
	for (int cpu = 0; !err && cpu < cpus; cpu++) {
		for (int i = 0; i < MONAD_STORAGE_COUNTERS; i++)
			sum->value[i] += each[cpu].value[i];
	}
	free(each);
	return err;
}

struct device_list {
	uint32_t ops; /* see ops_have() */
	struct inflight_device *devices;
	size_t nr, room;
};

static struct inflight_device *find_device(struct device_list *list, uint32_t dev)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (list->devices[i].dev == dev)
			return &list->devices[i];
	}
	if (list->nr == list->room) {
		list->room = list->room * 2 + 16;
		list->devices = xrealloc(list->devices, list->room * sizeof(*list->devices));
	}
	memset(&list->devices[list->nr], 0, sizeof(*list->devices));
	list->devices[list->nr].dev = dev;
	return &list->devices[list->nr++];
}

static void count_io(const struct inflight_io *io, void *arg)
{
	const struct device_list *list = arg;
	struct inflight_device *device;

	if (!ops_have(list->ops, io->io.op))
		return;
	device = find_device(arg, io->io.dev);
	if (io->began_ns && (!device->oldest_ns || io->began_ns < device->oldest_ns))
		device->oldest_ns = io->began_ns;
	if (io->io.state == MONAD_STORAGE_STATE_ISSUED)
		device->issued++;
	else if (io->io.state == MONAD_STORAGE_STATE_WAITING)
		device->waiting++;
	else if (io->bio)
		device->bios++;
	else
		device->queued++;
}

int pins_inflight_by_device(uint32_t ops, struct inflight_device **devices, size_t *nr)
{
	struct device_list list = { .ops = ops };
	int err;

	err = inflight_visit(count_io, &list, NULL);
	if (err) {
		free(list.devices);
		return err;
	}
	*devices = list.devices;
	*nr = list.nr;
	return 0;
}

int pins_visit_links(pins_link_fn *each, void *arg)
{
	struct dirent **entries;
	int dir, n;

	dir = open_pin_dir();
	if (dir < 0)
		return dir;
	n = scandirat(dir, ".", &entries, NULL, alphasort);
	close(dir);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		char path[512];
		int fd;

		if (!strncmp(name, PIN_LINK_PREFIX, strlen(PIN_LINK_PREFIX))) {
			snprintf(path, sizeof(path), PIN_DIR "/%s", name);
			fd = bpf_obj_get(path);
			if (fd >= 0) {
				each(name + strlen(PIN_LINK_PREFIX), fd, arg);
				close(fd);
			}
		}
		free(entries[i]);
	}
	free(entries);
	return 0;
}

int pins_link_program(int link_fd, struct bpf_prog_info *info)
{
	struct bpf_link_info link = {};
	uint32_t size = sizeof(link);
	int err, fd;

	err = bpf_obj_get_info_by_fd(link_fd, &link, &size);
	if (err)
		return err;
	fd = bpf_prog_get_fd_by_id(link.prog_id);
	if (fd < 0)
		return fd;
	memset(info, 0, sizeof(*info));
	size = sizeof(*info);
	err = bpf_obj_get_info_by_fd(fd, info, &size);
	close(fd);
	return err;
}
