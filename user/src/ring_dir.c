// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The default directory for ring files, and hugetlbfs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>

#include "error.h"

/* Group-writable, as far as the umask lets it: a group may share its rings. */
#define RING_DIR_MODE 0775

struct search {
	char existing[PATH_MAX];  /* the first ring directory we may list */
	char creatable[PATH_MAX]; /* where the first one could be created */
	unsigned int mounts;	  /* of the right page size */
};

static bool has_2m_pages(const char *mount)
{
	struct statfs fs;

	return statfs(mount, &fs) == 0 && fs.f_type == HUGETLBFS_MAGIC &&
	       (unsigned long)fs.f_bsize == MONAD_EVENT_RING_ALIGN;
}

static void look_at_mount(struct search *search, const char *mount)
{
	char path[PATH_MAX];
	struct stat st;
	int len;

	len = snprintf(path, sizeof(path), "%s/%s", mount, MONAD_EVENT_DEFAULT_RING_DIR);
	if (len < 0 || (size_t)len >= sizeof(path) || !has_2m_pages(mount))
		return;
	search->mounts++;
	if (stat(path, &st) == 0) {
		if (!search->existing[0] && S_ISDIR(st.st_mode) && access(path, R_OK | X_OK) == 0)
			memcpy(search->existing, path, (size_t)len + 1);
	} else if (errno == ENOENT && !search->creatable[0] && access(mount, W_OK | X_OK) == 0) {
		memcpy(search->creatable, path, (size_t)len + 1);
	}
}

static int look_at_mounts(struct search *search)
{
	char buf[2 * PATH_MAX];
	struct mntent ent;
	FILE *mounts;

	memset(search, 0, sizeof(*search));
	mounts = setmntent("/proc/self/mounts", "re");
	if (!mounts)
		return FAIL(errno, "cannot read /proc/self/mounts");
	while (getmntent_r(mounts, &ent, buf, sizeof(buf))) {
		if (strcmp(ent.mnt_type, "hugetlbfs") == 0)
			look_at_mount(search, ent.mnt_dir);
	}
	endmntent(mounts);
	return 0;
}

static int open_ring_dir(bool create, int *dirfd, char *buf, size_t buf_size)
{
	struct search search;
	const char *path;
	size_t len;
	int err, fd;

	if (dirfd)
		*dirfd = -1;
	err = look_at_mounts(&search);
	if (err)
		return err;
	if (!search.mounts)
		return FAIL_HINT(ENODEV,
				 "mount -t hugetlbfs -o pagesize=2M none /dev/hugepages, or name a "
				 "ring file by a path with a /",
				 "no hugetlbfs with 2 MiB pages is mounted");
	path = search.existing;
	if (!path[0] && !create)
		return FAIL(ENOENT,
			    "no directory " MONAD_EVENT_DEFAULT_RING_DIR " on any hugetlbfs");
	if (!path[0]) {
		path = search.creatable;
		if (!path[0])
			return FAIL(EACCES,
				    "cannot use or create a directory " MONAD_EVENT_DEFAULT_RING_DIR
				    " on any hugetlbfs");
		if (mkdir(path, RING_DIR_MODE) != 0 && errno != EEXIST)
			return FAIL(errno, "cannot create directory `%s`", path);
	}
	len = strlen(path);
	if (buf && len >= buf_size)
		return FAIL(ERANGE, "path `%s` is longer than the buffer of %zu bytes", path,
			    buf_size);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return FAIL(errno, "cannot open directory `%s`", path);
	if (buf)
		memcpy(buf, path, len + 1);
	if (dirfd)
		*dirfd = fd;
	else
		close(fd);
	return 0;
}

int monad_event_open_hugetlbfs_dir_fd(int *dirfd, char *name_buf, size_t name_buf_size)
{
	return open_ring_dir(true, dirfd, name_buf, name_buf_size);
}

int monad_event_open_ring_dir_fd(int *dirfd, char *name_buf, size_t name_buf_size)
{
	return open_ring_dir(true, dirfd, name_buf, name_buf_size);
}

int monad_event_find_ring_dir_fd(int *dirfd, char *name_buf, size_t name_buf_size)
{
	return open_ring_dir(false, dirfd, name_buf, name_buf_size);
}

int monad_check_path_supports_map_hugetlb(const char *path, bool *supported)
{
	char parent[PATH_MAX];
	struct statfs fs;
	const char *slash;
	int len;

	if (!path || !supported)
		return FAIL(EFAULT, "%s is NULL", path ? "result" : "path");
	*supported = false;
	if (statfs(path, &fs) != 0) {
		if (errno != ENOENT)
			return FAIL(errno, "cannot statfs `%s`", path);
		slash = strrchr(path, '/');
		len = slash ? snprintf(parent, sizeof(parent), "%.*s/.", (int)(slash - path), path)
			    : snprintf(parent, sizeof(parent), ".");
		if (len < 0 || (size_t)len >= sizeof(parent))
			return FAIL(ENAMETOOLONG, "cannot statfs `%s`", path);
		if (statfs(parent, &fs) != 0)
			return FAIL(errno, "cannot statfs `%s`", parent);
	}
	*supported = fs.f_type == HUGETLBFS_MAGIC;
	return 0;
}
