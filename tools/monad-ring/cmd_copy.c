// SPDX-License-Identifier: GPL-2.0
/* monad-ring copy: from any form of a ring to a ring file or a snapshot. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <monad_event/event_snapshot.h>

#include "interrupt.h"
#include "monad-ring.h"
#include "new_file.h"
#include "ring_handle.h"
#include "snapshot_report.h"

/* Copied at a time; what is zero in all of a block becomes a hole. */
#define PIECE (1UL << 20)
#define BLOCK 4096UL

struct copy {
	bool json;
	bool force;
	bool snapshot; /* what it becomes */
	const char *to;
	struct ring_handle from;
	struct monad_event_snapshot_stats stats;
};

static void print_help(void)
{
	fputs("Usage: monad-ring copy [OPTIONS] FROM TO\n"
	      "\n"
	      "Copies the ring FROM, a device, a ring file or a snapshot, to the file TO: a\n"
	      "snapshot if its name ends in .zst, otherwise a ring file, in which what is zero\n"
	      "takes no room. TO appears when it is complete and on disk. Events are numbered\n"
	      "from 1 in it, as in a snapshot, and those that were overwritten while they were\n"
	      "being copied are counted as missed; 'monad-ring info' tells where they come\n"
	      "from. Snapshots of snapshots are what they were.\n"
	      "\n"
	      "Options:\n"
	      "  -f, --force     replace TO if it is there\n"
	      "  -S, --snapshot  TO is a snapshot, whatever its name\n"
	      "  -j, --json      print JSON\n"
	      "  -h, --help      this\n"
	      "\n"
	      "EXAMPLES\n"
	      "  monad-ring copy monad_ring ./ring\n"
	      "  monad-ring copy ./incident.zst ./ring\n"
	      "  monad-ring copy --force ./ring incident.zst\n",
	      stdout);
}

static bool fail(const struct copy *copy, const char *what, int err)
{
	complain("cannot %s %s: %s", what, copy->to, strerror(err));
	return false;
}

static bool fail_to(const struct copy *copy, const char *what)
{
	return fail(copy, what, errno);
}

/*
 * Nothing of anybody's is replaced that should not be. *@lock becomes what is there now, locked,
 * so that no writer takes it up, until it is closed; or -1.
 */
