// SPDX-License-Identifier: GPL-2.0
/* Making ring files: names, locks, what was there before, what is left behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "no_tmpfile.h"
#include "ring_files.h"

/* What happens, once, just before somebody takes a lock. */
static void (*before_lock)(void);

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
	void (*hook)(void) = before_lock;

	before_lock = NULL;
	if (hook)
		hook();
	return __real_flock(fd, operation);
}

static void test_config(void)
{
	static const struct {
		const char *string;
		int err, descriptors, payload;
		const char *name_or_message;
	} cases[] = {
		{"events", 0, 21, 29, "events"},
		{"/a/b", 0, 21, 29, "/a/b"},
		{"./b:16:27", 0, 16, 27, "./b"},
		{"b:10:21", 0, 10, 21, "b"},
		{"b:32:40", 0, 32, 40, "b"},
		{"b:016:0027", 0, 16, 27, "b"},
		{"", EINVAL, 0, 0, "no name"},
		{":16:27", EINVAL, 0, 0, "no name"},
		{"b:16", EINVAL, 0, 0,
		 "expected NAME:DESCRIPTORS-SHIFT:PAYLOAD-SHIFT, such as b:21:29"},
		{"b:", EINVAL, 0, 0, "expected NAME"},
		{"b:16:27:1", EINVAL, 0, 0, "expected NAME"},
		{"b::27", EINVAL, 0, 0, "descriptors shift \"\" is not a number"},
		{"b:16:", EINVAL, 0, 0, "payload shift \"\" is not a number"},
		{"b:x:27", EINVAL, 0, 0, "descriptors shift \"x\" is not a number"},
		{"b:16:27 ", EINVAL, 0, 0, "payload shift \"27 \" is not a number"},
		{"b:+16:27", EINVAL, 0, 0, "descriptors shift \"+16\""},
		{"b:-1:27", EINVAL, 0, 0, "descriptors shift \"-1\""},
		{"b:0x10:27", EINVAL, 0, 0, "descriptors shift \"0x10\""},
		{"b:9:27", ERANGE, 0, 0, "descriptors shift 9 is not from 10 to 32"},
		{"b:33:27", ERANGE, 0, 0, "descriptors shift 33"},
		{"b:16:20", ERANGE, 0, 0, "payload shift 20 is not from 21 to 40"},
		{"b:16:41", ERANGE, 0, 0, "payload shift 41"},
		{"b:4294967312:27", ERANGE, 0, 0, "descriptors shift 4294967312"},
		{"b:272:27", ERANGE, 0, 0, "descriptors shift 272"},
	};
	struct monad_event_ring_config config;
	char long_name[5000];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		eq_int(monad_event_ring_parse_config(cases[i].string, &config), cases[i].err,
		       "configuration string \"%s\"", cases[i].string);
		if (cases[i].err)
			ok(strstr(message(), cases[i].name_or_message), "message: %s", message());
		else
			ok(config.descriptors_shift == cases[i].descriptors &&
			   config.payload_buf_shift == cases[i].payload &&
			   config.shifts_given == !!strchr(cases[i].string, ':') &&
			   !strcmp(config.name, cases[i].name_or_message), "what it says");
	}
	memset(long_name, 'a', sizeof(long_name));
	long_name[4096] = '\0';
	eq_int(monad_event_ring_parse_config(long_name, &config), ENAMETOOLONG, "4096 characters");
	long_name[4095] = '\0';
	eq_int(monad_event_ring_parse_config(long_name, &config), 0, "4095 characters");
	eq_int(monad_event_ring_parse_config(NULL, &config), EFAULT, "no string");
	eq_int(monad_event_ring_parse_config("a", NULL), EFAULT, "no configuration");
}

