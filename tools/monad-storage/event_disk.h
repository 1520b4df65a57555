/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which disk an event is of. The number alone does not say: it is used again. Ends have the
 * name as well; steps, and ends that came without the disk, do not. These are of the disk
 * that the latest end with their number was of.
 */
#ifndef MONAD_STORAGE_EVENT_DISK_H
#define MONAD_STORAGE_EVENT_DISK_H

#include "event.h"

/* Begins as zeros. */
struct event_disks {
	struct event_disk {
		uint32_t dev;
		char name[MONAD_STORAGE_DISK_LEN];
	} *disks;
	size_t nr, room;
};

/*
 * The name of the disk of @event, which is to be the next one of the ring; "" where there
 * was no end yet that says it. Good until the next call.
 */
const char *event_disk_name(struct event_disks *disks, const struct storage_event *event);

/* What the disk with that number is called, by the events so far; NULL if none says it. */
const char *event_disk_known(const struct event_disks *disks, uint32_t dev);

void event_disks_free(struct event_disks *disks);

#endif /* MONAD_STORAGE_EVENT_DISK_H */
