// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "xalloc.h"

void families_add(struct families *families, const struct family *what)
{
	struct family *family;

	if (families->nr == families->room) {
		families->room = families->room * 2 + 32;
		families->family = xrealloc(families->family,
					    families->room * sizeof(*families->family));
	}
	family = &families->family[families->nr++];
	*family = *what;
	family->samples = NULL;
	family->nr_samples = 0;
	family->room = 0;
}

struct sample *families_sample(struct families *families, uint64_t value,
			       unsigned int nr_labels, ...)
{
	struct family *family = &families->family[families->nr - 1];
	struct sample *sample;
	va_list labels;

	if (family->nr_samples == family->room) {
		family->room = family->room * 2 + 16;
		family->samples = xrealloc(family->samples,
					   family->room * sizeof(*family->samples));
	}
	sample = &family->samples[family->nr_samples++];
	memset(sample, 0, sizeof(*sample));
	sample->value = value;
	sample->nr_labels = nr_labels;
	va_start(labels, nr_labels);
	for (unsigned int i = 0; i < nr_labels; i++) {
		sample->labels[i].name = va_arg(labels, const char *);
		sample->labels[i].value = xstrdup(va_arg(labels, const char *));
	}
	va_end(labels);
	if (family->type == FAMILY_HISTOGRAM)
		sample->buckets = xcalloc(family->nr_bounds, sizeof(*sample->buckets));
	return sample;
}

/* sda2 before sda10. All samples of a family have the same labels. */
static int compare_samples(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	int diff = 0;

	for (unsigned int i = 0; !diff && i < x->nr_labels && i < y->nr_labels; i++)
		diff = strverscmp(x->labels[i].value, y->labels[i].value);
	return diff ? diff : (int)x->nr_labels - (int)y->nr_labels;
}

static void free_sample(struct sample *sample)
{
	for (unsigned int i = 0; i < sample->nr_labels; i++)
		free(sample->labels[i].value);
	free(sample->buckets);
}

static void merge_sample(const struct family *family, struct sample *into,
			 const struct sample *from)
{
	if (family->merge == FAMILY_LARGEST) {
		if (from->value > into->value)
			into->value = from->value;
		return;
	}
	into->value += from->value;
	into->sum += from->sum;
	for (size_t i = 0; into->buckets && i < family->nr_bounds; i++)
		into->buckets[i] += from->buckets[i];
}

static void finish_family(struct family *family)
{
	size_t kept = 0;

	if (!family->nr_samples)
		return;
	qsort(family->samples, family->nr_samples, sizeof(*family->samples), compare_samples);
	for (size_t i = 1; i < family->nr_samples; i++) {
		struct sample *sample = &family->samples[i];

		if (compare_samples(&family->samples[kept], sample)) {
			family->samples[++kept] = *sample;
		} else {
			merge_sample(family, &family->samples[kept], sample);
			free_sample(sample);
		}
	}
	family->nr_samples = kept + 1;
}

void families_finish(struct families *families)
{
	for (size_t i = 0; i < families->nr; i++)
		finish_family(&families->family[i]);
}

void families_free(struct families *families)
{
	for (size_t i = 0; i < families->nr; i++) {
		struct family *family = &families->family[i];

		for (size_t k = 0; k < family->nr_samples; k++)
			free_sample(&family->samples[k]);
		free(family->samples);
	}
	free(families->family);
	memset(families, 0, sizeof(*families));
}
