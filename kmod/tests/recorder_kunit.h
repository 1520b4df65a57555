/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring for the recorder to be tested on, and events that can be recognized.
 */
#ifndef MONAD_RECORDER_KUNIT_H
#define MONAD_RECORDER_KUNIT_H

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "../recorder_port.h"

extern struct recorder_hook {
	/* Called where a writer can be interrupted so that it matters, if not NULL. */
	void (*step)(void);
} recorder_hook;
#undef port_step
#define port_step() recorder_step()

static __always_inline void recorder_step(void)
{
	typeof(recorder_hook.step) hook = READ_ONCE(recorder_hook.step);

	if (hook)
		hook();
}

#include "../recorder.h"

#define PAYLOAD_SHIFT MONAD_RING_MIN_PAYLOAD_BUF_SHIFT
#define PAYLOAD_SIZE BIT(PAYLOAD_SHIFT)
#define PAYLOAD_PAGES (PAYLOAD_SIZE / PAGE_SIZE)

struct test_ring {
	struct monad_recorder r;
	struct monad_event_ring_header *header;
	struct monad_event_descriptor *descs;
	struct monad_ring_ext *ext;
	struct page **pages; /* of the payload, and once more */
	u8 *payload;
	u64 capacity;
	u64 nr_slots;
};

static inline void test_ring_free(struct test_ring *ring)
{
	unsigned int i;

	free_percpu(ring->r.slots);
	if (ring->payload)
		vunmap(ring->payload);
	for (i = 0; ring->pages && i < PAYLOAD_PAGES && ring->pages[i]; i++)
		__free_page(ring->pages[i]);
	kvfree(ring->pages);
	kvfree(ring->descs);
	kfree(ring->ext);
	kfree(ring->header);
	kfree(ring);
}

/*
 * As ring.c makes one, of the smallest size that this machine's CPUs allow but for @times as many
 * descriptors, a power of two. NULL: no memory.
 */
static inline struct test_ring *test_ring_alloc(unsigned int times)
{
	struct test_ring *ring = kzalloc(sizeof(*ring), GFP_KERNEL);
	unsigned int cpu, i;

	if (!ring)
		return NULL;
	ring->nr_slots = (u64)num_possible_cpus() * RECORDER_SLOTS;
	ring->capacity = (u64)times << monad_recorder_min_desc_shift(ring->nr_slots);
	ring->header = kzalloc(sizeof(*ring->header), GFP_KERNEL);
	ring->ext = kzalloc(sizeof(*ring->ext), GFP_KERNEL);
	ring->descs = kvcalloc(ring->capacity, sizeof(*ring->descs), GFP_KERNEL);
	ring->pages = kvcalloc(2 * PAYLOAD_PAGES, sizeof(*ring->pages), GFP_KERNEL);
	if (!ring->header || !ring->ext || !ring->descs || !ring->pages)
		goto err;
	for (i = 0; i < PAYLOAD_PAGES; i++) {
		ring->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!ring->pages[i])
			goto err;
		ring->pages[PAYLOAD_PAGES + i] = ring->pages[i];
	}
	ring->payload = vmap(ring->pages, 2 * PAYLOAD_PAGES, VM_MAP, PAGE_KERNEL);
	if (!ring->payload)
		goto err;
	ring->header->size.descriptor_capacity = ring->capacity;
	ring->header->size.payload_buf_size = PAYLOAD_SIZE;
	if (monad_recorder_init(&ring->r, ring->header, ring->descs, ring->payload, ring->ext,
				ring->nr_slots))
		goto err;
	ring->r.slots = alloc_percpu(struct monad_recorder_slots);
	if (!ring->r.slots)
		goto err;
	for_each_possible_cpu(cpu)
		monad_recorder_init_slots(&ring->r, per_cpu_ptr(ring->r.slots, cpu));
	return ring;
err:
	test_ring_free(ring);
	return NULL;
}

/* Slots of all CPUs that are not free. */
static inline unsigned int test_ring_busy(struct test_ring *ring)
{
	unsigned int cpu, i, n = 0;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < RECORDER_SLOTS; i++) {
			struct monad_ring_record *rec = &per_cpu_ptr(ring->r.slots, cpu)->slot[i];

			n += READ_ONCE(rec->floor) != RECORDER_FREE ||
			     READ_ONCE(rec->seqno_floor) != RECORDER_FREE;
		}
	}
	return n;
}

static inline u64 test_ring_lost(struct test_ring *ring)
{
	u64 lost = 0;
	unsigned int i;

	for (i = 0; i < MONAD_RING_LOST_COUNT; i++)
		lost += READ_ONCE(ring->ext->lost[i]);
	return lost;
}

static inline struct monad_event_descriptor *test_ring_desc(struct test_ring *ring, u64 seqno)
{
	return &ring->descs[(seqno - 1) & (ring->capacity - 1)];
}

/* What byte @i of the payload of event @seqno is; every sixteen bytes another. */
static inline u8 pattern(u64 seqno, u64 i)
{
	return ((seqno * 0x9e3779b97f4a7c15ULL) >> 56) ^ (seqno >> 8) ^ (i >> 4) ^ (i >> 12);
}

static inline void fill(struct monad_ring_record *rec, u64 from, u64 to)
{
	u64 i, n;

	for (i = from; i < to; i += n) {
		n = min_t(u64, to - i, 16 - i % 16);
		memset(rec->payload + i, pattern(rec->seqno, i), n);
	}
}

/* Whether @data is the payload of event @seqno. */
static inline bool intact(const u8 *data, u64 seqno, u64 size)
{
	u64 i;

	for (i = 0; i < size; i += 16)
		if (memchr_inv(data + i, pattern(seqno, i), min_t(u64, size - i, 16)))
			return false;
	return true;
}

static inline u64 next_random(u64 *rng)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	*rng ^= *rng << 17;
	return *rng >> 20;
}

/* Mostly small ones; now and then one that takes the compare-and-swap. */
static inline u64 random_size(u64 *rng)
{
	u64 x = next_random(rng);

	switch (x & 31) {
	case 0:
		return 0;
	case 1:
		return 4097 + (x >> 8) % 60000;
	case 2:
	case 3:
		return (x >> 8) % 4097;
	default:
		return (x >> 8) % 200;
	}
}

void recorder_stress(struct kunit *test, struct test_ring *ring);

#endif /* MONAD_RECORDER_KUNIT_H */
