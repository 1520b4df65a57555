// SPDX-License-Identifier: GPL-2.0
/* Names, directories, locks, content types, messages. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>

#include "ring_image.h"
#include "tap.h"

static char dir[] = "/tmp/monad-test-XXXXXX";

static void test_resolve(void)
{
	char path[PATH_MAX];

	eq_int(monad_event_resolve_ring_file("/some/dir", "name", path, sizeof(path)), 0, "a name");
	eq_str(path, "/some/dir/name", "is in the directory");
	eq_int(monad_event_resolve_ring_file("/some/dir", "./name", path, sizeof(path)), 0,
	       "a path");
	eq_str(path, "./name", "is itself");
	eq_int(monad_event_resolve_ring_file(NULL, "/a/b", path, sizeof(path)), 0,
	       "a path needs no hugetlbfs");
	eq_str(path, "/a/b", "to be itself");
	eq_int(monad_event_resolve_ring_file("/d", NULL, path, sizeof(path)), EFAULT, "no name");
	eq_int(monad_event_resolve_ring_file("/d", "n", NULL, 0), EFAULT, "no buffer");
	eq_int(monad_event_resolve_ring_file("/d", "", path, sizeof(path)), EINVAL, "empty");
	eq_int(monad_event_resolve_ring_file("/d", "..", path, sizeof(path)), EINVAL, "..");
	eq_int(monad_event_resolve_ring_file("/dir", "name", path, 9), ERANGE, "one byte short");
	eq_int(monad_event_resolve_ring_file("/dir", "name", path, 10), 0, "just fits");
}

static void test_open(void)
{
	struct monad_event_ring ring;
	char path[PATH_MAX], found[PATH_MAX];
	struct image image;
	int fd;

	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 77);
	snprintf(path, sizeof(path), "%s/ring", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (write(fd, image.map, image.size) != (ssize_t)image.size)
		bail_out("cannot write %s", path);
	close(fd);

	eq_int(monad_event_ring_open(&ring, path, MONAD_EVENT_OPEN_POPULATE), 0, "open a path");
	eq_u64(monad_event_ring_last_seqno(&ring), 77, "that ring");
	eq_int(ring.mmap_prot, PROT_READ, "for reading");
	monad_event_ring_unmap(&ring);
	eq_int(monad_event_ring_open_fd(path, &fd, found, sizeof(found)), 0, "open_fd");
	eq_str(found, path, "its path");
	eq_int(fcntl(fd, F_GETFD), FD_CLOEXEC, "close-on-exec");
	eq_int(fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK), O_RDONLY, "read-only, blocking");
	close(fd);
	eq_int(monad_event_ring_open_fd(path, &fd, found, 5), ERANGE, "a short buffer");
	eq_int(fd, -1, "nothing is open");

	eq_int(monad_event_ring_open(&ring, path, 1U << 31), EINVAL, "an unknown flag");
	eq_int(monad_event_ring_open(NULL, path, 0), EFAULT, "no object");
	eq_int(monad_event_ring_open(&ring, NULL, 0), EFAULT, "no name");
	eq_int(monad_event_ring_open(&ring, "", 0), EINVAL, "an empty name");
	eq_int(monad_event_ring_open(&ring, "/nonexistent/ring", 0), ENOENT, "no such path");
	eq_int(monad_event_ring_open(&ring, "no-such-ring-by-name", 0), ENOENT, "no such name");
	ok(strstr(monad_event_ring_get_last_error(), "/dev/monad_ring-no-such-ring-by-name"),
	   "says where it looked: %s", monad_event_ring_get_last_error());
	eq_int(monad_event_ring_open(&ring, "monad_ring-none-of-that-name", 0), ENOENT,
	       "no such device");
	ok(strstr(monad_event_ring_get_last_error(), "modprobe monad_ring"), "says what to do: %s",
	   monad_event_ring_get_last_error());
	eq_int(monad_event_ring_open(&ring, "null", 0), ENOENT, "a name is no other device");

	snprintf(path, sizeof(path), "%s/fifo", dir);
	eq_int(mkfifo(path, 0600), 0, "mkfifo");
	eq_int(monad_event_ring_open(&ring, path, 0), EPROTO, "a FIFO does not block");
	unlink(path);
	snprintf(path, sizeof(path), "%s/ring", dir);
	unlink(path);
	image_destroy(&image);
}

static void test_locks(void)
{
	struct monad_event_flock_info locks[2];
	char path[PATH_MAX];
	size_t count = 2;
	pid_t pid = -1;
	int fd, fds[3];

	snprintf(path, sizeof(path), "%s/locked", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	eq_int(monad_event_ring_query_flocks(fd, locks, &count), 0, "query_flocks");
	eq_u64(count, 0, "no locks");
	eq_int(monad_event_ring_query_excl_writer_pid(fd, &pid), EOWNERDEAD, "no writer");
	flock(fd, LOCK_EX);
	count = 2;
	eq_int(monad_event_ring_query_flocks(fd, locks, &count), 0, "with a lock");
	eq_u64(count, 1, "there is one");
	eq_int(locks[0].lock, LOCK_EX, "it is exclusive");
	eq_int(locks[0].pid, getpid(), "and ours");
	eq_int(monad_event_ring_query_excl_writer_pid(fd, &pid), 0, "a writer");
	eq_int(pid, getpid(), "is this process");
	flock(fd, LOCK_UN);
	for (int i = 0; i < 3; i++) {
		fds[i] = open(path, O_RDONLY | O_CLOEXEC);
		flock(fds[i], LOCK_SH);
	}
	count = 2;
	eq_int(monad_event_ring_query_flocks(fd, locks, &count), ERANGE, "more than fit");
	eq_u64(count, 3, "there are three");
	eq_int(locks[1].lock, LOCK_SH, "shared");
	eq_int(monad_event_ring_query_excl_writer_pid(fd, &pid), EOWNERDEAD,
	       "nobody who shares is a writer");
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	eq_int(monad_event_ring_query_flocks(-1, locks, &count), EBADF, "no file");
	eq_int(monad_event_ring_query_flocks(fd, locks, NULL), EFAULT, "no count");
	eq_int(monad_event_ring_query_excl_writer_pid(fd, NULL), EFAULT, "no pid");
	close(fd);
	unlink(path);
}

/* Takes locks on another file and lets go of them, many at a time, until it is killed. */
static void churn_locks(const char *path, int count)
{
	int fds[200];

	for (int i = 0; i < count; i++)
		fds[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (;;) {
		for (int i = 0; i < count; i++)
			flock(fds[i], LOCK_SH);
		for (int i = 0; i < count; i++)
			flock(fds[i], LOCK_UN);
	}
}

/* /proc/locks does not hold still while it is read: a lock that is there is found, once. */
static void test_locks_of_others(int others)
{
	struct monad_event_flock_info locks[4];
	char path[PATH_MAX], other[PATH_MAX];
	unsigned int missed = 0, twice = 0;
	pid_t child, pid;
	int fd;

	snprintf(path, sizeof(path), "%s/locked", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	child = fork();
	if (child == 0)
		churn_locks(other, others);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	flock(fd, LOCK_EX);
	for (int i = 0; i < 500; i++) {
		size_t count = 4;

		if (monad_event_ring_query_flocks(fd, locks, &count) != 0 || count == 0)
			missed++;
		else if (count > 1)
			twice++;
		if (monad_event_ring_query_excl_writer_pid(fd, &pid) != 0)
			missed++;
	}
	diag("%d others: missed %u times, found twice %u times", others, missed, twice);
	ok(missed == 0 && twice == 0, "found each time, among %d that come and go", others);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fd);
	unlink(path);
	unlink(other);
}

static void test_hugetlbfs(void)
{
	char buf[PATH_MAX] = "", expected[PATH_MAX];
	bool supported = true;
	int dirfd, err;

	eq_int(monad_check_path_supports_map_hugetlb(dir, &supported), 0, "a directory in /tmp");
	ok(!supported, "has no huge pages");
	snprintf(buf, sizeof(buf), "%s/not-there", dir);
	eq_int(monad_check_path_supports_map_hugetlb(buf, &supported), 0, "a file to come");
	eq_int(monad_check_path_supports_map_hugetlb("not-there", &supported), 0, "also here");
	eq_int(monad_check_path_supports_map_hugetlb("/not/there", &supported), ENOENT,
	       "not where there is no directory");
	eq_int(monad_check_path_supports_map_hugetlb(NULL, &supported), EFAULT, "no path");

	err = monad_event_open_ring_dir_fd(&dirfd, buf, sizeof(buf));
	if (err) {
		ok((err == ENODEV || err == EACCES) && dirfd == -1, "no default directory here: %s",
		   monad_event_ring_get_last_error());
		skip("no hugetlbfs");
		return;
	}
	ok(strstr(buf, "/event-rings"), "default directory %s", buf);
	eq_int(monad_check_path_supports_map_hugetlb(buf, &supported), 0, "asked whether");
	ok(supported, "it has huge pages");
	eq_int(monad_event_open_hugetlbfs_dir_fd(NULL, buf, 5), ERANGE, "a short buffer");
	eq_int(monad_event_open_hugetlbfs_dir_fd(NULL, NULL, 0), 0, "no results wanted");
	snprintf(expected, sizeof(expected), "%.4000s/a", buf);
	eq_int(monad_event_resolve_ring_file(NULL, "a", buf, sizeof(buf)), 0, "a name");
	eq_str(buf, expected, "is resolved in it");
	close(dirfd);
}

static void test_content_type(void)
{
	static const uint8_t other[32] = {0xde, 0xad, 0xbe, 0xef};
	struct monad_event_ring ring = {0};
	struct image image;

	eq_int(monad_event_ring_check_content_type(&ring, 1, other), EFAULT, "nothing mapped");
	image_create(&image, 10, 21, 0);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, 0, "x"), 0, "mmap");
	eq_int(monad_event_ring_check_content_type(&ring, MONAD_EVENT_CONTENT_TYPE_TEST,
						   g_monad_test_event_schema_hash),
	       0, "TEST, hash zero");
	eq_int(monad_event_ring_check_content_type(&ring, MONAD_EVENT_CONTENT_TYPE_EXEC,
						   g_monad_test_event_schema_hash),
	       EPROTO, "another type");
	ok(strstr(monad_event_ring_get_last_error(), "1 (test), not 2 (exec)"), "message: %s",
	   monad_event_ring_get_last_error());
	eq_int(monad_event_ring_check_content_type(&ring, MONAD_EVENT_CONTENT_TYPE_TEST, other),
	       EPROTO, "another hash");
	ok(strstr(monad_event_ring_get_last_error(), "00000000..., not deadbeef..."), "message: %s",
	   monad_event_ring_get_last_error());
	eq_int(monad_event_ring_check_content_type(NULL, 1, other), EFAULT, "no ring");
	eq_int(monad_event_ring_check_content_type(&ring, 1, NULL), EFAULT, "no hash");
	monad_event_ring_unmap(&ring);
	image_destroy(&image);
}

