// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"
#include "sample_top.h"

#define PLACES 4096

struct place {
	char comm[MONAD_PERF_COMM_LEN];
	const char *where;
	unsigned long samples;
};

static struct place places[PLACES];
static unsigned int nr;
static unsigned long total, idle, kernel, uncounted;

const char *sample_where(const struct monad_perf_sample *sample)
{
	if (sample->flags & MONAD_PERF_SAMPLE_USER)
		return "(user)";
	return kallsyms_find(sample->ip) ?: "(kernel)";
}

void sample_top_add(const struct monad_perf_sample *sample)
{
	const char *where;
	unsigned int i;

	total++;
	if (sample->flags & MONAD_PERF_SAMPLE_IDLE) {
		idle++;
		return;
	}
	if (sample->flags & MONAD_PERF_SAMPLE_KERNEL)
		kernel++;
	where = sample_where(sample);
	for (i = 0; i < nr; i++)
		if (places[i].where == where &&
		    !strncmp(places[i].comm, sample->comm, sizeof(sample->comm)))
			break;
	if (i == PLACES) {
		uncounted++;
		return;
	}
	if (i == nr) {
		nr++;
		memcpy(places[i].comm, sample->comm, sizeof(places[i].comm));
		places[i].where = where;
	}
	places[i].samples++;
}

static int by_samples(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

void sample_top_print(unsigned int most)
{
	unsigned long busy = total - idle;
	unsigned int i;

	qsort(places, nr, sizeof(places[0]), by_samples);
	printf("%7s %6s  %-16s %s\n", "SAMPLES", "BUSY%", "COMM", "FUNCTION");
	for (i = 0; i < nr && i < most; i++)
		printf("%7lu %6.1f  %-16.16s %s\n", places[i].samples,
		       100.0 * places[i].samples / busy, places[i].comm, places[i].where);
	printf("%lu samples, %lu of them idle, %lu in the kernel\n", total, idle, kernel);
	if (uncounted)
		printf("%lu in more than %d places, not listed\n", uncounted, PLACES);
}
