// SPDX-License-Identifier: GPL-2.0
/* Where snapshots go: options, pipes, and files that appear whole or not at all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "no_tmpfile.h"
#include "snapshot_taking.h"

/* What is at synced_path when a file (first) and when a directory (then) is synced. */
static const char *synced_path;
static ino_t when_synced[2];
int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	struct stat st, now = {0};

	if (synced_path && fstat(fd, &st) == 0) {
		stat(synced_path, &now);
		when_synced[S_ISDIR(st.st_mode)] = now.st_ino;
	}
	return __real_fsync(fd);
}

static void test_options(void)
{
	struct monad_event_snapshot_stats stats;
	struct monad_event_snapshot_options options = {.size = sizeof(options)};
	struct {
		struct monad_event_snapshot_options known;
		uint64_t unknown;
	} newer = {.known.size = sizeof(newer)};
	struct monad_event_snapshot_stats short_stats = {.size = 16}, no_stats = {0};
	int fd = memfd_create("snapshot", MFD_CLOEXEC), null = open("/dev/null", O_RDWR);
	struct monad_event_ring ring, unmapped = {0}, unreadable;
	uint64_t low, high;
	struct image source;

	image_create(&source, 10, 21, 0);
	put_events_up_to(&source, 1000);
	if (monad_event_ring_mmap(&ring, PROT_READ, 0, source.fd, 0, "x"))
		bail_out("mmap");
	eq_int(monad_event_snapshot_write(&ring, null, NULL, NULL), 0, "no options, no statistics");
	eq_int(monad_event_snapshot_write(NULL, fd, NULL, NULL), EFAULT, "no ring");
	eq_int(monad_event_snapshot_write(&unmapped, fd, NULL, NULL), EINVAL, "not mapped");
	unreadable = ring;
	unreadable.mmap_prot = PROT_WRITE;
	eq_int(monad_event_snapshot_write(&unreadable, fd, NULL, NULL), EACCES, "not readable");
	eq_int(monad_event_snapshot_write(&ring, -1, NULL, NULL), EBADF, "no descriptor");
	eq_int(monad_event_snapshot_write(&ring, fd, NULL, &no_stats), EINVAL, "no size");
	eq_int(monad_event_snapshot_write(&ring, null, NULL, &short_stats), 0, "fewer statistics");
	eq_u64(short_stats.last_seqno, 0, "are not written past their size");
	eq_u64(short_stats.first_seqno, 1, "but up to it");
	options.size = 0;
	eq_int(monad_event_snapshot_write(&ring, fd, &options, NULL), EINVAL, "options, no size");
	options.size = 8;
	options.first_seqno = 10;
	options.last_seqno = 5;
	eq_int(monad_event_snapshot_write(&ring, null, &options, NULL), 0, "fewer options");
	options.size = sizeof(options);
	eq_int(monad_event_snapshot_write(&ring, fd, &options, NULL), EINVAL, "last before first");
	ok(says("10") && says("5"), "says so");
	options = (struct monad_event_snapshot_options){
		.size = sizeof(options), .from_epoch_nanos = 2, .to_epoch_nanos = 1};
	eq_int(monad_event_snapshot_write(&ring, fd, &options, NULL), EINVAL, "to before from");
	options = (struct monad_event_snapshot_options){.size = sizeof(options), .level = 23};
	eq_int(monad_event_snapshot_write(&ring, fd, &options, NULL), EINVAL, "level 23");
	options.level = -2000000;
	eq_int(monad_event_snapshot_write(&ring, fd, &options, NULL), EINVAL, "level -2000000");
	eq_int(monad_event_snapshot_write(&ring, null, &newer.known, NULL), 0, "more options");
	newer.unknown = 1;
	eq_int(monad_event_snapshot_write(&ring, fd, &newer.known, NULL), E2BIG,
	       "that are set, and not known");
	eq_u64(lseek(fd, 0, SEEK_END), 0, "none of these wrote anything");
	options.level = 1;
	stats.size = sizeof(stats);
	eq_int(monad_event_snapshot_write(&ring, null, &options, &stats), 0, "level 1");
	low = stats.file_size;
	options.level = 19;
	eq_int(monad_event_snapshot_write(&ring, null, &options, &stats), 0, "level 19");
	high = stats.file_size;
	ok(high < low, "is smaller: %d and %d bytes", (int)high, (int)low);
	close(null);
	null = open("/dev/full", O_WRONLY);
	eq_int(monad_event_snapshot_write(&ring, null, NULL, NULL), ENOSPC, "a full device");
	ok(says("cannot write snapshot"), "says so: %s", monad_event_ring_get_last_error());
	close(null);
	null = open("/dev/null", O_RDONLY);
	eq_int(monad_event_snapshot_write(&ring, null, NULL, NULL), EBADF, "opened to read");
	close(null);
	close(fd);
	monad_event_ring_unmap(&ring);
	image_destroy(&source);
}

