// SPDX-License-Identifier: GPL-2.0
/*
 * Making, describing and taking down one ring.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <linux/ktime.h>
#include <linux/uuid.h>

#include "ring.h"

static s64 realtime_offset_ns(void)
{
	/* One look at both clocks: a step of one cannot come between. */
	return ktime_to_ns(ktime_mono_to_real(0));
}

static void fill_header(struct monad_ring *ring, const struct monad_ring_config *config)
{
	struct monad_event_ring_header *header = ring->header;
	struct monad_ring_ext *ext = ring->ext;
	uuid_t uuid;

	memcpy(header->magic, MONAD_EVENT_RING_MAGIC, sizeof(header->magic));
	header->content_type = config->content_type;
	memcpy(header->schema_hash, config->schema_hash, sizeof(header->schema_hash));
	header->size.descriptor_capacity = 1ULL << config->desc_shift;
	header->size.payload_buf_size = 1ULL << config->payload_shift;

	memcpy(ext->magic, MONAD_RING_EXT_MAGIC, sizeof(ext->magic));
	ext->size = sizeof(*ext);
	ext->abi_version = MONAD_RING_ABI_VERSION;
	uuid_gen(&uuid);
	export_uuid(ext->uuid, &uuid);
	ext->generation = ktime_get_boottime_ns();
	ext->realtime_offset_ns = realtime_offset_ns();
	ext->chunks_total = ring->memory.chunks;
	ext->chunks_huge = ring->memory.chunks_huge;
}

static int init_recorder(struct monad_ring *ring, const struct monad_ring_config *config)
{
	struct monad_recorder *r = &ring->recorder;
	u64 nr_slots = (u64)num_possible_cpus() * RECORDER_SLOTS;
	unsigned int cpu;
	int err;

	err = monad_recorder_init(r, ring->header,
				  ring->memory.base + MONAD_EVENT_RING_HEADER_SIZE,
				  ring->memory.base + ring->payload_offset, ring->ext, nr_slots);
	if (err) {
		pr_err_ratelimited("ring %s: descriptor shift %u and payload shift %u are too small for %u CPUs: take at least %u and %d\n",
				   config->name, config->desc_shift, config->payload_shift,
				   num_possible_cpus(), monad_recorder_min_desc_shift(nr_slots),
				   MONAD_RING_MIN_PAYLOAD_BUF_SHIFT);
		return err;
	}
	r->slots = alloc_percpu_gfp(struct monad_recorder_slots, monad_ring_gfp(config));
	if (!r->slots) {
		pr_err_ratelimited("ring %s: no memory for the record slots of %u CPUs\n",
				   config->name, num_possible_cpus());
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu)
		monad_recorder_init_slots(r, per_cpu_ptr(r->slots, cpu));
	return 0;
}

/**
 * monad_ring_create - make a ring, without its device
 * @config: as checked by monad_ring_parse()
 * @id: what BPF programs call it by
 *
 * Return: the ring, with one reference to it, for monad_ring_put(); -ENOMEM, -EINTR, or -ERANGE
 * when it is too small for this machine's CPUs. Says why in the log.
 */
struct monad_ring *monad_ring_create(const struct monad_ring_config *config, u32 id)
{
	u64 descs = ALIGN(sizeof(struct monad_event_descriptor) << config->desc_shift,
			  MONAD_EVENT_RING_ALIGN);
	u64 payload = 1ULL << config->payload_shift;
	struct monad_ring *ring;
	int err;

	ring = kzalloc(sizeof(*ring), GFP_KERNEL);
	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->id = id;
	kref_init(&ring->ref);
	strscpy(ring->name, config->name, sizeof(ring->name));
	mutex_init(&ring->content_lock);
	ring->payload_offset = MONAD_EVENT_RING_HEADER_SIZE + descs;

	err = monad_ring_memory_alloc(&ring->memory, config, ring->payload_offset + payload,
				      ring->payload_offset, payload);
	if (err)
		goto err_free;
	ring->header = ring->memory.base;
	ring->ext = ring->memory.base + MONAD_RING_EXT_OFFSET;
	fill_header(ring, config);
	err = init_recorder(ring, config);
	if (err)
		goto err_memory;
	monad_notify_init(&ring->notify, &ring->recorder);
	return ring;

err_memory:
	monad_ring_memory_free(&ring->memory);
err_free:
	kfree(ring);
	return ERR_PTR(err);
}

