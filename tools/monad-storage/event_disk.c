// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "event_disk.h"
#include "monad_storage.h"

static struct event_disk *find(const struct event_disks *disks, uint32_t dev)
{
	for (size_t i = 0; i < disks->nr; i++) {
		if (disks->disks[i].dev == dev)
			return &disks->disks[i];
	}
	return NULL;
}

const char *event_disk_name(struct event_disks *disks, const struct storage_event *event)
{
	const uint32_t dev = event_dev(&event->desc);
	struct event_disk *disk = find(disks, dev);

	if (!event->is_complete || !event->complete.disk[0])
		return disk ? disk->name : "";
	if (!disk) {
		if (disks->nr == disks->room) {
			disks->room = disks->room * 2 + 16;
			disks->disks = xrealloc(disks->disks, disks->room * sizeof(*disk));
		}
		disk = &disks->disks[disks->nr++];
		disk->dev = dev;
	}
	memcpy(disk->name, event->complete.disk, sizeof(disk->name));
	return disk->name;
}

const char *event_disk_known(const struct event_disks *disks, uint32_t dev)
{
	const struct event_disk *disk = find(disks, dev);

	return disk ? disk->name : NULL;
}

void event_disks_free(struct event_disks *disks)
{
	free(disks->disks);
	memset(disks, 0, sizeof(*disks));
}
