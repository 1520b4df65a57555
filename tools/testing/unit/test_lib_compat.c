// SPDX-License-Identifier: GPL-2.0
/*
 * Two programs as others have written them for event ring files, in one: a recorder, and a
 * watcher that follows what it writes until it ends. They use the calls that those programs
 * have always used, in the order in which they use them, and nothing of what this library has
 * besides; lib.mk compiles them as C11, C17 and C2x without any option of ours but include
 * paths.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_recorder.h>
#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>

#include "tap.h"

#define EVENTS 20000

static void fatal(const char *what)
{
	printf("Bail out! %s: %s\n", what, monad_event_ring_get_last_error());
	exit(1);
}

/*
 * The recorder
 */

static void write_blocks(struct monad_event_recorder *recorder)
{
	struct monad_event_descriptor *event;
	uint64_t block_seqno = 0, seqno, i;
	uint8_t *payload;

	for (i = 0; i < EVENTS; i++) {
		size_t size = i % 10 == 0 ? 8 : 8 + (size_t)(i % 700);

		event = monad_event_recorder_reserve(recorder, size, &seqno, &payload);
		if (!event) {
			if (seqno != 0 || payload)
				_exit(2);
			_exit(3);
		}
		event->event_type = i % 10 == 0 ? MONAD_EXEC_BLOCK_START : MONAD_EXEC_TXN_LOG;
		if (i % 10 == 0)
			block_seqno = seqno;
		event->content_ext[MONAD_FLOW_BLOCK_SEQNO] = block_seqno;
		event->content_ext[MONAD_FLOW_TXN_ID] = i % 10;
		event->content_ext[MONAD_FLOW_ACCOUNT_INDEX] = 0;
		memcpy(payload, &i, sizeof(i));
		memset(payload + 8, (int)(i % 251), size - 8);
		monad_event_recorder_commit(event, seqno);
		if (i % 500 == 499)
			usleep(1000);
	}
}

static int recorder_main(const char *path, const uint8_t *schema_hash, int ready_fd, int go_fd)
{
	struct monad_event_ring_size size;
	struct monad_event_recorder recorder;
	struct monad_event_ring ring;
	bool hugetlb = false;
	char temporary[512], go;
	int fd;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	fd = open(temporary, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd == -1 || flock(fd, LOCK_EX | LOCK_NB) == -1)
		_exit(4);
	if (monad_event_ring_init_size(16, 27, 0, &size) != 0)
		fatal("init_size");
	if (ftruncate(fd, (off_t)monad_event_ring_calc_storage(&size)) == -1)
		_exit(5);
	if (monad_event_ring_init_file(&size, MONAD_EVENT_CONTENT_TYPE_EXEC, schema_hash, fd, 0,
				       temporary) != 0)
		fatal("init_file");
	if (rename(temporary, path) == -1)
		_exit(6);
	if (monad_check_path_supports_map_hugetlb(path, &hugetlb) != 0)
		fatal("supports_map_hugetlb");
	if (monad_event_ring_mmap(&ring, PROT_READ | PROT_WRITE, hugetlb ? MAP_HUGETLB : 0, fd, 0,
				  path) != 0)
		fatal("mmap");
	close(fd);
	if (monad_event_ring_init_recorder(&ring, &recorder) != 0)
		fatal("init_recorder");
	if (write(ready_fd, "x", 1) != 1 || read(go_fd, &go, 1) != 1)
		_exit(7);
	write_blocks(&recorder);
	monad_event_ring_unmap(&ring);
	return 0;
}

/*
 * The watcher
 */

struct watch {
	uint64_t seen, wrong, expired, gaps, blocks, types[MONAD_EXEC_EVENT_COUNT];
};

static void look_at(const struct monad_event_ring *ring, const struct monad_event_descriptor *event,
		    struct watch *watch)
{
	static uint8_t copy[1024];
	const uint8_t *payload;
	uint64_t number = 0;

	watch->seen++;
	if (event->event_type >= MONAD_EXEC_EVENT_COUNT) {
		watch->wrong++;
		return;
	}
	watch->types[event->event_type]++;
	payload = monad_event_ring_payload_peek(ring, event);
	memcpy(&number, payload, sizeof(number));
	if (!monad_event_ring_payload_check(ring, event) ||
	    !monad_event_ring_payload_memcpy(ring, event, copy, event->payload_size)) {
		watch->expired++;
		return;
	}
	if (number + 1 != event->seqno || memcmp(copy, &number, sizeof(number)) != 0 ||
	    (event->payload_size > 8 && copy[event->payload_size - 1] != number % 251))
		watch->wrong++;
	if (event->content_ext[MONAD_FLOW_BLOCK_SEQNO] != 0) {
		struct monad_event_descriptor block;

		if (monad_event_ring_try_copy(ring, event->content_ext[MONAD_FLOW_BLOCK_SEQNO],
					      &block) &&
		    block.event_type == MONAD_EXEC_BLOCK_START)
			watch->blocks++;
	}
}

