// SPDX-License-Identifier: GPL-2.0
/* monad-ring destroy: kernel rings, and ring files that nobody writes to. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arguments.h"
#include "json_writer.h"
#include "monad-ring.h"
#include "printable.h"
#include "ring_handle.h"

struct destroy {
	bool json;
	struct json_writer writer;
};

static const char help[] =
	"Usage: monad-ring destroy [--json] RING...\n"
	"\n"
	"Destroys each RING with all that is in it: a kernel ring, but not the default\n"
	"one, which goes with the module; or a ring file, if no process writes to it or\n"
	"has it locked. Who has the ring open keeps what it has. Nothing but rings is\n"
	"removed, and when one of several cannot be, the others are.\n"
	"\n"
	"Options:\n"
	"  -j, --json  print JSON\n"
	"  -h, --help  this\n"
	"\n"
	"EXAMPLES\n"
	"  monad-ring destroy mine\n"
	"  monad-ring destroy /dev/monad_ring-mine /var/tmp/ring\n";

static void print_done(struct destroy *destroy, const char *path, bool device)
{
	char safe[PATH_MAX];

	if (destroy->json) {
		json_begin_object(&destroy->writer);
		json_string_field(&destroy->writer, "path", path);
		json_string_field(&destroy->writer, "kind", device ? "device" : "file");
		json_end_object(&destroy->writer);
	} else {
		printf("%s: %s\n", printable(safe, sizeof(safe), path),
		       device ? "destroyed" : "removed");
	}
}

static bool destroy_device(const char *path, int fd)
{
	struct monad_ring_info info;
	const char *name;

	if (monad_event_ring_query_device(fd, &info) != 0) {
		complain("%s: %s", path, lib_error());
		return false;
	}
	info.name[sizeof(info.name) - 1] = '\0';
	name = info.name;
	if (monad_event_ring_destroy_device(name) != 0) {
		complain_lib();
		return false;
	}
	return true;
}

/* "process 4711 (fio)": who has the file at @fd locked. */
static void complain_locked(const char *path, int fd)
{
	struct monad_event_flock_info locks[1];
	size_t count = 1;
	char comm[64] = "?", comm_path[64];
	FILE *file;

	locks[0].pid = 0;
	if (monad_event_ring_query_flocks(fd, locks, &count) != 0 && count <= 1)
		count = 0;
	if (!count || !locks[0].pid) {
		complain("%s is in use by a process that cannot be seen from here", path);
		return;
	}
	snprintf(comm_path, sizeof(comm_path), "/proc/%d/comm", (int)locks[0].pid);
	file = fopen(comm_path, "re");
	if (file) {
		if (fgets(comm, sizeof(comm), file))
			comm[strcspn(comm, "\n")] = '\0';
		fclose(file);
	}
	complain("%s is in use by process %d (%s)%s: end it first", path, (int)locks[0].pid, comm,
		 count > 1 ? " and others" : "");
}

static bool is_ring_file(const char *path, int fd)
{
	char magic[MONAD_EVENT_RING_MAGIC_LEN];
	bool snapshot = false;

	if (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	    memcmp(magic, MONAD_EVENT_RING_MAGIC, sizeof(magic)) == 0)
		return true;
	if (monad_event_is_snapshot_file(fd, path, &snapshot) == 0 && snapshot)
		complain("%s is a snapshot, which nobody writes to: rm removes it", path);
	else
		complain("%s is not an event ring, and was left alone", path);
	return false;
}

static bool remove_file(const char *path, int fd, const struct stat *st)
{
	struct stat now;

	if (!is_ring_file(path, fd))
		return false;
	/* Held until it is closed: no writer takes it up meanwhile. */
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK)
			complain_locked(path, fd);
		else
			complain("cannot lock %s: %s", path, strerror(errno));
		return false;
	}
	if (lstat(path, &now) != 0) {
		complain("%s is gone already", path);
		return false;
	}
	if (S_ISLNK(now.st_mode)) {
		complain("%s is a symbolic link; name the file itself", path);
		return false;
	}
	if (now.st_dev != st->st_dev || now.st_ino != st->st_ino) {
		complain("%s was replaced by another file just now, and was left alone", path);
		return false;
	}
	if (unlink(path) != 0) {
		complain("cannot remove %s: %s", path, strerror(errno));
		return false;
	}
	return true;
}

static bool destroy_ring(struct destroy *destroy, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	bool done;
	int fd;

	if (monad_event_ring_open_fd(name, &fd, path, sizeof(path)) != 0) {
		complain_lib();
		return false;
	}
	if (fstat(fd, &st) != 0) {
		complain("cannot fstat %s: %s", path, strerror(errno));
		close(fd);
		return false;
	}
	if (S_ISCHR(st.st_mode)) {
		done = destroy_device(path, fd);
	} else if (S_ISREG(st.st_mode)) {
		done = remove_file(path, fd, &st);
	} else {
		complain("%s is neither a ring device nor a file", path);
		done = false;
	}
	if (done)
		print_done(destroy, path, S_ISCHR(st.st_mode));
	close(fd);
	return done;
}

int cmd_destroy(int argc, char **argv, bool json)
{
	struct destroy destroy = {.json = json};
	bool failed = false;
	int ret;

	if (!take_plain_options(argc, argv, help, &destroy.json, &ret))
		return ret;
	if (optind == argc)
		return usage_error("destroy", "wants the name of a ring", NULL);
	if (destroy.json) {
		json_init(&destroy.writer, stdout, true);
		json_begin_object(&destroy.writer);
		json_key(&destroy.writer, "destroyed");
		json_begin_array(&destroy.writer);
	}
	for (int i = optind; i < argc; i++)
		failed |= !destroy_ring(&destroy, argv[i]);
	if (destroy.json) {
		json_end_array(&destroy.writer);
		json_end_object(&destroy.writer);
		json_end(&destroy.writer);
	}
	ret = finish_output();
	return failed ? EXIT_FAILED : ret;
}
