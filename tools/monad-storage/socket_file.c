// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "monad_storage.h"
#include "parse.h"
#include "socket_file.h"

#define BACKLOG 64
/* The first one that systemd hands over. */
#define INHERITED_FD 3
/* How long another one that begins at the same path may take, in tenths of a second. */
#define LOCK_TRIES 50

static int make_address(const char *path, struct sockaddr_un *address)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (!*path || strlen(path) >= sizeof(address->sun_path)) {
		error("'%s': the path of a socket has 1 to %zu bytes", path,
		      sizeof(address->sun_path) - 1);
		return -1;
	}
	memcpy(address->sun_path, path, strlen(path));
	return 0;
}

static int new_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		error("a socket: %m");
	return fd;
}

/* Of those who look whether somebody listens, and replace what is there, one at a time. */
static int lock_directory(const char *path)
{
	char copy[108];
	const char *directory;
	int fd;

	snprintf(copy, sizeof(copy), "%s", path);
	directory = dirname(copy);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		error("%s: %m", directory);
		return -1;
	}
	for (int i = 0; i < LOCK_TRIES; i++) {
		const struct timespec tenth = { .tv_nsec = 100000000 };

		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		nanosleep(&tenth, NULL);
	}
	error("%s: others keep it locked (flock)", directory);
	close(fd);
	return -1;
}

/* Whether @path is free now. */
static int remove_stale(const char *path, const struct sockaddr_un *address)
{
	struct stat st;
	int fd, err;

	if (lstat(path, &st)) {
		if (errno == ENOENT)
			return 0;
		error("%s: %m", path);
		return -1;
	}
	if (!S_ISSOCK(st.st_mode)) {
		error("%s is there and is no socket: it is not touched; remove it, or say where "
		      "else with --socket", path);
		return -1;
	}
	fd = new_socket();
	if (fd < 0)
		return -1;
	err = connect(fd, (const struct sockaddr *)address, sizeof(*address)) ? errno : 0;
	close(fd);
	if (!err || err == EAGAIN) {
		error("somebody listens at %s already", path);
		return -1;
	}
	if (err != ECONNREFUSED) {
		error("%s is there, and it cannot be found out whether somebody listens: %s", path,
		      strerror(err));
		return -1;
	}
	if (!unlink(path) || errno == ENOENT)
		return 0;
	error("removing %s, at which nobody listens: %m", path);
	return -1;
}

static int bind_path(struct socket_file *file, const struct sockaddr_un *address, gid_t group)
{
	/* Not even for a moment is it open to others. */
	mode_t before = umask(0177);
	int failed = bind(file->fd, (const struct sockaddr *)address, sizeof(*address));
	struct stat st;

	umask(before);
	if (failed) {
		error("%s: %m", file->path);
		return -1;
	}
	if (lstat(file->path, &st) || !S_ISSOCK(st.st_mode)) {
		error("%s is gone as soon as it was made", file->path);
		return -1;
	}
	file->ours = true;
	file->made = st;
	if (group != (gid_t)-1 && (lchown(file->path, (uid_t)-1, group) ||
				   chmod(file->path, 0660))) {
		error("giving %s to its group: %m", file->path);
		return -1;
	}
	lstat(file->path, &file->made);
	if (listen(file->fd, BACKLOG)) {
		error("listening at %s: %m", file->path);
		return -1;
	}
	return 0;
}

int socket_file_listen(struct socket_file *file, const char *path, gid_t group)
{
	struct sockaddr_un address;
	int lock, err = -1;

	memset(file, 0, sizeof(*file));
	if (make_address(path, &address))
		return -1;
	snprintf(file->path, sizeof(file->path), "%s", path);
	file->fd = new_socket();
	if (file->fd < 0)
		return -1;
	lock = lock_directory(path);
	if (lock >= 0) {
		err = remove_stale(path, &address);
		if (!err)
			err = bind_path(file, &address, group);
		close(lock);
	}
	if (err)
		socket_file_close(file);
	return err;
}

static int check_inherited(struct socket_file *file)
{
	struct sockaddr_un address = {};
	socklen_t size = sizeof(address), length = sizeof(int);
	int listens = 0, type = 0;

	if (getsockname(file->fd, (struct sockaddr *)&address, &size) ||
	    address.sun_family != AF_UNIX ||
	    getsockopt(file->fd, SOL_SOCKET, SO_TYPE, &type, &length) || type != SOCK_STREAM ||
	    getsockopt(file->fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) || !listens) {
		error("what systemd handed over is no Unix stream socket that listens: see "
		      "ListenStream= in systemd.socket(5)");
		return -1;
	}
	if (fcntl(file->fd, F_SETFL, fcntl(file->fd, F_GETFL) | O_NONBLOCK) ||
	    fcntl(file->fd, F_SETFD, FD_CLOEXEC)) {
		error("the socket that systemd handed over: %m");
		return -1;
	}
	snprintf(file->path, sizeof(file->path), "%s", address.sun_path);
	return 0;
}

int socket_file_inherit(struct socket_file *file)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t value;

	memset(file, 0, sizeof(*file));
	if (!pid || !fds || !parse_u64(pid, &value) || value != (uint64_t)getpid())
		return 0;
	if (!parse_u64(fds, &value) || value != 1) {
		error("systemd handed over %s sockets (LISTEN_FDS), not one", fds);
		return -1;
	}
	file->fd = INHERITED_FD;
	return check_inherited(file) ? -1 : 1;
}

/* Another one may have the number of an inode that is gone, but is younger. */
static bool is_the_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

void socket_file_close(struct socket_file *file)
{
	struct stat st;

	if (file->ours && !lstat(file->path, &st) && is_the_same(&st, &file->made))
		unlink(file->path);
	close(file->fd);
}

int socket_file_connect(const char *path)
{
	struct sockaddr_un address;
	int fd;

	if (make_address(path, &address))
		return -1;
	fd = new_socket();
	if (fd < 0)
		return -1;
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	if (errno == ENOENT || errno == ECONNREFUSED)
		error("nobody listens at %s: 'monad-storage serve' does", path);
	else if (errno == EAGAIN)
		error("%s: too many others are waiting there", path);
	else
		error("%s: %m", path);
	close(fd);
	return -1;
}
