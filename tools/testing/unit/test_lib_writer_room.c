// SPDX-License-Identifier: GPL-2.0
/* Ring files that are kept, and what they need: room, huge pages, limits, rights. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "no_tmpfile.h"
#include "ring_files.h"

/* Bytes that were asked for of the file system. */
static uint64_t asked_for;

int __real_posix_fallocate(int fd, off_t offset, off_t len);
int __wrap_posix_fallocate(int fd, off_t offset, off_t len);

int __wrap_posix_fallocate(int fd, off_t offset, off_t len)
{
	asked_for += (uint64_t)len;
	return __real_posix_fallocate(fd, offset, len);
}

static void test_keep(void)
{
	struct monad_event_ring_writer_options other = options;
	static const uint8_t hash[32] = {1};
	struct monad_event_ring_writer *writer;
	struct monad_event_recorder recorder;
	struct monad_event_descriptor *desc, event;
	uint8_t uuid[16], *payload;
	uint64_t seqno;
	int zero_fd;
	char path[PATH_MAX];

	options.flags = MONAD_EVENT_WRITER_KEEP;
	writer = make("k:10:21");
	eq_u64(ext_of(writer)->generation, 1, "nothing to keep: a new ring");
	memcpy(uuid, ext_of(writer)->uuid, 16);
	record_some(writer, 3000);
	monad_event_ring_init_recorder(monad_event_ring_writer_ring(writer), &recorder);
	desc = monad_event_recorder_reserve_type(&recorder, 9, 100, &seqno, &payload);
	ok(desc, "an event is left reserved");
	record_some(writer, 1);
	monad_event_ring_writer_close(writer);

	writer = make("k");
	eq_u64(monad_event_ring_last_seqno(monad_event_ring_writer_ring(writer)), 3002, "kept");
	ok(monad_event_ring_try_copy(monad_event_ring_writer_ring(writer), 3001, &event) &&
	   event.event_type == 0 && event.payload_size == 0, "closing published it as NONE");
	eq_u64(ext_of(writer)->discarded, 1, "and counted it");
	eq_u64(monad_event_ring_writer_repaired(writer), 0, "nothing to repair");
	ok(memcmp(uuid, ext_of(writer)->uuid, 16) == 0, "the same ring");
	eq_u64(ext_of(writer)->state, MONAD_RING_STATE_LIVE, "live again");
	record_some(writer, 2000);
	eq_u64(monad_event_ring_last_seqno(monad_event_ring_writer_ring(writer)), 5002, "goes on");
	monad_event_ring_writer_close(writer);

	other.flags = MONAD_EVENT_WRITER_KEEP;
	eq_int(monad_event_ring_writer_open("k:11:21", &other, &writer), EPROTO, "another size");
	ok(strstr(message(), "has 1024 descriptors"), "message: %s", message());
	eq_int(monad_event_ring_writer_open("k:10:22", &other, &writer), EPROTO, "the other size");
	other.context_large_pages = 1;
	eq_int(monad_event_ring_writer_open("k", &other, &writer), EPROTO, "a context area");
	other.context_large_pages = 0;
	other.content_type = 2;
	eq_int(monad_event_ring_writer_open("k", &other, &writer), EPROTO, "another content type");
	other.content_type = 1;
	other.schema_hash = hash;
	eq_int(monad_event_ring_writer_open("k", &other, &writer), EPROTO, "another schema");
	writer = make("k:10:21");
	eq_u64(monad_event_ring_last_seqno(monad_event_ring_writer_ring(writer)), 5002,
	       "none of that changed anything");
	monad_event_ring_writer_close(writer);

	/* A ring of the plain format gets an extension block, unless something is there. */
	snprintf(path, sizeof(path), "%s/k", dir);
	for (int i = 0; i < 2; i++) {
		uint8_t bytes[256] = {0};

		bytes[200] = (uint8_t)i;
		zero_fd = open(path, O_RDWR | O_CLOEXEC);
		eq_int((int)pwrite(zero_fd, bytes, 256, 4096), 256, "no extension block");
		close(zero_fd);
		writer = make("k");
		ok(!ext_of(writer) ? i : !i, "has one, has none");
		record_some(writer, 1);
		monad_event_ring_writer_close(writer);
	}
	options.flags = 0;
	unlink(path);
}

