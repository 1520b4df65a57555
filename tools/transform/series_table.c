// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "series_table.h"

#define INDEX_SIZE (2UL * SERIES_MAX)

struct series_table *series_table_new(uint64_t time_ns)
{
	struct series_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->time_ns = time_ns;
	table->index = calloc(INDEX_SIZE, sizeof(*table->index));
	if (table->index)
		return table;
	free(table);
	return NULL;
}

void series_table_free(struct series_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->nr; i++) {
		free(table->entries[i].key);
		free(table->entries[i].buckets);
	}
	free(table->entries);
	free(table->index);
	free(table);
}

/*
 * Labels
 */

/* Each has few values, but for cgroups: those are seen to in series.c. */
static bool is_kept(const char *name)
{
	static const char *const kept[] = {
		"device", "operation", "phase", "error", "state", "cgroup",
		"major", "minor", "kind", "model", "serial", "wwid", "dm_name", "version",
		"event", "cause", "hook", "part", "exporter", "target", "reason", "severity",
	};

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		if (!strcmp(name, kept[i]))
			return true;
	}
	return false;
}

void series_labels_of_sample(struct series_labels *labels, const struct sample *sample)
{
	labels->nr = 0;
	for (unsigned int i = 0; i < sample->nr_labels; i++) {
		if (!is_kept(sample->labels[i].name))
			continue;
		labels->name[labels->nr] = sample->labels[i].name;
		labels->value[labels->nr++] = sample->labels[i].value;
	}
}

void series_labels_of_entry(struct series_labels *labels, const struct series_entry *entry)
{
	const char *p = entry->key + strlen(entry->key) + 1;

	labels->nr = 0;
	while (p < entry->key + entry->key_size) {
		labels->name[labels->nr] = p;
		p += strlen(p) + 1;
		labels->value[labels->nr++] = p;
		p += strlen(p) + 1;
	}
}

const char **series_label(struct series_labels *labels, const char *name)
{
	for (unsigned int i = 0; i < labels->nr; i++) {
		if (!strcmp(labels->name[i], name))
			return &labels->value[i];
	}
	return NULL;
}

/*
 * The table
 */

static char *put_text(char *to, const char *text)
{
	return memcpy(to, text, strlen(text) + 1) + strlen(text) + 1;
}

/* NULL without memory. */
static char *make_key(const char *family, const struct series_labels *labels, size_t *size)
{
	char *key, *end;

	*size = strlen(family) + 1;
	for (unsigned int i = 0; i < labels->nr; i++)
		*size += strlen(labels->name[i]) + strlen(labels->value[i]) + 2;
	key = malloc(*size);
	if (!key)
		return NULL;
	end = put_text(key, family);
	for (unsigned int i = 0; i < labels->nr; i++) {
		end = put_text(end, labels->name[i]);
		end = put_text(end, labels->value[i]);
	}
	return key;
}

static uint64_t hash_of(const char *key, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)key[i]) * 0x100000001b3ULL;
	return hash ^ hash >> 32;
}

/* Where it is, or would be. */
static uint32_t *find_place(const struct series_table *table, const char *key, size_t size,
			    uint64_t hash)
{
	size_t at = hash;

	for (;; at++) {
		uint32_t *place = &table->index[at % INDEX_SIZE];
		const struct series_entry *entry;

		if (!*place)
			return place;
		entry = &table->entries[*place - 1];
		if (entry->hash == hash && entry->key_size == size &&
		    !memcmp(entry->key, key, size))
			return place;
	}
}

struct series_entry *series_find_same(const struct series_table *table,
				      const struct series_entry *entry)
{
	const uint32_t *place = find_place(table, entry->key, entry->key_size, entry->hash);

	return *place ? &table->entries[*place - 1] : NULL;
}

struct series_entry *series_find(const struct series_table *table, const char *family,
				 const struct series_labels *labels)
{
	struct series_entry like = {};
	struct series_entry *found;

	like.key = make_key(family, labels, &like.key_size);
	if (!like.key)
		return NULL;
	like.hash = hash_of(like.key, like.key_size);
	found = series_find_same(table, &like);
	free(like.key);
	return found;
}

/* Takes over @key. */
static struct series_entry *add(struct series_table *table, const struct family *family,
				char *key, size_t size, uint64_t hash)
{
	const size_t buckets = family->type == FAMILY_HISTOGRAM ? family->nr_bounds : 0;
	uint64_t *values = buckets ? calloc(buckets, sizeof(*values)) : NULL;
	struct series_entry *entry;

	if (table->nr == table->room) {
		const size_t room = table->room ? 2 * table->room : 64;

		entry = realloc(table->entries, room * sizeof(*entry));
		if (entry) {
			table->entries = entry;
			table->room = room;
		}
	}
	if (table->nr == table->room || (buckets && !values)) {
		free(values);
		free(key);
		return NULL;
	}
	entry = &table->entries[table->nr++];
	*entry = (struct series_entry){
		.key = key,
		.key_size = size,
		.hash = hash,
		.family = family,
		.buckets = values,
	};
	return entry;
}

struct series_entry *series_get(struct series_table *table, const struct family *family,
				const struct series_labels *labels, bool *full)
{
	struct series_entry *entry;
	uint32_t *place;
	uint64_t hash;
	size_t size;
	char *key;

	*full = false;
	key = make_key(family->name, labels, &size);
	if (!key)
		return NULL;
	hash = hash_of(key, size);
	place = find_place(table, key, size, hash);
	if (*place || table->nr == SERIES_MAX) {
		free(key);
		*full = !*place;
		return *place ? &table->entries[*place - 1] : NULL;
	}
	entry = add(table, family, key, size, hash);
	if (entry)
		*place = table->nr;
	return entry;
}

void series_add(struct series_entry *entry, const struct sample *sample)
{
	const struct family *family = entry->family;

	entry->sampled = true;
	entry->id = sample->id;
	if (family->merge == FAMILY_LARGEST && family->type != FAMILY_HISTOGRAM) {
		if (sample->value > entry->value)
			entry->value = sample->value;
		return;
	}
	entry->value += sample->value;
	entry->sum += sample->sum;
	for (size_t i = 0; entry->buckets && i < family->nr_bounds; i++)
		entry->buckets[i] += sample->buckets[i];
}
