// SPDX-License-Identifier: GPL-2.0
/* Files of the tools that appear complete and on disk, or not at all: tools/lib/new_file.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/new_file.h"
#include "tap.h"

static char dir[] = "/tmp/monad-test-XXXXXX", path[64];

/* What was done since it was last looked at, a letter each. */
static char done[32];

/* A file system without O_TMPFILE, without RENAME_NOREPLACE; a disk that fails. */
static bool no_tmpfile, no_noreplace;
static int fsync_errno;

static void note(char what)
{
	const size_t len = strlen(done);

	if (len < sizeof(done) - 1)
		done[len] = what;
}

static const char *look(void)
{
	static char last[sizeof(done)];

	memcpy(last, done, sizeof(done));
	memset(done, 0, sizeof(done));
	return last;
}

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, mode_t mode);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_syncfs(int fd);
int __wrap_syncfs(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags);
int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __real_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags);
int __wrap_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags);

int __wrap_open(const char *name, int flags, mode_t mode)
{
	if (no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_open(name, flags, mode);
}

/* f: of the file, d: of the directory */
int __wrap_fsync(int fd)
{
	struct stat st;

	note(fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) ? 'd' : 'f');
	if (fsync_errno) {
		errno = fsync_errno;
		return -1;
	}
	return __real_fsync(fd);
}

int __wrap_syncfs(int fd)
{
	note('s');
	return __real_syncfs(fd);
}

int __wrap_rename(const char *from, const char *to)
{
	note('r');
	return __real_rename(from, to);
}

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags)
{
	if (no_noreplace) {
		errno = EINVAL;
		return -1;
	}
	note('n');
	return __real_renameat2(from_fd, from, to_fd, to, flags);
}

int __wrap_link(const char *from, const char *to)
{
	note('l');
	return __real_link(from, to);
}

int __wrap_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	note('l');
	return __real_linkat(from_fd, from, to_fd, to, flags);
}