static uint64_t allocated(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		bail_out("no %s", path);
	return (uint64_t)st.st_blocks * 512;
}

/* A file of holes that says it is a ring with 2^@shift bytes of payload, and has @more of them. */
static void make_holes(const char *path, int shift, uint64_t more)
{
	const uint64_t sizes[] = {1024, UINT64_C(1) << shift, 0};
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (pwrite(fd, "RING01\1", 8, 0) != 8 || pwrite(fd, sizes, 24, 40) != 24 ||
	    pwrite(fd, g_monad_test_event_schema_hash, 32, 8) != 32 ||
	    ftruncate(fd, (off_t)((4 << 20) + (UINT64_C(1) << shift) + more)) != 0)
		bail_out("cannot make %s", path);
	close(fd);
}

static bool mount_tmpfs(const char *data, char path[96])
{
	snprintf(path, 96, "%s/mnt", dir);
	if (mkdir(path, 0755) == 0 && mount("none", path, "tmpfs", 0, data) == 0)
		return true;
	rmdir(path);
	skip("cannot mount a tmpfs");
	return false;
}

/* Somebody leaves a file that could take all of the disk with it. */
static void test_keep_holes(void)
{
	struct monad_event_ring_writer *writer;
	char mnt[96], path[128];
	uint64_t before;

	if (!mount_tmpfs("size=9M", mnt))
		return;
	snprintf(path, sizeof(path), "%s/holes", mnt);
	options.default_dir = mnt;
	options.flags = MONAD_EVENT_WRITER_KEEP | MONAD_EVENT_WRITER_POPULATE;
	make_holes(path, 30, 0);
	before = allocated(path);
	asked_for = 0;
	eq_int(monad_event_ring_writer_open("holes", &options, &writer), ENOSPC, "a gigabyte");
	ok(strstr(message(), "no room to fill the holes") && strstr(message(), "are needed"),
	   "message: %s", message());
	eq_u64(asked_for, 0, "was not asked for");
	eq_u64(allocated(path), before, "and not a page was allocated");
	eq_int(monad_event_ring_writer_open("holes:10:21", &options, &writer), EPROTO,
	       "nor is it, if another size is wanted");
	make_holes(path, 21, 0);
	options.content_type = 2;
	eq_int(monad_event_ring_writer_open("holes", &options, &writer), EPROTO,
	       "or another content type");
	options.content_type = MONAD_EVENT_CONTENT_TYPE_TEST;
	eq_u64(asked_for, 0, "nothing was asked for");
	ok(allocated(path) < 1 << 20, "and not a page was allocated");
	make_holes(path, 21, 2 << 20);
	eq_int(monad_event_ring_writer_open("holes", &options, &writer), EPROTO,
	       "a file that is larger than its ring");
	ok(strstr(message(), "has 8388608 bytes, of which its header knows 6291456"),
	   "message: %s", message());
	eq_u64(asked_for, 0, "nothing was asked for");
	make_holes(path, 21, 0);
	eq_int(monad_event_ring_writer_open("holes:10:21", &options, &writer), 0, "one as others");
	eq_u64(asked_for, 6 << 20, "gets all its room");
	ok(allocated(path) >= 6 << 20, "and has it");
	record_some(writer, 3);
	monad_event_ring_writer_close(writer);
	options.flags = 0;
	options.default_dir = dir;
	umount(mnt);
	rmdir(mnt);
}

