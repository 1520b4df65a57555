// SPDX-License-Identifier: GPL-2.0
/*
 * A ring's memory: 2 MiB pages where they can be had, mapped once into the kernel and
 * read-only into any number of readers.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "ring.h"

#define CHUNK_ORDER (ilog2(MONAD_RING_CHUNK_PAGES))

/* No OOM kill, no warning: failing is answered with small pages, or an error message. */
#define CHUNK_GFP (__GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

/*
 * Fills pages of one chunk. Compound pages are freed by their last reference, so that a
 * page pinned through a mapping outlives the ring unharmed.
 */
static int alloc_chunk(struct monad_ring_memory *memory, u32 chunk, gfp_t gfp)
{
	struct page **pages = memory->pages + (u64)chunk * MONAD_RING_CHUNK_PAGES;
	gfp_t huge_gfp = gfp | __GFP_COMP;
	struct page *page;
	unsigned int i;

	/* Once that was not to be had, not every time: others lose what they have cached by it. */
	if (memory->chunks_huge < chunk)
		huge_gfp = (huge_gfp & ~__GFP_RETRY_MAYFAIL) | __GFP_NORETRY;
	page = alloc_pages_node(memory->node, huge_gfp, CHUNK_ORDER);
	if (page) {
		for (i = 0; i < MONAD_RING_CHUNK_PAGES; i++)
			pages[i] = page + i;
		__set_bit(chunk, memory->huge);
		memory->chunks_huge++;
		return 0;
	}
	for (i = 0; i < MONAD_RING_CHUNK_PAGES; i++) {
		pages[i] = alloc_pages_node(memory->node, gfp, 0);
		if (!pages[i])
			return -ENOMEM;
		cond_resched();
	}
	return 0;
}

static void free_chunk(struct monad_ring_memory *memory, u32 chunk)
{
	struct page **pages = memory->pages + (u64)chunk * MONAD_RING_CHUNK_PAGES;
	unsigned int i;

	if (test_bit(chunk, memory->huge)) {
		__free_pages(pages[0], CHUNK_ORDER);
		return;
	}
	for (i = 0; i < MONAD_RING_CHUNK_PAGES && pages[i]; i++)
		__free_page(pages[i]);
}

void monad_ring_memory_free(struct monad_ring_memory *memory)
{
	u32 chunk;

	if (memory->base)
		vunmap(memory->base);
	if (memory->pages && memory->huge) {
		for (chunk = 0; chunk < memory->chunks; chunk++) {
			free_chunk(memory, chunk);
			cond_resched();
		}
	}
	bitmap_free(memory->huge);
	vfree(memory->pages);
	memset(memory, 0, sizeof(*memory));
}

static unsigned long to_mib(u64 pages)
{
	return pages >> (20 - PAGE_SHIFT);
}

static int no_memory(const struct monad_ring_config *config, u64 nr)
{
	const char *name = config->name;

	pr_err_ratelimited("ring %s: %lu MiB asked for, %lu MiB of memory available%s: give smaller shifts (%s:DESCRIPTOR-SHIFT:PAYLOAD-SHIFT) or free memory\n",
			   name, to_mib(nr), to_mib(si_mem_available()),
			   config->account ? ", or less in its maker's control group" : "", name);
	return -ENOMEM;
}

/*
 * Refused before the attempt: trying would push everything else out of memory first. @nr
 * pages are wanted, @twice of them mapped a second time.
 */
static int check_size(const struct monad_ring_config *config, u64 nr, u64 twice)
{
	const char *name = config->name;
	u64 table = DIV_ROUND_UP_ULL((nr + twice) * sizeof(struct page *), PAGE_SIZE);
	u64 available = max(si_mem_available(), 0L);

	/* vmap() maps no more than the machine has. */
	if (nr + twice > totalram_pages()) {
		pr_err_ratelimited("ring %s: %lu MiB asked for, of which %lu MiB are mapped twice, on a machine of %lu MiB: give a smaller payload shift (%s:DESCRIPTOR-SHIFT:PAYLOAD-SHIFT)\n",
				   name, to_mib(nr), to_mib(twice), to_mib(totalram_pages()),
				   name);
		return -ENOMEM;
	}
	/* Not the last of it. */
	if (nr + table + totalram_pages() / 32 > available)
		return no_memory(config, nr);
	return 0;
}

/**
 * monad_ring_memory_alloc - allocate and map a ring's memory
 * @memory: filled in; freed with monad_ring_memory_free()
 * @config: of the ring: its name, for messages, NUMA node and accounting
 * @size: bytes, a multiple of 2 MiB
 * @payload_offset: of the part that is mapped a second time behind the end, bytes
 * @payload_size: bytes; @payload_offset + @payload_size == @size
 *
 * Return: 0, -ENOMEM, or -EINTR when the caller is being killed. Says in the log what was asked
 * for and what there is.
 */
