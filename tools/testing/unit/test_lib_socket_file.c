// SPDX-License-Identifier: GPL-2.0
/* The socket of a server: who may connect, what it replaces, and what it leaves alone. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monad_storage.h"
#include "socket_file.h"
#include "tap.h"

#define NOBODY ((gid_t)-1)

static char directory[64], path[108];
static int messages;

/* Whether what was said last has that text. */
static bool said(const char *text)
{
	char all[4096];
	ssize_t length = pread(messages, all, sizeof(all) - 1, 0);

	all[length > 0 ? length : 0] = '\0';
	if (ftruncate(messages, 0) || lseek(messages, 0, SEEK_SET))
		bail_out("messages");
	if (strstr(all, text))
		return true;
	diag("messages: %s", all);
	return false;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	return lstat(name, &st) ? 0 : st.st_mode;
}

static bool can_connect(void)
{
	int fd = socket_file_connect(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void test_listen(void)
{
	struct socket_file file;
	mode_t before = umask(0);

	ok(!socket_file_listen(&file, path, NOBODY), "listens");
	umask(before);
	ok(mode_of(path) == (S_IFSOCK | 0600), "for its user alone, whatever the umask is: %o",
	   mode_of(path));
	ok(fcntl(file.fd, F_GETFL) & O_NONBLOCK, "without blocking");
	ok(fcntl(file.fd, F_GETFD) & FD_CLOEXEC, "and for no other program");
	ok(can_connect(), "who may can connect");
	socket_file_close(&file);
	ok(!mode_of(path), "it is removed");
	ok(!can_connect() && said("nobody listens at"), "then nobody can");
}

static void test_group(void)
{
	struct socket_file file;
	struct stat st;

	if (geteuid()) {
		skip("takes root");
		return;
	}
	ok(!socket_file_listen(&file, path, 12345), "for a group");
	ok(mode_of(path) == (S_IFSOCK | 0660), "which may write to it");
	ok(!stat(path, &st) && st.st_gid == 12345 && st.st_uid == geteuid(), "and is that one");
	socket_file_close(&file);
}

static void test_stale(void)
{
	struct socket_file file, other;

	ok(!socket_file_listen(&file, path, NOBODY), "listens");
	ok(socket_file_listen(&other, path, NOBODY) && said("somebody listens at"),
	   "not where somebody does already");
	ok(can_connect(), "who is not disturbed");
	/* As when it dies. */
	close(file.fd);
	file.fd = -1;
	ok(mode_of(path), "what it leaves is there");
	/* The clock that files have goes in steps. */
	usleep(20000);
	ok(!socket_file_listen(&other, path, NOBODY), "is replaced");
	ok(can_connect(), "by one that works");
	socket_file_close(&file);
	ok(mode_of(path), "the old one does not remove it");
	socket_file_close(&other);
	ok(!mode_of(path), "the new one does");
}

/* Nobody's socket of another kind is taken for one that is stale. */
static void test_datagram(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct socket_file file;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		bail_out("bind");
	ok(socket_file_listen(&file, path, NOBODY) && said("it cannot be found out"),
	   "a socket of another kind");
	ok(mode_of(path), "is left alone");
	close(fd);
	unlink(path);
}

static void refused(const char *name, const char *text)
{
	struct socket_file file;

	ok(socket_file_listen(&file, name, NOBODY) && said(text), "%.40s: %s", name, text);
}

static void test_others(void)
{
	char name[160];
	FILE *out = fopen(path, "w");

	fputs("precious\n", out);
	fclose(out);
	refused(path, "is there and is no socket");
	ok(mode_of(path) == (S_IFREG | 0600) || S_ISREG(mode_of(path)), "a file is left alone");
	unlink(path);
	if (symlink("/dev/null", path))
		bail_out("symlink");
	refused(path, "is there and is no socket");
	ok(S_ISLNK(mode_of(path)), "so is a link");
	unlink(path);
	mkdir(path, 0700);
	refused(path, "is there and is no socket");
	rmdir(path);
	refused("", "has 1 to 107 bytes");
	memset(name, 'x', sizeof(name));
	name[108] = '\0';
	refused(name, "has 1 to 107 bytes");
	snprintf(name, sizeof(name), "%s/no/socket", directory);
	refused(name, "No such file or directory");
}

/* Two that begin at once: the second one waits for the first, and gives up at last. */
static void test_locked(void)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY);

	if (flock(fd, LOCK_EX))
		bail_out("flock");
	refused(path, "others keep it locked");
	ok(!mode_of(path), "nothing was made");
	close(fd);
}

/*
 * What systemd hands over, in a process that it starts
 */

static int inherit(int fd, const char *count, bool for_us)
{
	struct socket_file file;
	char pid[16];
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child) {
		waitpid(child, &status, 0);
		return (int8_t)WEXITSTATUS(status);
	}
	dup2(fd, 3);
	snprintf(pid, sizeof(pid), "%d", for_us ? getpid() : getppid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", count, 1);
	status = socket_file_inherit(&file);
	if (status == 1) {
		if (file.fd != 3 || strcmp(file.path, path) != 0 ||
		    !(fcntl(3, F_GETFL) & O_NONBLOCK))
			status = 99;
		socket_file_close(&file);
	}
	_exit(status);
}

static void test_inherit(void)
{
	int stream, datagram = socket(AF_UNIX, SOCK_DGRAM, 0), null = open("/dev/null", O_RDWR);
	int packets = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	struct sockaddr_un nameless = { .sun_family = AF_UNIX };
	struct socket_file file;

	/* With a name that the kernel chooses. */
	if (bind(packets, (struct sockaddr *)&nameless, sizeof(sa_family_t)) || listen(packets, 1))
		bail_out("packets");
	ok(!socket_file_inherit(&file), "nothing is handed over");
	if (socket_file_listen(&file, path, NOBODY))
		bail_out("listen");
	stream = fcntl(file.fd, F_DUPFD, 10);
	eq_int(inherit(stream, "1", true), 1, "a socket is taken");
	ok(mode_of(path), "and not removed");
	eq_int(inherit(stream, "1", false), 0, "not one for somebody else");
	eq_int(inherit(stream, "2", true), -1, "nor two");
	ok(said("handed over 2 sockets"), "which is said");
	eq_int(inherit(stream, "x", true), -1, "nor nonsense");
	eq_int(inherit(datagram, "1", true), -1, "nor one of another kind");
	eq_int(inherit(packets, "1", true), -1, "nor one of packets");
	eq_int(inherit(null, "1", true), -1, "nor what is none");
	ok(said("is no Unix stream socket that listens"), "which is said");
	close(stream);
	close(datagram);
	close(packets);
	close(null);
	socket_file_close(&file);
}

int main(void)
{
	snprintf(directory, sizeof(directory), "/tmp/test_lib_socket_file.%d", getpid());
	snprintf(path, sizeof(path), "%s/socket", directory);
	if (mkdir(directory, 0700))
		bail_out("%s: %m", directory);
	messages = fileno(tmpfile());
	fcntl(messages, F_SETFL, O_APPEND);
	dup2(messages, STDERR_FILENO);
	test_listen();
	test_group();
	test_stale();
	test_datagram();
	test_others();
	test_locked();
	test_inherit();
	rmdir(directory);
	return done_testing();
}
