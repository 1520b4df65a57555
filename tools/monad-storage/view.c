// SPDX-License-Identifier: GPL-2.0
#include "monad_storage.h"
#include "pins.h"
#include "print.h"
#include "view.h"

const struct argp_child view_children[] = { { &filter_argp, 0, "Which events:", 1 }, {} };

error_t view_option(struct view *view, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &view->filter;
		return 0;
	case 'r':
		view->ring = arg;
		return 0;
	case VIEW_KEY_JSON:
		view->json = true;
		return 0;
	case VIEW_KEY_STACKS:
		view->with_stacks = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int view_open(struct view *view)
{
	int status;

	json_init(&view->writer, stdout, false);
	if (!view->ring)
		view->ring = pins_read_session(&view->session) ? DEFAULT_RING : view->session.ring;
	status = reader_open(&view->reader, view->ring, NULL);
	if (status || !view->with_stacks)
		return status;
	view->stacks = stacks_read(&view->reader);
	if (view->stacks)
		return EXIT_OK;
	reader_close(&view->reader);
	return EXIT_FAILED;
}

void view_close(struct view *view)
{
	stacks_free(view->stacks);
	event_disks_free(&view->disks);
	filter_free(&view->filter);
	reader_close(&view->reader);
}

bool view_event(struct view *view, const struct monad_event_descriptor *desc,
		struct storage_event *event)
{
	if (event_is_reference(desc->event_type)) {
		if (view->stacks)
			stacks_add(view->stacks, &view->reader.iter, desc);
		return false;
	}
	if (!filter_descriptor(&view->filter, desc))
		return false;
	switch (event_read(&view->reader.iter, desc, event)) {
	case EVENT_OK:
		break;
	case EVENT_EXPIRED:
		view->reader.expired++;
		return false;
	case EVENT_UNKNOWN:
		view->reader.unknown++;
		return false;
	}
	if (!filter_event(&view->filter, event))
		return false;
	view->reader.printed++;
	return true;
}

void view_print(struct view *view, const struct storage_event *event)
{
	if (view->json) {
		print_event_json(&view->writer, event, view->stacks);
		return;
	}
	print_event(event, event_disk_name(&view->disks, event), view->filter.all_types);
	if (view->stacks)
		stacks_print(view->stacks, event);
}

struct json_writer *view_json(struct view *view)
{
	return view->json ? &view->writer : NULL;
}