static void *drain(void *arg)
{
	static uint8_t data[1 << 20];
	struct frame *got = arg;
	const int fd = (int)got->size;
	ssize_t n;

	got->data = data;
	got->size = 0;
	while ((n = read(fd, data + got->size, 4096)) > 0) {
		got->size += (size_t)n;
		usleep(500);
	}
	return NULL;
}

/* A pipe whose reader is slow, also one that does not block. */
static void test_pipe(int flags)
{
	struct monad_event_ring ring;
	struct frame got;
	struct image source;
	pthread_t thread;
	int fds[2], fd;
	uint8_t *map;

	image_create(&source, 14, 21, 0);
	put_events_up_to(&source, 16384);
	/* What does not compress, so that the pipe becomes full. */
	for (uint64_t i = 0; i < 16384 * 16; i++)
		source.map[source.payload_offset + i] = (uint8_t)(rand() >> 8);
	if (monad_event_ring_mmap(&ring, PROT_READ, 0, source.fd, 0, "x") || pipe2(fds, flags) != 0)
		bail_out("mmap or pipe");
	fcntl(fds[0], F_SETFL, 0);
	got.size = (size_t)fds[0];
	pthread_create(&thread, NULL, drain, &got);
	eq_int(monad_event_snapshot_write(&ring, fds[1], NULL, NULL), 0, "to a pipe");
	close(fds[1]);
	pthread_join(thread, NULL);
	ok(got.size > 65536, "more than fits in it: %zu bytes", got.size);
	eq_int(monad_event_decompress_snapshot_mem(got.data, got.size, 0, "x", &fd), 0, "arrives");
	map = mmap(NULL, CONTEXT, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		bail_out("mmap");
	ok(memcmp(map + PAYLOADS, source.map + source.payload_offset, 16384 * 16) == 0,
	   "every byte of it");
	munmap(map, CONTEXT);
	close(fd);
	close(fds[0]);
	if (pipe(fds) != 0)
		bail_out("pipe");
	close(fds[0]);
	signal(SIGPIPE, SIG_IGN);
	eq_int(monad_event_snapshot_write(&ring, fds[1], NULL, NULL), EPIPE, "nobody reads it");
	close(fds[1]);
	monad_event_ring_unmap(&ring);
	image_destroy(&source);
}

static int count_files(const char *path)
{
	DIR *dir = opendir(path);
	int count = -2; /* . and .. */

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static bool shell(const char *command)
{
	FILE *pipe = popen(command, "re");

	return pipe && pclose(pipe) == 0;
}

static void test_no_space(const struct monad_event_ring *ring, const char *dir)
{
	struct monad_event_snapshot_options options = {.size = sizeof(options)};
	char small[64], path[128], command[256];

	snprintf(small, sizeof(small), "%s/small", dir);
	snprintf(command, sizeof(command), "mount -t tmpfs -o size=64k none %s 2>/dev/null", small);
	if (mkdir(small, 0700) != 0 || !shell(command)) {
		skip("cannot mount a tmpfs");
		rmdir(small);
		return;
	}
	snprintf(path, sizeof(path), "%s/snapshot", small);
	eq_int(monad_event_snapshot_write_file(ring, path, NULL, NULL), ENOSPC,
	       "a file system that is too small");
	ok(says(path), "the message names the file: %s", monad_event_ring_get_last_error());
	eq_int(count_files(small), 0, "nothing is left");
	options.spool_dir = small;
	snprintf(path, sizeof(path), "%s/spooled", dir);
	eq_int(monad_event_snapshot_write_file(ring, path, &options, NULL), ENOSPC,
	       "no space for the spool");
	ok(says("spool"), "says so: %s", monad_event_ring_get_last_error());
	ok(access(path, F_OK) != 0, "no file");
	snprintf(command, sizeof(command), "umount %s", small);
	shell(command);
	rmdir(small);
}

static void die(void)
{
	raise(SIGKILL);
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	handled = number;
}

/* With a limit for it alone: our own output goes to a file, perhaps. */
static int write_limited(const struct monad_event_ring *ring, const char *path, rlim_t bytes)
{
	/* Nearly uncompressed, so that the file is larger than the spool. */
	const struct monad_event_snapshot_options options = {
		.size = sizeof(options), .level = -100000};
	struct rlimit limit, old;
	int err;

	if (getrlimit(RLIMIT_FSIZE, &old) != 0)
		bail_out("getrlimit");
	limit = old;
	limit.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &limit);
	err = monad_event_snapshot_write_file(ring, path, &options, NULL);
	setrlimit(RLIMIT_FSIZE, &old);
	return err;
}

/* With ulimit -f: nothing dies of it, is told, or is left. */
static void test_file_limit(const struct monad_event_ring *ring, const char *dir)
{
	const int files = count_files(dir);
	char path[128];
	sigset_t set;

	snprintf(path, sizeof(path), "%s/limited", dir);
	eq_int(write_limited(ring, path, 4096), EFBIG, "ulimit -f");
	ok(says("spool") && says("ulimit -f"), "message: %s", monad_event_ring_get_last_error());
	eq_int(write_limited(ring, path, 1000000), EFBIG, "enough for the spool");
	ok(says(path) && says("ulimit -f"), "message: %s", monad_event_ring_get_last_error());
	eq_int(count_files(dir), files, "nothing is left");
	ok(sigpending(&set) == 0 && !sigismember(&set, SIGXFSZ), "no signal waits");
	signal(SIGXFSZ, on_signal);
	eq_int(write_limited(ring, path, 4096), EFBIG, "with a handler");
	eq_int(handled, 0, "which is not called");
	/* One that came to who holds signals back is not lost. */
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGXFSZ);
	eq_int(write_limited(ring, path, 4096), EFBIG, "held back");
	eq_int(handled, 0, "the handler was not called");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	eq_int(handled, SIGXFSZ, "it is now");
	handled = 0;
	signal(SIGXFSZ, SIG_DFL);
}