static bool writer_is_alive(int fd)
{
	pid_t pid;

	return monad_event_ring_query_excl_writer_pid(fd, &pid) == 0;
}

static void watcher_main(const char *path, const uint8_t *schema_hash, pid_t writer, int go_fd,
			 struct watch *watch)
{
	const struct timespec nap = {0, 100000};
	struct monad_event_descriptor event;
	struct monad_event_flock_info locks[4];
	struct monad_event_iterator iter;
	struct monad_event_ring ring;
	size_t n_locks = 4;
	char resolved[512];
	bool last_look = false;
	pid_t pid = 0;
	int fd;

	eq_int(monad_event_resolve_ring_file(MONAD_EVENT_DEFAULT_HUGETLBFS, path, resolved,
					     sizeof(resolved)), 0, "the file is found");
	fd = open(resolved, O_RDONLY);
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, MAP_POPULATE, fd, 0, resolved), 0,
	       "and mapped");
	eq_int(monad_event_ring_check_content_type(&ring, MONAD_EVENT_CONTENT_TYPE_EXEC,
						   schema_hash), 0, "its content type is right");
	ok(strcmp(g_monad_event_content_type_names[ring.header->content_type], "exec") == 0,
	   "and has a name");
	eq_int(monad_event_ring_query_excl_writer_pid(fd, &pid), 0, "somebody writes to it");
	eq_int(pid, writer, "the recorder, that is");
	ok(monad_event_ring_query_flocks(fd, locks, &n_locks) == 0 && n_locks == 1 &&
	   locks[0].lock == LOCK_EX && locks[0].pid == writer, "by its lock");
	eq_int(monad_event_ring_init_iterator(&ring, &iter), 0, "an iterator");
	monad_event_iterator_set_seqno(&iter, 1);
	ok(write(go_fd, "x", 1) == 1, "the recorder may begin");
	for (;;) {
		switch (monad_event_iterator_try_next(&iter, &event)) {
		case MONAD_EVENT_SUCCESS:
			look_at(&ring, &event, watch);
			continue;
		case MONAD_EVENT_GAP:
			watch->gaps++;
			monad_event_iterator_reset(&iter);
			continue;
		case MONAD_EVENT_NOT_READY:
			break;
		}
		if (last_look)
			break;
		last_look = !writer_is_alive(fd);
		nanosleep(&nap, NULL);
	}
	eq_int(monad_event_ring_query_excl_writer_pid(fd, &pid), EOWNERDEAD,
	       "in the end nobody does");
	close(fd);
	monad_event_ring_unmap(&ring);
	ok(!ring.header, "unmapped");
}

int main(void)
{
	char dir[] = "/tmp/monad-test-XXXXXX", path[64], ready;
	struct watch watch;
	uint8_t schema_hash[32];
	int status, fds[2], go[2];
	pid_t writer;

	memset(&watch, 0, sizeof(watch));
	memset(schema_hash, 0x5c, sizeof(schema_hash));
	if (!mkdtemp(dir) || pipe(fds) == -1 || pipe(go) == -1)
		bail_out("no directory, or no pipe");
	snprintf(path, sizeof(path), "%s/%s", dir, MONAD_EVENT_DEFAULT_EXEC_FILE_NAME);
	writer = fork();
	if (writer == 0)
		_exit(recorder_main(path, schema_hash, fds[1], go[0]));
	if (read(fds[0], &ready, 1) != 1)
		bail_out("the recorder did not start");
	watcher_main(path, schema_hash, writer, go[1], &watch);
	waitpid(writer, &status, 0);
	eq_int(status, 0, "the recorder ended well");
	eq_u64(watch.seen, EVENTS, "all events were seen");
	eq_u64(watch.wrong, 0, "none was wrong");
	eq_u64(watch.gaps + watch.expired, 0, "none was lost");
	eq_u64(watch.types[MONAD_EXEC_BLOCK_START], EVENTS / 10, "block starts");
	eq_u64(watch.types[MONAD_EXEC_TXN_LOG], EVENTS - EVENTS / 10, "logs");
	eq_u64(watch.blocks, EVENTS, "each leads to its block");
	unlink(path);
	rmdir(dir);
	return done_testing();
}
