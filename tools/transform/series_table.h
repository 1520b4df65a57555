/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Series of metrics by family and labels, of which only those with few values are kept
 * (3): what differs in others only is one series.
 */
#ifndef TRANSFORM_SERIES_TABLE_H
#define TRANSFORM_SERIES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "families.h"

/* Of all families; what is beyond is left out, and counted. A power of two. */
#define SERIES_MAX 16384

struct series_labels {
	const char *name[SAMPLE_LABELS];
	const char *value[SAMPLE_LABELS];
	unsigned int nr;
};

struct series_entry {
	char *key; /* the family's name, then names and values of labels, each with its NUL */
	size_t key_size;
	uint64_t hash;
	const struct family *family; /* as long as that is there */
	uint64_t family_since_ns;
	uint64_t since_ns; /* or later: what it is of came after others with these labels */
	uint64_t id; /* as in struct sample */
	uint64_t value; /* likewise */
	uint64_t sum;
	uint64_t *buckets;
	uint64_t added; /* since the last time, if it is the same; 0 if that is not known */
	/* The same, if it is known in which time; or 0. */
	uint64_t delta;
	uint64_t window_ns;
	uint64_t moved; /* into this one, of others that are no more */
	bool sampled;   /* there is a value; if not, it is the family itself */
	bool restarted; /* it counts from 0 again */
	bool folded;    /* into that of the other cgroups */
};

struct series_table {
	struct series_entry *entries;
	size_t nr, room;
	uint32_t *index; /* of entries, counted from 1, by hash */
	uint64_t time_ns;
	uint64_t left_out; /* for which there was no room */
};

/* NULL without memory. */
struct series_table *series_table_new(uint64_t time_ns);
void series_table_free(struct series_table *table);

/* The labels of a sample that are kept; valid as long as it is. */
void series_labels_of_sample(struct series_labels *labels, const struct sample *sample);

/* Those of an entry, likewise. */
void series_labels_of_entry(struct series_labels *labels, const struct series_entry *entry);

/* Where the value of the label @name is; NULL if there is none. */
const char **series_label(struct series_labels *labels, const char *name);

/* NULL if there is none. */
struct series_entry *series_find(const struct series_table *table, const char *family,
				 const struct series_labels *labels);

/* The same of another table. */
struct series_entry *series_find_same(const struct series_table *table,
				      const struct series_entry *entry);

/*
 * The one there is, or a new one of @family with zeroes and room for its buckets, valid
 * until the next; NULL without memory, or, with @full, without room.
 */
struct series_entry *series_get(struct series_table *table, const struct family *family,
				const struct series_labels *labels, bool *full);

/* Adds up, or, as the family says, takes the larger one. */
void series_add(struct series_entry *entry, const struct sample *sample);

#endif /* TRANSFORM_SERIES_TABLE_H */
