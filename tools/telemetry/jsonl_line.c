// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "jsonl_line.h"
#include "pb_json.h"

/* Of those that count from 0 on, being 0 is having counted nothing since then. */
static bool is_worth_saying(const Monad__MetricWrapper *metric)
{
	switch (metric->type) {
	case MONAD__METRIC_TYPE__METRIC_TYPE_COUNTER:
		return metric->value != 0 || metric->delta != 0;
	case MONAD__METRIC_TYPE__METRIC_TYPE_HISTOGRAM:
		return metric->value != 0 || metric->delta != 0 ||
		       (metric->histogram && metric->histogram->count);
	default:
		return true;
	}
}

/* Those of @batch that are written, copies that own nothing. False without memory. */
static bool choose_metrics(const Monad__TelemetryBatch *batch, Monad__TelemetryBatch *shown)
{
	Monad__MetricWrapper *copies = calloc(batch->n_metrics + 1, sizeof(*copies));
	const Monad__MetricWrapper *before = NULL;

	shown->metrics = calloc(batch->n_metrics + 1, sizeof(void *));
	shown->n_metrics = 0;
	if (!copies || !shown->metrics) {
		free(copies);
		free(shown->metrics);
		return false;
	}
	/* The first one is where all of them begin, for who gives them back. */
	shown->metrics[0] = copies;
	for (size_t i = 0; i < batch->n_metrics; i++) {
		const Monad__MetricWrapper *metric = batch->metrics[i];
		Monad__MetricWrapper *copy = &copies[shown->n_metrics];

		if (!is_worth_saying(metric))
			continue;
		*copy = *metric;
		if (before && !strcmp(before->name, metric->name))
			copy->help = (char *)protobuf_c_empty_string;
		before = metric;
		shown->metrics[shown->n_metrics++] = copy;
	}
	return true;
}

static bool write_line(const Monad__TelemetryBatch *batch, char **line, size_t *size)
{
	struct json_writer json;
	FILE *out = open_memstream(line, size);
	bool failed;

	if (!out)
		return false;
	json_init(&json, out, false);
	pb_json_write(&json, &batch->base);
	json_end(&json);
	failed = ferror(out);
	return !fclose(out) && !failed;
}

char *jsonl_line(const Monad__TelemetryBatch *batch, size_t *size)
{
	Monad__TelemetryBatch shown = *batch;
	char *line = NULL;

	if (!choose_metrics(batch, &shown))
		return NULL;
	if (!write_line(&shown, &line, size)) {
		free(line);
		line = NULL;
	}
	free(shown.metrics[0]);
	free(shown.metrics);
	return line;
}