static int entries(void)
{
	DIR *d = opendir(dir);
	int n = -2; /* . and .. */

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static bool holds(const char *text)
{
	char buf[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		close(fd);
	return n >= 0 && strcmp(buf, text) == 0;
}

/* Makes the file, with @text in it; the first errno of all steps. */
static int make(const char *text, bool replace)
{
	struct new_file file;
	int err = new_file_create(&file, path), close_err;

	if (err)
		return err;
	look();
	if (write(file.fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = errno;
	if (!err)
		err = new_file_sync(&file);
	if (!err)
		err = new_file_publish(&file, replace);
	close_err = new_file_close(&file);
	return err ? err : close_err;
}

/* @new, @again: the steps by which a file that is new, or replaces one, gets its name. */
static void test_steps(const char *what, const char *new, const char *again)
{
	struct new_file file;
	struct stat st;

	diag("%s", what);
	eq_int(make("one", false), 0, "a new file");
	eq_str(look(), new, "is on disk, then gets its name, then that is on disk");
	ok(holds("one"), "its content");
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "mode 0600");
	eq_int(make("two", false), EEXIST, "not over another one");
	ok(holds("one"), "which stays");
	eq_int(make("three", true), 0, "unless it is to be replaced");
	eq_str(look(), again, "in the same order");
	ok(holds("three"), "by the new one");
	eq_int(new_file_create(&file, path), 0, "one that is given up");
	eq_int(entries(), no_tmpfile ? 2 : 1, "has a name beside it if it cannot do without");
	eq_int(new_file_close(&file), 0, "is closed");
	eq_int(entries(), 1, "nothing is left but what there was");
	fsync_errno = EIO;
	eq_int(make("four", true), EIO, "a disk that fails");
	ok(holds("three") && entries() == 1, "leaves all as it was");
	fsync_errno = EINVAL;
	eq_int(make("five", true), 0, "a file system that knows no disk");
	ok(holds("five"), "is good enough");
	fsync_errno = 0;
	unlink(path);
}

/* A directory in which files can be made but not listed. */
static void test_unreadable(void)
{
	int status = 0;
	pid_t pid;

	chmod(dir, 0333);
	pid = fork();
	if (pid == 0) {
		if (getuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(99);
		/* What root may do is no longer so. */
		if (make("one", false) || strcmp(look(), "fls") != 0)
			_exit(1);
		_exit(holds("one") ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	eq_int(status, 0, "in a directory that cannot be read, all of its file system is synced");
	chmod(dir, 0700);
	unlink(path);
}

/* @limit: bytes that the file can have; by stream, in as many writes as stdio likes. */
static int print(const char *text, unsigned int times, rlim_t limit)
{
	const struct rlimit no_more = { limit, RLIM_INFINITY };
	const struct rlimit any = { RLIM_INFINITY, RLIM_INFINITY };
	struct new_file file;
	int err = new_file_create(&file, path);
	FILE *out;

	if (err)
		return err;
	look();
	out = new_file_stream(&file);
	if (!out)
		bail_out("no stream");
	setrlimit(RLIMIT_FSIZE, &no_more);
	for (unsigned int i = 0; i < times; i++)
		fputs(text, out);
	/* What fails last is not why it failed, and the file could hold this. */
	errno = 0;
	setrlimit(RLIMIT_FSIZE, &any);
	err = new_file_stream_end(&file, out);
	if (!err)
		err = new_file_publish(&file, true);
	if (fcntl(file.fd, F_GETFD) < 0)
		err = EBADF; /* the file is not the stream's to close */
	new_file_close(&file);
	return err;
}

static void test_stream(void)
{
	struct stat st;

	eq_int(print("text", 1, RLIM_INFINITY), 0, "a file by stream");
	eq_str(look(), no_tmpfile ? "frd" : "flrd", "is on disk before it gets its name");
	ok(holds("text"), "its content");
	eq_int(print("0123456789", 100000, RLIM_INFINITY), 0, "a long one");
	ok(stat(path, &st) == 0 && st.st_size == 1000000, "is complete");
	eq_int(print("other", 1, RLIM_INFINITY), 0, "a short one");
	eq_int(print("0123456789", 100000, 50000), EFBIG, "one that there is no room for: why");
	ok(holds("other") && entries() == 1, "leaves all as it was");
	fsync_errno = EIO;
	eq_int(print("other", 1, RLIM_INFINITY), EIO, "a disk that fails when all is written");
	fsync_errno = 0;
	unlink(path);
}

static void test_errors(void)
{
	char far[PATH_MAX + 64];
	struct new_file file;

	eq_int(new_file_create(&file, "/nonexistent/x"), ENOENT, "no directory");
	memset(far, 'x', sizeof(far) - 1);
	far[0] = '/';
	far[sizeof(far) - 1] = '\0';
	far[sizeof(far) - 8] = '/';
	eq_int(new_file_create(&file, far), ENAMETOOLONG, "a path that is too long");
	ok(chdir(dir) == 0 && new_file_create(&file, "here") == 0 &&
	   new_file_publish(&file, false) == 0 && new_file_close(&file) == 0 &&
	   unlink("here") == 0 && chdir("/") == 0,
	   "a name without a directory is in this one");
}

int main(void)
{
	signal(SIGXFSZ, SIG_IGN);
	if (!mkdtemp(dir))
		bail_out("no directory in /tmp");
	snprintf(path, sizeof(path), "%s/file", dir);
	test_steps("with O_TMPFILE", "fld", "flrd");
	test_unreadable();
	test_stream();
	test_errors();
	no_tmpfile = true;
	test_steps("without O_TMPFILE", "fnd", "frd");
	test_stream();
	test_errors();
	no_noreplace = true;
	test_steps("and without RENAME_NOREPLACE", "fld", "frd");
	eq_int(rmdir(dir), 0, "nothing is left in the directory");
	return done_testing();
}
