// SPDX-License-Identifier: GPL-2.0
/*
 * A ring made when memory is so fragmented that not all of it can be in huge pages: it says
 * so, and works all the same.
 */
#include <sys/mman.h>

#include "kselftest_harness.h"

#include "writers.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

/* Enough for what the kernel allocates in more than a page at a time, and never a huge page. */
#define HOLE (16 * 4096UL)
#define LEFT_MIB 40   /* not fragmented */
#define RING_SHIFT 27 /* more than that */
#define RINGS "monad_ring:10:21,frag:10:27"

/* What the test sets for as long as it runs. */
#define COMPACT_UNEVICTABLE "/proc/sys/vm/compact_unevictable_allowed"
#define MIN_FREE "/proc/sys/vm/min_free_kbytes"

FIXTURE(fragmented)
{
	struct writers writers;
	struct reader reader;
	long compact_unevictable;
	long min_free;
	uint8_t *held;
	size_t size;
};

static bool write_number(const char *path, long n)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return false;
	fprintf(file, "%ld\n", n);
	return !fclose(file);
}

/*
 * Takes all memory but a little, in pages that nobody may move, and gives half of it back, in
 * many places.
 */
static bool fragment(FIXTURE_DATA(fragmented) *self)
{
	size_t i;

	/* The reserve would be in huge pages; 8 MiB of it will do. */
	if (!write_number(COMPACT_UNEVICTABLE, 0) || !write_number(MIN_FREE, 8192))
		return false;
	self->size = (available_mib() - LEFT_MIB) * MIB;
	self->held = mmap(NULL, self->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	if (self->held == MAP_FAILED || madvise(self->held, self->size, MADV_NOHUGEPAGE) ||
	    mlock(self->held, self->size))
		return false;
	for (i = 0; i + HOLE <= self->size; i += 2 * HOLE)
		if (madvise(self->held + i, HOLE, MADV_DONTNEED_LOCKED))
			return false;
	return true;
}

FIXTURE_SETUP(fragmented)
{
	long available;

	SETUP_MODULE(SMALL_RINGS);
	ASSERT_EQ(0, module_unload());
	available = available_mib();
	if (available < 400 || available > 4096)
		SKIP(return, "%ld MiB of memory: between 400 and 4096 can be filled", available);
	self->min_free = proc_number(MIN_FREE, "");
	self->compact_unevictable = proc_number(COMPACT_UNEVICTABLE, "");
	if (!fragment(self))
		SKIP(return, "cannot take up memory: %s", strerror(errno));
}

FIXTURE_TEARDOWN(fragmented)
{
	reader_free(&self->reader);
	writers_teardown(&self->writers);
	write_number(MIN_FREE, self->min_free);
	write_number(COMPACT_UNEVICTABLE, self->compact_unevictable);
	module_unload();
}

TEST_F_TIMEOUT(fragmented, small_pages, 120)
{
	long oom = proc_number("/proc/vmstat", "oom_kill ");
	struct writers *w = &self->writers;
	struct monad_ring_info *info = &w->ring.info;
	long free = free_mib();
	int kmsg = kmsg_open();
	char text[128], attribute[32];
	unsigned int i;

	ASSERT_EQ(0, writers_setup(w, RINGS, "frag"));
	EXPECT_EQ(2 + (1 << (RING_SHIFT - 21)), info->chunks_total);
	if (info->chunks_huge == info->chunks_total)
		SKIP(return, "all of %u chunks are huge pages still", info->chunks_total);
	TH_LOG("%u of %u chunks are huge pages", info->chunks_huge, info->chunks_total);
	snprintf(text, sizeof(text), "ring frag: %u of %u chunks are not huge pages",
		 info->chunks_total - info->chunks_huge, info->chunks_total);
	EXPECT_TRUE(kmsg_has(kmsg, text));
	ASSERT_EQ(0, sysfs_read("monad_ring-frag", "chunks_huge", attribute, sizeof(attribute)));
	EXPECT_EQ(info->chunks_huge, atoi(attribute));
	EXPECT_EQ(info->chunks_huge, w->ring.ext->chunks_huge);

	/* Each page of it, and some of them again. */
	reader_init(&self->reader, &w->ring, 1);
	w->writer[0].min_len = WRITER_MAX_LEN - 1000;
	w->writer[0].max_len = WRITER_MAX_LEN;
	for (i = 0; i < (9UL << RING_SHIFT) / 8 / WRITER_MAX_LEN; i += 10) {
		ASSERT_EQ(0, writers_burst(w, 0, 10));
		ASSERT_EQ(10, reader_drain(&self->reader));
	}
	EXPECT_EQ(0, self->reader.wrong);
	EXPECT_EQ(0, self->reader.missed);
	EXPECT_EQ(0, memcmp(w->ring.payload, w->ring.payload + info->payload_buf_size,
			    info->payload_buf_size));
	EXPECT_EQ(oom, proc_number("/proc/vmstat", "oom_kill "));
	close(kmsg);

	/*
	 * All of it comes back: half of the small pages would be more than that. But where all is
	 * slow with KASAN, that keeps a thirty-second part of memory for itself for a while; such a
	 * kernel notices leaks by itself.
	 */
	writers_teardown(w);
	w->bpf = NULL;
	ASSERT_EQ(0, module_unload());
	if (slowness() > 1)
		free -= proc_number("/proc/meminfo", "MemTotal:") / 1024 / 32;
	EXPECT_LT(free - 12, free_mib());
}

TEST_HARNESS_MAIN
