/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring of the kernel's: its memory, its recorder, its device.
 */
#ifndef MONAD_RING_RING_H
#define MONAD_RING_RING_H

#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/sizes.h>

#include "recorder.h"
#include "monad/ring_ioctl.h"

/* Rings that can exist at a time; a BPF program names one by its index. */
#define MONAD_RING_MAX 64

#define MONAD_RING_DEFAULT_NAME "monad_ring"
#define MONAD_RING_DEFAULT_DESC_SHIFT 18
#define MONAD_RING_DEFAULT_PAYLOAD_SHIFT 25

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

	u32 id;
	char name[MONAD_RING_NAME_MAX];
	struct monad_ring_memory memory;
	struct monad_event_ring_header *header;
	struct monad_ring_ext *ext;
	u64 payload_offset;
	struct mutex content_lock; /* content type and schema hash are set once */
	struct miscdevice misc;
};

/* A parsed configuration string: name[:descriptor-shift:payload-shift] */
struct monad_ring_config {
	char name[MONAD_RING_NAME_MAX];
	unsigned int desc_shift;
	unsigned int payload_shift;
};

/* main.c: rings by their id; NULL where there is none */
extern struct monad_ring *monad_rings[MONAD_RING_MAX];
/* events offered to rings that do not exist */
extern atomic64_t monad_ring_gone;
bool monad_ring_ready(void);

/* config.c */
int monad_ring_parse(const char *string, struct monad_ring_config *config);

/* memory.c */
int monad_ring_memory_alloc(struct monad_ring_memory *memory, const char *name, u64 size,
			    u64 payload_offset, u64 payload_size, int node);
void monad_ring_memory_free(struct monad_ring_memory *memory);
int monad_ring_memory_mmap(const struct monad_ring_memory *memory, struct vm_area_struct *vma);

/* ring.c */
struct monad_ring *monad_ring_create(const struct monad_ring_config *config, u32 id, int node);
void monad_ring_destroy(struct monad_ring *ring);
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