static void *other_thread(void *arg)
{
	monad_event_ring_mmap(NULL, 0, 0, -1, 0, "other thread");
	return strstr(monad_event_ring_get_last_error(), "other thread") ? arg : NULL;
}

static void test_messages(void)
{
	pthread_t thread;
	void *result;

	errno = 42;
	monad_event_ring_mmap(NULL, 0, 0, -1, 0, "this thread");
	eq_int(errno, 42, "errno is left alone");
	ok(strstr(monad_event_ring_get_last_error(), "monad_event_ring_mmap@event_ring.c:"),
	   "a message begins with where: %s", monad_event_ring_get_last_error());
	ok(strstr(monad_event_ring_get_last_error(), "Bad address (14)"), "and ends with what");
	pthread_create(&thread, NULL, other_thread, dir);
	pthread_join(thread, &result);
	ok(result == dir, "each thread has its own message");
	ok(strstr(monad_event_ring_get_last_error(), "this thread"), "and keeps it");
}

int main(void)
{
	if (!mkdtemp(dir))
		bail_out("no directory in /tmp");
	test_resolve();
	test_open();
	test_locks();
	test_locks_of_others(10);
	test_locks_of_others(200);
	test_hugetlbfs();
	test_content_type();
	test_messages();
	rmdir(dir);
	return done_testing();
}
