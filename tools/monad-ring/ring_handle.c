// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_snapshot.h>

#include "ring_handle.h"

const char *ring_handle_kind(const struct ring_handle *handle)
{
	return handle->device ? "device" : handle->snapshot ? "snapshot" : "file";
}

/* Maps what is open, by way of memory if it is a snapshot. */
static int map_ring(struct ring_handle *handle)
{
	int err, fd;

	if (monad_event_is_snapshot_file(handle->fd, handle->path, &handle->snapshot) != 0 ||
	    !handle->snapshot)
		return monad_event_ring_mmap(&handle->ring, PROT_READ, 0, handle->fd, 0,
					     handle->path);
	err = monad_event_decompress_snapshot_fd(handle->fd, monad_event_snapshot_open_limit(),
						 handle->path, &fd);
	if (err)
		return err;
	err = monad_event_ring_mmap(&handle->ring, PROT_READ, 0, fd, 0, handle->path);
	close(fd);
	return err;
}

int ring_handle_open(struct ring_handle *handle, const char *name)
{
	int err;

	memset(handle, 0, sizeof(*handle));
	handle->name = name;
	err = monad_event_ring_open_fd(name, &handle->fd, handle->path, sizeof(handle->path));
	if (err)
		return err;
	err = map_ring(handle);
	/* It can be mapped, so it can be asked as well, and is one of the two. */
	if (!err && fstat(handle->fd, &handle->st) != 0)
		err = errno;
	handle->device = !err && S_ISCHR(handle->st.st_mode);
	if (!err && handle->device)
		err = monad_event_ring_query_device(handle->fd, &handle->info);
	if (err)
		ring_handle_close(handle);
	return err;
}

void ring_handle_close(struct ring_handle *handle)
{
	monad_event_ring_unmap(&handle->ring);
	if (handle->fd >= 0)
		close(handle->fd);
	handle->fd = -1;
}

bool ring_handle_is_stale(const struct ring_handle *handle)
{
	struct monad_ring_info info;
	struct stat st;
	bool stale;
	int fd;

	if (!handle->device)
		return stat(handle->path, &st) == 0 &&
		       (st.st_dev != handle->st.st_dev || st.st_ino != handle->st.st_ino);
	if (monad_event_ring_open_fd(handle->path, &fd, NULL, 0) != 0)
		return false;
	stale = monad_event_ring_query_device(fd, &info) == 0 &&
		memcmp(info.uuid, handle->info.uuid, sizeof(info.uuid)) != 0;
	close(fd);
	return stale;
}

const char *ring_lost_name(unsigned int cause)
{
	static const char *const names[MONAD_RING_LOST_COUNT] = {
		[MONAD_RING_LOST_TOO_LARGE] = "too_large",
		[MONAD_RING_LOST_STALLED] = "stalled",
		[MONAD_RING_LOST_NO_SLOT] = "no_slot",
		[MONAD_RING_LOST_CONTENDED] = "contended",
		[MONAD_RING_LOST_BAD_ARG] = "bad_arg",
		[MONAD_RING_LOST_RING_GONE] = "ring_gone",
	};

	return cause < MONAD_RING_LOST_COUNT ? names[cause] : NULL;
}

const uint64_t *ring_handle_lost(const struct ring_handle *handle)
{
	const struct monad_ring_ext *ext;

	if (handle->device)
		return handle->info.lost;
	ext = monad_event_ring_ext(&handle->ring);
	return ext ? ext->lost : NULL;
}

uint64_t ring_handle_lost_total(const struct ring_handle *handle)
{
	const uint64_t *lost = ring_handle_lost(handle);
	uint64_t total = 0;

	for (unsigned int i = 0; lost && i < MONAD_RING_LOST_MAX; i++) {
		/* Offered to a ring that does not exist, so not lost by this one. */
		if (i == MONAD_RING_LOST_RING_GONE)
			continue;
		total += __atomic_load_n(&lost[i], __ATOMIC_RELAXED);
	}
	return total;
}

uint64_t ring_handle_discarded(const struct ring_handle *handle)
{
	const struct monad_ring_ext *ext = monad_event_ring_ext(&handle->ring);

	if (handle->device)
		return handle->info.discarded;
	return ext ? __atomic_load_n(&ext->discarded, __ATOMIC_RELAXED) : 0;
}

uint64_t ring_handle_wakeups(const struct ring_handle *handle)
{
	const struct monad_ring_ext *ext = monad_event_ring_ext(&handle->ring);

	/* Zero where the module is older than the field. */
	if (handle->device)
		return handle->info.wakeups;
	return ext ? __atomic_load_n(&ext->wakeups, __ATOMIC_RELAXED) : 0;
}

bool ring_handle_refresh(struct ring_handle *handle)
{
	struct monad_ring_info info;

	if (!handle->device)
		return true;
	if (monad_event_ring_query_device(handle->fd, &info) != 0)
		return false;
	handle->info = info;
	return true;
}

bool ring_handle_state(const struct ring_handle *handle, uint32_t *state)
{
	const struct monad_ring_ext *ext = monad_event_ring_ext(&handle->ring);

	if (ext)
		*state = __atomic_load_n(&ext->state, __ATOMIC_RELAXED);
	return ext;
}

const char *ring_state_name(uint32_t state)
{
	return state == MONAD_RING_STATE_LIVE	? "live"
	       : state == MONAD_RING_STATE_GONE ? "gone"
						: "unknown";
}

pid_t ring_handle_writer_pid(const struct ring_handle *handle)
{
	pid_t pid;

	if (handle->device || monad_event_ring_query_excl_writer_pid(handle->fd, &pid) != 0)
		return 0;
	return pid;
}

bool ring_handle_schema_known(const struct ring_handle *handle)
{
	/* Without a hash there is nothing to compare with. */
	return !monad_event_schema_hash(handle->ring.header->content_type) ||
	       monad_event_ring_schema_known(&handle->ring);
}