static void test_arguments(void)
{
	struct {
		struct monad_event_ring_writer_options known;
		uint64_t unknown;
	} newer = {.known = options};
	struct monad_event_ring_writer_options bad = options;
	struct monad_event_ring_writer *writer = (void *)dir;
	char path[PATH_MAX];

	eq_int(monad_event_ring_writer_open(NULL, &options, &writer), EFAULT, "no string");
	ok(!writer, "no writer then");
	eq_int(monad_event_ring_writer_open("a", NULL, &writer), EFAULT, "no options");
	eq_int(monad_event_ring_writer_open("a", &options, NULL), EFAULT, "no writer");
	bad.size = 0;
	eq_int(monad_event_ring_writer_open("a", &bad, &writer), EINVAL, "options without size");
	bad = options;
	bad.flags = 4;
	eq_int(monad_event_ring_writer_open("a", &bad, &writer), EINVAL, "an unknown flag");
	bad = options;
	bad.mode = 04644;
	eq_int(monad_event_ring_writer_open("a", &bad, &writer), EINVAL, "set-user-ID");
	bad = options;
	bad.schema_hash = NULL;
	eq_int(monad_event_ring_writer_open("a", &bad, &writer), EFAULT, "no hash");
	bad = options;
	bad.context_large_pages = 3;
	eq_int(monad_event_ring_writer_open("a:10:21", &bad, &writer), ERANGE,
	       "a context area of three pages");
	newer.known.size = sizeof(newer);
	newer.unknown = 1;
	eq_int(monad_event_ring_writer_open("a:10:21", &newer.known, &writer), E2BIG,
	       "an option of a later version");
	newer.unknown = 0;
	eq_int(monad_event_ring_writer_open("a:10:21", &newer.known, &writer), 0,
	       "one that is not used");
	snprintf(path, sizeof(path), "%s/a", dir);
	eq_str(monad_event_ring_writer_path(writer), path, "the path");
	monad_event_ring_writer_close(writer);
	monad_event_ring_writer_close(NULL);
	unlink(path);
	eq_int(monad_event_ring_writer_open("b:10", &options, &writer), EINVAL, "a bad string");
	eq_int(monad_event_ring_writer_open("/nonexistent/a:10:21", &options, &writer), ENOENT,
	       "no such directory");
	ok(strstr(message(), "cannot open the directory of event ring file `/nonexistent/"),
	   "message: %s", message());
	eq_int(monad_event_ring_writer_open("/tmp/:10:21", &options, &writer), EINVAL,
	       "a directory");
	eq_int(monad_event_ring_writer_open("/tmp:10:21", &options, &writer), EISDIR, "another");
	eq_int(monad_event_ring_writer_open("/dev/null/a:10:21", &options, &writer), ENOTDIR,
	       "no directory");
	memset(path, 'a', 240);
	snprintf(path + 240, sizeof(path) - 240, ":10:21");
	eq_int(monad_event_ring_writer_open(path, &options, &writer), ENAMETOOLONG, "a long name");
	eq_int(entries(dir), 0, "nothing is left");
}

