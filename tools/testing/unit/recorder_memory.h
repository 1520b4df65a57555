/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for a recorder under test: header, descriptors, and a payload buffer mapped
 * twice in a row. Included after the recorder.
 */
#ifndef MONAD_RECORDER_MEMORY_H
#define MONAD_RECORDER_MEMORY_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_CPUS 8

struct memory {
	struct monad_recorder r;
	struct monad_event_ring_header *header;
	struct monad_event_descriptor *descs;
	struct monad_ring_ext *ext;
	struct monad_recorder_slots *slots;
	u8 *payload;
	u64 size;
};

/* Zeroed memory, whole cache lines. */
static void *memory_get(size_t size)
{
	void *p = aligned_alloc(64, (size + 63) & ~63UL);

	if (!p)
		abort();
	return memset(p, 0, size);
}

static u8 *memory_map_twice(u64 size)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	u8 *p;

	if (fd < 0 || ftruncate(fd, size))
		abort();
	p = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED ||
	    mmap(p, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED ||
	    mmap(p + size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED)
		abort();
	close(fd);
	return p;
}

/*
 * A ring of 2^@desc_shift descriptors and 2^@payload_shift bytes for @cpus CPUs, which
 * goes on after @last_seqno and @next_byte. Returns what monad_recorder_init() does.
 */
static int memory_init(struct memory *m, unsigned int desc_shift, unsigned int payload_shift,
		       unsigned int cpus, u64 last_seqno, u64 next_byte)
{
	unsigned int cpu;

	memset(m, 0, sizeof(*m));
	m->size = 1ULL << payload_shift;
	m->header = memory_get(sizeof(*m->header));
	m->ext = memory_get(sizeof(*m->ext));
	m->descs = memory_get(sizeof(*m->descs) << desc_shift);
	m->slots = memory_get(sizeof(*m->slots) * cpus);
	m->payload = memory_map_twice(m->size);
	m->header->size.descriptor_capacity = 1ULL << desc_shift;
	m->header->size.payload_buf_size = m->size;
	m->header->control.last_seqno = last_seqno;
	m->header->control.next_payload_byte = next_byte;
	m->header->control.buffer_window_start = next_byte;
	port_nr_cpus = cpus;
	port_cpu = 0;
	for (cpu = 0; cpu < cpus; cpu++)
		monad_recorder_init_slots(&m->r, &m->slots[cpu]);
	m->r.slots = m->slots;
	return monad_recorder_init(&m->r, m->header, m->descs, m->payload, m->ext,
				   (u64)cpus * RECORDER_SLOTS);
}

static void memory_free(struct memory *m)
{
	munmap(m->payload, 2 * m->size);
	free(m->slots);
	free(m->descs);
	free(m->ext);
	free(m->header);
}

#endif /* MONAD_RECORDER_MEMORY_H */
