/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring of the kernel's: its memory, its recorder, its device.
 */
#ifndef MONAD_RING_RING_H
#define MONAD_RING_RING_H

#include <linux/gfp.h>
#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>

#include "config.h"
#include "notify.h"
#include "recorder.h"
#include "monad/ring_ioctl.h"

/* Rings that can exist at a time, a power of two. */
#define MONAD_RING_MAX 64

#define MONAD_RING_CHUNK SZ_2M
#define MONAD_RING_CHUNK_PAGES (MONAD_RING_CHUNK / PAGE_SIZE)

/*
 * Memory of a ring, in 2 MiB chunks. A chunk is one compound page, or as many small ones
 * where none was to be had.
 */
struct monad_ring_memory {
	u64 size;             /* bytes, without the second mapping of the payload */
	u32 chunks;
	u32 chunks_huge;
	int node;             /* NUMA node asked for, or NUMA_NO_NODE */
	struct page **pages;  /* size / PAGE_SIZE, then the payload's once more */
	unsigned long *huge;  /* bit per chunk */
	void *base;           /* all of it, contiguous, payload mapped twice in a row */
};

struct monad_ring {
	struct monad_recorder recorder;
	u32 id; /* what BPF programs call it by; read for each event */
	struct monad_notify notify;

	struct kref ref; /* one for the table of rings, one for each open file */
	char name[MONAD_RING_NAME_MAX];
	struct monad_ring_memory memory;
	struct monad_event_ring_header *header;
	struct monad_ring_ext *ext;
	u64 payload_offset;
	struct mutex content_lock; /* content type and schema hash are set once */
	struct miscdevice misc;
};

/* main.c */
bool monad_ring_ready(void);

/*
 * rings.c: the table of rings. The place of a ring is its id modulo MONAD_RING_MAX.
 *
 * BPF programs look a ring up there and use it until they end. A ring that is destroyed is
 * taken out first, and goes on existing until every program that may have seen it has ended:
 * one RCU grace period and one RCU tasks trace grace period, as for a BPF map.
 */
extern struct monad_ring __rcu *monad_rings[MONAD_RING_MAX];
/* events offered to rings that do not exist */
extern atomic64_t monad_ring_gone;

/* How all memory of a ring is asked for. */
static inline gfp_t monad_ring_gfp(const struct monad_ring_config *config)
{
	return GFP_KERNEL | (config->account ? __GFP_ACCOUNT : 0);
}

int monad_rings_init(const struct monad_ring_config *configs, u32 nr);
int monad_rings_register(void);
void monad_rings_exit(void);
int monad_rings_create(const struct monad_ring_config *config, u32 *id);
int monad_rings_destroy(const char *name);

/* The ring that has the place of @id, whatever its id, or NULL. For BPF programs. */
static __always_inline struct monad_ring *monad_ring_slot(u32 id)
{
	/* Programs of some types are covered by RCU tasks trace instead. */
	return rcu_dereference_raw(monad_rings[id % MONAD_RING_MAX]);
}

/* memory.c */
int monad_ring_memory_alloc(struct monad_ring_memory *memory,
			    const struct monad_ring_config *config, u64 size, u64 payload_offset,
			    u64 payload_size);
void monad_ring_memory_free(struct monad_ring_memory *memory);
int monad_ring_memory_mmap(const struct monad_ring_memory *memory, struct vm_area_struct *vma);

/* ring.c */
struct monad_ring *monad_ring_create(const struct monad_ring_config *config, u32 id);
void monad_ring_put(struct monad_ring *ring);
int monad_ring_set_content(struct monad_ring *ring, u16 content_type, const u8 *schema_hash);
void monad_ring_info(struct monad_ring *ring, struct monad_ring_info *info);

/* device.c */
extern const struct file_operations monad_ring_fops;

/* sysfs.c */
extern const struct attribute_group *monad_ring_groups[];
struct monad_ring *monad_ring_of(struct miscdevice *misc);

/* kfuncs.c */
int monad_ring_register_kfuncs(void);
bool monad_ring_kfuncs_usable(void);

#endif /* MONAD_RING_RING_H */
