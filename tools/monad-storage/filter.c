// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "filter.h"
#include "human.h"
#include "monad_storage.h"
#include "parse.h"

enum { KEY_ERRORS = 0x100, KEY_MIN_LATENCY };

static const struct argp_option options[] = {
	{ "device", 'd', "DISK", 0, "Only this disk; may be given again", 1 },
	PID_OPTION(1),
	CGROUP_OPTION(1),
	{ "op", 'o', "OP", 0,
	  "Only this operation (read, write, flush, discard, ...); may be given again", 1 },
	{ "errors", KEY_ERRORS, NULL, 0, "Only what failed", 1 },
	{ "min-latency", KEY_MIN_LATENCY, "TIME", 0,
	  "Only what took at least that long, as 500us or 10ms", 1 },
	{ "all", 'a', NULL, 0, "Each step of each I/O, not only the ends of operations", 1 },
	{}
};

static void add_disk(struct filter *filter, const char *name)
{
	char given[NAME_MAX + 1];

	switch (disk_find(name, &filter->devs[filter->nr_devs])) {
	case DISK_GONE_NUMBER:
		warning("there is no disk %s now: looking for events of one that was", name);
		filter->nr_devs++;
		return;
	case DISK_FOUND:
		if (!disk_is_number(name) &&
		    disk_sysfs_name(filter->devs[filter->nr_devs], given, sizeof(given)))
			disk_event_name(given, filter->dev_names[filter->nr_devs],
					sizeof(filter->dev_names[0]));
		filter->nr_devs++;
		return;
	case DISK_GONE:
		warning("there is no disk %s now: looking for events with that name", name);
		disk_event_name(name, filter->names[filter->nr_names], sizeof(filter->names[0]));
		filter->nr_names++;
		return;
	case DISK_INVALID:
		exit(EXIT_FAILED);
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct filter *filter = state->input;
	int op;

	switch (key) {
	case 'd':
		if (filter->nr_devs == FILTER_MAX || filter->nr_names == FILTER_MAX)
			argp_error(state, "no more than %d disks", FILTER_MAX);
		add_disk(filter, arg);
		return 0;
	case 'p':
		pid_set_add(&filter->pids, arg, state);
		return 0;
	case 'c':
		if (filter->nr_cgroups == FILTER_MAX)
			argp_error(state, "no more than %d cgroups", FILTER_MAX);
		if (cgroup_set_add(&filter->cgroups, arg))
			exit(EXIT_FAILED);
		filter->cgroup_names[filter->nr_cgroups++] = arg;
		return 0;
	case 'o':
		op = op_by_name(arg);
		if (op < 0)
			argp_error(state,
				   "no operation '%s'; there are read, write, flush, discard, "
				   "secure_erase, write_zeroes, zone_append, zone_open, "
				   "zone_close, zone_finish, zone_reset, zone_reset_all, "
				   "drv_in, drv_out, other",
				   arg);
		filter->ops |= 1U << op;
		return 0;
	case KEY_ERRORS:
		filter->errors = true;
		return 0;
	case KEY_MIN_LATENCY:
		if (parse_latency(arg, &filter->min_latency_ns))
			argp_error(state, "'%s' is no time with a unit; say 500us, 10ms, 2s", arg);
		return 0;
	case 'a':
		filter->all_types = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp filter_argp = { options, parse_option, NULL, NULL, NULL, NULL, NULL };

bool filter_has(const uint32_t *list, unsigned int nr, uint32_t number)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (list[i] == number)
			return true;
	}
	return false;
}

bool filter_descriptor(const struct filter *filter, const struct monad_event_descriptor *desc)
{
	bool cache_flush = desc->event_type == MONAD_STORAGE_FLUSH_COMPLETE;

	if (event_is_call(desc->event_type))
		return false;
	if (!filter->all_types && !event_is_operation(desc->event_type) &&
	    !(filter->cache_flushes && cache_flush))
		return false;
	if (filter->errors && !event_failed(desc))
		return false;
	if (desc->content_ext[MONAD_STORAGE_TAG_LATENCY] < filter->min_latency_ns)
		return false;
	if (!ops_have(filter->ops, event_op(desc)))
		return false;
	if (!cgroup_set_has(&filter->cgroups, desc->content_ext[MONAD_STORAGE_TAG_CGROUP]))
		return false;
	/* Names are in the payload. */
	return filter->nr_names || !filter->nr_devs ||
	       filter_has(filter->devs, filter->nr_devs, event_dev(desc));
}

/*
 * The events that have no name, of steps, follow those that do: from when the
 * number of the disk was seen with its name.
 */
static bool is_named(struct filter *filter, const struct storage_event *event)
{
	uint32_t dev = event_dev(&event->desc);
	char name[MONAD_STORAGE_DISK_LEN];

	if (!event->is_complete)
		return dev && filter_has(filter->name_devs, filter->nr_names, dev);
	disk_event_name(event->complete.disk, name, sizeof(name));
	for (unsigned int i = 0; i < filter->nr_names; i++) {
		if (!strcmp(filter->names[i], name)) {
			filter->name_devs[i] = dev;
			return true;
		}
	}
	return false;
}

/*
 * Of a disk that is there. What has no name is of the one that the latest end with that
 * number was of.
 */
static bool is_there(struct filter *filter, const struct storage_event *event)
{
	uint32_t dev = event_dev(&event->desc);
	char name[MONAD_STORAGE_DISK_LEN];
	bool found = false;

	for (unsigned int i = 0; i < filter->nr_devs; i++) {
		if (filter->devs[i] != dev)
			continue;
		if (event->is_complete && event->complete.disk[0] && filter->dev_names[i][0]) {
			disk_event_name(event->complete.disk, name, sizeof(name));
			filter->other_disk[i] = strcmp(filter->dev_names[i], name) != 0;
		}
		found |= !filter->other_disk[i];
	}
	return found;
}

bool filter_event(struct filter *filter, const struct storage_event *event)
{
	uint32_t tgid = event->is_complete ? event->complete.tgid : event->step.tgid;
	uint32_t pid = event->is_complete ? event->complete.pid : event->step.pid;

	bool there = is_there(filter, event);

	if ((filter->nr_names || filter->nr_devs) && !there &&
	    !(filter->nr_names && is_named(filter, event)))
		return false;
	return pid_set_has(&filter->pids, pid, tgid);
}

static const char *and_then(bool *any)
{
	const char *separator = *any ? ", " : "";

	*any = true;
	return separator;
}

char *filter_text(const struct filter *filter)
{
	char name[32], time[HUMAN_LEN];
	char *text = NULL;
	bool any = false;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (unsigned int i = 0; i < filter->nr_devs; i++) {
		disk_name(filter->devs[i], name, sizeof(name));
		fprintf(out, "%sdisk %s", and_then(&any), name);
	}
	for (unsigned int i = 0; i < filter->nr_names; i++)
		fprintf(out, "%sdisk %s", and_then(&any), filter->names[i]);
	for (unsigned int i = 0; i < filter->pids.nr; i++)
		fprintf(out, "%sprocess %u", and_then(&any), filter->pids.pids[i]);
	for (unsigned int i = 0; i < filter->nr_cgroups; i++)
		fprintf(out, "%scgroup %s", and_then(&any), filter->cgroup_names[i]);
	for (unsigned int op = 0; op < MONAD_STORAGE_OP_COUNT; op++) {
		if (filter->ops >> op & 1)
			fprintf(out, "%s%s", and_then(&any), op_name(op));
	}
	if (filter->min_latency_ns)
		fprintf(out, "%s%s or longer", and_then(&any),
			human_duration(filter->min_latency_ns, time));
	if (filter->errors)
		fprintf(out, "%swhat failed", and_then(&any));
	fclose(out);
	return text;
}

void filter_free(struct filter *filter)
{
	cgroup_set_free(&filter->cgroups);
}