int monad_ring_memory_alloc(struct monad_ring_memory *memory,
			    const struct monad_ring_config *config, u64 size, u64 payload_offset,
			    u64 payload_size)
{
	u64 nr = size >> PAGE_SHIFT, twice = payload_size >> PAGE_SHIFT;
	gfp_t gfp = monad_ring_gfp(config) | CHUNK_GFP;
	const char *name = config->name;
	u32 chunk;
	int err;

	memset(memory, 0, sizeof(*memory));
	err = check_size(config, nr, twice);
	if (err)
		return err;

	err = -ENOMEM;
	memory->size = size;
	memory->node = config->node;
	memory->chunks = size / MONAD_RING_CHUNK;
	/* Not kvcalloc(): that warns, from a ring of 512 GiB on. */
	memory->pages = __vcalloc(nr + twice, sizeof(*memory->pages),
				  monad_ring_gfp(config));
	memory->huge = bitmap_zalloc(memory->chunks, GFP_KERNEL);
	if (!memory->pages || !memory->huge)
		goto err;
	for (chunk = 0; chunk < memory->chunks; chunk++) {
		if (fatal_signal_pending(current)) {
			err = -EINTR;
			goto err;
		}
		if (alloc_chunk(memory, chunk, gfp))
			goto err;
		cond_resched();
	}

	memcpy(memory->pages + nr, memory->pages + (payload_offset >> PAGE_SHIFT),
	       twice * sizeof(*memory->pages));
	memory->base = vmap(memory->pages, nr + twice, VM_MAP, PAGE_KERNEL);
	if (!memory->base)
		goto err;

	if (memory->chunks_huge < memory->chunks)
		pr_warn("ring %s: %u of %u chunks are not huge pages, reading and writing will be slower: memory is fragmented, load the module earlier or write 1 to /proc/sys/vm/compact_memory first\n",
			name, memory->chunks - memory->chunks_huge, memory->chunks);
	return 0;
err:
	monad_ring_memory_free(memory);
	return err == -ENOMEM ? no_memory(config, nr) : err;
}

static const struct monad_ring_memory *memory_of(struct vm_area_struct *vma)
{
	return vma->vm_private_data;
}

/*
 * Maps the whole 2 MiB around the fault where both addresses allow. True when *@ret
 * answers the fault.
 */
static bool fault_huge(struct vm_fault *vmf, vm_fault_t *ret)
{
	const struct monad_ring_memory *memory = memory_of(vmf->vma);
	unsigned long start = vmf->address & PMD_MASK;
	pgoff_t pgoff;

	/* A kernel without (PREEMPT_RT) has no vmf_insert_pfn_pmd(). */
	if (!IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE))
		return false;
	/* Where page tables are made otherwise than of 2 MiB, small pages it is. */
	if (!IS_ALIGNED(MONAD_RING_CHUNK, PMD_SIZE) || (vmf->vma->vm_flags & VM_NOHUGEPAGE))
		return false;
	if (start < vmf->vma->vm_start || start + PMD_SIZE > vmf->vma->vm_end)
		return false;
	pgoff = linear_page_index(vmf->vma, start);
	if (pgoff % MONAD_RING_CHUNK_PAGES || !pmd_none(*vmf->pmd))
		return false;
	if (!test_bit(pgoff / MONAD_RING_CHUNK_PAGES, memory->huge))
		return false;
	*ret = compat_insert_pfn_pmd(vmf, page_to_pfn(memory->pages[pgoff]));
	return true;
}

static vm_fault_t ring_fault(struct vm_fault *vmf)
{
	const struct monad_ring_memory *memory = memory_of(vmf->vma);
	vm_fault_t ret;

	/* mmap checked the range, and a mapping cannot grow: this is for certainty. */
	if (vmf->pgoff >= memory->size >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	if (fault_huge(vmf, &ret))
		return ret;
	return vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(memory->pages[vmf->pgoff]));
}

#if COMPAT_HUGE_FAULT
static vm_fault_t ring_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	vm_fault_t ret;

	if (order == PMD_ORDER && fault_huge(vmf, &ret))
		return ret;
	return VM_FAULT_FALLBACK;
}
#endif

static const struct vm_operations_struct ring_vm_ops = {
	.fault = ring_fault,
#if COMPAT_HUGE_FAULT
	.huge_fault = ring_huge_fault,
#endif
};

/**
 * monad_ring_memory_mmap - map part of a ring into a reader
 * @memory: stays for as long as the file that is mapped
 * @vma: where
 *
 * Shared and read-only, now and later: readers and writers trust what the kernel wrote.
 *
 * Return: 0, -EINVAL for a private mapping or a range past the end, -EPERM for a writable
 * or executable one.
 */
int monad_ring_memory_mmap(const struct monad_ring_memory *memory, struct vm_area_struct *vma)
{
	u64 pages = memory->size >> PAGE_SHIFT;

	/* Not VM_SHARED: the core clears that for a file opened for reading only. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (vma->vm_pgoff >= pages || vma_pages(vma) > pages - vma->vm_pgoff)
		return -EINVAL;

	/*
	 * VM_HUGEPAGE: kernels before 6.12.115 obey the transparent huge page policy, that
	 * is for anonymous memory, here too.
	 */
	compat_vm_flags_mod(vma,
			    VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP |
			    (COMPAT_HUGE_FAULT ? VM_HUGEPAGE : 0),
			    VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_private_data = (void *)memory;
	vma->vm_ops = &ring_vm_ops;
	return 0;
}
