// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "monad_storage.h"
#include "printable.h"
#include "task_request.h"

/* What is wrong, for who asked. */
struct why {
	char *text;
	size_t size;
};

static bool __attribute__((format(printf, 2, 3))) refuse(const struct why *why,
							 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, why->size, format, args);
	va_end(args);
	return false;
}

/* A value as it can be shown: not all of it, if it is long. */
struct shown {
	char text[64];
};

static struct shown shown(const char *value)
{
	struct shown shown;

	/* Cut between two letters, however many bytes they have. */
	printable(shown.text, sizeof(shown.text) - 3, value);
	if (strlen(value) >= sizeof(shown.text) - 3)
		memcpy(shown.text + strlen(shown.text), "...", 4);
	return shown;
}

/* Nothing that does something to a terminal, and no bytes that are no text. */
static bool is_text(const char *text, size_t max)
{
	char safe[256];
	size_t length = strnlen(text, max + 1);

	return length && length <= max &&
	       !strcmp(printable(safe, sizeof(safe), text), text);
}

bool task_id_valid(const char *id)
{
	return is_text(id, TASK_ID_MAX);
}

static bool check_number(const struct why *why, const char *field, uint64_t value, uint64_t least,
			 uint64_t most, uint64_t otherwise, uint64_t *to)
{
	*to = value ? value : otherwise;
	if (*to >= least && *to <= most)
		return true;
	return refuse(why, "%s is %" PRIu64 ": it is %" PRIu64 " to %" PRIu64
		      ", or 0, which is %" PRIu64, field, value, least, most, otherwise);
}

/* A name is looked for in /dev, by root: nowhere else. */
static bool is_device(const char *name)
{
	if (!is_text(name, TASK_DEVICE_MAX) || strstr(name, ".."))
		return false;
	return !strncmp(name, "/dev/", 5) || !strchr("/.", *name);
}

static bool check_devices(const struct why *why, const Monad__StorageTaskFilter *filter)
{
	if (filter->n_devices > TASK_MAX_DISKS)
		return refuse(why, "storage.devices has %zu names: up to %d can be given",
			      filter->n_devices, TASK_MAX_DISKS);
	for (size_t i = 0; i < filter->n_devices; i++) {
		if (!is_device(filter->devices[i]))
			return refuse(why, "storage.devices[%zu] is '%s': it is the name of a "
				      "disk (sda, mapper/x, /dev/sda) or MAJOR:MINOR, up to %d "
				      "bytes", i, shown(filter->devices[i]).text,
				      TASK_DEVICE_MAX);
	}
	return true;
}

static bool check_pids(const struct why *why, const Monad__StorageTaskFilter *filter,
		       struct task_options *options)
{
	if (filter->n_pids > MONAD_TASK_PIDS)
		return refuse(why, "storage.pids has %zu numbers: up to %d can be given",
			      filter->n_pids, MONAD_TASK_PIDS);
	for (size_t i = 0; i < filter->n_pids; i++) {
		if (!filter->pids[i] || filter->pids[i] > INT32_MAX)
			return refuse(why, "storage.pids[%zu] is %u: process ids are 1 to %d", i,
				      filter->pids[i], INT32_MAX);
		options->pids.pids[options->pids.nr++] = filter->pids[i];
	}
	return true;
}

static bool check_operations(const struct why *why, const Monad__StorageTaskFilter *filter,
			     struct task_options *options)
{
	char list[256];
	int op;

	if (filter->n_operations > TASK_OPS)
		return refuse(why, "storage.operations has %zu names: up to %d can be given",
			      filter->n_operations, TASK_OPS);
	for (size_t i = 0; i < filter->n_operations; i++) {
		op = task_op_by_name(options->kind, filter->operations[i]);
		if (op < 0)
			return refuse(why, "storage.operations[%zu] is '%s': %s has %s", i,
				      shown(filter->operations[i]).text,
				      task_kind_names[options->kind],
				      task_op_list(options->kind, list, sizeof(list)));
		options->ops |= 1U << op;
	}
	return true;
}

