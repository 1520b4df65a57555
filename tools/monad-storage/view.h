/* SPDX-License-Identifier: GPL-2.0 */
/* What trace and replay have in common: which events of which ring are shown, and how. */
#ifndef MONAD_STORAGE_VIEW_H
#define MONAD_STORAGE_VIEW_H

#include <argp.h>

#include "event_disk.h"
#include "filter.h"
#include "json_writer.h"
#include "reader.h"
#include "stacks.h"
#include "storage_state.h"

struct view {
	struct filter filter;
	const char *ring; /* NULL until it is opened: the one that is recorded to */
	struct monad_storage_session session; /* if it is that one */
	bool json;
	struct json_writer writer; /* if json */
	struct reader reader;
	struct event_disks disks;
	bool with_stacks;
	struct stacks *stacks; /* of the ring, if with_stacks */
};

/* Keys of options that have no letter; a command's own begin with the last. */
enum { VIEW_KEY_JSON = 0x200, VIEW_KEY_STACKS, VIEW_KEY_OWN };

/* For a command's struct argp_option. --json goes with them, as each has its own text. */
#define VIEW_OPTION_RING \
	{ "ring", 'r', "NAME", 0, \
	  "Ring to read: a name or a path (the one recorded to, or " DEFAULT_RING ")", 0 }

#define VIEW_OPTION_STACKS \
	{ "stacks", VIEW_KEY_STACKS, NULL, 0, \
	  "The way each I/O came, if it is recorded ('start --stacks')", 0 }

/* For its struct argp: the options of the filter. */
extern const struct argp_child view_children[];

/* Takes what is not the command's own: these options, and what is the filter's. */
error_t view_option(struct view *view, int key, char *arg, struct argp_state *state);

/* Opens the ring. 0, or an exit status after a message. */
int view_open(struct view *view);
void view_close(struct view *view);

/* Whether the event of @desc is one to be shown, which is @event then. */
bool view_event(struct view *view, const struct monad_event_descriptor *desc,
		struct storage_event *event);
void view_print(struct view *view, const struct storage_event *event);

/* NULL, or where JSON goes. */
struct json_writer *view_json(struct view *view);

#endif /* MONAD_STORAGE_VIEW_H */
