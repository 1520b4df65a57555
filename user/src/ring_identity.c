// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "ring_identity.h"
#include "ring_resume.h"

/* A random one, version 4 of RFC 4122. */
static void make_uuid(uint8_t uuid[16])
{
	size_t have = 0;

	while (have < 16) {
		ssize_t len = getrandom(uuid + have, 16 - have, 0);

		if (len < 0 && errno != EINTR)
			break;
		have += len > 0 ? (size_t)len : 0;
	}
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

void ring_identity_boot_id(uint8_t boot_id[16])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char text[64], hex[3] = "";
	size_t i = 0;

	memset(boot_id, 0, 16);
	if (!file)
		return;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	for (const char *at = text; i < 16 && at[0] && at[1]; at += *at == '-' ? 1 : 2) {
		if (*at == '-')
			continue;
		hex[0] = at[0];
		hex[1] = at[1];
		boot_id[i++] = (uint8_t)strtoul(hex, NULL, 16);
	}
}

static int64_t nanos(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* The pair that was read with the least time between. */
static int64_t realtime_offset(void)
{
	int64_t best = INT64_MAX, offset = 0;

	for (int i = 0; i < 5; i++) {
		int64_t before = nanos(CLOCK_MONOTONIC);
		int64_t real = nanos(CLOCK_REALTIME);
		int64_t after = nanos(CLOCK_MONOTONIC);

		if (after - before < best) {
			best = after - before;
			offset = real - (before + (after - before) / 2);
		}
	}
	return offset;
}

bool ring_identity_create(const struct monad_event_ring *ring, uint64_t generation)
{
	uint8_t *bytes = (uint8_t *)ring->header + MONAD_RING_EXT_OFFSET;
	struct monad_ring_ext *ext = (struct monad_ring_ext *)bytes;

	for (size_t i = 0; i < sizeof(*ext); i++) {
		if (bytes[i])
			return false;
	}
	ext->size = sizeof(*ext);
	ext->abi_version = MONAD_RING_ABI_VERSION;
	ext->generation = generation;
	make_uuid(ext->uuid);
	/* Readers may have the ring mapped: the magic last. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(ext->magic, MONAD_RING_EXT_MAGIC, sizeof(ext->magic));
	return true;
}

void ring_identity_update(const struct monad_event_ring *ring, bool huge, uint64_t size)
{
	struct monad_ring_ext *ext = ring_writable_ext(ring);

	if (!ext)
		return;
	ring_identity_boot_id(ext->boot_id);
	ext->realtime_offset_ns = realtime_offset();
	ext->chunks_total = (uint32_t)(size / MONAD_EVENT_RING_ALIGN);
	ext->chunks_huge = huge ? ext->chunks_total : 0;
	__atomic_store_n(&ext->state, MONAD_RING_STATE_LIVE, __ATOMIC_RELEASE);
}

static bool read_ext(int fd, struct monad_ring_ext *ext)
{
	return pread(fd, ext, sizeof(*ext), MONAD_RING_EXT_OFFSET) == sizeof(*ext) &&
	       memcmp(ext->magic, MONAD_RING_EXT_MAGIC, sizeof(ext->magic)) == 0 &&
	       ext->size >= sizeof(*ext);
}

uint64_t ring_file_generation(int fd)
{
	struct monad_ring_ext ext;

	return read_ext(fd, &ext) ? ext.generation : 0;
}

void ring_file_retire(int fd)
{
	const uint32_t state = MONAD_RING_STATE_GONE;
	const off_t offset = MONAD_RING_EXT_OFFSET + offsetof(struct monad_ring_ext, state);
	struct monad_ring_ext ext;
	uint8_t *map;

	if (!read_ext(fd, &ext) || pwrite(fd, &state, sizeof(state), offset) == sizeof(state))
		return;
	/* hugetlbfs has no write(2). What was just read is there, so this is no SIGBUS. */
	map = mmap(NULL, MONAD_EVENT_RING_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return;
	__atomic_store_n((uint32_t *)(map + offset), state, __ATOMIC_RELEASE);
	munmap(map, MONAD_EVENT_RING_HEADER_SIZE);
}
