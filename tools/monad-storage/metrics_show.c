// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "interrupt.h"
#include "metrics.h"
#include "monad_storage.h"

static int each_interval(struct interval *interval, metrics_show_fn *show, const void *what)
{
	struct metrics before, now, since;

	if (metrics_read_or_complain(&before))
		return EXIT_FAILED;
	while (interval_next(interval) && !ferror(stdout)) {
		if (metrics_read_or_complain(&now)) {
			metrics_free(&before);
			return EXIT_FAILED;
		}
		metrics_since(&since, &now, &before);
		show(what, &since, now.taken_ns - before.taken_ns);
		metrics_free(&since);
		metrics_free(&before);
		before = now;
	}
	metrics_free(&before);
	return EXIT_OK;
}

int metrics_show(struct interval *interval, metrics_show_fn *show, const void *what)
{
	struct metrics metrics;

	if (interval->ns) {
		catch_interrupts();
		return each_interval(interval, show, what);
	}
	if (metrics_read_or_complain(&metrics))
		return EXIT_FAILED;
	show(what, &metrics, 0);
	metrics_free(&metrics);
	return EXIT_OK;
}
