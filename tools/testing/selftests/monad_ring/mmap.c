// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings: shared and read-only for good, within the ring, in huge pages where they fit,
 * and none of what else one can do to a mapping does harm.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include "kselftest_harness.h"

#include "writers.h"

#define PAGE 4096UL
#define SIZE (6 * MIB) /* of the small ring: header, descriptors, payload */
#define PAYLOAD_OFFSET (4 * MIB)

FIXTURE(map)
{
	struct writers writers;
	int fd;             /* as a reader has it */
	int rw;             /* what only root can get, and what must not help */
	const uint8_t *all; /* the whole ring, to compare with */
};

FIXTURE_SETUP(map)
{
	SETUP_WRITERS(&self->writers, SMALL);
	self->fd = self->writers.ring.fd;
	self->all = self->writers.ring.base;
	self->rw = open("/dev/monad_ring-small", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->rw);
	/* Something to look at in each page. */
	self->writers.writer[0].min_len = 2032;
	self->writers.writer[0].max_len = 2048;
	ASSERT_EQ(0, writers_burst(&self->writers, 0, 2 * SMALL_CAPACITY));
	ASSERT_EQ(2 * SMALL_CAPACITY, self->writers.writer[0].committed);
}

FIXTURE_TEARDOWN(map)
{
	close(self->rw);
	writers_teardown(&self->writers);
}

/* mmap of the ring: the address, or a negative errno in place of it. */
static void *map(int fd, size_t len, int prot, int flags, off_t offset)
{
	void *p = mmap(NULL, len, prot, flags, fd, offset);

	return p == MAP_FAILED ? (void *)(long)-errno : p;
}

static void *map_ro(int fd, size_t len, off_t offset)
{
	return map(fd, len, PROT_READ, MAP_SHARED, offset);
}

#define EXPECT_ERROR(error, expression) EXPECT_EQ((void *)(long)-(error), (expression))
#define ASSERT_MAPPED(p) ASSERT_GT((void *)-4095L, (void *)(p))

