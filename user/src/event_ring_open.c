// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Finding rings by name, and what a ring says of itself. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_snapshot.h>

#include "error.h"

#define DEVICE_PREFIX MONAD_RING_DEVICE_NAME "-"

#define FIND_HINT \
	"kernel rings need the module: modprobe monad_ring; a file elsewhere needs a / in its name"

/* "monad_ring" or "monad_ring-NAME": the name of a device. */
static bool is_device_name(const char *name)
{
	return strcmp(name, MONAD_RING_DEVICE_NAME) == 0 ||
	       strncmp(name, DEVICE_PREFIX, strlen(DEVICE_PREFIX)) == 0;
}

static int put_path(char *buf, size_t size, const char *dir, const char *file)
{
	int len = snprintf(buf, size, "%s%s%s", dir, *dir ? "/" : "", file);

	if (len < 0 || (size_t)len >= size)
		return FAIL(ERANGE, "path of event ring `%s` is too long", file);
	return 0;
}

/* No directory steps, no empty names. */
static int check_file_name(const char *file)
{
	if (file[0] == '\0' || strcmp(file, ".") == 0 || strcmp(file, "..") == 0)
		return FAIL(EINVAL, "`%s` is not the name of an event ring", file);
	return 0;
}

int monad_event_resolve_ring_file(const char *default_dir, const char *file, char *path_buf,
				  size_t path_buf_size)
{
	char dir[PATH_MAX];
	int err;

	if (!file || !path_buf)
		return FAIL(EFAULT, "%s is NULL", file ? "path buffer" : "ring file name");
	err = check_file_name(file);
	if (err)
		return err;
	if (strchr(file, '/'))
		return put_path(path_buf, path_buf_size, "", file);
	if (!default_dir) {
		err = monad_event_open_hugetlbfs_dir_fd(NULL, dir, sizeof(dir));
		if (err)
			return err;
		default_dir = dir;
	}
	return put_path(path_buf, path_buf_size, default_dir, file);
}

static bool is_char_device(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISCHR(st.st_mode);
}

/* The path that @name, which may be a device's, stands for. */
static int find_ring(const char *name, char *path, size_t path_size)
{
	char dir[PATH_MAX];
	int err, len;

	err = check_file_name(name);
	if (err)
		return err;
	if (strchr(name, '/'))
		return put_path(path, path_size, "", name);
	if (is_device_name(name)) {
		err = put_path(path, path_size, "/dev", name);
		if (err || is_char_device(path))
			return err;
	}
	len = snprintf(path, path_size, "/dev/%s%s", DEVICE_PREFIX, name);
	if (len > 0 && (size_t)len < path_size && is_char_device(path))
		return 0;
	err = monad_event_find_ring_dir_fd(NULL, dir, sizeof(dir));
	if (!err) {
		err = put_path(path, path_size, dir, name);
		if (err || access(path, F_OK) == 0)
			return err;
	}
	if (is_device_name(name))
		return FAIL_HINT(ENOENT, "is the kernel module loaded? modprobe monad_ring",
				 "no device /dev/%s", name);
	if (err)
		return FAIL_HINT(ENOENT, FIND_HINT,
				 "no event ring `%s`: there is no device /dev/" DEVICE_PREFIX
				 "%s, and no directory of ring files",
				 name, name);
	return FAIL_HINT(ENOENT, FIND_HINT,
			 "no event ring `%s`: there is neither the device /dev/" DEVICE_PREFIX
			 "%s nor a file in %s",
			 name, name, dir);
}

static const char *open_hint(int err, const char *path)
{
	bool device = strncmp(path, "/dev/", 5) == 0 && is_device_name(path + 5);

	if ((err == EACCES || err == EPERM) && device)
		return "reading it takes root, or the group the device belongs to";
	if ((err == ENOENT || err == ENXIO || err == ENODEV) && device)
		return "is the kernel module loaded? modprobe monad_ring";
	return NULL;
}

