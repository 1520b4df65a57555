// SPDX-License-Identifier: GPL-2.0
#include "metrics_room.h"
#include "storage_state.h"

/* read, write, discard, flush, the device's own flush, write zeroes */
#define USUAL_OPS 6

/* Series of disks that come later. */
#define MORE_SERIES 16

/* More disks than this are not told from so many. */
#define MOST_DISKS (1U << 20)

unsigned int table_round_up(unsigned int n)
{
	unsigned int power = MONAD_STORAGE_WAYS;

	while (power < n)
		power *= 2;
	return power;
}

uint64_t metrics_room_bytes(const struct metrics_room *room)
{
	const uint64_t each = sizeof(struct monad_storage_metrics) * (uint64_t)room->shards;

	/* one behind the table, for what finds no room */
	return (room->places + 1) * (each + sizeof(struct monad_storage_series));
}

void metrics_room(struct metrics_room *room, unsigned int asked, unsigned int disks,
		  unsigned int cpus)
{
	unsigned int wanted = asked;

	if (!wanted)
		wanted = MORE_SERIES + (disks < MOST_DISKS ? disks : MOST_DISKS) * USUAL_OPS;
	room->shards = 1;
	room->places = table_round_up(wanted * TABLE_SPARE);
	while (!asked && metrics_room_bytes(room) > METRICS_ROOM_BYTES)
		room->places /= 2;
	room->series = room->places / TABLE_SPARE < wanted ? room->places / TABLE_SPARE : wanted;
	room->left_out = wanted - room->series;
	while (room->shards < MONAD_STORAGE_MAX_SHARDS && room->shards < cpus) {
		room->shards *= 2;
		if (metrics_room_bytes(room) > METRICS_ROOM_BYTES) {
			room->shards /= 2;
			break;
		}
	}
}