TEST_F(map, write_refused)
{
	EXPECT_ERROR(EACCES, map(self->fd, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
	EXPECT_ERROR(EPERM, map(self->rw, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
	EXPECT_ERROR(EPERM, map(self->rw, PAGE, PROT_WRITE, MAP_SHARED, 0));
	EXPECT_ERROR(EPERM, map(self->rw, SIZE, PROT_WRITE, MAP_SHARED, 0));
}

TEST_F(map, exec_refused)
{
	EXPECT_ERROR(EPERM, map(self->fd, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, 0));
	EXPECT_ERROR(EPERM, map(self->fd, PAGE, PROT_EXEC, MAP_SHARED, 0));
	EXPECT_ERROR(EPERM, map(self->rw, PAGE, PROT_EXEC, MAP_SHARED, 0));
}

TEST_F(map, private_refused)
{
	EXPECT_ERROR(EINVAL, map(self->fd, PAGE, PROT_READ, MAP_PRIVATE, 0));
	EXPECT_ERROR(EINVAL, map(self->fd, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0));
	EXPECT_ERROR(EINVAL, map(self->rw, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0));
}

/* Neither at once nor later, touched or not, huge or not. */
TEST_F(map, mprotect_refused)
{
	int fds[] = { self->fd, self->rw };
	unsigned int i;
	uint8_t *p;

	for (i = 0; i < 4; i++) {
		p = map_ro(fds[i % 2], SIZE, 0);
		ASSERT_MAPPED(p);
		if (i / 2)
			EXPECT_EQ('R', *(volatile uint8_t *)p);
		EXPECT_NE(0, mprotect(p, SIZE, PROT_READ | PROT_WRITE));
		EXPECT_EQ(EACCES, errno);
		EXPECT_NE(0, mprotect(p, SIZE, PROT_WRITE));
		EXPECT_EQ(EACCES, errno);
		EXPECT_NE(0, mprotect(p + PAGE, PAGE, PROT_READ | PROT_WRITE));
		EXPECT_EQ(EACCES, errno);
		EXPECT_NE(0, mprotect(p, SIZE, PROT_READ | PROT_EXEC));
		EXPECT_EQ(EACCES, errno);
		EXPECT_NE(0, mprotect(p, PAGE, PROT_EXEC));
		EXPECT_EQ(EACCES, errno);
		/* Less is fine, and back again. */
		EXPECT_EQ(0, mprotect(p, SIZE, PROT_NONE));
		EXPECT_EQ(0, mprotect(p, SIZE, PROT_READ));
		EXPECT_EQ(0, memcmp(p, self->all, SIZE));
		munmap(p, SIZE);
	}
}

TEST_F_SIGNAL(map, write_faults, SIGSEGV)
{
	uint8_t *p = map_ro(self->rw, SIZE, 0);

	*(volatile uint8_t *)(p + 64) = 0xff;
}

static const struct {
	off_t offset;
	size_t len;
} beyond[] = {
	{ 0, SIZE + PAGE },
	{ 0, 2 * SIZE },
	{ 0, 1UL << 40 },
	{ SIZE, PAGE },
	{ SIZE, CHUNK },
	{ SIZE - PAGE, 2 * PAGE },
	{ PAGE, SIZE },
	{ PAYLOAD_OFFSET, CHUNK + PAGE },
	{ 1L << 40, PAGE },
	{ INT64_MAX - PAGE + 1, PAGE },
	/* What would come out in the first pages if it was added up in too few bits. */
	{ -(off_t)PAGE, PAGE },
	{ -(off_t)PAGE, 2 * PAGE },
	{ -(off_t)CHUNK, 2 * CHUNK },
	{ 1L << 44, PAGE },
	{ (1L << 44) + SIZE, PAGE },
};

TEST_F(map, beyond_the_end)
{
	unsigned int i;
	long p;

	for (i = 0; i < ARRAY_SIZE(beyond); i++) {
		p = (long)map_ro(self->fd, beyond[i].len, beyond[i].offset);
		/* The kernel itself knows of offsets that overflow, and of huge lengths. */
		EXPECT_TRUE(p == -EINVAL || p == -EOVERFLOW || p == -ENOMEM) {
			TH_LOG("offset %#lx, %#lx bytes: %#lx", (long)beyond[i].offset,
			       beyond[i].len, p);
		}
	}
}

static const struct {
	off_t offset;
	size_t len;
} within[] = {
	{ 0, SIZE },
	{ 0, PAGE },
	{ 0, CHUNK },
	{ CHUNK, CHUNK },
	{ PAYLOAD_OFFSET, CHUNK },
	{ SIZE - PAGE, PAGE },
	{ CHUNK - PAGE, 2 * PAGE },
	/* A page off: nothing huge fits, but for what the address may make up for. */
	{ PAGE, SIZE - PAGE },
	{ PAGE, CHUNK },
	{ CHUNK + PAGE, 2 * CHUNK - PAGE },
	{ PAYLOAD_OFFSET + 3 * PAGE, 77 * PAGE },
};

TEST_F(map, within)
{
	unsigned int i;
	uint8_t *p;

	for (i = 0; i < ARRAY_SIZE(within); i++) {
		p = map_ro(self->fd, within[i].len, within[i].offset);
		ASSERT_MAPPED(p);
		EXPECT_EQ(0, memcmp(p, self->all + within[i].offset, within[i].len)) {
			TH_LOG("offset %#lx, %#lx bytes", (long)within[i].offset, within[i].len);
		}
		EXPECT_EQ(0, munmap(p, within[i].len));
	}
}

/* Two mappings of the payload in a row are one memory: what is behind its end is its start. */
TEST_F(map, payload_twice)
{
	const uint8_t *payload = self->all + PAYLOAD_OFFSET;
	const volatile uint64_t *first = (const void *)payload;
	const volatile uint64_t *second = (const void *)(payload + CHUNK);
	uint64_t before[2];
	unsigned int i;

	EXPECT_EQ(0, memcmp(payload, payload + CHUNK, CHUNK));
	/* And stays so, when written to. */
	for (i = 0; i < 4; i++) {
		before[0] = first[1000];
		before[1] = second[1000];
		EXPECT_EQ(before[0], before[1]);
		ASSERT_EQ(0, writers_burst(&self->writers, 0, SMALL_CAPACITY));
		EXPECT_NE(before[0], first[1000]);
		EXPECT_EQ(first[1000], second[1000]);
	}
	EXPECT_EQ(0, memcmp(payload, payload + CHUNK, CHUNK));
}

static long minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* Faults taken for touching each page of @len bytes. */
static long touch(const volatile uint8_t *p, size_t len)
{
	long before = minor_faults();
	size_t i;

	for (i = 0; i < len; i += PAGE)
		(void)p[i];
	return minor_faults() - before;
}

/* One fault for 2 MiB, at an address that the kernel chose. */
TEST_F(map, huge)
{
	struct ring ring;
	uint8_t *p;

	if (self->writers.ring.info.chunks_huge != 3)
		SKIP(return, "memory is fragmented: the ring is not in huge pages");
	minor_faults();
	p = map_ro(self->fd, SIZE, 0);
	ASSERT_MAPPED(p);
	EXPECT_EQ(0, (uintptr_t)p % CHUNK);
	EXPECT_GE(3 + 2, touch(p, SIZE));
	EXPECT_EQ(0, memcmp(p, self->all, SIZE));

	/* A larger one, as a reader maps it: 6 chunks, and 4 of them again. */
	ASSERT_EQ(0, ring_open(&ring, NULL));
	ASSERT_EQ(6, ring.info.chunks_huge);
	EXPECT_GE(10 + 2, touch(ring.base, ring.mapped));
	ring_close(&ring);
}

/* Small pages where addresses do not allow huge ones. */
TEST_F(map, small_pages)
{
	uint8_t *room = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *p;

	ASSERT_NE(MAP_FAILED, room);
	/* A whole chunk, at an address one page from where it could be huge. */
	p = (uint8_t *)(((uintptr_t)room + CHUNK - 1) & ~(CHUNK - 1)) + PAGE;
	p = mmap(p, SIZE, PROT_READ, MAP_SHARED | MAP_FIXED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	EXPECT_LE(SIZE / PAGE / 16, touch(p, SIZE));
	EXPECT_EQ(0, memcmp(p, self->all, SIZE));
}

TEST_F(map, mremap)
{
	uint8_t *p = map_ro(self->fd, SIZE, 0), *room, *moved;

	ASSERT_MAPPED(p);
	/* Growing would reach past what was checked. */
	EXPECT_EQ(MAP_FAILED, mremap(p, SIZE, SIZE + PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(MAP_FAILED, mremap(p, SIZE, SIZE + CHUNK, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(MAP_FAILED, mremap(p, CHUNK, 2 * CHUNK, MREMAP_MAYMOVE));
	EXPECT_EQ(0, memcmp(p, self->all, SIZE));

	/* Elsewhere, where it stays huge, and where it cannot. */
	room = mmap(NULL, 4 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, room);
	room = (uint8_t *)(((uintptr_t)room + CHUNK - 1) & ~(CHUNK - 1));
	moved = mremap(p, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	ASSERT_EQ(room, moved);
	EXPECT_EQ(0, memcmp(moved, self->all, SIZE));
	p = room + SIZE + 5 * PAGE;
	moved = mremap(moved, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, p);
	ASSERT_EQ(p, moved);
	EXPECT_EQ(0, memcmp(moved, self->all, SIZE));

	/* Smaller. */
	ASSERT_EQ(moved, mremap(moved, SIZE, CHUNK + PAGE, 0));
	EXPECT_EQ(0, memcmp(moved, self->all, CHUNK + PAGE));
}

TEST_F(map, partial_munmap)
{
	uint8_t *p = map_ro(self->fd, SIZE, 0);

	ASSERT_MAPPED(p);
	EXPECT_EQ(0, memcmp(p, self->all, SIZE));
	/* Out of the middle of what is mapped huge, and across two of them. */
	ASSERT_EQ(0, munmap(p + PAYLOAD_OFFSET + 10 * PAGE, PAGE));
	ASSERT_EQ(0, munmap(p + CHUNK - PAGE, 2 * PAGE));
	EXPECT_EQ(0, memcmp(p, self->all, CHUNK - PAGE));
	EXPECT_EQ(0, memcmp(p + CHUNK + PAGE, self->all + CHUNK + PAGE, CHUNK - PAGE));
	EXPECT_EQ(0, memcmp(p + PAYLOAD_OFFSET, self->all + PAYLOAD_OFFSET, 10 * PAGE));
	EXPECT_EQ(0, memcmp(p + PAYLOAD_OFFSET + 11 * PAGE, self->all + PAYLOAD_OFFSET + 11 * PAGE,
			    CHUNK - 11 * PAGE));
	EXPECT_EQ(-1, msync(p + CHUNK, PAGE, MS_ASYNC));
	EXPECT_EQ(ENOMEM, errno);
}

/* What a process may ask for, and need not get. */
TEST_F(map, advice)
{
	static const int advice[] = {
		MADV_NORMAL, MADV_WILLNEED, MADV_DONTNEED, MADV_REMOVE, MADV_FREE, MADV_COLD,
		MADV_PAGEOUT, MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_HUGEPAGE,
		MADV_NOHUGEPAGE, MADV_MERGEABLE, MADV_DODUMP, MADV_DOFORK, MADV_WIPEONFORK,
	};
	uint8_t *p = map_ro(self->fd, SIZE, 0);
	unsigned int i;

	ASSERT_MAPPED(p);
	for (i = 0; i < ARRAY_SIZE(advice); i++) {
		madvise(p, SIZE, advice[i]);
		EXPECT_EQ(0, memcmp(p, self->all, SIZE));
	}
	EXPECT_NE(0, madvise(p, SIZE, MADV_DONTNEED));
	EXPECT_NE(0, madvise(p, SIZE, MADV_REMOVE));
	EXPECT_NE(0, madvise(p, SIZE, MADV_WIPEONFORK));
	EXPECT_EQ(0, memcmp(p, self->all, SIZE));
}

TEST_F(map, locked_and_populated)
{
	uint8_t *p = map(self->fd, SIZE, PROT_READ, MAP_SHARED | MAP_POPULATE, 0);

	ASSERT_MAPPED(p);
	EXPECT_EQ(0, memcmp(p, self->all, SIZE));
	munmap(p, SIZE);

	p = map(self->fd, SIZE, PROT_READ, MAP_SHARED | MAP_LOCKED, 0);
	ASSERT_MAPPED(p);
	mlock(p, SIZE);
	EXPECT_EQ(0, memcmp(p, self->all, SIZE));
	EXPECT_EQ(0, munlock(p, SIZE));
	EXPECT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	munmap(p, SIZE);
	p = map_ro(self->fd, SIZE, 0);
	ASSERT_MAPPED(p);
	EXPECT_EQ(0, memcmp(p, self->all, SIZE));
	munlockall();
}

/* The kernel's own ways to somebody's memory: an error or the truth. */
TEST_F(map, other_ways_in)
{
	uint8_t *buffer = calloc(1, CHUNK), *zero = calloc(1, CHUNK);
	struct iovec local = { buffer, CHUNK };
	struct iovec remote = { (void *)self->all, CHUNK };
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC), fds[2];
	ssize_t n;

	n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	EXPECT_TRUE(n <= 0 || !memcmp(buffer, self->all, n));
	/* Never to write to it. */
	local.iov_base = zero;
	EXPECT_EQ(-1, process_vm_writev(getpid(), &local, 1, &remote, 1, 0));
	ASSERT_LE(0, mem);
	n = pread(mem, buffer, PAGE, (off_t)self->all);
	EXPECT_TRUE(n <= 0 || !memcmp(buffer, self->all, n));
	EXPECT_GE(0, pwrite(mem, zero, PAGE, (off_t)self->all));
	EXPECT_EQ(0, memcmp(self->all, "RING01", 6));

	/* Into a pipe by reference, and by copy. */
	ASSERT_EQ(0, pipe(fds));
	remote.iov_len = PAGE;
	n = vmsplice(fds[1], &remote, 1, 0);
	if (n > 0) {
		EXPECT_EQ(n, read(fds[0], buffer, n));
		EXPECT_EQ(0, memcmp(buffer, self->all, n));
	}
	EXPECT_EQ(PAGE, write(fds[1], self->all, PAGE));
	EXPECT_EQ(PAGE, read(fds[0], buffer, PAGE));
	EXPECT_EQ(0, memcmp(buffer, self->all, PAGE));
	/* The kernel does not write there on somebody's behalf either. */
	EXPECT_EQ(PAGE, write(fds[1], zero, PAGE));
	EXPECT_EQ(-1, read(fds[0], (void *)self->all, PAGE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0, memcmp(self->all, "RING01", 6));
	close(fds[0]);
	close(fds[1]);
	close(mem);
	free(buffer);
	free(zero);
}

TEST_F(map, fork)
{
	const volatile struct monad_event_ring_header *header = self->writers.ring.header;
	uint8_t *p = map_ro(self->fd, SIZE, 0);
	uint64_t last = header->control.last_seqno;
	int status, fds[2];
	pid_t pid;
	char go;

	ASSERT_MAPPED(p);
	EXPECT_EQ(0, memcmp(p, self->all, SIZE));
	ASSERT_EQ(0, pipe(fds));
	pid = fork();
	if (!pid) {
		/* What the parent mapped, what it writes later, and one's own. */
		if (memcmp(p, self->all, SIZE))
			_exit(1);
		if (read(fds[0], &go, 1) != 1)
			_exit(2);
		header = (void *)p;
		if (header->control.last_seqno != last + 10)
			_exit(3);
		if (mprotect(p, SIZE, PROT_READ | PROT_WRITE) == 0)
			_exit(4);
		munmap(p, SIZE);
		p = map_ro(self->fd, SIZE, 0);
		_exit(memcmp(p, self->all, SIZE) ? 5 : 0);
	}
	ASSERT_EQ(0, writers_burst(&self->writers, 0, 10));
	munmap(p, SIZE);
	ASSERT_EQ(1, write(fds[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* What the kernel knows of the mapping: the flags of /proc/PID/smaps, or false. */
static bool vm_flags(const void *p, char *flags, size_t size)
{
	FILE *smaps = fopen("/proc/self/smaps", "re");
	char line[512], start[32];
	bool found = false, mine = false;

	snprintf(start, sizeof(start), "%lx-", (unsigned long)p);
	while (smaps && !found && fgets(line, sizeof(line), smaps)) {
		if (!strncmp(line, start, strlen(start)))
			mine = true;
		found = mine && !strncmp(line, "VmFlags:", 8);
	}
	if (smaps)
		fclose(smaps);
	if (found)
		snprintf(flags, size, "%s", line);
	return found;
}

TEST_F(map, vm_flags)
{
	/* It cannot grow and is no part of a core dump; and is not ever to be written. */
	static const char set[][4] = { " rd", " mr", " pf", " de", " dd" };
	static const char clear[][4] = { " wr", " mw", " ex", " me" };
	char flags[512];
	unsigned int i;
	void *p;

	p = map_ro(self->rw, SIZE, 0);
	ASSERT_MAPPED(p);
	if (!vm_flags(p, flags, sizeof(flags)))
		SKIP(return, "no /proc/PID/smaps");
	for (i = 0; i < ARRAY_SIZE(set); i++)
		EXPECT_TRUE(strstr(flags, set[i])) TH_LOG("no%s in %s", set[i], flags);
	for (i = 0; i < ARRAY_SIZE(clear); i++)
		EXPECT_FALSE(strstr(flags, clear[i])) TH_LOG("%s in %s", clear[i], flags);
}

/* A mapping outlives its file, and keeps the module. */
TEST_F(map, close_keeps_mapping)
{
	long refs;
	uint8_t *p;
	int fd;

	refs = module_refcnt();
	fd = ring_open_fd(SMALL);
	ASSERT_LE(0, fd);
	p = map_ro(fd, SIZE, 0);
	ASSERT_MAPPED(p);
	close(fd);
	EXPECT_EQ(refs + 1, module_refcnt());
	EXPECT_EQ(0, memcmp(p, self->all, SIZE));
	/* In two parts, the last of which lets go. */
	ASSERT_EQ(0, munmap(p + PAGE, SIZE - PAGE));
	EXPECT_EQ(refs + 1, module_refcnt());
	EXPECT_EQ(0, memcmp(p, "RING01", 6));
	ASSERT_EQ(0, munmap(p, PAGE));
	EXPECT_EQ(refs, module_refcnt());
}

TEST_F(map, mapped_keeps_module)
{
	uint8_t *p;
	int fd;

	writers_teardown(&self->writers);
	self->writers.bpf = NULL;
	close(self->rw);
	ASSERT_EQ(0, module_wait_refcnt(0));
	fd = ring_open_fd(SMALL);
	ASSERT_LE(0, fd);
	p = map_ro(fd, PAGE, PAYLOAD_OFFSET);
	ASSERT_MAPPED(p);
	close(fd);
	EXPECT_EQ(1, module_refcnt());
	EXPECT_GT(0, module_try_unload());
	EXPECT_TRUE(module_loaded());
	ASSERT_EQ(0, munmap(p, PAGE));
	EXPECT_EQ(0, module_unload());
}

TEST_HARNESS_MAIN
