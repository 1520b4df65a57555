// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>

#include "monad_storage.h"
#include "printable.h"
#include "prometheus.h"

/*
 * Quotes are escaped in the values of labels only. A byte that is not UTF-8 would
 * have Prometheus refuse all of it.
 */
static void put_text(FILE *out, const char *text, bool value)
{
	size_t left = strlen(text);

	while (left) {
		size_t step = utf8_len((const unsigned char *)text, left);

		if (!step)
			putc('?', out);
		else if (*text == '\\')
			fputs("\\\\", out);
		else if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '"' && value)
			fputs("\\\"", out);
		else
			fwrite(text, 1, step, out);
		step = step ? step : 1;
		text += step;
		left -= step;
	}
}

/* Exact, where a double and its exponent would not be. */
static void put_number(FILE *out, const struct family *family, uint64_t value)
{
	int digits = 9;
	uint64_t rest;

	if (!family->nano) {
		fprintf(out, "%" PRIu64, value);
		return;
	}
	fprintf(out, "%" PRIu64, (uint64_t)(value / NSEC_PER_SEC));
	rest = value % NSEC_PER_SEC;
	if (!rest)
		return;
	for (; rest % 10 == 0; digits--)
		rest /= 10;
	fprintf(out, ".%0*" PRIu64, digits, rest);
}

static const char *suffix(const struct family *family)
{
	return family->type == FAMILY_COUNTER ? "_total" : "";
}

/* @le: of the bucket; NULL without. */
static void begin_line(FILE *out, const struct family *family, const char *part,
		       const struct sample *sample, const uint64_t *le)
{
	const char *separator = "{";

	fprintf(out, "%s%s", family->name, part);
	for (unsigned int i = 0; i < sample->nr_labels; i++) {
		fprintf(out, "%s%s=\"", separator, sample->labels[i].name);
		put_text(out, sample->labels[i].value, true);
		putc('"', out);
		separator = ",";
	}
	if (le) {
		fprintf(out, "%sle=\"", separator);
		if (*le == UINT64_MAX)
			fputs("+Inf", out);
		else
			put_number(out, family, *le);
		fputs("\"}", out);
	} else if (sample->nr_labels) {
		putc('}', out);
	}
	putc(' ', out);
}

static void put_histogram(FILE *out, const struct family *family, const struct sample *sample)
{
	const uint64_t infinite = UINT64_MAX;

	for (size_t i = 0; i < family->nr_bounds; i++) {
		begin_line(out, family, "_bucket", sample, &family->bounds[i]);
		fprintf(out, "%" PRIu64 "\n", sample->buckets[i]);
	}
	begin_line(out, family, "_bucket", sample, &infinite);
	fprintf(out, "%" PRIu64 "\n", sample->value);
	begin_line(out, family, "_sum", sample, NULL);
	put_number(out, family, sample->sum);
	putc('\n', out);
	begin_line(out, family, "_count", sample, NULL);
	fprintf(out, "%" PRIu64 "\n", sample->value);
}

static void put_family(FILE *out, const struct family *family)
{
	static const char *const types[] = {
		[FAMILY_COUNTER] = "counter",
		[FAMILY_GAUGE] = "gauge",
		[FAMILY_HISTOGRAM] = "histogram",
	};

	fprintf(out, "# HELP %s%s ", family->name, suffix(family));
	put_text(out, family->help, false);
	fprintf(out, "\n# TYPE %s%s %s\n", family->name, suffix(family), types[family->type]);
	for (size_t i = 0; i < family->nr_samples; i++) {
		const struct sample *sample = &family->samples[i];

		if (family->type == FAMILY_HISTOGRAM) {
			put_histogram(out, family, sample);
			continue;
		}
		begin_line(out, family, suffix(family), sample, NULL);
		put_number(out, family, sample->value);
		putc('\n', out);
	}
}

void prometheus_write(FILE *out, const struct families *families)
{
	for (size_t i = 0; i < families->nr; i++) {
		if (families->family[i].nr_samples)
			put_family(out, &families->family[i]);
	}
}