static void test_no_room(void)
{
	struct monad_event_ring_writer *writer;
	char path[96], config[160];

	if (!mount_tmpfs("size=9M", path))
		return;
	snprintf(config, sizeof(config), "%s/a:10:25", path);
	eq_int(monad_event_ring_writer_open(config, &options, &writer), ENOSPC, "no room");
	ok(strstr(message(), "posix_fallocate failed for event ring file `") &&
	   strstr(message(), "/mnt/a`, size 37748736: No space left on device (28)") &&
	   strstr(message(), "@event_ring_file.c:"), "message: %s", message());
	eq_int(entries(path), 0, "nothing is left");
	snprintf(config, sizeof(config), "%s/a:10:21", path);
	writer = make(config);
	record_some(writer, 1);
	monad_event_ring_writer_close(writer);
	/* 6 MiB of 9 are used: there is no room for the old and the new one. */
	writer = make(config);
	eq_u64(ext_of(writer)->generation, 2, "a ring that needs the old one's room");
	ok(strstr(monad_event_ring_writer_warning(writer), "was removed before"), "says so: %s",
	   monad_event_ring_writer_warning(writer));
	eq_u64(monad_event_ring_last_seqno(monad_event_ring_writer_ring(writer)), 0, "it is new");
	monad_event_ring_writer_close(writer);
	snprintf(config, sizeof(config), "%s/a:10:22", path);
	eq_int(monad_event_ring_writer_open(config, &options, &writer), ENOSPC, "a larger one");
	eq_int(entries(path), 1, "does not cost the old one");

	/* A ring that somebody made with holes: no SIGBUS when it is kept. */
	snprintf(config, sizeof(config), "%s/a", path);
	if (truncate(config, 2 << 20) || truncate(config, 6 << 20))
		bail_out("cannot truncate %s", config);
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/filler");
	close(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	if (truncate(path, 0))
		bail_out("no filler");
	{
		int fd = open(path, O_RDWR | O_CLOEXEC);

		ok(posix_fallocate(fd, 0, 6 << 20) == 0, "a file fills the rest");
		close(fd);
	}
	options.flags = MONAD_EVENT_WRITER_KEEP;
	eq_int(monad_event_ring_writer_open(config, &options, &writer), ENOSPC, "holes, no room");
	options.flags = 0;
	unlink(path);
	*strrchr(path, '/') = '\0';

	mount("none", path, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=9M");
	snprintf(config, sizeof(config), "%s/b:10:21", path);
	eq_int(monad_event_ring_writer_open(config, &options, &writer), EROFS, "read-only");
	ok(strstr(message(), "cannot create a file for event ring"), "message: %s", message());
	snprintf(config, sizeof(config), "%s/a:10:21", path);
	eq_int(monad_event_ring_writer_open(config, &options, &writer), EROFS, "with a ring there");
	umount(path);
	rmdir(path);
}

/* With ulimit -f: an error, and no SIGXFSZ, of which the writer would die. */
static void test_file_limit(void)
{
	const struct rlimit limit = {1 << 20, 1 << 20};
	struct monad_event_ring_writer *writer;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(monad_event_ring_writer_open("limited:10:21", &options, &writer));
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == EFBIG, "ulimit -f: status 0x%x", status);
	eq_int(entries(dir), 0, "nothing is left");
}

static void test_no_rights(void)
{
	struct monad_event_ring_writer *writer, *other;
	int status;
	pid_t pid;

	if (getuid() != 0) {
		skip("not root, who may do anything");
		return;
	}
	writer = make("root:10:21");
	pid = fork();
	if (pid == 0) {
		int failed = 0;

		if (setgid(65534) || setuid(65534))
			_exit(99);
		chmod(dir, 0755);
		failed |= monad_event_ring_writer_open("n:10:21", &options, &other) != EACCES;
		failed |= (monad_event_ring_writer_open("root:10:21", &options, &other) !=
			   EACCES) << 1;
		monad_event_ring_writer_close(writer);
		_exit(failed);
	}
	chmod(dir, 0755);
	waitpid(pid, &status, 0);
	eq_int(status, 0, "a user who may not write there: EACCES, also for what is there");
	unlink(monad_event_ring_writer_path(writer));
	monad_event_ring_writer_close(writer);
}

/* The default directory, where there is one. */
static void test_hugetlbfs(void)
{
	struct monad_event_ring_writer *writer, *second;
	char buf[PATH_MAX], path[PATH_MAX];
	int err, reader;
	pid_t pid = 0;
	FILE *pages;
	long long free_pages = 0;

	options.default_dir = NULL;
	err = monad_event_open_ring_dir_fd(NULL, buf, sizeof(buf));
	if (err) {
		eq_int(monad_event_ring_writer_open("h:10:21", &options, &writer), err,
		       "no hugetlbfs: %s", message());
		skip("no hugetlbfs");
		goto out;
	}
	writer = make("h:10:21");
	snprintf(path, sizeof(path), "%.4000s/h", buf);
	eq_str(monad_event_ring_writer_path(writer), path, "a name is in the default directory");
	ok(!monad_event_ring_writer_warning(writer), "no warning");
	eq_u64(ext_of(writer)->chunks_total, 3, "three chunks");
	eq_u64(ext_of(writer)->chunks_huge, 3, "all huge");
	record_some(writer, 5000);
	reader = open(path, O_RDONLY | O_CLOEXEC);
	ok(monad_event_ring_query_excl_writer_pid(reader, &pid) == 0 && pid == getpid(),
	   "who writes can be known here, too");
	eq_int(monad_event_ring_writer_open("h:10:21", &options, &second), EBUSY, "busy");
	monad_event_ring_writer_close(writer);
	eq_int(monad_event_ring_query_excl_writer_pid(reader, &pid), EOWNERDEAD, "nobody does");
	options.flags = MONAD_EVENT_WRITER_KEEP | MONAD_EVENT_WRITER_POPULATE;
	writer = make("h");
	options.flags = 0;
	eq_u64(monad_event_ring_last_seqno(monad_event_ring_writer_ring(writer)), 5000, "kept");
	record_some(writer, 5000);
	monad_event_ring_writer_close(writer);
	writer = make("h:10:21");
	eq_u64(ext_of(writer)->generation, 2, "replaced");
	monad_event_ring_writer_close(writer);
	{
		struct monad_event_ring old;

		eq_int(monad_event_ring_mmap(&old, PROT_READ, 0, reader, 0, path), 0,
		       "the old one");
		eq_u64(monad_event_ring_ext(&old)->state, MONAD_RING_STATE_GONE, "is gone");
		monad_event_ring_unmap(&old);
	}
	close(reader);
	eq_int(entries(buf), 1, "no other files");
	eq_int(monad_event_ring_writer_open("h2:10:38", &options, &writer), ENOSPC, "too large");
	ok(strstr(message(), "nr_hugepages"), "message: %s", message());

	/* All that is left, twice: the second takes the first one's pages. */
	unlink(path);
	pages = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "re");
	if (pages) {
		if (fscanf(pages, "%lld", &free_pages) != 1)
			free_pages = 0;
		fclose(pages);
	}
	if (free_pages < 64) {
		skip("fewer than 64 huge pages");
	} else {
		writer = make("h:10:26"); /* 34 */
		monad_event_ring_writer_close(writer);
		eq_int(monad_event_ring_writer_open("h:10:26", &options, &writer), 0,
		       "a ring of the last pages is replaced: %s", message());
		eq_u64(ext_of(writer)->generation, 2, "by its next generation");
		monad_event_ring_writer_close(writer);
	}
	unlink(path);
out:
	options.default_dir = dir;
}

int main(void)
{
	ring_files_begin();
	test_keep();
	test_keep_holes();
	test_no_room();
	test_file_limit();
	test_no_rights();
	test_hugetlbfs();
	diag("the same without O_TMPFILE");
	no_tmpfile = true;
	test_no_room();
	test_file_limit();
	test_hugetlbfs();
	return ring_files_end();
}
