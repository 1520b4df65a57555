// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "event.h"
#include "monad_storage.h"
#include "pins.h"
#include "printable.h"
#include "series_filter.h"
#include "storage_state.h"

static const struct argp_option options[] = {
	{ "device", 'd', "DISK", 0, "Only this disk; may be given again", 1 },
	{ "op", 'o', "OP", 0,
	  "Only this operation (read, write, flush, discard, cache_flush, ...); may be given "
	  "again", 1 },
	{}
};

static void add_disk(struct series_filter *filter, const char *name)
{
	char *text = filter->names[filter->nr_names];
	const size_t size = sizeof(filter->names[0]);
	char given[NAME_MAX + 1];
	uint32_t dev;

	switch (disk_find(name, &dev)) {
	case DISK_GONE_NUMBER:
		warning("there is no disk %s now: looking for what one that was had", name);
		filter->devs[filter->nr_devs++] = dev;
		return;
	case DISK_FOUND:
		if (!pins_records(dev))
			warning("%s is not recorded: 'monad-storage start' was told which disks "
				"are", name);
		/* By number: whatever had it. */
		if (disk_is_number(name)) {
			filter->devs[filter->nr_devs++] = dev;
			return;
		}
		disk_name(dev, text, size);
		filter->nr_names++;
		return;
	case DISK_GONE:
		warning("there is no disk %s now: looking for what one of that name had", name);
		disk_event_name(name, given, sizeof(given));
		printable(text, size, given);
		filter->nr_names++;
		return;
	case DISK_INVALID:
		exit(EXIT_FAILED);
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct series_filter *filter = state->input;
	int op;

	switch (key) {
	case 'd':
		if (filter->nr_devs == SERIES_FILTER_MAX || filter->nr_names == SERIES_FILTER_MAX)
			argp_error(state, "no more than %d disks", SERIES_FILTER_MAX);
		add_disk(filter, arg);
		return 0;
	case 'o':
		op = strcmp(arg, "cache_flush") ? op_by_name(arg) : MONAD_STORAGE_OP_CACHE_FLUSH;
		if (op < 0)
			argp_error(state, "no operation '%s'; there are read, write, flush, "
				   "discard, cache_flush, secure_erase, write_zeroes, zone_append, "
				   "zone_open, zone_close, zone_finish, zone_reset, "
				   "zone_reset_all, drv_in, drv_out, other", arg);
		filter->ops |= 1U << op;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp series_filter_argp = { options, parse_option, NULL, NULL, NULL, NULL, NULL };

bool series_filter_disk(const struct series_filter *filter, uint32_t dev, const char *disk)
{
	if (!filter->nr_devs && !filter->nr_names)
		return true;
	for (unsigned int i = 0; i < filter->nr_devs; i++) {
		if (filter->devs[i] == dev)
			return true;
	}
	for (unsigned int i = 0; i < filter->nr_names; i++) {
		if (!strcmp(filter->names[i], disk))
			return true;
	}
	return false;
}

bool series_filter(const struct series_filter *filter, uint32_t dev, const char *disk, uint32_t op)
{
	return ops_have(filter->ops, op) && series_filter_disk(filter, dev, disk);
}

bool series_filter_event(const struct series_filter *filter, uint32_t dev, const char *disk,
			 uint32_t op)
{
	char name[MONAD_STORAGE_DISK_LEN], as_in_sysfs[MONAD_STORAGE_DISK_LEN];

	if (!ops_have(filter->ops, op))
		return false;
	disk_event_name(disk, as_in_sysfs, sizeof(as_in_sysfs));
	printable(name, sizeof(name), as_in_sysfs);
	for (unsigned int i = 0; i < filter->nr_names; i++) {
		if (*name && !strncmp(filter->names[i], name, sizeof(name) - 1))
			return true;
	}
	return !filter->nr_names ? series_filter_disk(filter, dev, name) :
	       filter->nr_devs && series_filter_disk(filter, dev, name);
}
