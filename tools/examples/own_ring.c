// SPDX-License-Identifier: GPL-2.0
/* A ring of one's own, for as long as the module is loaded. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "own_ring.h"

/* Makes the ring, if there is none: asking for one twice the module would put in the log. */
static bool make(const struct own_ring_config *config)
{
	struct monad_ring_create create = {
		.size = sizeof(create),
		.descriptors_shift = config->descriptors_shift,
		.payload_shift = config->payload_shift,
		.numa_node = -1,
		.content_type = config->content_type,
	};
	char path[sizeof("/dev/monad_ring-") + MONAD_RING_NAME_MAX];
	int fd, err = 0;

	if (strlen(config->name) >= sizeof(create.name)) {
		fprintf(stderr, "\"%s\" is too long for a ring's name\n", config->name);
		return false;
	}
	snprintf(path, sizeof(path), "/dev/monad_ring-%s", config->name);
	if (!access(path, F_OK))
		return true;
	memcpy(create.name, config->name, strlen(config->name));
	if (config->schema_hash)
		memcpy(create.schema_hash, config->schema_hash, sizeof(create.schema_hash));
	fd = open("/dev/monad_ring", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err = errno;
		fprintf(stderr, "/dev/monad_ring: %s%s\n", strerror(err),
			err == ENOENT ? " (is the module loaded? modprobe monad_ring)" : "");
		return false;
	}
	if (ioctl(fd, MONAD_RING_IOC_CREATE, &create) && errno != EEXIST) {
		err = errno;
		fprintf(stderr, "ring %s cannot be made: %s (dmesg may say more)\n", config->name,
			strerror(err));
	}
	close(fd);
	return !err;
}

/* The module refuses when something else was said before. */
static bool declare(int fd, const struct own_ring_config *config)
{
	struct monad_ring_content content = {
		.size = sizeof(content),
		.content_type = config->content_type,
	};

	if (config->schema_hash)
		memcpy(content.schema_hash, config->schema_hash, sizeof(content.schema_hash));
	if (!ioctl(fd, MONAD_RING_IOC_SET_CONTENT, &content))
		return true;
	fprintf(stderr, "ring %s: %s\n", config->name,
		errno == EBUSY ? "it holds events of another kind" : strerror(errno));
	return false;
}

bool own_ring_open(struct own_ring *own, const struct own_ring_config *config)
{
	struct monad_ring_info info;

	memset(own, 0, sizeof(*own));
	own->fd = -1;
	if (!make(config))
		return false;
	if (monad_event_ring_open_fd(config->name, &own->fd, NULL, 0) ||
	    monad_event_ring_query_device(own->fd, &info) ||
	    monad_event_ring_mmap(&own->ring, PROT_READ, 0, own->fd, 0, config->name) ||
	    monad_event_waiter_init(&own->waiter, own->fd)) {
		fprintf(stderr, "%s\n", monad_event_ring_get_last_error());
		own_ring_close(own);
		return false;
	}
	if (!declare(own->fd, config)) {
		own_ring_close(own);
		return false;
	}
	own->id = info.ring_id;
	return true;
}

void own_ring_close(struct own_ring *own)
{
	monad_event_waiter_destroy(&own->waiter);
	monad_event_ring_unmap(&own->ring);
	if (own->fd >= 0)
		close(own->fd);
	own->fd = -1;
}

bool own_ring_wait(struct own_ring *own, const struct monad_event_iterator *it, uint64_t batch,
		   unsigned int timeout_ms)
{
	const int err = monad_event_waiter_wait(&own->waiter, it, batch, timeout_ms * 1000000LL);

	if (!err || err == ETIMEDOUT || err == EINTR)
		return true;
	fprintf(stderr, "%s\n", monad_event_ring_get_last_error());
	return false;
}
