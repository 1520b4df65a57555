/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring in a memory file: written by the recorder of the module, compiled in user space, and
 * read through the library, which maps it as it would map the device. Included after
 * kmod/recorder.c.
 */
#ifndef BENCH_NATIVE_RING_H
#define BENCH_NATIVE_RING_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_iterator.h>
#include <monad_event/event_ring.h>

#ifndef MFD_HUGETLB
#define MFD_HUGETLB 0x0004U
#endif

struct native_ring {
	struct monad_event_ring ring;  /* the recorder's mapping */
	struct monad_event_ring reader; /* read-only */
	struct monad_recorder r;
	struct monad_recorder_slots slots;
	int fd;
};

/* Bytes of what is mapped at @start that are in huge pages, from /proc/self/smaps. */
static inline size_t native_huge_bytes(const void *start, size_t len)
{
	unsigned long begin, end, kib;
	FILE *smaps = fopen("/proc/self/smaps", "re");
	bool inside = false;
	size_t sum = 0;
	char line[512];

	while (smaps && fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			inside = begin >= (unsigned long)start && end <= (unsigned long)start + len;
		else if (inside && (sscanf(line, "ShmemPmdMapped: %lu kB", &kib) == 1 ||
				    sscanf(line, "Shared_Hugetlb: %lu kB", &kib) == 1 ||
				    sscanf(line, "Private_Hugetlb: %lu kB", &kib) == 1))
			sum += kib << 10;
	}
	if (smaps)
		fclose(smaps);
	return sum;
}

static inline int native_map(struct native_ring *n, bool huge)
{
	int err = monad_event_ring_mmap(&n->ring, PROT_READ | PROT_WRITE, 0, n->fd, 0, "bench");

	if (!err)
		err = monad_event_ring_mmap(&n->reader, PROT_READ, 0, n->fd, 0, "bench");
	if (err)
		return err;
	madvise(n->ring.header, n->ring.map_size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	madvise(n->reader.header, n->reader.map_size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	/* The memory is there before anything is measured. */
	memset(n->ring.descriptors, 0, (n->ring.desc_capacity_mask + 1) * 64);
	memset(n->ring.payload_buf, 1, n->ring.payload_buf_mask + 1);
	return 0;
}

static inline void native_ring_destroy(struct native_ring *n)
{
	monad_event_ring_unmap(&n->reader);
	monad_event_ring_unmap(&n->ring);
	close(n->fd);
}

/*
 * A ring for one writer. @huge: in huge pages, those set aside or, if there are none,
 * transparent ones. NULL, or why that cannot be had.
 */
static inline const char *native_ring_create(struct native_ring *n, unsigned int desc_shift,
					     unsigned int payload_shift, bool huge)
{
	struct monad_event_ring_size size;
	static const uint8_t hash[32];
	static char why[200];
	size_t bytes;
	int i, err;

	memset(n, 0, sizeof(*n));
	if (monad_event_ring_init_size(desc_shift, payload_shift, 0, &size))
		return monad_event_ring_get_last_error();
	bytes = monad_event_ring_calc_storage(&size);
	for (i = huge ? 0 : 1; i < 2; i++) {
		n->fd = memfd_create("bench", MFD_CLOEXEC | (i ? 0 : MFD_HUGETLB));
		if (n->fd < 0)
			continue;
		/* Huge pages that are not there would be a SIGBUS later. */
		if (!ftruncate(n->fd, bytes) && (i || !fallocate(n->fd, 0, 0, bytes)))
			break;
		close(n->fd);
		n->fd = -1;
	}
	if (n->fd < 0)
		return strerror(errno);
	err = monad_event_ring_init_file(&size, MONAD_EVENT_CONTENT_TYPE_TEST, hash, n->fd, 0,
					 "bench");
	if (!err)
		err = native_map(n, huge);
	if (err) {
		snprintf(why, sizeof(why), "%s", monad_event_ring_get_last_error());
		native_ring_destroy(n);
		return why;
	}
	for (size_t at = 0; huge && at < n->reader.map_size; at += 4096)
		(void)*((volatile uint8_t *)n->reader.header + at);
	if (huge && native_huge_bytes(n->reader.header, n->reader.map_size) <
		    n->reader.map_size / 16 * 13) {
		native_ring_destroy(n);
		return "neither vm.nr_hugepages nor transparent huge pages of shared memory";
	}
	port_nr_cpus = 1;
	port_cpu = 0;
	monad_recorder_init_slots(&n->r, &n->slots);
	n->r.slots = &n->slots;
	if (monad_recorder_init(&n->r, n->ring.header, n->ring.descriptors, n->ring.payload_buf,
				(void *)((uint8_t *)n->ring.header + MONAD_RING_EXT_OFFSET),
				RECORDER_SLOTS)) {
		native_ring_destroy(n);
		return "the ring is too small";
	}
	return NULL;
}

#endif /* BENCH_NATIVE_RING_H */
