// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "monad_storage.h"
#include "pins.h"

const char *const counter_names[MONAD_STORAGE_COUNTERS] = {
	[MONAD_STORAGE_STARTED] = "started",
	[MONAD_STORAGE_ISSUED] = "issued",
	[MONAD_STORAGE_REISSUED] = "reissued",
	[MONAD_STORAGE_COMPLETED] = "completed",
	[MONAD_STORAGE_FLUSHED] = "flushed",
	[MONAD_STORAGE_PARTIALS] = "partials",
	[MONAD_STORAGE_MERGED] = "merged",
	[MONAD_STORAGE_REQUEUED_ISSUED] = "requeued_issued",
	[MONAD_STORAGE_REQUEUED_UNISSUED] = "requeued_unissued",
	[MONAD_STORAGE_ERRORS] = "errors",
	[MONAD_STORAGE_TIMEOUTS] = "timeouts",
	[MONAD_STORAGE_BIO_QUEUED] = "bio_queued",
	[MONAD_STORAGE_BIO_COMPLETED] = "bio_completed",
	[MONAD_STORAGE_BIO_PARTS] = "bio_parts",
	[MONAD_STORAGE_ORPHANS] = "orphans",
	[MONAD_STORAGE_STALE] = "stale",
	[MONAD_STORAGE_CLOCK_BACKWARDS] = "clock_backwards",
	[MONAD_STORAGE_MAP_FULL] = "map_full",
	[MONAD_STORAGE_MAP_BUSY] = "map_busy",
	[MONAD_STORAGE_NOT_RECORDED] = "not_recorded",
};

bool pins_exist(void)
{
	return !access(PIN_DIR, F_OK);
}

int pins_remove(void)
{
	struct dirent *entry;
	int removed = 0;
	DIR *dir;

	dir = opendir(PIN_DIR);
	if (!dir) {
		if (errno == ENOENT)
			return 0;
		error("opening %s: %m", PIN_DIR);
		return -1;
	}
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0)) {
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

int pins_open_map(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), PIN_DIR "/" PIN_MAP_PREFIX "%s", name);
	return bpf_obj_get(path);
}

int pins_read_session(struct monad_storage_session *session)
{
	int fd = pins_open_map("session");
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

int pins_read_counters(struct monad_storage_counters *sum)
{
	int cpus = libbpf_num_possible_cpus();
	struct monad_storage_counters *each;
	uint32_t zero = 0;
	int fd, err;

	if (cpus < 0)
		return cpus;
	fd = pins_open_map("counters");
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

/* What comes and goes meanwhile may be counted or not. */
static int count_map(const char *name, struct inflight_count *count)
{
	bool bios = !strcmp(name, "inflight_bios");
	struct monad_storage_io io;
	uint64_t key, next;
	void *from = NULL;
	int fd;

	fd = pins_open_map(name);
	if (fd < 0)
		return fd;
	while (!bpf_map_get_next_key(fd, from, &next)) {
		key = next;
		from = &key;
		if (bpf_map_lookup_elem(fd, &key, &io))
			continue;
		if (io.state == MONAD_STORAGE_STATE_ISSUED)
			count->issued++;
		else if (bios && !(key & 1))
			count->bios++;
		else
			count->queued++;
	}
	close(fd);
	return 0;
}

int pins_count_inflight(struct inflight_count *count)
{
	int err;

	memset(count, 0, sizeof(*count));
	err = count_map("inflight", count);
	return err ? err : count_map("inflight_bios", count);
}

int pins_visit_links(pins_link_fn *each, void *arg)
{
	struct dirent **entries;
	int n;

	n = scandir(PIN_DIR, &entries, NULL, alphasort);
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