int monad_event_ring_open_fd(const char *name, int *ring_fd, char *path, size_t path_size)
{
	char path_buf[PATH_MAX];
	int err, fd, flags;

	if (!name || !ring_fd)
		return FAIL(EFAULT, "%s is NULL", name ? "descriptor" : "ring name");
	*ring_fd = -1;
	err = find_ring(name, path_buf, sizeof(path_buf));
	if (err)
		return err;
	if (path) {
		err = put_path(path, path_size, "", path_buf);
		if (err)
			return err;
	}
	/* O_NONBLOCK: a FIFO of that name must be an error, not a long wait. */
	fd = open(path_buf, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return FAIL_HINT(errno, open_hint(errno, path_buf), "cannot open event ring `%s`",
				 path_buf);
	flags = fcntl(fd, F_GETFL);
	if (flags >= 0)
		(void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	*ring_fd = fd;
	return 0;
}

int monad_event_ring_open(struct monad_event_ring *ring, const char *name, unsigned int flags)
{
	int mmap_flags = flags & MONAD_EVENT_OPEN_POPULATE ? MAP_POPULATE : 0;
	char path[PATH_MAX];
	bool snapshot;
	int err, fd;

	if (!ring || !name)
		return FAIL(EFAULT, "%s is NULL", ring ? "ring name" : "event ring object");
	memset(ring, 0, sizeof(*ring));
	if (flags & ~MONAD_EVENT_OPEN_POPULATE)
		return FAIL(EINVAL, "unknown flags 0x%x for opening `%s`", flags, name);
	err = monad_event_ring_open_fd(name, &fd, path, sizeof(path));
	if (err)
		return err;
	err = monad_event_is_snapshot_file(fd, path, &snapshot);
	if (!err && snapshot) {
		int file = fd;

		/* All there is of it is in memory then; the rest had better stay a hole. */
		mmap_flags = 0;
		err = monad_event_decompress_snapshot_fd(file, monad_event_snapshot_open_limit(),
							 path, &fd);
		close(file);
		if (err)
			return err;
	}
	if (!err || err == ESPIPE)
		err = monad_event_ring_mmap(ring, PROT_READ, mmap_flags, fd, 0, path);
	close(fd);
	return err;
}

int monad_event_ring_query_device(int ring_fd, struct monad_ring_info *info)
{
	if (!info)
		return FAIL(EFAULT, "info is NULL");
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	if (ioctl(ring_fd, MONAD_RING_IOC_INFO, info) != 0) {
		/* What drivers answer to an ioctl they do not know. */
		if (errno == ENOTTY || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
			return FAIL(ENOTTY, "not a monad_ring device");
		return FAIL(errno, "cannot query the ring device");
	}
	if (info->size < MONAD_RING_INFO_SIZE_V1)
		return FAIL_HINT(EPROTO, "load the module that belongs to these tools",
				 "the kernel module knows only %u bytes of struct monad_ring_info",
				 info->size);
	return 0;
}

int monad_event_ring_check_content_type(const struct monad_event_ring *ring,
					enum monad_event_content_type content_type,
					const uint8_t *schema_hash)
{
	const struct monad_event_ring_header *header;

	if (!ring || !schema_hash || !ring->header)
		return FAIL(EFAULT, "%s",
			    !ring	   ? "event ring is NULL"
			    : !schema_hash ? "schema hash is NULL"
					   : "the event ring is not mapped");
	header = ring->header;
	if (header->content_type != content_type)
		return FAIL(EPROTO, "the ring's content type is %u (%s), not %u (%s)",
			    header->content_type,
			    monad_event_content_type_name(header->content_type),
			    (unsigned int)content_type,
			    monad_event_content_type_name((uint16_t)content_type));
	if (memcmp(header->schema_hash, schema_hash, sizeof(header->schema_hash)) != 0) {
		const uint8_t *has = header->schema_hash;

		return FAIL_HINT(EPROTO, "compile the reader with the headers of the writer",
				 "the ring's events are laid out by schema %02x%02x%02x%02x..., "
				 "not %02x%02x%02x%02x...",
				 has[0], has[1], has[2], has[3], schema_hash[0], schema_hash[1],
				 schema_hash[2], schema_hash[3]);
	}
	return 0;
}
