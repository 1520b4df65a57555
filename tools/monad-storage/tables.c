// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "pins.h"
#include "tables.h"

/* Maps all of a map; the number of its values, or -errno. */
static int map_values(const char *name, size_t value_size, const void **values, size_t *bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct bpf_map_info info = {};
	uint32_t size = sizeof(info);
	void *base;
	int fd, err;

	fd = pins_open_map(name, value_size);
	if (fd < 0)
		return fd;
	err = -bpf_obj_get_info_by_fd(fd, &info, &size);
	if (!err) {
		*bytes = (info.max_entries * value_size + page - 1) & ~(page - 1);
		base = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, fd, 0);
		err = base == MAP_FAILED ? errno : 0;
	}
	close(fd);
	if (err)
		return -err;
	*values = base;
	return (int)info.max_entries;
}

int table_open(struct table *table, const char *keys, const char *entries, size_t entry_size,
	       unsigned int each)
{
	const void *base = NULL;
	int n, err = 0;

	memset(table, 0, sizeof(*table));
	n = map_values(keys, sizeof(*table->buckets), &base, &table->keys_bytes);
	if (n < 0)
		return n;
	table->buckets = base;
	table->nr = (size_t)n * MONAD_STORAGE_WAYS;
	n = map_values(entries, entry_size, &base, &table->entries_bytes);
	if (n < 0) {
		err = n;
	} else {
		table->entries = base;
		table->entry_size = entry_size;
		table->each = each;
		/* Of another version of this program. */
		if (!each || n % each || n / each < table->nr)
			err = -EPROTO;
		else
			table->behind = n / each - table->nr;
	}
	if (err)
		table_close(table);
	return err;
}

void table_close(struct table *table)
{
	if (table->buckets)
		munmap((void *)table->buckets, table->keys_bytes);
	if (table->entries)
		munmap((void *)table->entries, table->entries_bytes);
	memset(table, 0, sizeof(*table));
}

static uint64_t key_of(const struct table *table, size_t nr)
{
	const uint64_t *keys = table->buckets->key;

	return __atomic_load_n(&keys[nr], __ATOMIC_ACQUIRE);
}

uint64_t table_next(const struct table *table, size_t *at)
{
	while (*at < table->nr) {
		uint64_t key = key_of(table, (*at)++);

		if (key)
			return key;
	}
	return 0;
}

const void *table_entry(const struct table *table, size_t nr)
{
	return table->entries + nr * table->each * table->entry_size;
}

bool table_copy(const struct table *table, size_t nr, uint64_t key, void *entry)
{
	if (key_of(table, nr) != key)
		return false;
	memcpy(entry, table_entry(table, nr), table->entry_size);
	/* What was copied was so before the key is looked at again. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return key_of(table, nr) == key;
}

void table_sum(const struct table *table, size_t nr, void *sum)
{
	const uint64_t *counters = table_entry(table, nr);
	size_t words = table->entry_size / sizeof(uint64_t);
	uint64_t *total = sum;

	memset(total, 0, table->entry_size);
	for (unsigned int i = 0; i < table->each; i++) {
		for (size_t word = 0; word < words; word++)
			total[word] += __atomic_load_n(counters++, __ATOMIC_RELAXED);
	}
}
