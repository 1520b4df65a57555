/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What to record and how: from the command line of 'monad-storage start', and from a
 * file of the same settings.
 */
#ifndef MONAD_STORAGE_START_OPTIONS_H
#define MONAD_STORAGE_START_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage_state.h"
#include "table_sizes.h"

#define MAX_DEVICES 1024
#define MAX_SERIES (1 << 14)

struct slow_limit {
	uint32_t dev; /* major << 20 | minor */
	uint64_t ns;
};

struct start_options {
	char ring[128];
	uint32_t devices[MAX_DEVICES]; /* all, when there are none */
	size_t nr_devices;
	struct table_sizes sizes;
	enum monad_storage_events events;
	uint64_t slow_ns; /* 0: nothing is slow */
	struct slow_limit slow[MAX_DEVICES];
	size_t nr_slow;
	uint32_t sample; /* one in so many; 0: none */
	uint32_t max_rate; /* per second; 0: any */
	bool attribution;
	bool verbose;
};

/* "all", "ends", "notable" */
const char *events_name(unsigned int events);

/* Ends the program after a message when something is wrong. */
void start_options_parse(struct start_options *options, int argc, char **argv);

#endif /* MONAD_STORAGE_START_OPTIONS_H */