static bool check_filter(const struct why *why, const Monad__StorageTaskFilter *filter,
			 struct task_options *options)
{
	options->min_latency_ns = filter->min_latency_ns;
	if (filter->min_latency_ns)
		options->slow_ns = filter->min_latency_ns;
	return check_devices(why, filter) && check_pids(why, filter, options) &&
	       check_operations(why, filter, options);
}

bool task_request_check(const Monad__TaskRequest *request, struct task_options *options,
			char *why_text, size_t why_size)
{
	const struct why why = { why_text, why_size };

	memset(options, 0, sizeof(*options));
	options->slow_ns = TASK_SLOW_NS;
	if (!task_id_valid(request->task_id))
		return refuse(&why, "task_id is '%s': it is 1 to %d bytes of text, without control "
			      "characters", shown(request->task_id).text, TASK_ID_MAX);
	options->kind = task_kind_by_name(request->kind);
	if (options->kind == TASK_KINDS)
		return refuse(&why, "kind is '%s': it is %s, %s, %s or %s",
			      shown(request->kind).text, task_kind_names[0], task_kind_names[1],
			      task_kind_names[2], task_kind_names[3]);
	if (!check_number(&why, "duration_ns", request->duration_ns, TASK_MIN_DURATION_NS,
			  TASK_MAX_DURATION_NS, TASK_DURATION_NS, &options->duration_ns) ||
	    !check_number(&why, "max_events", request->max_events, 1, TASK_MAX_EVENTS,
			  TASK_EVENTS, &options->max_events) ||
	    !check_number(&why, "sample_rate", request->sample_rate, 1, TASK_MAX_SAMPLE_RATE, 1,
			  &options->sample_rate))
		return false;
	return request->filter_case != MONAD__TASK_REQUEST__FILTER_STORAGE ||
	       check_filter(&why, request->storage, options);
}

int task_request_devices(const Monad__TaskRequest *request, struct task_options *options)
{
	const Monad__StorageTaskFilter *filter = request->storage;

	if (request->filter_case != MONAD__TASK_REQUEST__FILTER_STORAGE)
		return 0;
	for (size_t i = 0; i < filter->n_devices; i++) {
		switch (disk_find_in_dev(filter->devices[i], &options->devs[i])) {
		case DISK_FOUND:
			options->nr_devs++;
			break;
		case DISK_GONE:
		case DISK_GONE_NUMBER:
			error("there is no disk %s", filter->devices[i]);
			return -1;
		case DISK_INVALID:
			return -1;
		}
	}
	return 0;
}

static Monad__StorageTaskFilter *new_filter(const struct task_options *options)
{
	Monad__StorageTaskFilter *filter = xcalloc(1, sizeof(*filter));
	char name[32];

	monad__storage_task_filter__init(filter);
	filter->min_latency_ns = options->min_latency_ns;
	filter->devices = xcalloc(TASK_MAX_DISKS, sizeof(*filter->devices));
	for (unsigned int i = 0; i < options->nr_devs; i++) {
		snprintf(name, sizeof(name), "%u:%u", options->devs[i] >> 20,
			 options->devs[i] & 0xfffff);
		filter->devices[filter->n_devices++] = xstrdup(name);
	}
	filter->pids = xcalloc(MONAD_TASK_PIDS, sizeof(*filter->pids));
	filter->n_pids = options->pids.nr;
	memcpy(filter->pids, options->pids.pids, options->pids.nr * sizeof(*filter->pids));
	filter->operations = xcalloc(TASK_OPS, sizeof(*filter->operations));
	for (unsigned int op = 0; op < TASK_OPS; op++) {
		if (options->ops >> op & 1)
			filter->operations[filter->n_operations++] =
				xstrdup(task_op_name(options->kind, op));
	}
	return filter;
}

Monad__TaskRequest *task_request_new(const struct task_options *options, const char *id)
{
	Monad__TaskRequest *request = xcalloc(1, sizeof(*request));

	monad__task_request__init(request);
	request->task_id = xstrdup(id);
	request->kind = xstrdup(task_kind_names[options->kind]);
	request->duration_ns = options->duration_ns;
	request->max_events = options->max_events;
	request->sample_rate = options->sample_rate;
	request->filter_case = MONAD__TASK_REQUEST__FILTER_STORAGE;
	request->storage = new_filter(options);
	return request;
}