/* The file is on disk before it has its name, and its name is on disk before all is done. */
static void test_synced(const struct monad_event_ring *ring, const char *path)
{
	struct stat before, after;

	if (stat(path, &before) != 0)
		bail_out("stat");
	synced_path = path;
	eq_int(monad_event_snapshot_write_file(ring, path, NULL, NULL), 0, "over another one");
	synced_path = NULL;
	if (stat(path, &after) != 0)
		bail_out("stat");
	ok(when_synced[0] == before.st_ino, "the file is synced while the old one is there");
	ok(when_synced[1] == after.st_ino, "the directory when the new one is");
	memset(when_synced, 0, sizeof(when_synced));
}

/* Who is killed while it writes leaves nothing behind. */
static void test_killed(const struct monad_event_ring *ring, const char *dir, const char *path)
{
	struct stat st, now;
	pid_t child;
	int status;

	if (stat(path, &st) != 0)
		bail_out("stat");
	child = fork();
	if (child == 0) {
		act = die;
		_exit(monad_event_snapshot_write_file(ring, path, NULL, NULL));
	}
	waitpid(child, &status, 0);
	ok(WIFSIGNALED(status), "killed while it writes");
	eq_int(count_files(dir), 1, "nothing is left but what there was before");
	ok(stat(path, &now) == 0 && now.st_ino == st.st_ino, "which is the same");
}