static bool check_to(const struct copy *copy, int *lock)
{
	struct stat st;
	pid_t pid = 0;

	*lock = -1;
	if (lstat(copy->to, &st) != 0)
		return errno == ENOENT || fail_to(copy, "look at");
	if (st.st_dev == copy->from.st.st_dev && st.st_ino == copy->from.st.st_ino) {
		complain("%s and %s are the same file", copy->from.path, copy->to);
		return false;
	}
	if (!copy->force) {
		complain("%s exists; --force replaces it", copy->to);
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		complain("%s is no regular file, and was left alone", copy->to);
		return false;
	}
	*lock = open(copy->to, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*lock < 0)
		return fail_to(copy, "open");
	/* Shared is enough; where there are no locks, no writer has one. */
	if (flock(*lock, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return true;
	if (monad_event_ring_query_excl_writer_pid(*lock, &pid) == 0)
		complain("process %d writes to %s, which was left alone", (int)pid, copy->to);
	else
		complain("a process that cannot be seen from here writes to %s, which was left "
			 "alone", copy->to);
	close(*lock);
	*lock = -1;
	return false;
}

/* Before all is copied, so that it is not in vain. */
static bool check_to_early(const struct copy *copy)
{
	int lock;
	bool good = check_to(copy, &lock);

	if (lock >= 0)
		close(lock);
	return good;
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0;
}

static bool write_all(int fd, const uint8_t *bytes, size_t len, off_t pos)
{
	while (len) {
		ssize_t n = pwrite(fd, bytes, len, pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
		pos += n;
	}
	return true;
}

/* Those blocks of a piece that are not all zero. */
static bool write_piece(int fd, const uint8_t *piece, size_t len, off_t pos)
{
	size_t done = 0, end;

	while (done < len) {
		size_t n = len - done < BLOCK ? len - done : BLOCK;

		if (is_zero(piece + done, n)) {
			done += n;
			continue;
		}
		for (end = done + n; end < len; end += n) {
			n = len - end < BLOCK ? len - end : BLOCK;
			if (is_zero(piece + end, n))
				break;
		}
		if (!write_all(fd, piece + done, end - done, pos + (off_t)done))
			return false;
		done = end;
	}
	return true;
}

/* Where the next data are; what is a hole in @fd is passed over without being read. */
static off_t next_data(int fd, off_t pos, off_t size)
{
	off_t data = lseek(fd, pos, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? size : pos;
	return data;
}

/* Copies file @from, up to its end as it is now, to the empty @to. */
static bool copy_bytes(struct copy *copy, int from, int to)
{
	uint8_t *piece;
	struct stat st;
	off_t pos = 0;
	ssize_t n = 1;

	if (fstat(from, &st) != 0 || ftruncate(to, st.st_size) != 0)
		return fail_to(copy, "write");
	piece = malloc(PIECE);
	if (!piece)
		return fail_to(copy, "write");
	while (n > 0 && !interrupted) {
		pos = next_data(from, pos, st.st_size);
		if (pos >= st.st_size)
			break;
		n = pread(from, piece, PIECE, pos);
		if (n < 0)
			complain("cannot read %s: %s", copy->from.path, strerror(errno));
		if (n > 0 && !write_piece(to, piece, (size_t)n, pos)) {
			fail_to(copy, "write");
			n = -1;
		}
		pos += n;
	}
	free(piece);
	if (interrupted)
		complain("interrupted; %s was not made", copy->to);
	copy->stats.file_size = (uint64_t)st.st_size;
	return n >= 0 && !interrupted;
}

static void stats_of_info(struct monad_event_snapshot_stats *stats,
			  const struct ring_handle *handle)
{
	const struct monad_event_snapshot_info *info =
		monad_event_ring_snapshot_info(&handle->ring);
	struct monad_event_descriptor event;
	uint64_t last = monad_event_ring_last_seqno(&handle->ring);

	stats->image_size = monad_event_ring_calc_storage(&handle->ring.header->size);
	stats->copied = last;
	if (monad_event_ring_try_copy(&handle->ring, monad_event_ring_oldest_seqno(&handle->ring),
				      &event))
		stats->first_epoch_nanos = event.record_epoch_nanos;
	if (monad_event_ring_try_copy(&handle->ring, last, &event))
		stats->last_epoch_nanos = event.record_epoch_nanos;
	if (!info) {
		stats->first_seqno = last ? 1 : 0;
		stats->last_seqno = last;
		return;
	}
	stats->first_seqno = info->first_seqno;
	stats->last_seqno = info->last_seqno;
	stats->copied = info->copied;
	stats->missed = info->missed;
	stats->expired = info->expired;
	stats->not_ready = info->not_ready;
	stats->base_seqno = info->base_seqno;
}

/* Of a snapshot, to a snapshot or a ring file: nothing becomes another event. */
static bool copy_snapshot(struct copy *copy, int to)
{
	bool done;
	int fd;

	stats_of_info(&copy->stats, &copy->from);
	if (copy->snapshot)
		return copy_bytes(copy, copy->from.fd, to);
	if (monad_event_decompress_snapshot_fd(copy->from.fd, MONAD_EVENT_NO_MAX_SIZE,
					       copy->from.path, &fd) != 0) {
		complain_lib();
		return false;
	}
	done = copy_bytes(copy, fd, to);
	close(fd);
	return done;
}

/* Of a ring that may be written to meanwhile, by way of a snapshot in memory. */
static bool copy_ring(struct copy *copy, int to)
{
	int compressed = -1, plain = -1;
	bool done = false;

	if (copy->snapshot) {
		if (monad_event_snapshot_write(&copy->from.ring, to, NULL, &copy->stats) == 0)
			return true;
		complain("%s: %s", copy->to, lib_error());
		return false;
	}
	compressed = memfd_create("copy", MFD_CLOEXEC);
	if (compressed < 0)
		return fail_to(copy, "have memory for");
	if (monad_event_snapshot_write(&copy->from.ring, compressed, NULL, &copy->stats) != 0 ||
	    monad_event_decompress_snapshot_fd(compressed, MONAD_EVENT_NO_MAX_SIZE,
					       copy->from.path, &plain) != 0)
		complain_lib();
	else
		done = copy_bytes(copy, plain, to);
	if (plain >= 0)
		close(plain);
	close(compressed);
	return done;
}

/* The copy is on disk, and then in its place, and then that is on disk. */
static bool publish(struct copy *copy, struct new_file *file)
{
	int lock = -1, err;

	err = new_file_sync(file);
	if (err)
		return fail(copy, "sync", err);
	/* A writer may have begun meanwhile. */
	if (copy->force && !check_to(copy, &lock))
		return false;
	err = new_file_publish(file, copy->force);
	if (lock >= 0)
		close(lock);
	if (err == EEXIST)
		complain("%s was made by somebody else meanwhile", copy->to);
	else if (err)
		fail(copy, "give its name to", err);
	return !err;
}

static bool is_on_hugetlbfs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == HUGETLBFS_MAGIC;
}

static bool make_copy(struct copy *copy)
{
	struct new_file file;
	bool done = false;
	int err = new_file_create(&file, copy->to);

	if (err)
		return fail(copy, "make a file for", err);
	if (is_on_hugetlbfs(file.fd))
		complain("%s would be on hugetlbfs, which is for rings that are written to; choose "
			 "another file system", copy->to);
	else if (copy->from.snapshot)
		done = copy_snapshot(copy, file.fd);
	else
		done = copy_ring(copy, file.fd);
	if (done && interrupted) {
		complain("interrupted; %s was not made", copy->to);
		done = false;
	}
	done = done && publish(copy, &file);
	err = new_file_close(&file);
	if (done && err)
		done = fail(copy, "close", err);
	return done;
}

static bool ends_in_zst(const char *name)
{
	const size_t len = strlen(name);

	return len > 4 && strcmp(name + len - 4, ".zst") == 0;
}

static int run(struct copy *copy, const char *from)
{
	bool done;

	if (ring_handle_open(&copy->from, from) != 0) {
		complain_lib();
		return EXIT_FAILED;
	}
	catch_interrupts();
	done = check_to_early(copy) && make_copy(copy);
	if (done)
		snapshot_report(stdout, copy->json, copy->to, &copy->stats);
	ring_handle_close(&copy->from);
	return done ? finish_output() : EXIT_FAILED;
}

int cmd_copy(int argc, char **argv, bool json)
{
	static const struct option options[] = {
		{"force", no_argument, NULL, 'f'},
		{"snapshot", no_argument, NULL, 'S'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct copy copy = {.json = json, .stats = {.size = sizeof(copy.stats)}};
	int opt;

	while ((opt = getopt_long(argc, argv, "fSjh", options, NULL)) != -1) {
		switch (opt) {
		case 'f':
			copy.force = true;
			break;
		case 'S':
			copy.snapshot = true;
			break;
		case 'j':
			copy.json = true;
			break;
		case 'h':
			print_help();
			return finish_output();
		default:
			return usage_error("copy", "unknown option", argv[optind - 1]);
		}
	}
	if (argc - optind != 2)
		return usage_error("copy", "wants two names: of a ring, and of the file to be made",
				   NULL);
	copy.to = argv[optind + 1];
	copy.snapshot |= ends_in_zst(copy.to);
	return run(&copy, argv[optind]);
}
