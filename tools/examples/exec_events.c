// SPDX-License-Identifier: GPL-2.0
/*
 * Events of one's own, from a BPF program to a reader, in a ring of one's own:
 *
 *	modprobe monad_ring rings=monad_ring,mine:16:24
 *	exec_events mine 3		prints the next three programs that start
 *
 * The ring outlives this program: "monad-ring dump mine" still has the events.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad/ring_ioctl.h>
#include <monad_event/event_iterator.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_wait.h>

#include "exec_events.h"
#include "exec_events.skel.h"

/* Says what the ring will hold, so that no other reader takes our events for its own. */
static int declare_content(int fd)
{
	struct monad_ring_content content = {
		.size = sizeof(content),
		.content_type = EXEC_EVENTS_CONTENT_TYPE,
	};

	return ioctl(fd, MONAD_RING_IOC_SET_CONTENT, &content);
}

static struct exec_events_bpf *attach(uint32_t ring_id)
{
	struct exec_events_bpf *skel = exec_events_bpf__open();

	if (!skel)
		return NULL;
	skel->rodata->ring_id = ring_id;
	if (exec_events_bpf__load(skel) || exec_events_bpf__attach(skel)) {
		exec_events_bpf__destroy(skel);
		return NULL;
	}
	return skel;
}

static void print(struct monad_event_iterator *it, const struct monad_event_descriptor *event)
{
	struct exec_event e;

	/* Never more than the event has, and never what has been overwritten meanwhile. */
	if (event->payload_size < sizeof(e) ||
	    !monad_event_iterator_payload_memcpy(it, event, &e, sizeof(e)))
		return;
	printf("%llu: %.16s, pid %u, uid %u\n", (unsigned long long)event->seqno, e.comm, e.pid,
	       e.uid);
	fflush(stdout);
}

static int follow(const struct monad_event_ring *ring, int fd, unsigned long count)
{
	struct monad_event_descriptor event;
	struct monad_event_waiter waiter;
	struct monad_event_iterator it;
	int err = 0;

	if (monad_event_ring_init_iterator(ring, &it) || monad_event_waiter_init(&waiter, fd))
		return -1;
	/* From the next one on. */
	monad_event_iterator_set_seqno(&it, monad_event_ring_last_seqno(ring) + 1);
	while (count && (!err || err == EINTR)) {
		switch (monad_event_iterator_try_next(&it, &event)) {
		case MONAD_EVENT_SUCCESS:
			if (event.event_type == EXEC_EVENT) {
				print(&it, &event);
				count--;
			}
			break;
		case MONAD_EVENT_NOT_READY:
			err = monad_event_waiter_wait(&waiter, &it, 1, -1);
			break;
		case MONAD_EVENT_GAP:
			fprintf(stderr, "missed %llu\n",
				(unsigned long long)monad_event_iterator_recover(&it));
			break;
		}
	}
	monad_event_waiter_destroy(&waiter);
	return count ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct monad_event_ring ring = { 0 };
	struct exec_events_bpf *skel = NULL;
	struct monad_ring_info info;
	char path[128];
	int fd = -1, status = 1;

	if (argc < 2) {
		fprintf(stderr, "usage: exec_events RING [COUNT]\n");
		return 2;
	}
	if (monad_event_ring_open_fd(argv[1], &fd, path, sizeof(path)) ||
	    monad_event_ring_query_device(fd, &info) ||
	    monad_event_ring_mmap(&ring, PROT_READ, 0, fd, 0, path)) {
		fprintf(stderr, "exec_events: %s\n", monad_event_ring_get_last_error());
		goto out;
	}
	if (declare_content(fd)) {
		fprintf(stderr, "exec_events: %s is for other events: %s\n", path, strerror(errno));
		goto out;
	}
	skel = attach(info.ring_id);
	if (!skel) {
		fprintf(stderr, "exec_events: the BPF program cannot be loaded: %s\n",
			strerror(errno));
		goto out;
	}
	fprintf(stderr, "recording to %s\n", path);
	if (follow(&ring, fd, argc > 2 ? strtoul(argv[2], NULL, 10) : ~0UL)) {
		fprintf(stderr, "exec_events: %s\n", monad_event_ring_get_last_error());
		goto out;
	}
	status = 0;
out:
	exec_events_bpf__destroy(skel);
	monad_event_ring_unmap(&ring);
	if (fd >= 0)
		close(fd);
	return status;
}