/* Everything that stands in a new ring's extension block. */
static void test_new_ring(void)
{
	struct monad_event_ring_writer *writer;
	const struct monad_event_ring *ring;
	const struct monad_ring_ext *ext;
	struct timespec real, mono;
	uint8_t uuid[16], boot_id[16];
	char text[40];
	int64_t offset;
	struct stat st;
	pid_t pid = 0;
	FILE *file;

	umask(027);
	options.context_large_pages = 1;
	writer = make("new:11:22");
	options.context_large_pages = 0;
	ring = monad_event_ring_writer_ring(writer);
	ok(ring->desc_capacity_mask == 2047 && ring->payload_buf_mask == (4 << 20) - 1 &&
	   ring->context_area, "the ring is as it was asked for");
	eq_int(monad_event_ring_check_content_type(ring, MONAD_EVENT_CONTENT_TYPE_TEST,
						   g_monad_test_event_schema_hash), 0, "its type");
	eq_int(fstat(monad_event_ring_writer_fd(writer), &st), 0, "its file");
	eq_u64(st.st_mode, S_IFREG | 0640, "0644 less the umask");
	eq_u64(st.st_size, 10 << 20, "its size");
	ok(st.st_blocks * 512LL >= st.st_size, "without holes");
	eq_u64(st.st_nlink, 1, "one name");
	eq_int(entries(dir), 1, "in its directory");
	ok(monad_event_ring_query_excl_writer_pid(monad_event_ring_writer_fd(writer), &pid) == 0 &&
	   pid == getpid(), "it is locked by us");
	ok(strstr(monad_event_ring_writer_warning(writer), "not on a hugetlbfs"), "a warning: %s",
	   monad_event_ring_writer_warning(writer));

	ext = ext_of(writer);
	ok(ext, "an extension block");
	eq_u64(ext->size, 256, "its size");
	eq_u64(ext->abi_version, 1, "its version");
	eq_u64(ext->generation, 1, "the first generation");
	eq_u64(ext->state, MONAD_RING_STATE_LIVE, "live");
	eq_u64(ext->chunks_total, 5, "five chunks");
	eq_u64(ext->chunks_huge, 0, "none huge");
	ok((ext->uuid[6] & 0xf0) == 0x40 && (ext->uuid[8] & 0xc0) == 0x80, "a UUID, version 4");
	memcpy(uuid, ext->uuid, sizeof(uuid));
	file = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (fread(text, 1, 36, file) != 36)
		bail_out("no boot_id");
	fclose(file);
	for (int i = 0, at = 0; i < 16; i++, at += 2) {
		at += text[at] == '-';
		if (sscanf(text + at, "%2hhx", &boot_id[i]) != 1)
			bail_out("no boot_id");
	}
	ok(memcmp(ext->boot_id, boot_id, 16) == 0, "this boot's id");
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	offset = (real.tv_sec - mono.tv_sec) * 1000000000LL + real.tv_nsec - mono.tv_nsec;
	ok(llabs(ext->realtime_offset_ns - offset) < 1000000000, "the clocks' distance");
	monad_event_ring_writer_close(writer);

	umask(077);
	options.mode = 0664;
	writer = make("new:10:21");
	options.mode = 0;
	fstat(monad_event_ring_writer_fd(writer), &st);
	eq_u64(st.st_mode, S_IFREG | 0664, "a mode that was asked for, whatever the umask");
	ok(memcmp(uuid, ext_of(writer)->uuid, 16) != 0, "another ring, another UUID");
	eq_u64(ext_of(writer)->generation, 2, "of the next generation");
	umask(022);
	unlink(monad_event_ring_writer_path(writer));
	monad_event_ring_writer_close(writer);
}

static void test_replace(void)
{
	struct monad_event_ring_writer *writer, *second;
	struct monad_event_ring old;
	char path[PATH_MAX], expected[96];
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		writer = make("r:10:21");
		record_some(writer, 5);
		_exit(0); /* without closing it */
	}
	waitpid(pid, &status, 0);
	snprintf(path, sizeof(path), "%s/r", dir);
	eq_int(monad_event_ring_open(&old, path, 0), 0, "a ring whose writer died");
	eq_u64(monad_event_ring_ext(&old)->state, MONAD_RING_STATE_LIVE, "it cannot know");
	writer = make("r:10:21");
	eq_u64(monad_event_ring_last_seqno(monad_event_ring_writer_ring(writer)), 0,
	       "a new one in its place");
	eq_u64(ext_of(writer)->generation, 2, "the next generation");
	eq_u64(monad_event_ring_last_seqno(&old), 5, "readers of the old one keep it");
	eq_u64(monad_event_ring_ext(&old)->state, MONAD_RING_STATE_GONE, "and are told");
	monad_event_ring_unmap(&old);
	eq_int(entries(dir), 1, "no other files");

	eq_int(monad_event_ring_writer_open("r:10:21", &options, &second), EBUSY,
	       "not while it is written");
	snprintf(expected, sizeof(expected), "in use by this process, %d (test_lib_", getpid());
	ok(strstr(message(), expected), "message: %s", message());
	pid = fork();
	if (pid == 0) {
		int err = monad_event_ring_writer_open("r:10:21", &options, &second);

		snprintf(expected, sizeof(expected), "in use by process %d (test_lib_", getppid());
		_exit(err != EBUSY || !strstr(message(), expected));
	}
	waitpid(pid, &status, 0);
	eq_int(status, 0, "another process is refused, too");
	options.flags = MONAD_EVENT_WRITER_KEEP;
	eq_int(monad_event_ring_writer_open("r", &options, &second), EBUSY, "also to keep it");
	options.flags = 0;

	monad_event_ring_open(&old, path, 0);
	monad_event_ring_writer_close(writer);
	eq_u64(monad_event_ring_ext(&old)->state, MONAD_RING_STATE_GONE, "closed: gone");
	monad_event_ring_unmap(&old);
	unlink(path);
}