static void ring_free(struct kref *ref)
{
	struct monad_ring *ring = container_of(ref, struct monad_ring, ref);

	monad_notify_stop(&ring->notify);
	free_percpu(ring->recorder.slots);
	monad_ring_memory_free(&ring->memory);
	kfree(ring);
}

/* May sleep. The last reference goes after the last writer. */
void monad_ring_put(struct monad_ring *ring)
{
	kref_put(&ring->ref, ring_free);
}

/**
 * monad_ring_set_content - say what a ring holds, once
 * @ring: which
 * @content_type: enum monad_event_content_type, not NONE
 * @schema_hash: 32 bytes
 *
 * Return: 0, also when the same was said before; -EBUSY when something else was, or when
 * there are events already that may be of any kind.
 */
int monad_ring_set_content(struct monad_ring *ring, u16 content_type, const u8 *schema_hash)
{
	struct monad_event_ring_header *header = ring->header;
	int err = 0;

	mutex_lock(&ring->content_lock);
	if (header->content_type == MONAD_EVENT_CONTENT_TYPE_NONE) {
		if (READ_ONCE(header->control.last_seqno)) {
			err = -EBUSY;
			goto out;
		}
		memcpy(header->schema_hash, schema_hash, sizeof(header->schema_hash));
		/* A reader that sees the type sees the hash: monad_ring_info(). */
		smp_store_release(&header->content_type, content_type);
	} else if (header->content_type != content_type ||
		   memcmp(header->schema_hash, schema_hash, sizeof(header->schema_hash))) {
		err = -EBUSY;
	}
out:
	mutex_unlock(&ring->content_lock);
	return err;
}

/* Fills in everything about @ring, with sizes in bytes unless named otherwise. */
void monad_ring_info(struct monad_ring *ring, struct monad_ring_info *info)
{
	struct monad_event_ring_header *header = ring->header;
	struct monad_ring_ext *ext = ring->ext;
	unsigned int i;

	memset(info, 0, sizeof(*info));
	WRITE_ONCE(ext->realtime_offset_ns, realtime_offset_ns());

	info->size = sizeof(*info);
	info->abi_version = MONAD_RING_ABI_VERSION;
	info->ring_id = ring->id;
	info->flags = monad_ring_kfuncs_usable() ? MONAD_RING_F_KFUNCS : 0;
	strscpy(info->name, ring->name, sizeof(info->name));
	memcpy(info->uuid, ext->uuid, sizeof(info->uuid));
	/* Pairs with the release in monad_ring_set_content(). */
	info->content_type = smp_load_acquire(&header->content_type);
	if (info->content_type != MONAD_EVENT_CONTENT_TYPE_NONE)
		memcpy(info->schema_hash, header->schema_hash, sizeof(info->schema_hash));
	info->numa_node = ring->memory.node;
	info->descriptor_capacity = header->size.descriptor_capacity;
	info->payload_buf_size = header->size.payload_buf_size;
	info->context_area_size = header->size.context_area_size;
	info->descriptor_offset = MONAD_EVENT_RING_HEADER_SIZE;
	info->payload_offset = ring->payload_offset;
	info->context_offset = ring->memory.size;
	info->map_size = ring->memory.size;
	info->last_seqno = READ_ONCE(header->control.last_seqno);
	info->next_payload_byte = READ_ONCE(header->control.next_payload_byte);
	info->buffer_window_start = READ_ONCE(header->control.buffer_window_start);
	info->max_event_size = ring->recorder.max_size;
	info->chunks_total = ring->memory.chunks;
	info->chunks_huge = ring->memory.chunks_huge;
	info->realtime_offset_ns = READ_ONCE(ext->realtime_offset_ns);
	for (i = 0; i < MONAD_RING_LOST_COUNT; i++)
		info->lost[i] = READ_ONCE(ext->lost[i]);
	info->lost[MONAD_RING_LOST_RING_GONE] = atomic64_read(&monad_ring_gone);
	info->discarded = READ_ONCE(ext->discarded);
	info->wakeups = READ_ONCE(ext->wakeups);
	info->generation = ext->generation;
	info->state = READ_ONCE(ext->state);
}
