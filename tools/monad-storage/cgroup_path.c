// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_path.h"

/* A handle of kernfs is the id alone (enum fid_type of include/linux/exportfs.h). */
#define FILEID_KERNFS 0xfe

union kernfs_handle {
	struct file_handle handle;
	char bytes[sizeof(struct file_handle) + sizeof(uint64_t)];
};

/* Where cgroup v2 is mounted, and that opened; -1 if it is not, or not for us. */
static struct {
	bool looked;
	int fd;
	char mount[PATH_MAX];
} root = { .fd = -1 };

/* Then the ids are those of another hierarchy. */
static bool charged_to_v1(void)
{
	FILE *file = fopen("/proc/cgroups", "re");
	unsigned int hierarchy = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "blkio %u", &hierarchy) == 1)
			break;
	}
	if (file)
		fclose(file);
	return hierarchy;
}

static void find_root(void)
{
	struct mntent *entry;
	FILE *mounts;

	if (root.looked)
		return;
	root.looked = true;
	if (charged_to_v1())
		return;
	mounts = setmntent("/proc/self/mounts", "re");
	while (mounts && root.fd < 0 && (entry = getmntent(mounts))) {
		if (strcmp(entry->mnt_type, "cgroup2") != 0)
			continue;
		snprintf(root.mount, sizeof(root.mount), "%s", entry->mnt_dir);
		root.fd = open(root.mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (mounts)
		endmntent(mounts);
}

const char *cgroup_mount(void)
{
	find_root();
	return root.fd >= 0 ? root.mount : NULL;
}

/* The kernel says so behind its name. Anybody's may have such a name: then it is there. */
static bool is_removed(uint64_t id, const char *path)
{
	static const char says[] = " (deleted)";
	const size_t length = strlen(path), end = sizeof(says) - 1;
	struct stat st;

	if (length < end || strcmp(path + length - end, says) != 0)
		return false;
	return fstatat(root.fd, path + (*path == '/'), &st, AT_SYMLINK_NOFOLLOW) ||
	       st.st_ino != id;
}

int cgroup_path(uint64_t id, char *path, size_t size)
{
	union kernfs_handle h = { .handle = { .handle_bytes = sizeof(id),
					      .handle_type = FILEID_KERNFS } };
	char link[64], full[PATH_MAX];
	size_t mount_length;
	ssize_t length;
	int fd;

	*path = '\0';
	find_root();
	if (root.fd < 0)
		return -ENODEV;
	memcpy(h.bytes + sizeof(struct file_handle), &id, sizeof(id));
	fd = open_by_handle_at(root.fd, &h.handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno == ESTALE ? -ENOENT : -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, full, sizeof(full) - 1);
	close(fd);
	if (length < 0)
		return -errno;
	full[length] = '\0';
	mount_length = strlen(root.mount);
	/* In another namespace, or above what is mounted there. */
	if (strncmp(full, root.mount, mount_length) != 0 ||
	    (full[mount_length] && full[mount_length] != '/'))
		return -EXDEV;
	/* One that was removed is still found while somebody holds it: with a name that says so. */
	if (is_removed(id, full + mount_length))
		return -ENOENT;
	snprintf(path, size, "%s", full[mount_length] ? full + mount_length : "/");
	return 0;
}
