// SPDX-License-Identifier: GPL-2.0
#include "monad_storage.h"
#include "print.h"
#include "view.h"

const struct argp_child view_children[] = { { &filter_argp, 0, "Which events:", 1 }, {} };

error_t view_option(struct view *view, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		view->ring = DEFAULT_RING;
		state->child_inputs[0] = &view->filter;
		return 0;
	case 'r':
		view->ring = arg;
		return 0;
	case VIEW_KEY_JSON:
		view->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int view_open(struct view *view)
{
	json_init(&view->writer, stdout, false);
	return reader_open(&view->reader, view->ring, NULL);
}

void view_close(struct view *view)
{
	reader_close(&view->reader);
}

bool view_event(struct view *view, const struct monad_event_descriptor *desc,
		struct storage_event *event)
{
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
	if (view->json)
		print_event_json(&view->writer, event);
	else
		print_event(event, view->filter.all_types);
}

struct json_writer *view_json(struct view *view)
{
	return view->json ? &view->writer : NULL;
}
