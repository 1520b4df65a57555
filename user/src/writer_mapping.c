// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * One writing process for each ring, and one core for each ring in it.
 *
 * Writers of different processes, or with different record slots, know nothing of each
 * other and would write over each other's events. So whoever makes the first recorder of a
 * ring needs the exclusive flock(2) on its file, for which monad_event_ring_mmap() kept a
 * descriptor; and a second mapping of the same ring gets no recorder.
 *
 * Locks belong to the open file, which a child of a fork shares: what it inherits is closed
 * there at once, so that the parent's lock ends with the parent.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_recorder.h>

#include "error.h"
#include "lock_holder.h"
#include "recorder_core.h"
#include "ring_resume.h"
#include "writer_mapping.h"

struct mapping {
	struct mapping *next;
	const struct monad_event_ring_header *header; /* where it is mapped */
	dev_t dev;
	ino_t ino;
	off_t offset; /* in the file */
	int fd;
	pid_t pid; /* pthread_atfork() sees no raw clone(2) */
	bool checked; /* its content is sound */
	struct monad_event_recorder_core_ *core; /* NULL: no recorder was made yet */
	char name[]; /* for messages */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping *mappings;

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork_in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void)
{
	while (mappings) {
		struct mapping *mapping = mappings;

		mappings = mapping->next;
		if (mapping->core)
			recorder_core_abandon(mapping->core);
		close(mapping->fd);
		free(mapping);
	}
	pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

int writer_mapping_add(const struct monad_event_ring *ring, int fd, const struct stat *st,
		       off_t offset, const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const size_t name_size = strlen(name) + 1;
	struct mapping *mapping;
	int err;

	pthread_once(&once, watch_forks);
	mapping = calloc(1, sizeof(*mapping) + name_size);
	if (!mapping)
		return FAIL(ENOMEM, "no memory to map event ring `%s`", name);
	/* Not where messages go: if standard error is closed, that is over the ring's header. */
	mapping->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (mapping->fd < 0) {
		err = FAIL(errno, "cannot keep event ring file `%s` open", name);
		free(mapping);
		return err;
	}
	memcpy(mapping->name, name, name_size);
	mapping->header = ring->header;
	mapping->dev = st->st_dev;
	mapping->ino = st->st_ino;
	mapping->offset = offset;
	mapping->pid = getpid();
	pthread_mutex_lock(&lock);
	mapping->next = mappings;
	mappings = mapping;
	pthread_mutex_unlock(&lock);
	return 0;
}

static struct mapping *find(const struct monad_event_ring *ring)
{
	const pid_t pid = getpid();

	for (struct mapping *mapping = mappings; mapping; mapping = mapping->next) {
		if (mapping->header == ring->header && mapping->pid == pid)
			return mapping;
	}
	return NULL;
}

void writer_mapping_remove(const struct monad_event_ring *ring)
{
	struct mapping *mapping, **link;

	pthread_mutex_lock(&lock);
	mapping = find(ring);
	if (mapping) {
		if (mapping->core)
			recorder_core_destroy(mapping->core);
		for (link = &mappings; *link != mapping; link = &(*link)->next)
			;
		*link = mapping->next;
		close(mapping->fd);
		free(mapping);
	}
	pthread_mutex_unlock(&lock);
}

/* Whether this process writes to the same ring through another mapping. */
static bool is_written_elsewhere(const struct mapping *mapping)
{
	for (const struct mapping *other = mappings; other; other = other->next) {
		if (other != mapping && other->core && other->pid == mapping->pid &&
		    other->dev == mapping->dev && other->ino == mapping->ino &&
		    other->offset == mapping->offset)
			return true;
	}
	return false;
}

/* No lock is needed where this process has it by another descriptor. */
static int take_file_lock(const struct mapping *mapping)
{
	char holder[LOCK_HOLDER_MAX];
	int err = lock_for_writing(mapping->fd);
	pid_t pid;

	if (!err)
		return 0;
	if (err != EWOULDBLOCK)
		return FAIL(err, "cannot lock event ring file `%s`", mapping->name);
	if (monad_event_ring_query_excl_writer_pid(mapping->fd, &pid) == 0 && pid == mapping->pid)
		return 0;
	return FAIL(EBUSY, "cannot write to event ring `%s`: it is locked by %s", mapping->name,
		    lock_holder(mapping->fd, holder));
}

static int make_core(const struct monad_event_ring *ring, struct mapping *mapping)
{
	struct monad_ring_ext *ext;
	uint64_t repaired;
	int err;

	if (is_written_elsewhere(mapping))
		return FAIL(EBUSY,
			    "event ring `%s` is mapped twice, and this process writes to it "
			    "through the other mapping",
			    mapping->name);
	err = take_file_lock(mapping);
	if (err)
		return err;
	ext = ring_writable_ext(ring);
	if (!mapping->checked) {
		err = ring_resume(ring, ext, mapping->name, &repaired);
		if (err)
			return err;
	}
	return recorder_core_create(ring, ext, mapping->name, &mapping->core);
}

int monad_event_ring_init_recorder(const struct monad_event_ring *ring,
				   struct monad_event_recorder *recorder)
{
	const int prot = PROT_READ | PROT_WRITE;
	struct mapping *mapping;
	int err = 0;

	if (!ring || !recorder)
		return FAIL(EFAULT, "%s is NULL", ring ? "recorder" : "event ring");
	recorder->core_ = NULL;
	if (!ring->header)
		return FAIL(EINVAL, "the event ring is not mapped");
	if ((ring->mmap_prot & prot) != prot)
		return FAIL(EACCES, "the event ring is not mapped for reading and writing");
	pthread_mutex_lock(&lock);
	mapping = find(ring);
	if (!mapping)
		err = FAIL_HINT(EINVAL,
				"a child of a fork has to open and map the file anew, once its "
				"parent has unmapped it",
				"the event ring was not mapped by monad_event_ring_mmap() in this "
				"process");
	else if (!mapping->core)
		err = make_core(ring, mapping);
	if (mapping && !err)
		recorder->core_ = mapping->core;
	pthread_mutex_unlock(&lock);
	return err;
}

void writer_mapping_set_checked(const struct monad_event_ring *ring)
{
	struct mapping *mapping;

	pthread_mutex_lock(&lock);
	mapping = find(ring);
	if (mapping)
		mapping->checked = true;
	pthread_mutex_unlock(&lock);
}

int writer_mapping_fd(const struct monad_event_ring *ring)
{
	struct mapping *mapping;
	int fd;

	pthread_mutex_lock(&lock);
	mapping = find(ring);
	fd = mapping ? mapping->fd : -1;
	pthread_mutex_unlock(&lock);
	return fd;
}

uint64_t writer_mapping_finish(const struct monad_event_ring *ring)
{
	struct mapping *mapping;
	uint64_t repaired = 0;

	pthread_mutex_lock(&lock);
	mapping = find(ring);
	if (mapping && mapping->core && recorder_core_is_busy(mapping->core))
		(void)ring_resume(ring, ring_writable_ext(ring), mapping->name, &repaired);
	pthread_mutex_unlock(&lock);
	return repaired;
}