static void test_what_is_there(void)
{
	struct monad_event_ring_writer *writer;
	char path[PATH_MAX], other[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/x", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	eq_int((int)write(fd, "precious", 8), 8, "a file that is no ring");
	eq_int(monad_event_ring_writer_open("x:10:21", &options, &writer), EEXIST,
	       "is not replaced");
	ok(strstr(message(), "is not an event ring") && strstr(message(), path), "message: %s",
	   message());
	options.flags = MONAD_EVENT_WRITER_KEEP;
	eq_int(monad_event_ring_writer_open("x:10:21", &options, &writer), EEXIST, "nor kept");
	options.flags = 0;
	ok(fstat(fd, &st) == 0 && st.st_size == 8 && st.st_nlink == 1, "it is as it was");
	eq_int(ftruncate(fd, 0), 0, "an empty file");
	close(fd);
	writer = make("x:10:21");
	ok(writer, "is replaced");
	monad_event_ring_writer_close(writer);

	snprintf(other, sizeof(other), "%s/link", dir);
	eq_int(symlink("x", other), 0, "a symbolic link");
	eq_int(monad_event_ring_writer_open("link:10:21", &options, &writer), ELOOP, "is refused");
	unlink(other);
	eq_int(symlink("nowhere", other), 0, "one to nowhere");
	eq_int(monad_event_ring_writer_open("link:10:21", &options, &writer), ELOOP, "too");
	unlink(other);
	eq_int(mkfifo(other, 0600), 0, "a FIFO");
	eq_int(monad_event_ring_writer_open("link:10:21", &options, &writer), EEXIST,
	       "does not block");
	unlink(other);

	/* What a crash may have left: nobody has it locked. And what is somebody else's. */
	snprintf(other, sizeof(other), "%s/.x.monad-0123abcd", dir);
	close(open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	snprintf(path, sizeof(path), "%s/.x.monad-fedc9876", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	flock(fd, LOCK_EX);
	snprintf(path, sizeof(path), "%s/.x.monad-fedc987g", dir);
	close(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	writer = make("x:10:21");
	ok(access(other, F_OK) != 0, "what a dead process left is removed");
	eq_int(entries(dir), 3, "what a live one is at is not, nor anything else");
	unlink(path);
	snprintf(path, sizeof(path), "%s/.x.monad-fedc9876", dir);
	unlink(path);
	close(fd);
	unlink(monad_event_ring_writer_path(writer));
	monad_event_ring_writer_close(writer);
}

/* A reader that waits has the file locked now and then, for a moment. */
static void test_glance(void)
{
	struct monad_event_ring_writer *writer;
	char path[PATH_MAX], c = 0;
	int fds[2], status;
	pid_t child;

	monad_event_ring_writer_close(make("glance:10:21"));
	snprintf(path, sizeof(path), "%s/glance", dir);
	if (pipe(fds))
		bail_out("pipe");
	child = fork();
	if (child == 0) {
		flock(open(path, O_RDONLY | O_CLOEXEC), LOCK_SH);
		if (write(fds[1], "x", 1) != 1)
			_exit(1);
		usleep(5000);
		_exit(0);
	}
	ok(read(fds[0], &c, 1) == 1, "a reader has it locked");
	eq_int(monad_event_ring_writer_open("glance:10:21", &options, &writer), 0,
	       "which does not keep a writer away");
	waitpid(child, &status, 0);
	monad_event_ring_writer_close(writer);
	unlink(path);
	close(fds[0]);
	close(fds[1]);
}

/* A program that goes on as a child of itself, again and again, writes to one ring only. */
static void test_generations(void)
{
	struct monad_event_ring_writer *writer = NULL;
	const struct monad_event_ring *ring;
	struct monad_event_recorder recorder;
	int closed[2], done[2], err = 0, result = -1;
	char path[PATH_MAX], c;

	if (pipe2(closed, O_CLOEXEC) || pipe2(done, O_CLOEXEC))
		bail_out("pipe");
	if (fork() == 0) {
		for (int i = 0; i < 150 && !err; i++) {
			monad_event_ring_writer_close(writer);
			err = monad_event_ring_writer_open("self:10:21", &options, &writer);
			ring = writer ? monad_event_ring_writer_ring(writer) : NULL;
			if (!err)
				err = monad_event_ring_init_recorder(ring, &recorder);
			if (!err && fork()) {
				monad_event_ring_writer_close(writer);
				_exit(write(closed[1], "x", 1) != 1);
			}
			if (!err && read(closed[0], &c, 1) != 1)
				err = EPIPE;
		}
		_exit(write(done[1], &err, sizeof(err)) != sizeof(err));
	}
	close(done[1]);
	ok(read(done[0], &result, sizeof(result)) == sizeof(result), "the last one speaks");
	eq_int(result, 0, "150 generations of a program that is its own child");
	close(done[0]);
	close(closed[0]);
	close(closed[1]);
	wait(NULL);
	snprintf(path, sizeof(path), "%s/self", dir);
	unlink(path);
}

/* A program that was started without standard output and error. */
static void test_closed_stderr(void)
{
	struct monad_event_ring ring;
	char path[PATH_MAX];
	int status, fd;
	pid_t child;

	monad_event_ring_writer_close(make("mute:10:21"));
	snprintf(path, sizeof(path), "%s/mute", dir);
	child = fork();
	if (child == 0) {
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		fd = open(path, O_RDWR);
		if (monad_event_ring_mmap(&ring, PROT_READ | PROT_WRITE, 0, fd, 0, path))
			_exit(1);
		close(fd);
		dprintf(STDOUT_FILENO, "a program's output");
		dprintf(STDERR_FILENO, "a program's message");
		_exit(0);
	}
	waitpid(child, &status, 0);
	eq_int(status, 0, "mapped without standard output and error");
	eq_int(monad_event_ring_open(&ring, path, 0), 0, "what goes there is not in the ring");
	monad_event_ring_unmap(&ring);
	unlink(path);
}

/* A child keeps nothing of the parent's: not the lock, not the writer. */
static void test_fork(void)
{
	struct monad_event_ring_writer *writer, *other;
	int to_child[2], from_child[2], status;
	pid_t pid, child;
	char c = 0;

	if (pipe(to_child) || pipe(from_child))
		bail_out("no pipe");
	pid = fork();
	if (pid == 0) {
		writer = make("f:10:21");
		child = fork();
		if (child == 0) {
			/* outlives its parent */
			status = monad_event_ring_writer_fd(writer);
			monad_event_ring_writer_close(writer);
			c = (char)(status + 1);
			if (write(from_child[1], &c, 1) != 1 || read(to_child[0], &c, 1) != 1)
				_exit(1);
			_exit(0);
		}
		record_some(writer, 1);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	eq_int((int)read(from_child[0], &c, 1), 1, "a child outlives the writer");
	eq_int(c, 0, "it has no descriptor of the ring");
	options.flags = MONAD_EVENT_WRITER_KEEP;
	eq_int(monad_event_ring_writer_open("f", &options, &other), 0, "the ring is free: %s",
	       message());
	options.flags = 0;
	eq_u64(ext_of(other)->state, MONAD_RING_STATE_LIVE, "the child did not close it");
	eq_u64(monad_event_ring_last_seqno(monad_event_ring_writer_ring(other)), 1, "its event");
	eq_int((int)write(to_child[1], &c, 1), 1, "the child ends");
	unlink(monad_event_ring_writer_path(other));
	monad_event_ring_writer_close(other);
}

/* Many processes at once: one gets it, the others are told. */
static void test_race(void)
{
	int status, won = 0, busy = 0, other = 0, hold[2];
	struct monad_event_ring_writer *writer;
	pid_t pids[8];

	for (int round = 0; round < 20; round++) {
		if (pipe(hold))
			bail_out("no pipe");
		for (int i = 0; i < 8; i++) {
			pids[i] = fork();
			if (pids[i] == 0) {
				char c;
				int err;

				close(hold[1]);
				err = monad_event_ring_writer_open("race:10:21", &options, &writer);
				/* the winner stays until all have tried */
				if (!err) {
					record_some(writer, 1);
					alarm(60);
					if (read(hold[0], &c, 1) < 0)
						_exit(3);
				}
				_exit(err == 0 ? 0 : err == EBUSY ? 1 : 2);
			}
		}
		/* The losers end by themselves. */
		for (int i = 0; i < 7; i++) {
			wait(&status);
			busy += WEXITSTATUS(status) == 1;
			other += !WIFEXITED(status) || WEXITSTATUS(status) > 1;
		}
		close(hold[1]);
		close(hold[0]);
		wait(&status);
		won += status == 0;
	}
	eq_int(won, 20, "one of eight gets the ring");
	eq_int(busy, 140, "all others find it busy");
	eq_int(other, 0, "nothing else happens");
	eq_int(entries(dir), 1, "and nothing is left but the ring");
	writer = make("race:10:21");
	eq_u64(ext_of(writer)->generation, 21, "each round was a generation");
	unlink(monad_event_ring_writer_path(writer));
	monad_event_ring_writer_close(writer);
}

static void move_other_in(void)
{
	char from[PATH_MAX], to[PATH_MAX];

	snprintf(from, sizeof(from), "%s/other", dir);
	snprintf(to, sizeof(to), "%s/moved", dir);
	if (rename(from, to) != 0)
		bail_out("cannot rename %s", from);
}

/* Another ring comes in the place of the one that was opened, before that one is locked. */
static void test_moved(void)
{
	struct monad_event_ring_writer *writer;

	for (int keep = 0; keep < 2; keep++) {
		monad_event_ring_writer_close(make("moved:10:21"));
		for (int i = 0; i < 3; i++) {
			writer = make("other:10:21");
			record_some(writer, 7);
			monad_event_ring_writer_close(writer);
		}
		before_lock = move_other_in;
		options.flags = keep ? MONAD_EVENT_WRITER_KEEP : 0;
		writer = make("moved:10:21");
		options.flags = 0;
		ok(!before_lock, "another ring took its place meanwhile");
		eq_u64(ext_of(writer)->generation, keep ? 3 : 4, "that one is %s",
		       keep ? "kept" : "replaced");
		eq_u64(monad_event_ring_last_seqno(monad_event_ring_writer_ring(writer)),
		       keep ? 7 : 0, "and not the one that is nowhere");
		unlink(monad_event_ring_writer_path(writer));
		monad_event_ring_writer_close(writer);
	}
}

int main(void)
{
	ring_files_begin();
	test_config();
	test_arguments();
	test_new_ring();
	test_replace();
	test_what_is_there();
	test_glance();
	test_generations();
	test_closed_stderr();
	test_fork();
	test_race();
	test_moved();
	diag("the same without O_TMPFILE");
	no_tmpfile = true;
	test_new_ring();
	test_replace();
	test_what_is_there();
	test_race();
	return ring_files_end();
}