static void test_files(void)
{
	struct monad_event_snapshot_options options = {.size = sizeof(options)};
	char dir[] = "/tmp/monad-test-XXXXXX", path[64], other[64], cwd[4096];
	struct monad_event_ring ring, again;
	struct image source;
	struct stat st;

	image_create(&source, 14, 21, 0);
	put_events_up_to(&source, 16384);
	for (uint64_t i = 0; i < 16384 * 16; i++)
		source.map[source.payload_offset + i] = (uint8_t)(rand() >> 8);
	if (!mkdtemp(dir) || monad_event_ring_mmap(&ring, PROT_READ, 0, source.fd, 0, "x"))
		bail_out("mkdtemp or mmap");
	snprintf(path, sizeof(path), "%s/snapshot", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	eq_int(monad_event_snapshot_write_file(&ring, path, NULL, NULL), 0, "a file");
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "mode 0600");
	eq_int(monad_event_ring_open(&again, path, 0), 0, "is opened as a ring");
	eq_u64(monad_event_ring_last_seqno(&again), 16384, "all of it");
	ok(monad_event_ring_snapshot_info(&again), "says where it comes from");
	/* A snapshot of a snapshot, over the file that is mapped. */
	options.spool_dir = dir;
	eq_int(monad_event_snapshot_write_file(&again, path, &options, NULL), 0,
	       "written again, spooled on disk");
	monad_event_ring_unmap(&again);
	eq_int(monad_event_ring_open(&again, path, 0), 0, "is opened again");
	monad_event_ring_unmap(&again);
	eq_int(count_files(dir), 1, "there is nothing but it");
	test_killed(&ring, dir, path);
	test_synced(&ring, path);
	test_file_limit(&ring, dir);
	no_tmpfile = true;
	test_synced(&ring, path);
	test_file_limit(&ring, dir);
	eq_int(monad_event_snapshot_write_file(&ring, path, NULL, NULL), 0, "without O_TMPFILE");
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "mode 0600");
	eq_int(count_files(dir), 1, "there is nothing but it");
	test_no_space(&ring, dir);
	no_tmpfile = false;
	if (symlink("/dev/null", other) != 0)
		bail_out("symlink");
	eq_int(monad_event_snapshot_write_file(&ring, other, NULL, NULL), EINVAL, "over a device");
	ok(lstat(other, &st) == 0 && S_ISLNK(st.st_mode), "which stays");
	unlink(other);
	eq_int(monad_event_snapshot_write_file(&ring, dir, NULL, NULL), EINVAL, "over a directory");
	eq_int(monad_event_snapshot_write_file(&ring, "", NULL, NULL), EINVAL, "no name");
	eq_int(monad_event_snapshot_write_file(&ring, "/tmp/", NULL, NULL), EINVAL, "a bare slash");
	eq_int(monad_event_snapshot_write_file(&ring, NULL, NULL, NULL), EFAULT, "no path");
	eq_int(monad_event_snapshot_write_file(&ring, "/nonexistent/x", NULL, NULL), ENOENT,
	       "no such directory");
	options.spool_dir = "/nonexistent";
	eq_int(monad_event_snapshot_write_file(&ring, other, &options, NULL), ENOENT,
	       "no such directory for the spool");
	ok(says("`/nonexistent`"), "the message names it");
	if (getcwd(cwd, sizeof(cwd)) && chdir(dir) == 0) {
		eq_int(monad_event_snapshot_write_file(&ring, "other", NULL, NULL), 0,
		       "a name without a directory");
		ok(unlink("other") == 0, "is in this one");
		eq_int(chdir(cwd), 0, "back");
	}
	test_no_space(&ring, dir);
	monad_event_ring_unmap(&ring);
	unlink(path);
	ok(rmdir(dir) == 0, "nothing is left");
	image_destroy(&source);
}

int main(void)
{
	int files = open_files();

	test_options();
	test_pipe(0);
	test_pipe(O_NONBLOCK);
	test_files();
	eq_int(open_files(), files, "no descriptor is left open");
	return done_testing();
}
