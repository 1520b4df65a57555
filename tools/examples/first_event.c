// SPDX-License-Identifier: GPL-2.0
/* The loader and the reader: makes a ring, attaches the writer, prints what comes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_wait.h>

#include "first_event.h"
#include "first_event.skel.h"

static int follow(int fd, const struct monad_event_ring *ring)
{
	struct monad_event_descriptor event;
	struct monad_event_iterator it;
	struct monad_event_waiter waiter;
	struct first_exit e;
	int err;

	if (monad_event_ring_init_iterator(ring, &it) || monad_event_waiter_init(&waiter, fd)) {
		fprintf(stderr, "%s\n", monad_event_ring_get_last_error());
		return 1;
	}
	monad_event_iterator_set_seqno(&it, monad_event_ring_last_seqno(ring) + 1);
	printf("recording\n");
	for (;;) {
		fflush(stdout);
		switch (monad_event_iterator_try_next(&it, &event)) {
		case MONAD_EVENT_SUCCESS:
			if (event.event_type == FIRST_EXIT &&
			    monad_event_iterator_payload_memcpy(&it, &event, &e, sizeof(e)))
				printf("%llu: %s, pid %u\n", (unsigned long long)event.seqno,
				       e.comm, e.pid);
			break;
		case MONAD_EVENT_NOT_READY: /* sleep until it is */
			err = monad_event_waiter_wait(&waiter, &it, 1, -1);
			if (err)
				return err == EINTR ? 0 : 1;
			break;
		case MONAD_EVENT_GAP: /* we were too slow, and are told by how much */
			printf("missed %llu\n",
			       (unsigned long long)monad_event_iterator_recover(&it));
			break;
		}
	}
}

int main(void)
{
	struct monad_ring_create create = {
		.size = sizeof(create), .name = "first", .numa_node = -1,
		.descriptors_shift = 12, .payload_shift = 21, /* 4096 events, 2 MiB */
		.content_type = MONAD_EVENT_CONTENT_TYPE_PRIVATE,
	};
	int control = open("/dev/monad_ring", O_RDONLY | O_CLOEXEC), fd;
	struct monad_event_ring ring = { 0 };
	struct first_event_bpf *skel;
	struct monad_ring_info info;

	if (control < 0 || (access("/dev/monad_ring-first", F_OK) &&
			    ioctl(control, MONAD_RING_IOC_CREATE, &create))) {
		fprintf(stderr, "the ring cannot be made: %s\n", strerror(errno));
		return 1;
	}
	if (monad_event_ring_open_fd("first", &fd, NULL, 0) ||
	    monad_event_ring_query_device(fd, &info) ||
	    monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, "first")) {
		fprintf(stderr, "%s\n", monad_event_ring_get_last_error());
		return 1;
	}
	skel = first_event_bpf__open();
	if (!skel)
		return 1;
	skel->rodata->ring_id = info.ring_id;
	if (first_event_bpf__load(skel) || first_event_bpf__attach(skel))
		return 1; /* libbpf has said why */
	return follow(fd, &ring);
}
